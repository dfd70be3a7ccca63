package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Executes one posted send at a time against the peer: what the initiator can do alone is done when this returns, the
 * rest is put into the peer's ring. A request that can't go on now keeps how far it has come.
 *
 * <p>Thread safety: everything is guarded by the queue pair's send claim.
 */
final class Requester {
    /** Executed; its outcome is set in the send queue. */
    static final int DONE = 0;
    /** It waits for the peer to post a receive. */
    static final int NEEDS_CREDIT = 1;
    /** It waits for room in the peer's area. */
    static final int NEEDS_SPACE = 2;
    /** It waits until what was sent before, or its own question, is answered. */
    static final int NEEDS_ANSWER = 3;
    /** It waits for the peer's queue pair to be ready. */
    static final int NEEDS_PEER = 4;
    /** It waits to hear what a key means. */
    static final int NEEDS_KEY = 5;

    private static final int SUCCESS = WorkCompletionStatus.SUCCESS.value();
    private static final int LOCAL_PROTECTION = WorkCompletionStatus.LOCAL_PROTECTION_ERROR.value();
    private static final int LOCAL_LENGTH = WorkCompletionStatus.LOCAL_LENGTH_ERROR.value();
    private static final int REMOTE_INVALID_REQUEST = WorkCompletionStatus.REMOTE_INVALID_REQUEST.value();
    private static final int ALIGNMENT_MASK = Long.BYTES - 1;

    private final SoftQueuePair queuePair;
    private final SendQueue sends;
    private final LocalMemory memory;
    private Outbound outbound;

    // How far the request has come that is being executed.
    private boolean begun;
    private boolean mustBeAnswered;
    private long sentBytes;
    // The question that was asked for it: a piece of a read, or an atomic.
    private boolean asking;
    private int askedBy;
    private int askedStaging;
    private int askedBytes;
    private final Runnable whenKnown;
    // What was there before an atomic.
    private final long[] result = new long[1];
    private final MemorySegment resultMemory = MemorySegment.ofArray(result);

    Requester(SoftQueuePair queuePair, SendQueue sends, LocalMemory memory) {
        this.queuePair = queuePair;
        this.sends = sends;
        this.memory = memory;
        this.whenKnown = queuePair::progressSoon;
    }

    /** Sends there from now on, or nowhere. */
    void attach(Outbound peer) {
        outbound = peer;
        finish();
    }

    /** Whether a part of the request that is being executed is under way, or was. */
    boolean hasBegun() {
        return begun || asking;
    }

    private void finish() {
        begun = false;
        mustBeAnswered = false;
        asking = false;
        sentBytes = 0;
    }

    /**
     * Executes a request, or goes on with it.
     *
     * @param base where its words begin
     * @param isFirst whether all requests before it have been completed
     * @return {@link #DONE} or what it needs
     */
    int execute(int base, boolean isFirst) {
        int opcode = sends.opcode(base);
        if (opcode == SendOpcode.LOCAL_INVALIDATE || opcode == SendOpcode.BIND_MEMORY_WINDOW) {
            return isFirst ? end(base, queuePair.executeLocally(sends, base, opcode)) : NEEDS_ANSWER;
        }
        Outbound peer = outbound;
        if (peer == null) {
            return NEEDS_PEER;
        }
        int peerState = peer.area.state();
        if (!Area.isOpen(peerState)) {
            return NEEDS_PEER;
        }
        return switch (opcode) {
            case SendOpcode.SEND, SendOpcode.SEND_WITH_IMM, SendOpcode.SEND_WITH_INVALIDATE -> send(peer, base, opcode);
            case SendOpcode.WRITE, SendOpcode.WRITE_WITH_IMM ->
                write(peer, base, opcode == SendOpcode.WRITE_WITH_IMM, isFirst, peerState);
            case SendOpcode.READ -> read(peer, base, isFirst, peerState);
            default -> atomic(peer, base, isFirst, peerState);
        };
    }

    private int end(int base, int status) {
        sends.setStatus(base, status);
        finish();
        return DONE;
    }

    // Receives of the peer.

    /** Finds out whether the peer has a receive for a message, and whether it must answer. */
    private boolean findReceive(Outbound peer, long lengthBytes, boolean placed) {
        if (peer.isShared()) {
            mustBeAnswered = true;
            return true;
        }
        if (!peer.hasCredit()) {
            return false;
        }
        if (placed) {
            int receiveBytes = peer.nextReceiveLength();
            mustBeAnswered = receiveBytes < lengthBytes;
        }
        return true;
    }

