package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.util.function.IntConsumer;

/**
 * What a completion queue, or a group of them, has to do with a process pair whose queue pairs complete there.
 *
 * <p>Thread safety: immutable but {@code uses}, which the owner's monitor guards.
 */
final class PairLink {
    /** The slot of who never waits. */
    static final int NEVER = -1;

    final ProcessPair pair;
    final PairHeader header;
    /** The slot of the owner's arm word, which the areas of the queue pairs name; negative when the owner never waits. */
    final int armSlot;
    /** How many queue pairs. */
    int uses = 1;

    private final int doorbell;
    private final IntConsumer taker;

    /**
     * Links with a pair.
     *
     * @param pair the pair
     * @param owner who may wait for the completions
     * @param doorbell how the peer wakes the owner; null when it never waits
     * @param polling the queue whose poller takes out of the ready set; null when that is not a queue's poller
     * @throws IOException when the pair has no slot left, or no descriptor is
     */
    PairLink(ProcessPair pair, Object owner, OwnDoorbell doorbell, SoftCompletionQueue polling) throws IOException {
        this.pair = pair;
        this.header = pair.inbound();
        this.taker = slot -> {
            SoftQueuePair queuePair = pair.queuePair(slot);
            if (queuePair != null) {
                queuePair.offerReady(polling);
            }
        };
        if (doorbell == null) {
            this.doorbell = -1;
            armSlot = NEVER;
        } else {
            this.doorbell = doorbell.indexFor(pair);
            armSlot = pair.addSleeper(owner);
            if (armSlot < 0) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "",
                        Errno.ENOMEM,
                        "At most " + PairHeader.COMPLETION_QUEUES
                                + " completion channels' queues and groups can wait for one process.");
            }
        }
    }

    /** Hands all queue pairs out of the ready set to their own completion queues, whichever these are. */
    void takeReady() {
        if (header.ready().mayHaveAny()) {
            header.ready().takeAll(taker);
        }
    }

    /** Whether the ready set may hold something. */
    boolean mayHaveReady() {
        return header.ready().mayHaveAny();
    }

    /** Writes the arm word. Not after {@link #close}, when the slot may be another's: the owner sees to that by a lock. */
    void arm(int kind) {
        header.arm(armSlot, kind, doorbell);
    }

    /**
     * Whether the arm word was taken since it was armed. That of a dead pair doesn't count, which may be of the zeros in
     * place of its memory: what the peer had sent completes in the queue's ring, which makes events of its own.
     */
    boolean isDisarmed() {
        return header.armed(armSlot) == PairHeader.NOT_ARMED && !pair.isDead();
    }

    /** Ends the link. */
    void close() {
        if (armSlot >= 0) {
            arm(PairHeader.NOT_ARMED);
            pair.removeSleeper(armSlot);
        }
    }
}
