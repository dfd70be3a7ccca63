package io.rdmanio.stream;

import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationId;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The registered memory of all streams over an engine, so that it grows with traffic and not with connections: a
 * {@link TrustDomain} for each peer there are connections with, or were until a moment ago.
 *
 * <p>Thread-safe. {@code this} guards the domains and their counts.
 */
final class StreamMemory {
    private static final System.Logger LOG = System.getLogger(StreamMemory.class.getName());

    /** How long what nobody uses is kept for whoever comes next. */
    private static final long KEEP_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** How long after a failure to get more memory it is tried again. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final StreamRuntime runtime;
    private final MemoryBudget budget;

    // begin: guarded by this
    private final Map<Peer, TrustDomain> domains = new HashMap<>();
    private final Set<Runnable> waitingForRoom = new LinkedHashSet<>();
    private boolean freeingLater;
    // end

    /** Who may harm whom: connections over one device with one peer, whatever it is known by. */
    private record Peer(DeviceContext device, Object identity) {}

    StreamMemory(StreamRuntime runtime, MemoryBudget budget) {
        this.runtime = runtime;
        this.budget = budget;
    }

    /** What may be registered, and is. */
    MemoryBudget budget() {
        return budget;
    }

    /**
     * Promises memory to a connection that a peer asks for.
     *
     * @param bytes what it needs at first
     * @param whenThereIsRoom run once, by a worker, when there may be room; only if this returns false
     * @return whether it may be made; {@link #fulfilled} follows
     */
    boolean tryPromise(long bytes, Runnable whenThereIsRoom) {
        if (budget.tryPromise(bytes)) {
            return true;
        }
        synchronized (this) {
            waitingForRoom.add(whenThereIsRoom);
        }
        // who has given memory back meanwhile has not known of this one
        if (budget.tryPromise(bytes)) {
            synchronized (this) {
                waitingForRoom.remove(whenThereIsRoom);
            }
            return true;
        }
        return false;
    }

    /** A promise was kept, or will never be. Does not block. */
    void fulfilled(long bytes) {
        budget.fulfilled(bytes);
        roomMade();
    }

    /** Memory was given back. Does not block. */
    synchronized void roomMade() {
        waitingForRoom.forEach(runtime::execute);
        waitingForRoom.clear();
    }

    /**
     * The domain for a connection; a new one if it is the first with its peer.
     *
     * @param id bound to its device
     * @param identity what tells the peer from others; null if nothing does, and the domain is this connection's alone
     * @return the domain, to be {@linkplain #leave left}
     * @throws VerbsException if the device has no more
     */
    TrustDomain enter(CommunicationId id, Object identity) throws VerbsException {
        DeviceContext device = id.device();
        if (identity == null) {
            TrustDomain own = make(device);
            own.users = 1;
            return own;
        }
        synchronized (this) {
            Peer peer = new Peer(device, identity);
            TrustDomain domain = domains.get(peer);
            if (domain == null) {
                domain = make(device);
                domain.shared = true;
                domains.put(peer, domain);
            }
            domain.users++;
            return domain;
        }
    }

    private TrustDomain make(DeviceContext device) throws VerbsException {
        return new TrustDomain(device.allocateProtectionDomain(), budget, this::freeLater);
    }

    /**
     * Has a worker make room for a block that a connection in the domain asked for in vain. Does not block.
     *
     * @param pool one of the domain's
     * @param whenGrown run by a worker when there is room, or there may be
     */
    void growSoon(TrustDomain domain, SlabPool pool, int bytes, Runnable whenGrown) {
        synchronized (this) {
            domain.waitingForGrowth.add(whenGrown);
            if (domain.growing) {
                return;
            }
            domain.growing = true;
            domain.users++; // it stays until the worker is through
        }
        runtime.execute(() -> grow(domain, pool, bytes));
    }

    private void grow(TrustDomain domain, SlabPool pool, int bytes) {
        try {
            pool.makeRoom(bytes);
            grown(domain);
        } catch (VerbsException e) {
            LOG.log(Level.DEBUG, "No memory for more than small buffers", e);
            // there may be some when others have given theirs back
            var _ = runtime.after(RETRY_NANOS, () -> runtime.execute(() -> grown(domain)));
        }
    }

    private void grown(TrustDomain domain) {
        List<Runnable> waiting;
        synchronized (this) {
            domain.growing = false;
            waiting = List.copyOf(domain.waitingForGrowth);
            domain.waitingForGrowth.clear();
        }
        waiting.forEach(Runnable::run);
        leave(domain);
    }

    /** A connection is at its end, and its peer can't reach what it had borrowed by way of it. Does not block. */
    void leave(TrustDomain domain) {
        roomMade();
        synchronized (this) {
            domain.users--;
            domain.unusedSinceNanos = System.nanoTime();
            if (domain.users > 0) {
                return;
            }
        }
        if (domain.shared) {
            freeLater();
            return;
        }
        runtime.executeDestroy(() -> close(domain));
    }

    private static void close(TrustDomain domain) {
        try {
            domain.close();
        } catch (VerbsException e) {
            LOG.log(Level.WARNING, "Memory of connections that have ended could not be freed", e);
        }
    }

    private synchronized void freeLater() {
        if (!freeingLater) {
            freeingLater = true;
            var _ = runtime.after(KEEP_NANOS, () -> runtime.executeDestroy(this::freeWhatIsOld));
        }
    }

    private void freeWhatIsOld() {
        synchronized (this) {
            freeingLater = false;
        }
        if (freeUnused(KEEP_NANOS)) {
            freeLater();
        }
    }

    /**
     * Frees what nobody has used for a while. Blocks in the kernel.
     *
     * @param nanos how long
     * @return whether something else may be freed later
     */
    boolean freeUnused(long nanos) {
        List<TrustDomain> closing = new ArrayList<>();
        List<TrustDomain> others = new ArrayList<>();
        boolean left = false;
        synchronized (this) {
            long now = System.nanoTime();
            for (Iterator<TrustDomain> all = domains.values().iterator(); all.hasNext(); ) {
                TrustDomain domain = all.next();
                if (domain.users == 0 && now - domain.unusedSinceNanos >= nanos) {
                    all.remove();
                    closing.add(domain);
                } else {
                    others.add(domain);
                    left |= domain.users == 0;
                }
            }
        }
        closing.forEach(StreamMemory::close);
        for (TrustDomain domain : others) {
            try {
                left |= domain.freeUnused(nanos);
            } catch (IOException e) {
                LOG.log(Level.WARNING, "Memory that no connection uses could not be freed", e);
                left = true; // what is not so old yet
            }
        }
        return left;
    }
}
