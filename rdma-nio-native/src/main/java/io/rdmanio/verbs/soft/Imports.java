package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.SystemCallException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * What a process knows of its peer's keys, and the peer's memory that it has mapped: at most one mapping to a slot of the
 * peer's key table. The peer is asked once for a key, and answers questions in the order they were asked.
 *
 * <p>Thread safety: {@link #find} and {@link #resolve} may be called by any thread, what handles messages and the death of
 * the peer by the progress thread. Questions and refusals are guarded by this; slots are written by the progress thread
 * alone.
 */
final class Imports {
    /**
     * How many regions of peers this process maps at most; further ones are reached through the peer. The kernel lets a
     * process have 65,530 mappings (vm.max_map_count), and a JVM that finds none left ends.
     */
    static final int MAX_MAPPED = 16_384;

    // By all pairs together.
    private static final AtomicInteger MAPPED = new AtomicInteger();

    private static final int MAX_REFUSALS = 256;
    private static final int FORGOTTEN_PER_ADDED = 2;
    private static final int CHUNK_BITS = 8;
    private static final int CHUNK = 1 << CHUNK_BITS;
    private static final int SIZE_SEALS = MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_GROW;

    private final MemorySegment peerEpochs;
    private final Consumer<ControlMessage> sender;
    private final IntConsumer quiesce;
    private final AtomicReferenceArray<AtomicReferenceArray<RemoteKey>> chunks =
            new AtomicReferenceArray<>(KeyTable.SLOTS / CHUNK);
    private final ArrayDeque<Question> questions = new ArrayDeque<>();
    private final Refusals refusals = new Refusals();
    private boolean dead;
    // Of the progress thread.
    private int mapped;
    /** Keys whose memory only the peer can reach. The peer doesn't say when they end, as their epochs do. */
    private final ArrayDeque<RemoteKey> unmapped = new ArrayDeque<>();

    /** What the peer was asked, and the epoch of the slot before. Others of the domain wait for the same answer. */
    private record Question(int key, int queuePair, int peerDomain, int epoch, List<Runnable> whenKnown) {}

    /**
     * Keys that the peer refused to a queue pair, the latest ones, with the epoch of the slot when it was asked. Not to its
     * domain: another queue pair may have the key bound to it, or be connected when this one is no longer.
     */
    private static final class Refusals extends LinkedHashMap<Long, Integer> {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Integer> eldest) {
            return size() > MAX_REFUSALS;
        }

        static long id(int key, int peerQueuePair) {
            return (long) key << Integer.SIZE | (peerQueuePair & 0xFFFF_FFFFL);
        }

        void forget(int peerQueuePair) {
            keySet().removeIf(id -> (int) (long) id == peerQueuePair);
        }
    }

    /**
     * Begins without any knowledge.
     *
     * @param peerEpochs the peer's page of epochs
     * @param sender sends messages to the peer, in order, without blocking
     * @param quiesce waits until every access by keys of a domain of the peer's is over that had begun; those that begin
     *     later find what is known then
     */
    Imports(MemorySegment peerEpochs, Consumer<ControlMessage> sender, IntConsumer quiesce) {
        this.peerEpochs = peerEpochs;
        this.sender = sender;
        this.quiesce = quiesce;
    }

    /**
     * What a key of the peer stands for, as far as is known. Allocates nothing and does not block.
     *
     * @param remoteKey any number
     * @param peerQueuePair the number of the peer's queue pair that the request goes to
     * @param peerDomain that queue pair's domain, as the peer said
     * @return the key; null when the peer must be asked
     */
    RemoteKey find(int remoteKey, int peerQueuePair, int peerDomain) {
        RemoteKey key = at(KeyTable.slot(remoteKey));
        if (key != null && key.value == remoteKey && key.peerDomain == peerDomain && key.isCurrent()) {
            return key;
        }
        return refused(remoteKey, peerQueuePair);
    }

    private synchronized RemoteKey refused(int remoteKey, int peerQueuePair) {
        Integer epoch = refusals.get(Refusals.id(remoteKey, peerQueuePair));
        boolean current = epoch != null && epoch == EpochPage.get(peerEpochs, KeyTable.slot(remoteKey));
        return current ? RemoteKey.REFUSED : null;
    }

    /**
     * A queue pair of the peer's is connected, perhaps anew: what was refused to it before may be granted now.
     *
     * @param peerQueuePair its number
     */
    synchronized void attached(int peerQueuePair) {
        refusals.forget(peerQueuePair);
    }

    /**
     * Asks the peer for a key, unless that is under way, be it for another queue pair of the domain: then, if the key is
     * refused to that one, it must be asked for again. When the pair is dead nothing happens.
     *
     * @param remoteKey any number
     * @param peerQueuePair the number of the peer's queue pair that the request goes to
     * @param peerDomain that queue pair's domain
     * @param whenKnown called on the progress thread when the answer is there, for which to look by {@link #find}; the
     *     peer may have withdrawn the key again by then
     */
    void resolve(int remoteKey, int peerQueuePair, int peerDomain, Runnable whenKnown) {
        synchronized (this) {
            if (dead) {
                return;
            }
            for (Question question : questions) {
                if (question.key == remoteKey && question.peerDomain == peerDomain) {
                    if (!question.whenKnown.contains(whenKnown)) {
                        question.whenKnown.add(whenKnown);
                    }
                    return;
                }
            }
            List<Runnable> waiting = new ArrayList<>(1);
            waiting.add(whenKnown);
            int epoch = EpochPage.get(peerEpochs, KeyTable.slot(remoteKey));
            questions.add(new Question(remoteKey, peerQueuePair, peerDomain, epoch, waiting));
            // Under the lock, so that the order of the questions is that of the messages.
            sender.accept(new ControlMessage.Resolve(remoteKey, peerQueuePair));
        }
    }

    private RemoteKey at(int slot) {
        AtomicReferenceArray<RemoteKey> chunk = chunks.getAcquire(slot >>> CHUNK_BITS);
        return chunk == null ? null : chunk.getAcquire(slot & (CHUNK - 1));
    }

    private void put(int slot, RemoteKey key) {
        AtomicReferenceArray<RemoteKey> chunk = chunks.getPlain(slot >>> CHUNK_BITS);
        if (chunk == null) {
            chunk = new AtomicReferenceArray<>(CHUNK);
            chunks.setRelease(slot >>> CHUNK_BITS, chunk);
        }
        chunk.setRelease(slot & (CHUNK - 1), key);
    }

    /** Takes what is known of a slot out and unmaps it. */
    private void drop(int slot) {
        RemoteKey old = at(slot);
        if (old != null) {
            put(slot, null);
            old.unmap(quiesce);
            if (old.memory() != null) {
                mapped--;
                MAPPED.decrementAndGet();
            }
        }
    }

    /** The question that a message answers. */
    private synchronized Question answered(int key) throws ProtocolException {
        Question question = questions.peek();
        if (question == null || question.key != key) {
            throw new ProtocolException(
                    "an answer about key 0x" + Integer.toHexString(key) + ", which is not asked for");
        }
        return questions.remove();
    }

    /**
     * The peer lends memory.
     *
     * @param message the message, whose descriptor is closed when this returns or throws
     * @throws ProtocolException when it was not asked for, or is not what it must be
     */
    void received(ControlMessage.Export message) throws ProtocolException {
        try (MemoryFile file = MemoryFile.fromDescriptor(message.descriptor())) {
            Question question = answered(message.key());
            requireSound(message, file);
            drop(KeyTable.slot(message.key()));
            put(KeyTable.slot(message.key()), map(message, question.peerDomain, file));
            question.whenKnown.forEach(Runnable::run);
        } catch (SystemCallException e) {
            throw new ProtocolException("memory that can't be mapped: " + e.getMessage());
        }
    }

    private static void requireSound(ControlMessage.Export message, MemoryFile file)
            throws ProtocolException, SystemCallException {
        // Seals first: without them the size may be another one a moment later.
        if (!file.isSealed(SIZE_SEALS)) {
            throw new ProtocolException("memory that may shrink");
        }
        long sizeBytes = file.sizeBytes();
        boolean inside = message.lengthBytes() > 0
                && message.fileOffset() >= 0
                && message.lengthBytes() <= sizeBytes
                && message.fileOffset() <= sizeBytes - message.lengthBytes();
        if (!inside) {
            throw new ProtocolException("memory of " + sizeBytes + " bytes is too short for " + message);
        }
    }

    /** Maps the pages around a region. What this process has no room to map is left to the peer. */
    @SuppressWarnings("MustBeClosedChecker") // The key has the arena.
    private RemoteKey map(ControlMessage.Export message, int peerDomain, MemoryFile file) throws SystemCallException {
        if (MAPPED.get() >= MAX_MAPPED) {
            return new RemoteKey(message, peerDomain, peerEpochs, null, null);
        }
        long before = message.fileOffset() % MemoryFile.PAGE_BYTES;
        boolean writable = (message.accessFlags() & SharedMemory.REMOTE_WRITES) != 0;
        Arena arena = Arena.ofShared();
        try {
            MemorySegment pages =
                    file.map(message.fileOffset() - before, before + message.lengthBytes(), writable, arena);
            mapped++;
            MAPPED.incrementAndGet();
            return new RemoteKey(message, peerDomain, peerEpochs, pages.asSlice(before, message.lengthBytes()), arena);
        } catch (SystemCallException e) {
            arena.close();
            if (e.errno() == Errno.ENOMEM) {
                return new RemoteKey(message, peerDomain, peerEpochs, null, null);
            }
            throw e;
        }
    }

    /**
     * The peer has a key for memory that only it can reach.
     *
     * @param message the message
     * @throws ProtocolException when it was not asked for
     */
    void received(ControlMessage.Foreign message) throws ProtocolException {
        Question question = answered(message.key());
        RemoteKey key = new RemoteKey(message, question.peerDomain, peerEpochs);
        drop(KeyTable.slot(message.key()));
        put(KeyTable.slot(message.key()), key);
        forgetSome();
        unmapped.add(key);
        question.whenKnown.forEach(Runnable::run);
    }

    /** Looks at more keys than are added, so that there are not many more of them than the peer has. */
    private void forgetSome() {
        for (int i = 0; i < FORGOTTEN_PER_ADDED && !unmapped.isEmpty(); i++) {
            RemoteKey old = unmapped.remove();
            int slot = KeyTable.slot(old.value);
            if (at(slot) == old) {
                if (old.isCurrent()) {
                    unmapped.add(old);
                } else {
                    put(slot, null);
                }
            }
        }
    }

    /**
     * The peer refuses a key.
     *
     * @param message the message
     * @throws ProtocolException when it was not asked for
     */
    void received(ControlMessage.Invalid message) throws ProtocolException {
        Question question = answered(message.key());
        synchronized (this) {
            long id = Refusals.id(message.key(), question.queuePair);
            // Removed first, so that it counts as the latest.
            refusals.remove(id);
            // Not the present epoch: the key may have been given out since the peer looked.
            refusals.put(id, question.epoch);
        }
        question.whenKnown.forEach(Runnable::run);
    }

    /**
     * The peer wants memory back. It is answered when nobody here can touch it any more.
     *
     * @param message the message
     * @throws ProtocolException when there is no such slot
     */
    void received(ControlMessage.Revoke message) throws ProtocolException {
        if (message.slot() < 0 || message.slot() >= KeyTable.SLOTS) {
            throw new ProtocolException("a slot that no key has: " + message);
        }
        RemoteKey key = at(message.slot());
        if (key != null && key.epoch == message.epoch()) {
            drop(message.slot());
        }
        sender.accept(new ControlMessage.Revoked(message.slot(), message.epoch()));
    }

    /** The pair is dead: unmaps everything and forgets the questions. */
    void peerDied() {
        synchronized (this) {
            dead = true;
            questions.clear();
            refusals.clear();
        }
        unmapped.clear();
        for (int i = 0; i < chunks.length(); i++) {
            if (chunks.getPlain(i) != null) {
                for (int slot = i << CHUNK_BITS; slot < (i + 1) << CHUNK_BITS; slot++) {
                    drop(slot);
                }
            }
        }
    }

    /**
     * How many of the peer's regions are mapped; on the progress thread.
     *
     * @return their number
     */
    int mappedCount() {
        return mapped;
    }
}