    /** A message's last entry was published. */
    private int endMessage(Outbound peer, int base, boolean solicited) {
        peer.takeReceive();
        peer.announce(solicited);
        return endAnnounced(peer, base);
    }

    private int endAnnounced(Outbound peer, int base) {
        if (mustBeAnswered) {
            sends.setUnacknowledged(base, peer.produced());
            finish();
        } else {
            end(base, SUCCESS);
        }
        return DONE;
    }

    private int messageFlags(int base, int opcode) {
        int flags = (sends.flags(base) & SendFlags.SOLICITED) != 0 ? Entry.LAST | Entry.SOLICITED : Entry.LAST;
        return switch (opcode) {
            case SendOpcode.SEND_WITH_IMM, SendOpcode.WRITE_WITH_IMM -> flags | Entry.WITH_IMMEDIATE;
            case SendOpcode.SEND_WITH_INVALIDATE -> flags | Entry.WITH_INVALIDATE;
            default -> flags;
        };
    }

    // Messages.

    private int send(Outbound peer, int base, int opcode) {
        long length = sends.words[base + SendQueue.LENGTH];
        if (!begun) {
            if (!findReceive(peer, length, true)) {
                return NEEDS_CREDIT;
            }
            begun = true;
        }
        int lastFlags = messageFlags(base, opcode);
        int outcome = sendPieces(peer, base, Entry.SEND, length, lastFlags);
        return outcome == DONE && begun ? endMessage(peer, base, (lastFlags & Entry.SOLICITED) != 0) : outcome;
    }

    /**
     * Publishes what is left of the message, piece by piece.
     *
     * @return {@link #DONE} when all is published, or when the request failed and so has ended
     */
    private int sendPieces(Outbound peer, int base, int kind, long length, int lastFlags) {
        do {
            if (!peer.hasEntryRoom()) {
                return NEEDS_SPACE;
            }
            int piece = (int) Math.min(length - sentBytes, peer.maxPieceBytes);
            boolean inEntry = piece <= Entry.INLINE_BYTES && (kind == Entry.SEND || lastFlags == Entry.LAST);
            long entry = peer.entryOffset();
            long to = entry + Entry.OPERAND;
            if (!inEntry) {
                int staging = peer.stage(piece);
                if (staging == Outbound.FULL) {
                    return NEEDS_SPACE;
                }
                peer.area.memory.set(ValueLayout.JAVA_INT, entry + Entry.STAGING, staging);
                to = peer.area.stagingOffset + staging;
            }
            if (!gather(base, sentBytes, peer.area.memory, to, piece)) {
                return end(base, LOCAL_PROTECTION);
            }
            if (kind == Entry.WRITE) {
                nameTarget(peer, base, sentBytes);
            }
            sentBytes += piece;
            boolean last = sentBytes == length;
            if (last && (lastFlags & Entry.WITH_IMMEDIATE) != 0 && kind == Entry.WRITE) {
                peer.area.memory.set(ValueLayout.JAVA_LONG, entry + Entry.SWAP, length);
            }
            peer.publish(kind, (last ? lastFlags : 0) | (inEntry ? Entry.INLINE : 0), piece, (int)
                    sends.words[base + SendQueue.IMMEDIATE]);
        } while (sentBytes < length);
        return DONE;
    }

    private void nameTarget(Outbound peer, int base, long offset) {
        long entry = peer.entryOffset();
        peer.area.memory.set(
                ValueLayout.JAVA_LONG,
                entry + Entry.REMOTE_ADDRESS,
                sends.words[base + SendQueue.REMOTE_ADDRESS] + offset);
        peer.area.memory.set(
                ValueLayout.JAVA_INT, entry + Entry.REMOTE_KEY, (int) sends.words[base + SendQueue.REMOTE_KEY]);
    }

    private boolean gather(int base, long skip, MemorySegment to, long offset, long lengthBytes) {
        if (lengthBytes == 0) {
            return true;
        }
        int sges = base + SendQueue.HEAD_WORDS;
        if ((sends.flags(base) & SendFlags.INLINE) == 0) {
            return memory.copy(sends.words, sges, sends.sgeCount(base), skip, to, offset, lengthBytes, 0);
        }
        byte[] kept = sends.keptInlineBytes(base);
        if (kept != null) {
            MemorySegment.copy(kept, (int) skip, to, ValueLayout.JAVA_BYTE, offset, (int) lengthBytes);
        } else {
            LocalMemory.copyInline(sends.words, sges, sends.sgeCount(base), skip, to, offset, lengthBytes);
        }
        return true;
    }

    // Access to the peer's memory.

