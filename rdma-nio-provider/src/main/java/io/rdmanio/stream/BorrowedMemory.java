package io.rdmanio.stream;

import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;

/**
 * What one connection has borrowed of its {@link TrustDomain}. All goes back at once, when its queue pair is destroyed and the
 * peer can write no more by way of it: only then may another connection have it.
 *
 * <p>Not thread-safe: filled by the worker that makes the connection; what follows is ordered by the queue pair's end.
 */
final class BorrowedMemory implements AutoCloseable {
    private final StreamMemory memory;
    private final TrustDomain domain;
    private final List<MemoryBlock> exposed = new ArrayList<>();
    private final List<MemoryBlock> local = new ArrayList<>();
    private boolean leftToQueuePair;

    BorrowedMemory(StreamMemory memory, TrustDomain domain) {
        this.memory = memory;
        this.domain = domain;
    }

    ProtectionDomain protectionDomain() {
        return domain.protectionDomain;
    }

    /** A block that the peer may write. */
    MemoryBlock exposed(int bytes) throws VerbsException {
        MemoryBlock block = domain.exposed.borrow(bytes);
        exposed.add(block);
        return block;
    }

    /** A block that the peer may not write. */
    MemoryBlock local(int bytes) throws VerbsException {
        MemoryBlock block = domain.local.borrow(bytes);
        local.add(block);
        return block;
    }

    /** From now on it goes back when the queue pair has come to its end, and not by {@link #close}. */
    void leaveTo(QueuePair queuePair) {
        queuePair.onQuiet(this::giveBack);
        leftToQueuePair = true;
    }

    private void giveBack() {
        exposed.forEach(domain.exposed::giveBack);
        local.forEach(domain.local::giveBack);
        memory.leave(domain);
    }

    /** Gives everything back, if there never was a queue pair. */
    @Override
    public void close() {
        if (!leftToQueuePair) {
            giveBack();
        }
    }
}
