package io.rdmanio.verbs.soft;

/**
 * How large the area of a queue pair is, by default and by system properties: {@code io.rdmanio.soft.ringEntries} (how
 * many messages may be under way to a queue pair that nobody polls; a power of two from 4 to 65536, by default 64) and
 * {@code io.rdmanio.soft.stagingBytes} (how many bytes of them; a power of two from 4 KiB to 16 MiB, by default 32 KiB).
 * A queue pair takes 256 bytes, 64 for each entry, 4 for each receive that it can have posted, and the staging bytes:
 * with the defaults 36 KiB.
 *
 * <p>Thread safety: immutable constants; {@link #check} is stateless.
 */
final class AreaSizes {
    private static final int MIN_RING_ENTRIES = 4;
    private static final int MAX_RING_ENTRIES = 1 << 16;
    private static final int MIN_STAGING_BYTES = 1 << 12;
    private static final int MAX_STAGING_BYTES = 1 << 24;
    private static final int MAX_MIRROR_ENTRIES = 1 << 16;

    /** The entries of a ring of ours. */
    static final int RING_ENTRIES = read("io.rdmanio.soft.ringEntries", 64, MIN_RING_ENTRIES, MAX_RING_ENTRIES);
    /** The staging bytes of an area of ours. */
    static final int STAGING_BYTES =
            read("io.rdmanio.soft.stagingBytes", 1 << 15, MIN_STAGING_BYTES, MAX_STAGING_BYTES);

    private AreaSizes() {}

    private static int read(String property, int byDefault, int min, int max) {
        int value = Integer.getInteger(property, byDefault);
        if (!isPowerOfTwo(value, min, max)) {
            System.getLogger(AreaSizes.class.getName())
                    .log(
                            System.Logger.Level.WARNING,
                            "{0}={1} is no power of two from {2} to {3}; it is {4}",
                            property,
                            String.valueOf(value),
                            String.valueOf(min),
                            String.valueOf(max),
                            String.valueOf(byDefault));
            return byDefault;
        }
        return value;
    }

    private static boolean isPowerOfTwo(int value, int min, int max) {
        return value >= min && value <= max && Integer.bitCount(value) == 1;
    }

    /**
     * Checks the sizes of a peer's area.
     *
     * @param attach what the peer told
     * @throws ProtocolException when they are none that an area can have
     */
    static void check(ControlMessage.Attach attach) throws ProtocolException {
        if (!isPowerOfTwo(attach.ringEntries(), MIN_RING_ENTRIES, MAX_RING_ENTRIES)
                || !isPowerOfTwo(attach.stagingBytes(), MIN_STAGING_BYTES, MAX_STAGING_BYTES)
                || (attach.receiveEntries() != 0 && !isPowerOfTwo(attach.receiveEntries(), 1, MAX_MIRROR_ENTRIES))
                || attach.slot() < 0
                || attach.slot() >= ReadySet.SLOTS) {
            throw new ProtocolException(attach.toString());
        }
    }
}