    /** What the request's key means; null when that must be asked for, which has been done. */
    private RemoteKey remoteKey(Outbound peer, int base) {
        int key = (int) sends.words[base + SendQueue.REMOTE_KEY];
        RemoteKey found = peer.imports().find(key, peer.attach.fromQueuePair(), peer.attach.domain());
        if (found == null) {
            peer.imports().resolve(key, peer.attach.fromQueuePair(), peer.attach.domain(), whenKnown);
        }
        return found;
    }

    /** Whether the peer lets its memory be accessed so. */
    static boolean permits(RemoteKey key, long address, long lengthBytes, int access, int peerState) {
        return (Area.accessFlags(peerState) & access) == access
                && key.permits(access)
                && key.contains(address, lengthBytes);
    }

    /** Lets the owner refuse a request for memory, so that its end of the connection fails with this one. */
    private int violate(Outbound peer, int base, boolean withImmediate) {
        if (!peer.hasEntryRoom()) {
            return NEEDS_SPACE;
        }
        peer.publish(Entry.VIOLATION, withImmediate ? Entry.WITH_IMMEDIATE | Entry.LAST : 0, 0, 0);
        sends.setUnacknowledged(base, peer.produced());
        finish();
        return DONE;
    }

    private int write(Outbound peer, int base, boolean withImmediate, boolean isFirst, int peerState) {
        long length = sends.words[base + SendQueue.LENGTH];
        if (begun) {
            return writeStaged(peer, base, withImmediate, length);
        }
        RemoteKey key = null;
        if (length != 0) {
            key = remoteKey(peer, base);
            if (key == null) {
                return NEEDS_KEY;
            }
            if (!permits(
                    key, sends.words[base + SendQueue.REMOTE_ADDRESS], length, AccessFlags.REMOTE_WRITE, peerState)) {
                return isFirst ? violate(peer, base, withImmediate) : NEEDS_ANSWER;
            }
        }
        boolean direct = key == null || key.memory() != null;
        if (direct && !isFirst) {
            return NEEDS_ANSWER;
        }
        if (withImmediate) {
            if (!findReceive(peer, 0, false)) {
                return NEEDS_CREDIT;
            }
            if (!peer.hasEntryRoom()) {
                return NEEDS_SPACE;
            }
        }
        if (!direct) {
            mustBeAnswered = true;
            begun = true;
            return writeStaged(peer, base, withImmediate, length);
        }
        if (key != null && !gather(base, 0, key.memory(), offset(base, key), length)) {
            return end(base, LOCAL_PROTECTION);
        }
        return withImmediate ? announceWrite(peer, base, length) : end(base, SUCCESS);
    }

    private long offset(int base, RemoteKey key) {
        return key.offset(sends.words[base + SendQueue.REMOTE_ADDRESS]);
    }

    private int announceWrite(Outbound peer, int base, long length) {
        peer.publishWrite((int) length, (int) sends.words[base + SendQueue.IMMEDIATE], sends.flags(base));
        return endAnnounced(peer, base);
    }

    private int writeStaged(Outbound peer, int base, boolean withImmediate, long length) {
        int lastFlags = withImmediate ? messageFlags(base, SendOpcode.WRITE_WITH_IMM) : Entry.LAST;
        int outcome = sendPieces(peer, base, Entry.WRITE, length, lastFlags);
        if (outcome != DONE || !begun) {
            return outcome;
        }
        if (withImmediate) {
            return endMessage(peer, base, (lastFlags & Entry.SOLICITED) != 0);
        }
        sends.setUnacknowledged(base, peer.produced());
        finish();
        return DONE;
    }

    private int read(Outbound peer, int base, boolean isFirst, int peerState) {
        if (asking) {
            return readPieces(peer, base);
        }
        if (!isFirst) {
            return NEEDS_ANSWER;
        }
        long length = sends.words[base + SendQueue.LENGTH];
        if (length == 0) {
            return end(base, SUCCESS);
        }
        RemoteKey key = remoteKey(peer, base);
        if (key == null) {
            return NEEDS_KEY;
        }
        if (!permits(key, sends.words[base + SendQueue.REMOTE_ADDRESS], length, AccessFlags.REMOTE_READ, peerState)) {
            return violate(peer, base, false);
        }
        if (key.memory() == null) {
            return readPieces(peer, base);
        }
        boolean permitted = memory.copy(
                sends.words,
                base + SendQueue.HEAD_WORDS,
                sends.sgeCount(base),
                0,
                key.memory(),
                offset(base, key),
                length,
                AccessFlags.LOCAL_WRITE);
        return end(base, permitted ? SUCCESS : LOCAL_PROTECTION);
    }

