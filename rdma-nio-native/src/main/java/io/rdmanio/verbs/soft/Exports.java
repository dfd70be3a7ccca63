package io.rdmanio.verbs.soft;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * What a process has told one peer of its keys, and the memory that it lends to it. Memory is lent only for a queue pair
 * that is connected with that peer and belongs to the domain of the key.
 *
 * <p>Thread safety: {@link #revoke} and the methods about lateness may be called by any thread, what handles messages and
 * the death of the peer by the progress thread.
 */
final class Exports {
    private final KeyTable keys;
    private final IntFunction<SoftProtectionDomain> domainOfQueuePair;
    private final Consumer<ControlMessage> sender;
    /** By slot and epoch: what the peer may have mapped, and has not been asked to give back. */
    private final Map<Long, Key> lent = new ConcurrentHashMap<>();
    /** By slot and epoch: what it was asked to give back. */
    private final Map<Long, Key> revoked = new ConcurrentHashMap<>();

    private volatile boolean late;

    /**
     * Begins without anything lent.
     *
     * @param keys the keys of this host
     * @param domainOfQueuePair the domain of a queue pair that is connected over this pair, by any number that the peer
     *     says; null when there is none
     * @param sender sends messages to the peer, in order, without blocking
     */
    Exports(KeyTable keys, IntFunction<SoftProtectionDomain> domainOfQueuePair, Consumer<ControlMessage> sender) {
        this.keys = keys;
        this.domainOfQueuePair = domainOfQueuePair;
        this.sender = sender;
    }

    private static long id(int slot, int epoch) {
        return (long) slot << Integer.SIZE | (epoch & 0xFFFF_FFFFL);
    }

    /**
     * The peer asks for a key. It is answered at once.
     *
     * @param message the question
     */
    void received(ControlMessage.Resolve message) {
        Key key = keys.remote(message.key());
        if (key == null || !isFor(key, message.queuePair())) {
            sender.accept(new ControlMessage.Invalid(message.key(), message.queuePair()));
        } else if (key.shared() == null) {
            sender.accept(
                    new ControlMessage.Foreign(key.value, key.epoch, key.address, key.lengthBytes, key.accessFlags));
        } else if (!key.importers.give(this, () -> lend(key))) {
            sender.accept(new ControlMessage.Invalid(message.key(), message.queuePair()));
        }
    }

    private boolean isFor(Key key, int queuePair) {
        return (key.accessFlags & SharedMemory.REMOTE) != 0
                && (key.queuePair == 0 || key.queuePair == queuePair)
                && key.domain == domainOfQueuePair.apply(queuePair);
    }

    private void lend(Key key) {
        lent.put(id(KeyTable.slot(key.value), key.epoch), key);
        SharedMemory shared = key.shared();
        long fileOffset = key.memory().address() - shared.memory().address();
        sender.accept(new ControlMessage.Export(
                key.value,
                key.epoch,
                key.address,
                key.lengthBytes,
                key.accessFlags,
                fileOffset,
                shared.fileDescriptor()));
    }

    /**
     * Asks the peer to unmap what it was lent; called by the key's {@link Importers}.
     *
     * @param slot the slot of the key
     * @param epoch the epoch that is over
     */
    void revoke(int slot, int epoch) {
        Key key = lent.get(id(slot, epoch));
        if (key != null) {
            // There before it is gone here, so that the death of the peer finds it in one of them.
            revoked.put(id(slot, epoch), key);
            lent.remove(id(slot, epoch));
            sender.accept(new ControlMessage.Revoke(slot, epoch));
        }
    }

    /**
     * The peer has unmapped what it was asked to.
     *
     * @param message the message
     * @throws ProtocolException when it was not asked to
     */
    void received(ControlMessage.Revoked message) throws ProtocolException {
        Key key = revoked.remove(id(message.slot(), message.epoch()));
        if (key == null) {
            throw new ProtocolException("memory given back that was not asked back: " + message);
        }
        late = false;
        key.importers.returned(this);
    }

    /** The pair is dead: whatever was lent is back. */
    void peerDied() {
        for (Map<Long, Key> some : List.of(lent, revoked)) {
            some.values().forEach(key -> key.importers.returned(this));
            some.clear();
        }
    }

    /**
     * Whether the peer was waited for in vain since it last answered.
     *
     * @return true when nobody shall wait for it
     */
    boolean isLate() {
        return late;
    }

    /** The peer was waited for in vain. */
    void markLate() {
        late = true;
    }

    /**
     * How many keys the peer may have mapped.
     *
     * @return their number, asked back or not
     */
    int lentCount() {
        return lent.size() + revoked.size();
    }
}
