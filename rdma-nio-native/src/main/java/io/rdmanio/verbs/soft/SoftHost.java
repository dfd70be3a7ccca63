package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.ProcessCredentials;
import io.rdmanio.linux.ResourceLimits;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * This process's side of the software device: what its contexts, event channels and endpoints share. There is one at a
 * time, from the first use to the last; tests make more, each of them a process of its own as far as the others can
 * tell.
 *
 * <p>Thread safety: all methods may be called by any thread. The present host and all counts of uses are guarded by one
 * lock of the class; starting and stopping wait under it for the thread that ends, which takes no part in them.
 */
final class SoftHost {
    /** A name that this host listens at. */
    interface Listening {
        /** Stops listening and frees the name. Connections that came to be stay. Idempotent, does not block. */
        void close();
    }

    private static final Logger LOG = System.getLogger(SoftHost.class.getName());
    private static final long END_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long PROCESS_TOKEN = newToken();

    private static final ReentrantLock LOCK = new ReentrantLock();
    // Guarded by LOCK.
    private static SoftHost present;
    /** The one before, whose names must be free before there is a new one. */
    private static SoftHost former;

    private int uses = 1;
    // End of what LOCK guards.

    private final PeerId id;
    private final int userId;
    private final Predicate<ProcessCredentials> trust;
    private final KeyTable keys;
    private final ProgressThread progress;
    private final QueuePairTable queuePairs = new QueuePairTable();
    private final Pairs pairs;
    private final DescriptorShares doorbellShares;
    private final Set<NameListener> listeners = ConcurrentHashMap.newKeySet();
    private final ConnectionManager connections;

    private SoftHost(long token, Predicate<ProcessCredentials> trust, KeyTable keys, long descriptorLimit)
            throws IOException {
        ProcessCredentials own = ProcessCredentials.own();
        this.id = new PeerId(token, own.processId());
        this.userId = own.userId();
        this.trust = trust;
        this.keys = keys;
        pairs = new Pairs(descriptorLimit);
        doorbellShares = new DescriptorShares(descriptorLimit);
        progress = new ProgressThread(this::end);
        connections = new ConnectionManager(new HostNetwork(this), Long.toHexString(token));
    }

    /**
     * Starts a host, in use once.
     *
     * @param token by what it is known
     * @param trust who may have a pair with it
     * @param descriptorLimit how many descriptors the process may have, of which peers get a share
     * @return the host
     * @throws IOException when its descriptors can't be opened
     */
    static SoftHost start(long token, Predicate<ProcessCredentials> trust, long descriptorLimit) throws IOException {
        KeyTable keys = new KeyTable();
        SoftHost host;
        try {
            host = new SoftHost(token, trust, keys, descriptorLimit);
        } catch (IOException | RuntimeException e) {
            keys.close();
            throw e;
        }
        host.progress.start();
        try {
            Listening ignored = host.listen(Rendezvous.processName(host.userId, token));
            return host;
        } catch (IOException | RuntimeException e) {
            host.release();
            throw e;
        }
    }

    /**
     * Starts a host beside that of this process, as another process would.
     *
     * @return the host, in use once
     * @throws IOException when its descriptors can't be opened
     */
    static SoftHost startAnother() throws IOException {
        return startAnother(ResourceLimits.openDescriptors());
    }

    /** Starts a host beside that of this process, which believes to have so many descriptors. */
    static SoftHost startAnother(long descriptorLimit) throws IOException {
        return start(newToken(), SoftHost::isSameUser, descriptorLimit);
    }

    private static long newToken() {
        return new SecureRandom().nextLong();
    }

    /**
     * The token that the host of this process has, whenever there is one.
     *
     * @return a random number, the same for the whole life of the process
     */
    static long processToken() {
        return PROCESS_TOKEN;
    }

    private static boolean isSameUser(ProcessCredentials other) {
        return other.userId() == ProcessCredentials.own().userId();
    }