    /** Asks for a piece after the other, each when the one before has come. */
    private int readPieces(Outbound peer, int base) {
        long length = sends.words[base + SendQueue.LENGTH];
        while (true) {
            if (asking) {
                if (!peer.isConsumed(askedBy)) {
                    return NEEDS_ANSWER;
                }
                if (!scatter(peer, base, askedBytes)) {
                    return end(base, LOCAL_PROTECTION);
                }
                asking = false;
                sentBytes += askedBytes;
                if (sentBytes == length) {
                    return end(base, SUCCESS);
                }
            }
            int piece = (int) Math.min(length - sentBytes, peer.maxPieceBytes);
            if (!ask(peer, base, Entry.READ, piece)) {
                return NEEDS_SPACE;
            }
        }
    }

    private boolean scatter(Outbound peer, int base, int bytes) {
        return memory.copy(
                sends.words,
                base + SendQueue.HEAD_WORDS,
                sends.sgeCount(base),
                sentBytes,
                peer.area.memory,
                peer.area.stagingOffset + askedStaging,
                bytes,
                AccessFlags.LOCAL_WRITE);
    }

    /** Publishes a question whose answer comes into the staging bytes. */
    private boolean ask(Outbound peer, int base, int kind, int bytes) {
        if (!peer.hasEntryRoom()) {
            return false;
        }
        int staging = peer.stage(bytes);
        if (staging == Outbound.FULL) {
            return false;
        }
        long entry = peer.entryOffset();
        nameTarget(peer, base, sentBytes);
        peer.area.memory.set(ValueLayout.JAVA_INT, entry + Entry.STAGING, staging);
        if (kind != Entry.READ) {
            peer.area.memory.set(ValueLayout.JAVA_LONG, entry + Entry.OPERAND, sends.words[base + SendQueue.OPERAND]);
            peer.area.memory.set(ValueLayout.JAVA_LONG, entry + Entry.SWAP, sends.words[base + SendQueue.SWAP]);
        }
        peer.publish(kind, Entry.LAST, bytes, 0);
        asking = true;
        askedBy = peer.produced();
        askedStaging = staging;
        askedBytes = bytes;
        return true;
    }

    private int atomic(Outbound peer, int base, boolean isFirst, int peerState) {
        if (asking) {
            if (!peer.isConsumed(askedBy)) {
                return NEEDS_ANSWER;
            }
            return end(base, scatter(peer, base, Long.BYTES) ? SUCCESS : LOCAL_PROTECTION);
        }
        if (!isFirst) {
            return NEEDS_ANSWER;
        }
        if (sends.words[base + SendQueue.LENGTH] != Long.BYTES) {
            return end(base, LOCAL_LENGTH);
        }
        RemoteKey key = remoteKey(peer, base);
        if (key == null) {
            return NEEDS_KEY;
        }
        long address = sends.words[base + SendQueue.REMOTE_ADDRESS];
        if (!permits(key, address, Long.BYTES, AccessFlags.REMOTE_ATOMIC, peerState)) {
            return violate(peer, base, false);
        }
        if ((address & ALIGNMENT_MASK) != 0) {
            return end(base, REMOTE_INVALID_REQUEST);
        }
        boolean compare = sends.opcode(base) == SendOpcode.COMPARE_AND_SWAP;
        if (key.memory() == null) {
            return ask(peer, base, compare ? Entry.COMPARE_AND_SWAP : Entry.FETCH_AND_ADD, Long.BYTES)
                    ? NEEDS_ANSWER
                    : NEEDS_SPACE;
        }
        return end(base, atomicDirectly(base, key, compare));
    }

    private int atomicDirectly(int base, RemoteKey key, boolean compare) {
        long offset = offset(base, key);
        if (((key.memory().address() + offset) & ALIGNMENT_MASK) != 0) {
            return REMOTE_INVALID_REQUEST; // registered under an address of another alignment
        }
        int sges = base + SendQueue.HEAD_WORDS;
        if (!memory.permits(sends.words, sges, sends.sgeCount(base), AccessFlags.LOCAL_WRITE)) {
            return LOCAL_PROTECTION;
        }
        long before = SharedWords.atomic(
                key.memory(),
                offset,
                compare,
                sends.words[base + SendQueue.OPERAND],
                sends.words[base + SendQueue.SWAP]);
        result[0] = before;
        return memory.copy(
                        sends.words,
                        sges,
                        sends.sgeCount(base),
                        0,
                        resultMemory,
                        0,
                        Long.BYTES,
                        AccessFlags.LOCAL_WRITE)
                ? SUCCESS
                : LOCAL_PROTECTION;
    }
}
