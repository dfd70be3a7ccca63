package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;

/**
 * One selection key's eye on a source of readiness. While it sleeps, the source calls {@link #ready()} as soon as one of
 * the operations it waits for becomes ready, and puts it to sleep no more until it is asked again.
 *
 * <p>Thread-safe: its state is guarded by the source's lock.
 */
public abstract class Watch implements Sleeper {
    // guarded by the source's lock
    int sleepingFor;

    /** Constructs a watch that is awake. */
    protected Watch() {}

    /**
     * The group of completion queues that the key's selector watches; asked for a source without a descriptor that
     * {@linkplain ReadinessSource#needsGroup() needs one}.
     *
     * @return the group, which tells of this watch
     */
    @Override
    public abstract CompletionQueueGroup group();

    @Override
    public final Object token() {
        return this;
    }

    /** Tells that an operation became ready. Called with the source's lock held: must not block nor call the source. */
    protected abstract void ready();
}
