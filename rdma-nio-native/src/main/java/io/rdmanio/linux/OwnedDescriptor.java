package io.rdmanio.linux;

/**
 * A descriptor with one owner: calls on it enter and leave, and it is closed when the owner has closed it and no call is in
 * progress, so that no call meets a number that already names something else.
 *
 * <p>Thread safety: all methods may be called by any thread. Nothing is allocated per call, and no call blocks.
 */
final class OwnedDescriptor implements AutoCloseable {
    private final UseGate gate = new UseGate();
    private final int number;
    private final String owner;

    /** Owns a descriptor; the owner's class is named in messages. */
    OwnedDescriptor(int number, Class<?> owner) {
        this.number = number;
        this.owner = owner.getSimpleName();
    }

    /** Its number; it means nothing after {@link #close}. */
    int number() {
        return number;
    }

    /** Begins a call, unless it is closed. Returns whether the caller owes a {@link #leave}. */
    boolean tryEnter() {
        return gate.tryEnter();
    }

    /** Begins a call; an IllegalStateException tells that it is closed. */
    void enter() {
        if (!tryEnter()) {
            throw new IllegalStateException("this " + owner + " is closed");
        }
    }

    /** Ends a call. */
    void leave() {
        if (gate.exit()) {
            FileDescriptors.close(number);
        }
    }

    /** Closes it, as soon as no call is in progress. Idempotent. */
    @Override
    public void close() {
        if (tryEnter()) {
            gate.shut();
            leave();
        }
    }
}
