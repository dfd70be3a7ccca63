package io.rdmanio.verbs.soft;

/**
 * The layout of an entry of an {@link Area}'s ring: one cache line. The sequence is written last, with release; it is
 * the entry's index plus one, so that what a former round left is never taken for new. Constants alone.
 */
final class Entry {
    /** The size of an entry. */
    static final int BYTES = 64;

    /** int: the index plus one. */
    static final long SEQUENCE = 0;
    /** int: the kind in the low byte, the flags in the next. */
    static final long KIND = 4;
    /** int: bytes of this fragment; of a write that was done directly, of the whole message. */
    static final long LENGTH = 8;
    /** int: immediate data as the work request has it, or the key to invalidate. */
    static final long IMMEDIATE = 12;
    /** long: the address in the peer. */
    static final long REMOTE_ADDRESS = 16;
    /** int: the peer's key. */
    static final long REMOTE_KEY = 24;
    /** int: where the bytes lie in the staging part. */
    static final long STAGING = 28;
    /** long: what is compared or added; with {@link #INLINE}, the bytes begin here. */
    static final long OPERAND = 32;
    /** long: what is swapped in. Inline bytes of a write with immediate data are not used, since its length is here. */
    static final long SWAP = 40;
    /** How many bytes an entry holds itself. */
    static final int INLINE_BYTES = 32;

    /** A piece of a message for a receive. */
    static final int SEND = 1;
    /** A piece of a write to memory that the initiator can't reach. */
    static final int WRITE = 2;
    /** A write that has been done; a receive is consumed. */
    static final int WRITE_DONE = 3;
    /** A piece of a read of memory that the initiator can't reach. */
    static final int READ = 4;
    /** An atomic on memory that the initiator can't reach. */
    static final int COMPARE_AND_SWAP = 5;
    /** Another. */
    static final int FETCH_AND_ADD = 6;
    /** An access to memory that the initiator may not have, which it knows by itself: the owner refuses it. */
    static final int VIOLATION = 7;
    /** The first number that is no kind. */
    static final int KINDS = 8;

    /** Flag: the last piece of its message. */
    static final int LAST = 1;
    /** Flag: the receive's completion is solicited. */
    static final int SOLICITED = 1 << 1;
    /** Flag: there is immediate data. */
    static final int WITH_IMMEDIATE = 1 << 2;
    /** Flag: a key is to be invalidated. */
    static final int WITH_INVALIDATE = 1 << 3;
    /** Flag: the bytes are in the entry. */
    static final int INLINE = 1 << 4;
    /** How far flags are shifted beside the kind. */
    static final int FLAGS_SHIFT = 8;

    private Entry() {}
}
