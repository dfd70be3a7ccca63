package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What all streams of the process over one engine share: the engine, its event channel, the event loop, the workers for calls that may
 * block, and the orderly end when the JVM exits.
 *
 * <p>Made when a channel first binds or connects; a process that never does links nothing. Thread-safe.
 */
public final class StreamRuntime {
    private static final System.Logger LOG = System.getLogger(StreamRuntime.class.getName());

    /** How long the end of the JVM may be held up to end connections in order. */
    private static final long EXIT_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** How much of it is left to other shutdown hooks that use connections. */
    private static final long EXIT_USE_NANOS = TimeUnit.MILLISECONDS.toNanos(1500);

    private static final long EXIT_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int EXIT_QUIET_LOOKS = 4;

    private static final long BRIEF_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Connects over iWARP that may be under way at once; each may take as long as TCP's connect. */
    private static final int MAX_SLOW_CONNECTS = 64;

    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_WORKERS = 4;
    private static final long IDLE_WORKER_SECONDS = 10;

    private static final Map<RdmaEngine, StreamRuntime> INSTANCES = new HashMap<>(); // guarded by itself

    private final RdmaEngine engine;
    private final ConnectFailures failures;
    /** Null when the engine has completion channels only. */
    private final LoopGroup loopGroup;

    private final WaitGroups waitGroups;
    private final StreamMemory memory;
    private final boolean peersHaveGids;
    private final Attendance attendance = new Attendance(this::every);
    private final EventChannel eventChannel;
    private volatile EventLoop.Registration eventWatch;
    private final ThreadPoolExecutor connectors = executor("rdma-nio-connect", MAX_SLOW_CONNECTS);
    private final ThreadPoolExecutor workers;
    private final ThreadPoolExecutor destroyers = executor("rdma-nio-destroy", MAX_WORKERS);
    /** What follows an event where nothing blocks; of the event loop's thread. */
    private final Deque<Runnable> afterEvent = new ArrayDeque<>();

