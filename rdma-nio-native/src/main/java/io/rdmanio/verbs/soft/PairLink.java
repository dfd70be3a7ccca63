package io.rdmanio.verbs.soft;

import java.util.function.IntConsumer;

/**
 * What a completion queue has to do with a process pair whose queue pairs complete there.
 *
 * <p>Thread safety: immutable but {@code uses}, which the queue's monitor guards.
 */
final class PairLink {
    final ProcessPair pair;
    final PairHeader header;
    final int armSlot;
    /** Hands a queue pair out of the ready set to its own completion queue, whichever that is. */
    final IntConsumer taker;
    /** How many queue pairs. */
    int uses = 1;

    PairLink(SoftCompletionQueue queue, ProcessPair pair, int armSlot) {
        this.pair = pair;
        this.header = pair.inbound();
        this.armSlot = armSlot;
        this.taker = slot -> {
            SoftQueuePair queuePair = pair.queuePair(slot);
            if (queuePair != null) {
                queuePair.offerReady(queue);
            }
        };
    }

    /** An access found the memory unmapped: that is how a pair ends, and a fault otherwise. */
    void requireDead(IllegalStateException failure) {
        if (!pair.isDead()) {
            throw failure;
        }
    }
}
