package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The asynchronous events of a device context: finds the object that one is about, and knows which are not
 * acknowledged.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code lock} guards the table of sources, what they owe,
 * and an event's way from the native queue to its source; nothing blocks under it. An object is in the table from the
 * end of its creation until its native part is destroyed. As long as an event is not acknowledged, the native destroy of
 * its object does not return, so what is found under the lock is that object and no successor at the same address; one
 * that is being destroyed is marked first, under the same lock.
 */
final class AsyncEvents {
    private final ContextHandle handle;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Long, AsyncSource> sources = new HashMap<>();
    private final AsyncSource device = new AsyncSource(this, 0, null);

    AsyncEvents(ContextHandle handle) {
        this.handle = handle;
    }

    /** Makes an object known. Last in its constructor. */
    AsyncSource register(long element, Object subject) {
        AsyncSource source = new AsyncSource(this, element, subject);
        if (element != 0) {
            lock.lock();
            try {
                sources.put(element, source);
            } finally {
                lock.unlock();
            }
        }
        return source;
    }

    /** Takes an event; null when none is queued. */
    AsyncEvent take() throws VerbsException {
        lock.lock();
        try {
            while (true) {
                TakenAsyncEvent taken = handle.takeAsyncEvent();
                if (taken == null) {
                    return null;
                }
                AsyncSource source = taken.element() == 0 ? device : sources.get(taken.element());
                if (source == null) {
                    // Somebody else's object, which nobody here keeps alive: paid at once, and told without it.
                    handle.acknowledgeAsyncEvent(taken);
                    return new AsyncEvent(new AsyncSource(this, taken.element(), null), taken);
                }
                if (source.dying) {
                    handle.acknowledgeAsyncEvent(taken);
                } else {
                    AsyncEvent event = new AsyncEvent(source, taken);
                    source.unacknowledged.add(event);
                    HandleKind.ASYNC_EVENT.opened();
                    return event;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Acknowledges an event, once. */
    void acknowledge(AsyncSource source, AsyncEvent event) {
        lock.lock();
        try {
            if (source.unacknowledged.remove(event)) {
                pay(event);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Under {@link #lock}. */
    private void pay(AsyncEvent event) {
        handle.acknowledgeAsyncEvent(event.taken());
        HandleKind.ASYNC_EVENT.closed();
    }

    void settle(AsyncSource source) {
        lock.lock();
        try {
            source.dying = true;
            source.unacknowledged.forEach(this::pay);
            source.unacknowledged.clear();
        } finally {
            lock.unlock();
        }
    }

    void forget(AsyncSource source) {
        lock.lock();
        try {
            sources.remove(source.element, source);
        } finally {
            lock.unlock();
        }
    }

    /** Acknowledges what the device itself owes, before it is closed. */
    void settleDevice() {
        settle(device);
    }
}
