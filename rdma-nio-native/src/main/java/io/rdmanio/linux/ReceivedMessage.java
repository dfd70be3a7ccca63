package io.rdmanio.linux;

/**
 * What {@link UnixSocket#receive} found, to be used again and again. Descriptors that came with a message belong to
 * this object until they are taken; {@link #closeDescriptors} closes those that nobody took.
 *
 * <p>Not thread-safe.
 */
public final class ReceivedMessage {
    private static final int TAKEN = -1;

    private final int[] descriptors = new int[UnixSocket.MAX_DESCRIPTORS];
    private int byteCount;
    private int descriptorCount;
    private int flags;

    /** Creates one without any message. */
    public ReceivedMessage() {}

    /**
     * The bytes of the message that were stored.
     *
     * @return how many
     */
    public int byteCount() {
        return byteCount;
    }

    /**
     * The descriptors that came with the message.
     *
     * @return how many, at most {@link UnixSocket#MAX_DESCRIPTORS}
     */
    public int descriptorCount() {
        return descriptorCount;
    }

    /**
     * Takes a descriptor over, which the caller closes then.
     *
     * @param index which one
     * @return the descriptor, closed on exec
     * @throws IndexOutOfBoundsException when there are not so many
     * @throws IllegalStateException when it was taken before
     */
    public int takeDescriptor(int index) {
        if (index < 0 || index >= descriptorCount) {
            throw new IndexOutOfBoundsException("descriptor " + index + " of " + descriptorCount);
        }
        int descriptor = descriptors[index];
        if (descriptor == TAKEN) {
            throw new IllegalStateException("descriptor " + index + " was taken before");
        }
        descriptors[index] = TAKEN;
        return descriptor;
    }

    /** Closes the descriptors that nobody took. */
    public void closeDescriptors() {
        for (int i = 0; i < descriptorCount; i++) {
            if (descriptors[i] != TAKEN) {
                FileDescriptors.close(descriptors[i]);
            }
        }
        descriptorCount = 0;
    }

    /**
     * Tells whether the message had more bytes than there was room for (MSG_TRUNC); they are lost.
     *
     * @return true when something is missing
     */
    public boolean isDataTruncated() {
        return (flags & UnixSocket.MSG_TRUNC) != 0;
    }

    /**
     * Tells whether more descriptors came than fit, or than the process may have (MSG_CTRUNC); the kernel has closed
     * them.
     *
     * @return true when something is missing
     */
    public boolean isControlTruncated() {
        return (flags & UnixSocket.MSG_CTRUNC) != 0;
    }

    void begin(int bytes, int messageFlags) {
        byteCount = bytes;
        flags = messageFlags;
    }

    void add(int descriptor) {
        descriptors[descriptorCount++] = descriptor;
    }
}