    /**
     * Takes the host of this process into use, and starts it if it is not running. May wait for the former one to end.
     *
     * @return the host, until the caller calls {@link #release}
     * @throws IOException when its descriptors can't be opened
     */
    static SoftHost acquire() throws IOException {
        LOCK.lock();
        try {
            if (present != null && present.progress.isRunning()) {
                present.uses++;
                return present;
            }
            if (former != null && !former.progress.awaitEnd(END_TIMEOUT_NANOS)) {
                throw Errno.exception("the former progress thread of the software device", Errno.EBUSY);
            }
            former = null;
            present = start(PROCESS_TOKEN, SoftHost::isSameUser, ResourceLimits.openDescriptors());
            return present;
        } finally {
            LOCK.unlock();
        }
    }

    /** Counts one more use of a host that is in use. */
    void retain() {
        LOCK.lock();
        try {
            if (uses == 0) {
                throw new IllegalStateException("the host is closed");
            }
            uses++;
        } finally {
            LOCK.unlock();
        }
    }

    /**
     * Ends one use. With the last one everything ends: pairs, listeners, the thread, all descriptors; the caller waits for
     * that, unless it is the thread itself.
     */
    void release() {
        LOCK.lock();
        try {
            if (uses == 0) {
                throw new IllegalStateException("the host was released more often than it was acquired");
            }
            uses--;
            if (uses > 0) {
                return;
            }
            if (present == this) {
                present = null;
                former = this;
            }
        } finally {
            LOCK.unlock();
        }
        progress.stop();
        if (!progress.isCurrent() && !progress.awaitEnd(END_TIMEOUT_NANOS)) {
            LOG.log(Level.WARNING, "the progress thread of the software device does not end");
        }
    }

    /** On the progress thread, which ends when this returns. */
    private void end() {
        listeners.forEach(NameListener::close);
        listeners.clear();
        pairs.close(Errno.ECANCELED, "this process has closed the device");
        keys.close();
    }

    /**
     * What this host is known by to others: the second half of its GID.
     *
     * @return a random number, the same for the whole life of the process
     */
    long token() {
        return id.token();
    }

    /**
     * What its peers take this host for.
     *
     * @return the token and the process
     */
    PeerId id() {
        return id;
    }

    /**
     * The user whose processes find each other.
     *
     * @return the effective user id of this process
     */
    int userId() {
        return userId;
    }

    /** Whether a process may have a pair with this host. */
    boolean trusts(ProcessCredentials other) {
        return trust.test(other);
    }

    /**
     * The thread.
     *
     * @return the thread, alive as long as the host is in use
     */
    ProgressThread progress() {
        return progress;
    }

    /**
     * The keys of this host.
     *
     * @return the table
     */
    KeyTable keys() {
        return keys;
    }

    /**
     * The connection manager of this host.
     *
     * @return the manager
     */
    ConnectionManager connections() {
        return connections;
    }

    /**
     * The queue pairs of this host.
     *
     * @return the table
     */
    QueuePairTable queuePairs() {
        return queuePairs;
    }

    /**
     * The pairs of this host.
     *
     * @return the directory
     */
    Pairs pairs() {
        return pairs;
    }

    /**
     * What the peers' completion channels may take of this process's descriptors.
     *
     * @return the shares
     */
    DescriptorShares doorbellShares() {
        return doorbellShares;
    }

    /**
     * Finds or makes a pair with the process that listens at a name. Does not block.
     *
     * @param abstractName the name, such as {@link Rendezvous#processName} gives it
     * @param deadlineNanos when to give up, in terms of {@link System#nanoTime}
     * @param listener hears of the outcome, on the progress thread
     */
    void connectPair(String abstractName, long deadlineNanos, PairListener listener) {
        progress.execute(() -> new PairAttempt(this, abstractName, deadlineNanos, listener).start());
    }

    /**
     * Listens at a name: whoever connects becomes a pair. Does not block.
     *
     * @param abstractName the name
     * @return the handle to stop with
     * @throws IOException when somebody listens there already (EADDRINUSE) or no descriptor is left
     */
    Listening listen(String abstractName) throws IOException {
        NameListener listener = new NameListener(this, abstractName);
        listeners.add(listener);
        return () -> {
            if (listeners.remove(listener)) {
                tellNoLongerListening();
            }
            listener.close();
        };
    }

    /** Before the name is free: whoever finds it taken by another process knows that this one has it no more. */
    private void tellNoLongerListening() {
        synchronized (keys) {
            int ignored = keys.epochs().advance(KeyTable.LISTENERS_SLOT);
        }
    }
}
