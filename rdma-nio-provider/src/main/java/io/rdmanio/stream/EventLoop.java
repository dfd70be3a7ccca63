package io.rdmanio.stream;

import io.rdmanio.linux.Epoll;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The one thread that watches descriptors for those who can't: communication events, connections that are being closed,
 * virtual threads that wait.
 *
 * <p>Handlers run in that thread and must not block. Thread-safe.
 */
public final class EventLoop {
    private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());
    private static final int EVENTS_AT_ONCE = 64;

    private static final Object INSTANCE_LOCK = new Object();
    private static EventLoop instance; // guarded by INSTANCE_LOCK

    private final Epoll epoll;
    private final ConcurrentHashMap<Long, Registration> registrations = new ConcurrentHashMap<>();
    private final AtomicLong nextToken = new AtomicLong();

    private EventLoop() throws IOException {
        epoll = new Epoll(EVENTS_AT_ONCE);
        Thread.ofPlatform().daemon().name("rdma-nio-events").start(this::run);
    }

    /** The loop of this process; its thread starts with the first call. */
    public static EventLoop get() throws IOException {
        synchronized (INSTANCE_LOCK) {
            if (instance == null) {
                instance = new EventLoop();
            }
            return instance;
        }
    }

    /** One descriptor's place in the loop. */
    public final class Registration implements AutoCloseable {
        private final long token = nextToken.incrementAndGet();
        private final int descriptor;
        private final Runnable handler;

        private Registration(int descriptor, Runnable handler) {
            this.descriptor = descriptor;
            this.handler = handler;
        }

        /** Watches a one-shot registration's descriptor once more. */
        public void rearm() throws IOException {
            epoll.modify(descriptor, Epoll.IN | Epoll.ONESHOT, token);
        }

        /** Ends it; the handler may be running for a last time. To be called before the descriptor is closed. */
        @Override
        public void close() {
            if (registrations.remove(token) != null) {
                try {
                    epoll.remove(descriptor);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    /**
     * Watches a descriptor until the registration is closed.
     *
     * @param oneShot whether it is watched for one event only, until rearmed
     * @param handler called in the loop's thread while the descriptor is readable; must not block
     */
    public Registration register(int descriptor, boolean oneShot, Runnable handler) throws IOException {
        Registration registration = new Registration(descriptor, handler);
        registrations.put(registration.token, registration);
        try {
            epoll.add(descriptor, oneShot ? Epoll.IN | Epoll.ONESHOT : Epoll.IN, registration.token);
        } catch (IOException e) {
            registrations.remove(registration.token);
            throw e;
        }
        return registration;
    }

    private void run() {
        try {
            while (true) {
                int count = epoll.await(-1);
                for (int i = 0; i < count; i++) {
                    Registration registration = registrations.get(epoll.data(i));
                    if (registration != null) {
                        handle(registration);
                    }
                }
            }
        } catch (IOException e) {
            LOG.log(Level.ERROR, "The event loop has ended: its epoll instance failed", e);
        }
    }

    private static void handle(Registration registration) {
        try {
            registration.handler.run();
        } catch (RuntimeException | Error e) {
            // a bug in one connection's handler must not end the others; it is told loudly and the descriptor dropped,
            // for it would be reported again at once
            registration.close();
            LOG.log(Level.ERROR, "An event handler failed", e);
        }
    }
}
