package io.rdmanio.linux;

import java.io.IOException;

/**
 * The way to ring a {@link Doorbell} of another process, made from a descriptor that it sent. Whatever that process does with
 * its own descriptors, ringing does not block.
 *
 * <p>Thread safety: all methods may be called by any thread. Ringing allocates nothing.
 */
public final class PeerDoorbell implements AutoCloseable {
    private final UseGate gate = new UseGate();
    private final int writeEnd;

    private PeerDoorbell(int writeEnd) {
        this.writeEnd = writeEnd;
    }

    /**
     * Takes over a descriptor, which is closed in any case: what rings is a new one, opened here, whose flags the sender
     * can't change. Does not block.
     *
     * @param fileDescriptor what a peer sent
     * @return the way to ring, to be closed by the caller
     * @throws IOException when it is no pipe ({@code EINVAL}), or no descriptor is left
     */
    public static PeerDoorbell fromDescriptor(int fileDescriptor) throws IOException {
        try {
            if (!FileDescriptors.isPipe(fileDescriptor)) {
                throw Errno.exception("a peer's doorbell that is no pipe", Errno.EINVAL);
            }
            return new PeerDoorbell(FileDescriptors.reopenForWriting(fileDescriptor));
        } finally {
            FileDescriptors.close(fileDescriptor);
        }
    }

    /** Rings; without effect when the owner has closed it, or after close. */
    public void signal() {
        if (gate.tryEnter()) {
            try {
                Doorbell.ring(writeEnd);
            } finally {
                leave();
            }
        }
    }

    private void leave() {
        if (gate.exit()) {
            FileDescriptors.close(writeEnd);
        }
    }

    /** Closes this way to ring, as soon as no call is in progress. Idempotent. */
    @Override
    public void close() {
        if (gate.tryEnter()) {
            gate.shut();
            leave();
        }
    }
}