    private final boolean mayBlock;
    /** The event loop's thread while it takes events. */
    private volatile Thread taking;

    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons("rdma-nio-timer"));
    private final Set<StreamConnection> connections = ConcurrentHashMap.newKeySet();

    private StreamRuntime(RdmaEngine engine) throws IOException {
        this.engine = engine;
        mayBlock = engine.mayBlock();
        workers = executor("rdma-nio-work", mayBlock ? MAX_WORKERS : 1);
        failures = new ConnectFailures(engine);
        waitGroups = new WaitGroups(engine);
        peersHaveGids = engine.name().equals(RdmaEngine.soft().name());
        memory = new StreamMemory(this, MemoryBudget.ofProcess(!peersHaveGids));
        timer.setRemoveOnCancelPolicy(true);
        eventChannel = EventChannel.open(engine);
        try {
            watchEvents();
            loopGroup = engine.hasCompletionQueueGroups() ? LoopGroup.start(engine) : null;
        } catch (IOException e) {
            if (eventWatch != null) {
                eventWatch.close();
            }
            eventChannel.close();
            throw e;
        }
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(this::endAll, "rdma-nio-exit"));
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "The JVM is exiting already: open connections will just end", e);
        }
    }

    /**
     * The runtime of this process over an engine.
     *
     * @param engine one that can be used here
     * @throws IOException if it can't be used after all
     */
    public static StreamRuntime over(RdmaEngine engine) throws IOException {
        synchronized (INSTANCES) {
            StreamRuntime runtime = INSTANCES.get(engine);
            if (runtime == null) {
                runtime = new StreamRuntime(engine);
                INSTANCES.put(engine, runtime);
            }
            return runtime;
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

    /** Whether completions are told by groups of completion queues, and not by a channel for each connection. */
    boolean hasGroups() {
        return loopGroup != null;
    }

    /** The group that the event loop watches. */
    CompletionQueueGroup loopGroup() {
        return loopGroup.group();
    }

    /** Groups for threads that block. */
    WaitGroups waitGroups() {
        return waitGroups;
    }

    /** Who looks after connections. */
    Attendance attendance() {
        return attendance;
    }

    /** Memory for all connections. */
    StreamMemory memory() {
        return memory;
    }

    /**
     * What tells a peer from others that must not reach its memory: the process where processes are told apart, else the
     * address.
     *
     * @param gid as {@link CommunicationId#findPeer} tells it
     * @return null when it is not known
     */
    Object identity(Gid gid, InetSocketAddress peer) {
        return peersHaveGids ? gid : peer.getAddress();
    }

    /** Opens a group of completion queues for a selector, which closes it. */
    CompletionQueueGroup openGroup() throws VerbsException {
        return CompletionQueueGroup.open(engine);
    }

    /** How failures over this engine are told. */
    ConnectFailures failures() {
        return failures;
    }

    CommunicationId createId(Object owner) throws VerbsException {
        CommunicationId id = eventChannel.createId(PortSpace.TCP);
        id.attach(owner);
        return id;
    }

    /** Runs what may block for minutes: sending a connection request over iWARP. */
    void executeSlowConnect(Runnable task) {
        connectors.execute(task);
    }

    /** Runs what may block for a moment and somebody waits for; where nothing blocks, the event loop does it itself. */
    void execute(Runnable task) {
        if (!mayBlock && Thread.currentThread() == taking) {
            afterEvent.add(task);
        } else {
            workers.execute(task);
        }
    }

    /** Runs what makes a connection and asks the peer for it: at once, where nothing blocks. */
    void executeConnect(Runnable task) {
        if (mayBlock) {
            workers.execute(task);
        } else {
            task.run();
        }
    }

    /** Runs what may block for a moment and nobody waits for: destroying a connection. */
    void executeDestroy(Runnable task) {
        destroyers.execute(task);
    }

    ScheduledFuture<?> after(long nanos, Runnable task) {
        return timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    /** Runs a task again and again, with pauses, until the future is cancelled or it throws. The same objects serve all runs. */
    private ScheduledFuture<?> every(long nanos, Runnable task) {
        return timer.scheduleWithFixedDelay(task, nanos, nanos, TimeUnit.NANOSECONDS);
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

    private void watchEvents() throws IOException {
        eventWatch = EventLoop.get().register(eventChannel.fileDescriptor(), false, this::takeEvents);
    }

    private void takeEvents() {
        taking = Thread.currentThread();
        try {
            boolean more;
            do {
                more = takeEvent();
                runAfterEvent();
            } while (more);
        } catch (VerbsException | RuntimeException e) {
            LOG.log(Level.ERROR, "Communication events can't be read; trying again in a second", e);
            eventWatch.close();
            var _ = after(RETRY_NANOS, this::watchEventsAgain);
        } finally {
            taking = null;
        }
    }

    /** Without the locks of whoever wanted it, and when the event is acknowledged. */
    private void runAfterEvent() {
        for (Runnable task = afterEvent.poll(); task != null; task = afterEvent.poll()) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                // a bug in what follows for one connection must not end the others; it is told loudly
                LOG.log(Level.ERROR, "What follows an event failed", e);
            }
        }
    }

    private void watchEventsAgain() {
        try {
            watchEvents();
        } catch (IOException e) {
            LOG.log(Level.ERROR, "Communication events can't be watched; trying again in a second", e);
            var _ = after(RETRY_NANOS, this::watchEventsAgain);
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

    /**
     * The JVM exits: delivers what has been written, then lets every peer see the end; bounded. Other shutdown hooks run at
     * the same time and may still talk to their peers, so a connection is ended when nothing was read or written for a
     * while, and all are when time is almost up.
     */
    private void endAll() {
        long start = System.nanoTime();
        Map<StreamConnection, Integer> quietLooks = new HashMap<>();
        Map<StreamConnection, Long> uses = new HashMap<>();
        while (!connections.isEmpty() && System.nanoTime() - start < EXIT_USE_NANOS) {
            boolean allEnded = true;
            for (StreamConnection connection : connections) {
                long used = connection.useCount();
                boolean quiet = Objects.equals(uses.put(connection, used), used);
                int looks = quietLooks.merge(connection, quiet ? 1 : 0, (before, now) -> quiet ? before + 1 : 0);
                if (looks >= EXIT_QUIET_LOOKS) {
                    endOne(connection);
                } else {
                    allEnded = false;
                }
            }
            if (allEnded) {
                break;
            }
            LockSupport.parkNanos(EXIT_LOOK_NANOS);
        }
        connections.forEach(StreamRuntime::endOne);
        for (StreamConnection connection : connections) {
            if (!connection.awaitDrained(start + EXIT_NANOS - System.nanoTime())) {
                LOG.log(Level.WARNING, "The JVM ends before the tail of {0} was delivered", connection);
            }
        }
    }

    private static void endOne(StreamConnection connection) {
        try {
            connection.close(false);
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "Ending " + connection + " failed", e);
        }
    }
}
