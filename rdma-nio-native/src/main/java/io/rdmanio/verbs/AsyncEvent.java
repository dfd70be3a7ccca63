package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.TakenAsyncEvent;

/**
 * Something happened to a device, to one of its ports, or to an object made from it ({@code struct ibv_async_event},
 * ibv_get_async_event(3)). Until it is closed, the object it is about is not destroyed by others unseen: closing that
 * object acknowledges the event itself.
 *
 * <p>Immutable; thread-safe.
 */
public final class AsyncEvent implements AutoCloseable {
    private final AsyncSource source;
    private final TakenAsyncEvent taken;

    AsyncEvent(AsyncSource source, TakenAsyncEvent taken) {
        this.source = source;
        this.taken = taken;
    }

    TakenAsyncEvent taken() {
        return taken;
    }

    /**
     * What happened.
     *
     * @return the type; UNKNOWN when this version does not know it
     */
    public AsyncEventType type() {
        return taken.type();
    }

    /**
     * The C value of the type.
     *
     * @return such as {@code IBV_EVENT_PORT_ERR}; it tells what an UNKNOWN type is
     */
    public int value() {
        return taken.value();
    }

    /**
     * The port it is about.
     *
     * @return the number, from 1; 0 when it is not about a port
     */
    public int portNumber() {
        return taken.port();
    }

    /**
     * The completion queue it is about.
     *
     * @return the queue; null when the event is not about one, or about one that was not made here
     */
    public CompletionQueue completionQueue() {
        return source.subject() instanceof CompletionQueue queue ? queue : null;
    }

    /**
     * The queue pair it is about.
     *
     * @return the queue pair; null when the event is not about one, or about one that was not made here
     */
    public QueuePair queuePair() {
        return source.subject() instanceof QueuePair pair ? pair : null;
    }

    /**
     * The shared receive queue it is about.
     *
     * @return the queue; null when the event is not about one, or about one that was not made here
     */
    public SharedReceiveQueue sharedReceiveQueue() {
        return source.subject() instanceof SharedReceiveQueue queue ? queue : null;
    }

    /** Acknowledges the event (ibv_ack_async_event(3)). Idempotent; does not block. */
    @Override
    public void close() {
        source.acknowledge(this);
    }

    /**
     * Type, and what it is about.
     *
     * @return for messages
     */
    @Override
    public String toString() {
        AsyncEventType type = type();
        String text = "AsyncEvent[" + (type == AsyncEventType.UNKNOWN ? "UNKNOWN " + value() : type);
        if (portNumber() != 0) {
            text += ", port " + portNumber();
        }
        return text + "]";
    }
}
