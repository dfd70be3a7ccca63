package io.rdmanio.verbs.soft;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The peers that were given the memory of a key. When the key ends, each is told, and each gives it back by saying that
 * it is unmapped, or by dying.
 *
 * <p>Thread safety: all methods may be called by any thread. Everything is guarded by this; messages to peers are sent
 * under it, so that each peer hears of the memory first and of its end afterwards.
 */
final class Importers {
    private final Set<Exports> peers = new HashSet<>();
    private final List<Runnable> whenNone = new ArrayList<>();
    private boolean revoked;

    /**
     * Gives the memory to a peer.
     *
     * @param peer the peer
     * @param sending sends it
     * @return false when the key has ended, and nothing was sent
     */
    synchronized boolean give(Exports peer, Runnable sending) {
        if (revoked) {
            return false;
        }
        peers.add(peer);
        sending.run();
        return true;
    }

    /**
     * Asks for the memory back, once.
     *
     * @param slot the slot of the key
     * @param epoch the epoch that is over
     */
    synchronized void revoke(int slot, int epoch) {
        revoked = true;
        // A copy: sending to a peer may find it dead, and so end in taken().
        for (Exports peer : List.copyOf(peers)) {
            peer.revoke(slot, epoch);
        }
    }

    /**
     * A peer has it no more.
     *
     * @param peer the peer, whether or not it had it
     */
    void returned(Exports peer) {
        List<Runnable> tasks = List.of();
        synchronized (this) {
            peers.remove(peer);
            notifyAll();
            if (revoked && peers.isEmpty()) {
                tasks = List.copyOf(whenNone);
                whenNone.clear();
            }
        }
        tasks.forEach(Runnable::run);
    }

    /**
     * Waits until it is back from all peers but those that let us wait in vain before. Whoever does not answer now is
     * not waited for again until it does.
     *
     * @param timeoutNanos how long to wait at most
     * @return false when a peer let us wait in vain now
     */
    synchronized boolean await(long timeoutNanos) {
        long deadlineNanos = System.nanoTime() + timeoutNanos;
        boolean interrupted = false;
        boolean inTime = true;
        while (peers.stream().anyMatch(peer -> !peer.isLate())) {
            long leftNanos = deadlineNanos - System.nanoTime();
            if (leftNanos <= 0) {
                peers.forEach(Exports::markLate);
                inTime = false;
                break;
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, leftNanos);
            } catch (InterruptedException e) {
                // The key is half ended: this wait is finished, which its deadline bounds.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return inTime;
    }

    /**
     * Runs a task when it is back from all, now if it is.
     *
     * @param task the task
     */
    void whenNone(Runnable task) {
        synchronized (this) {
            if (!peers.isEmpty()) {
                whenNone.add(task);
                return;
            }
        }
        task.run();
    }
}
