package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Processes with nothing but a connection manager each, whose messages and timers wait until the test lets them happen.
 * Not thread-safe.
 */
final class FakeTown {
    static final long ANSWER_NANOS = TimeUnit.HOURS.toNanos(1);
    static final int MAX_READS = 16;

    /** What happened, oldest first. */
    final List<String> journal = new ArrayList<>();
    /** Names that are taken, and by whom. */
    final Map<String, FakeProcess> names = new TreeMap<>();

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final List<Timer> timers = new ArrayList<>();
    private int lastProcess;

    private static final class Timer {
        final long deadlineNanos;
        final Runnable task;
        boolean cancelled;

        Timer(long deadlineNanos, Runnable task) {
            this.deadlineNanos = deadlineNanos;
            this.task = task;
        }
    }

    /** Lets messages arrive until none is under way. */
    void settle() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    /** Lets the time of everything come that waits for its time, once. */
    void letTimePass() {
        letTimePass(2 * ANSWER_NANOS);
    }

    /** Lets the time of everything come that waits no longer than for so long, once. */
    void letTimePass(long nanos) {
        long now = System.nanoTime() + nanos;
        List<Timer> due =
                timers.stream().filter(timer -> timer.deadlineNanos - now < 0).toList();
        timers.removeAll(due);
        for (Timer timer : due) {
            if (!timer.cancelled) {
                timer.task.run();
            }
        }
        settle();
    }

    /** How many timers run. */
    long timers() {
        return timers.stream().filter(timer -> !timer.cancelled).count();
    }

    FakeProcess newProcess() {
        return new FakeProcess(++lastProcess);
    }

    /** A process. */
    final class FakeProcess implements ConnectionNetwork, ConnectionDevice {
        final int number;
        final ConnectionManager manager;
        final Map<FakeProcess, Peer> peers = new HashMap<>();
        int uses;
        /** How often this has given a name back. */
        int listenerEpoch;
        /** How often this has looked for a name. */
        int searches;
        /** What looking for a process ends with, unless 0. */
        int failNextFind;

        private final ContextHandle context = (ContextHandle) Proxy.newProxyInstance(
                FakeTown.class.getClassLoader(), new Class<?>[] {ContextHandle.class}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                });

        FakeProcess(int number) {
            this.number = number;
            this.manager = new ConnectionManager(this, "process" + number, ANSWER_NANOS);
        }

        @Override
        public Runnable take(String name) {
            return names.putIfAbsent(name, this) == null ? () -> giveBack(name) : null;
        }

        private void giveBack(String name) {
            listenerEpoch++;
            names.remove(name);
        }

        @Override
        public List<String> others() {
            return names.entrySet().stream()
                    .filter(entry -> entry.getValue() != this)
                    .map(Map.Entry::getKey)
                    .toList();
        }

        @Override
        public void find(String name, long deadlineNanos, Search search) {
            searches++;
            tasks.add(() -> {
                FakeProcess owner = names.get(name);
                int errno = failNextFind;
                failNextFind = 0;
                if (errno != 0 || owner == null) {
                    search.failed(errno == 0 ? Errno.ECONNREFUSED : errno);
                } else {
                    search.found(peer(owner));
                }
            });
        }

        /** This process's end of the pair with another, or with itself. */
        Peer peer(FakeProcess other) {
            if (!peers.containsKey(other)) {
                Peer here = new Peer(this);
                Peer there = new Peer(other);
                here.opposite = there;
                there.opposite = here;
                peers.put(other, here);
                other.peers.putIfAbsent(this, there);
            }
            return peers.get(other);
        }

        @Override
        public Runnable schedule(long deadlineNanos, Runnable task) {
            Timer timer = new Timer(deadlineNanos, task);
            timers.add(timer);
            return () -> timer.cancelled = true;
        }

        /** Ends the process: its names are free, and those at the other ends hear of it. */
        void die() {
            names.values().removeIf(owner -> owner == this);
            peers.values().forEach(peer -> {
                peer.die();
                peer.opposite.die();
            });
        }

        @Override
        public ConnectionManager connections() {
            return manager;
        }

        @Override
        public void retain() {
            uses++;
        }

        @Override
        public void release() {
            uses--;
        }

        @Override
        public ContextHandle context() {
            return context;
        }

        @Override
        public ProtectionDomainHandle domain() {
            return null;
        }

        @Override
        public int maxReads() {
            return MAX_READS;
        }

        @Override
        public NewQueuePair createQueuePair(ProtectionDomainHandle domain, QueuePairRequest request) {
            FakeQueuePair pair = new FakeQueuePair(journal, 100 * number + 1);
            return new NewQueuePair(pair.handle(), pair);
        }

        @Override
        public SharedReceiveQueueHandle createSharedReceiveQueue(
                ProtectionDomainHandle domain, SharedReceiveQueueAttributes wanted) throws VerbsException {
            throw new VerbsException("rdma_create_srq", "", Errno.EOPNOTSUPP, "");
        }
    }

    /** One end of a pair. */
    final class Peer implements ConnectionPeer {
        final FakeProcess here;
        Peer opposite;
        boolean dead;
        /** Messages that never arrive. */
        boolean deaf;

        private final List<Runnable> mourners = new ArrayList<>();

        Peer(FakeProcess here) {
            this.here = here;
        }

        @Override
        public long peerToken() {
            return opposite.here.number;
        }

        @Override
        public boolean isDead() {
            return dead;
        }

        @Override
        public int listenerEpoch() {
            return opposite.here.listenerEpoch;
        }

        @Override
        public void send(ControlMessage message) {
            journal.add(here.number + " " + message.getClass().getSimpleName());
            if (dead || deaf) {
                return;
            }
            tasks.add(() -> {
                if (!dead) {
                    try {
                        opposite.here.manager.received(opposite, (ControlMessage.Connection) message);
                    } catch (ProtocolException e) {
                        journal.add("violation by " + here.number);
                        die();
                        opposite.die();
                    }
                }
            });
        }

        @Override
        public void onDeath(Runnable task) {
            if (dead) {
                tasks.add(task);
            } else {
                mourners.add(task);
            }
        }

        private void die() {
            if (!dead) {
                dead = true;
                tasks.addAll(mourners);
                mourners.clear();
            }
        }
    }

    /** A queue pair that says what was asked of it. */
    static final class FakeQueuePair implements ConnectedQueuePair {
        Agreement agreement;
        /** The next connect fails with this error number, unless it is 0. */
        int failNextConnect;

        private final List<String> journal;
        private final int number;
        private boolean destroyed;

        FakeQueuePair(List<String> journal, int number) {
            this.journal = journal;
            this.number = number;
        }

        QueuePairHandle handle() {
            return (QueuePairHandle) Proxy.newProxyInstance(
                    FakeTown.class.getClassLoader(),
                    new Class<?>[] {QueuePairHandle.class},
                    (proxy, method, arguments) -> {
                        destroyed = true;
                        return null;
                    });
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public boolean usesSharedReceiveQueue() {
            return false;
        }

        @Override
        public boolean isDestroyed() {
            return destroyed;
        }

        @Override
        public void connect(ConnectionPeer peer, Agreement agreed) throws VerbsException {
            if (failNextConnect != 0) {
                throw new VerbsException("ibv_modify_qp", "", failNextConnect, "");
            }
            agreement = agreed;
            journal.add("connect " + number + " to " + agreed.peerQueuePair());
        }

        @Override
        public void enterError() {
            journal.add("error " + number);
        }
    }
}
