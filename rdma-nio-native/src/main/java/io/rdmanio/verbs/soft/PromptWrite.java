package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.spi.ScatterGatherLayout;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Executes the write that most programs post most of the time, straight from the program's work request and without a
 * stay in the send queue: from one entry into memory that is mapped here, by a key that is known, and with a receive
 * for its immediate data. Whatever else a request needs, and whatever is wrong with it, is left to {@link Requester}:
 * this has then changed nothing.
 *
 * <p>Thread safety: everything is guarded by the queue pair's send claim.
 */
final class PromptWrite {
    private static final long LOW = 0xFFFF_FFFFL;
    // As constants, since here every load counts.
    private static final long SGE_LIST = SendWorkRequestLayout.SGE_LIST.offset();
    private static final long SGE_COUNT = SendWorkRequestLayout.SGE_COUNT.offset();
    private static final long IMMEDIATE = SendWorkRequestLayout.IMMEDIATE_DATA.offset();
    private static final long REMOTE_ADDRESS = SendWorkRequestLayout.REMOTE_ADDRESS.offset();
    private static final long REMOTE_KEY = SendWorkRequestLayout.REMOTE_KEY.offset();
    private static final long LENGTH_AND_KEY = ScatterGatherLayout.LENGTH.offset();

    private final LocalMemory memory;
    private final int maxInlineBytes;
    // The key that was used last; good as long as it is current.
    private RemoteKey lastKey = RemoteKey.REFUSED;

    PromptWrite(LocalMemory memory, int maxInlineBytes) {
        this.memory = memory;
        this.maxInlineBytes = maxInlineBytes;
    }

    /** The peer is another one: what its keys stand for is not known. */
    void attach() {
        lastKey = RemoteKey.REFUSED;
    }

    /**
     * Executes a request, if it is such a write.
     *
     * @param peer the peer
     * @param request the request's address
     * @param opcode its opcode
     * @param flags its flags
     * @return how many bytes were written; negative when it was not executed
     */
    int execute(Outbound peer, long request, int opcode, int flags) {
        boolean isInline = (flags & SendFlags.INLINE) != 0;
        if (ProcessMemory.getInt(request + SGE_COUNT) != 1) {
            return -1;
        }
        long sge = ProcessMemory.getLong(request + SGE_LIST);
        long lengthAndKey = ProcessMemory.getLong(sge + LENGTH_AND_KEY);
        long length = lengthAndKey & LOW;
        RemoteKey to = length <= (isInline ? maxInlineBytes : Integer.MAX_VALUE)
                ? target(peer, request, opcode, length)
                : null;
        if (to == null) {
            return -1;
        }
        long address = ProcessMemory.getLong(sge);
        long at = to.offset(ProcessMemory.getLong(request + REMOTE_ADDRESS));
        if (isInline) {
            MemorySegment.copy(ProcessMemory.ALL, address, to.memory(), at, length);
        } else {
            Key from = memory.find((int) (lengthAndKey >>> Integer.SIZE), address, length, 0);
            if (from == null || !LocalMemory.copyPiece(from, address, to.memory(), at, length, true)) {
                return -1;
            }
        }
        announce(peer, request, opcode, flags, (int) length);
        return (int) length;
    }

    /**
     * Executes a request whose data lies in a buffer, if it is such a write.
     *
     * @param peer the peer
     * @param request the request's address
     * @param opcode its opcode
     * @param flags its flags
     * @param data the buffer
     * @param dataPosition where in it
     * @param dataBytes how many bytes
     * @return how many bytes were written; negative when it was not executed
     */
    int execute(Outbound peer, long request, int opcode, int flags, ByteBuffer data, int dataPosition, int dataBytes) {
        RemoteKey to = target(peer, request, opcode, dataBytes);
        ByteBuffer memory = to == null ? null : to.buffer();
        if (memory == null) {
            return -1;
        }
        memory.put((int) to.offset(ProcessMemory.getLong(request + REMOTE_ADDRESS)), data, dataPosition, dataBytes);
        announce(peer, request, opcode, flags, dataBytes);
        return dataBytes;
    }

    /** The memory that the request writes to; null when it must go the long way. */
    private RemoteKey target(Outbound peer, long request, int opcode, long length) {
        boolean withImmediate = opcode == SendOpcode.WRITE_WITH_IMM;
        int peerState = peer.area.state();
        if ((!withImmediate && opcode != SendOpcode.WRITE)
                || length == 0
                || !Area.isOpen(peerState)
                || (withImmediate && (peer.isShared() || !peer.hasCredit() || !peer.hasEntryRoom()))) {
            return null;
        }
        RemoteKey to = remoteKey(peer, ProcessMemory.getInt(request + REMOTE_KEY));
        return to != null
                        && Requester.permits(
                                to,
                                ProcessMemory.getLong(request + REMOTE_ADDRESS),
                                length,
                                AccessFlags.REMOTE_WRITE,
                                peerState)
                ? to
                : null;
    }

    private static void announce(Outbound peer, long request, int opcode, int flags, int lengthBytes) {
        if (opcode == SendOpcode.WRITE_WITH_IMM) {
            peer.publishWrite(lengthBytes, ProcessMemory.getInt(request + IMMEDIATE), flags);
        }
    }

    /** What a key means whose memory is mapped here; null otherwise. */
    private RemoteKey remoteKey(Outbound peer, int key) {
        RemoteKey last = lastKey;
        if (last.value == key && last.peerDomain == peer.attach.domain() && last.isCurrent()) {
            return last;
        }
        RemoteKey found = peer.imports().find(key, peer.attach.fromQueuePair(), peer.attach.domain());
        if (found == null || found.memory() == null) {
            return null;
        }
        lastKey = found;
        return found;
    }
}
