package io.rdmanio.stream;

import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.SocketException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * What all streams of the process share: the engine, its event channel, the event loop, the workers for calls that may
 * block, one protection domain per device, and the orderly end when the JVM exits.
 *
 * <p>Made when a channel first binds or connects; a process that never does links nothing. Thread-safe.
 */
public final class StreamRuntime {
    private static final System.Logger LOG = System.getLogger(StreamRuntime.class.getName());

    /** How long the end of the JVM waits for tails to be delivered. */
    static final long EXIT_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long BRIEF_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final int MAX_CONNECTORS = 16;
    private static final int MAX_WORKERS = 4;
    private static final long IDLE_WORKER_SECONDS = 10;

    private static final Object INSTANCE_LOCK = new Object();
    private static StreamRuntime instance; // guarded by INSTANCE_LOCK

    private final EventChannel eventChannel;
    private final ThreadPoolExecutor connectors = executor("rdma-nio-connect", MAX_CONNECTORS);
    private final ThreadPoolExecutor workers = executor("rdma-nio-work", MAX_WORKERS);
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons("rdma-nio-timer"));
    private final Map<DeviceContext, ProtectionDomain> domains = new ConcurrentHashMap<>();
    private final Set<StreamConnection> connections = ConcurrentHashMap.newKeySet();

    private StreamRuntime(RdmaEngine engine) throws IOException {
        timer.setRemoveOnCancelPolicy(true);
        eventChannel = EventChannel.open(engine);
        EventLoop.get().register(eventChannel.fileDescriptor(), false, this::takeEvents);
        Runtime.getRuntime().addShutdownHook(new Thread(this::endAll, "rdma-nio-exit"));
    }

    /**
     * The runtime of this process.
     *
     * @throws SocketException if RDMA can't be used here; the message says why and what helps
     */
    public static StreamRuntime get() throws IOException {
        synchronized (INSTANCE_LOCK) {
            if (instance == null) {
                RdmaEngine engine = RdmaEngine.system();
                Optional<String> reason = engine.unavailableReason();
                if (reason.isPresent()) {
                    throw new SocketException("RDMA is not available: " + reason.get());
                }
                instance = new StreamRuntime(engine);
            }
            return instance;
        }
    }

    private static ThreadFactory daemons(String name) {
        return Thread.ofPlatform().daemon().name(name + "-", 0).factory();
    }

    private static ThreadPoolExecutor executor(String name, int maxThreads) {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(
                maxThreads,
                maxThreads,
                IDLE_WORKER_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                daemons(name));
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    CommunicationId createId(Object owner) throws VerbsException {
        CommunicationId id = eventChannel.createId(PortSpace.TCP);
        id.attach(owner);
        return id;
    }

    /** Runs what may block for seconds: sending a connection request. */
    void executeConnect(Runnable task) {
        connectors.execute(task);
    }

    /** Runs what may block for a moment: making and destroying. */
    void execute(Runnable task) {
        workers.execute(task);
    }

    ScheduledFuture<?> after(long nanos, Runnable task) {
        return timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    /** The protection domain of all streams over a device. */
    ProtectionDomain domainOf(DeviceContext device) throws VerbsException {
        ProtectionDomain domain = domains.get(device);
        if (domain != null) {
            return domain;
        }
        synchronized (domains) {
            domain = domains.get(device);
            if (domain == null) {
                domain = device.allocateProtectionDomain();
                domains.put(device, domain);
            }
            return domain;
        }
    }

    void opened(StreamConnection connection) {
        connections.add(connection);
    }

    void closed(StreamConnection connection) {
        connections.remove(connection);
    }

    /** Connections that hold resources, whether or not their channel is still open. */
    public int connectionCount() {
        return connections.size();
    }

    /** Waits, with a bound, for something that a worker does next. */
    void awaitBriefly(CountDownLatch latch) {
        if (!awaitUninterruptibly(latch, BRIEF_WAIT_NANOS)) {
            LOG.log(Level.WARNING, "The workers are busy; not waiting for them any longer");
        }
    }

    static boolean awaitUninterruptibly(CountDownLatch latch, long nanos) {
        boolean interrupted = false;
        long deadline = System.nanoTime() + nanos;
        try {
            while (true) {
                try {
                    return latch.await(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void takeEvents() {
        try {
            boolean more;
            do {
                more = takeEvent();
            } while (more);
        } catch (VerbsException e) {
            LOG.log(Level.ERROR, "Communication events can't be read", e);
        }
    }

    private boolean takeEvent() throws VerbsException {
        try (CommunicationEvent event = eventChannel.takeEvent()) {
            if (event == null) {
                return false;
            }
            try {
                dispatch(event);
            } catch (RuntimeException | Error e) {
                // a bug in what one connection makes of an event must not end the others; it is told loudly
                LOG.log(Level.ERROR, "The handler of " + event + " failed", e);
            }
            return true;
        }
    }

    private static void dispatch(CommunicationEvent event) {
        LOG.log(Level.DEBUG, "{0}", event);
        if (event.listenId() != null && event.listenId().attachment() instanceof StreamListener listener) {
            listener.requested(event);
        } else if (event.id() != null) {
            switch (event.id().attachment()) {
                case StreamConnection connection -> connection.onEvent(event);
                case StreamListener listener -> listener.onEvent(event);
                case null, default -> LOG.log(Level.WARNING, "Nobody owns the id of {0}", event);
            }
        }
    }

    /** The JVM exits: delivers what has been written, then lets every peer see the end; bounded. */
    private void endAll() {
        long deadline = System.nanoTime() + EXIT_DRAIN_NANOS;
        connections.forEach(connection -> connection.close(false));
        for (StreamConnection connection : connections) {
            if (!connection.awaitDrained(deadline - System.nanoTime())) {
                LOG.log(Level.WARNING, "The JVM ends before the tail of {0} was delivered", connection);
            }
        }
    }
}
