package io.rdmanio.stream;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What the connections with one peer share: a protection domain, and memory that is lent to no connection with another peer.
 * A peer's writes reach all that is exposed in the domain of its connections, so what a peer can harm there is its own.
 *
 * <p>Thread-safe. {@link StreamMemory} counts the users.
 */
final class TrustDomain {
    /** Memory that the peer may write: halves of receive buffers, and tables. */
    final SlabPool exposed;

    /** Memory that it may not: what is sent from, and what messages are received in. */
    final SlabPool local;

    final ProtectionDomain protectionDomain;

    /** Whether it is for all connections with the peer; set once. */
    boolean shared;

    // begin: guarded by StreamMemory
    int users;

    boolean growing;

    final Set<Runnable> waitingForGrowth = new LinkedHashSet<>();
    long unusedSinceNanos;
    // end

    private final MemoryBudget budget;

    TrustDomain(ProtectionDomain protectionDomain, MemoryBudget budget, Runnable whenUnused) {
        this.protectionDomain = protectionDomain;
        this.budget = budget;
        this.exposed =
                new SlabPool(protectionDomain, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE, budget, whenUnused);
        this.local = new SlabPool(protectionDomain, AccessFlags.LOCAL_WRITE, budget, whenUnused);
    }

    /**
     * Frees slabs of which nothing has been lent for a while. Blocks in the kernel.
     *
     * @return whether others may be freed later
     * @throws IOException if one can't be; the others are
     */
    boolean freeUnused(long nanos) throws IOException {
        List<MemorySlab> unused = new ArrayList<>();
        boolean exposedLeft = exposed.takeUnused(nanos, unused);
        boolean localLeft = local.takeUnused(nanos, unused);
        ResourceStack freeing = new ResourceStack();
        for (MemorySlab slab : unused) {
            freeing.add(() -> {
                slab.region.close();
                budget.deregistered(slab.lengthBytes());
            });
        }
        freeing.close();
        return exposedLeft || localLeft;
    }

    /** Frees everything. Blocks in the kernel. */
    void close() throws VerbsException {
        protectionDomain.close();
        budget.deregistered(exposed.registeredBytes() + local.registeredBytes());
    }
}
