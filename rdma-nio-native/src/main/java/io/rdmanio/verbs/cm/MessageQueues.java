package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.AddressHandle;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.spi.Waiting;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Messages over the queue pair of a communication id in few words: what rdma-core's header {@code rdma/rdma_verbs.h} is
 * to C. Every post is one work request, which this object keeps and prepares anew each time, so posting and waiting
 * allocate nothing.
 *
 * <p>Thread safety: all methods may be called by any thread; {@code sending} and {@code receiving} guard one work request
 * each, and nothing blocks under them.
 */
public final class MessageQueues implements AutoCloseable {
    private final CommunicationId id;
    private final QueuePair queuePair;
    // Where its receives come from; null for a queue of its own.
    private final SharedReceiveQueue shared;
    private final ReentrantLock sending = new ReentrantLock();
    private final ReentrantLock receiving = new ReentrantLock();
    private final SendWorkRequest send;
    private final ReceiveWorkRequest receive;

    /**
     * Serves an id that has a queue pair.
     *
     * @param id the id; it is not closed by {@link #close}
     * @throws IllegalStateException when the id has no queue pair, or is closed
     */
    public MessageQueues(CommunicationId id) {
        this.id = id;
        id.life().enter();
        try {
            this.queuePair = id.resources().queuePair();
            this.shared = id.resources().receives();
        } finally {
            id.life().exit();
        }
        if (queuePair == null) {
            throw new IllegalStateException("this CommunicationId has no queue pair");
        }
        this.send = new SendWorkRequest(queuePair.capabilities().maxSendSges());
        this.receive =
                new ReceiveWorkRequest(shared == null ? queuePair.capabilities().maxReceiveSges() : shared.maxSges());
    }

    /**
     * Registers memory of messages to be sent and received (rdma_reg_msgs(3)): with LOCAL_WRITE, in the queue pair's
     * domain. Makes a system call. The region's {@link MemoryRegion#close} is rdma_dereg_mr(3).
     *
     * @param memory native memory
     * @return the region, to be closed by the caller
     * @throws VerbsException when memory can't be locked ({@code ENOMEM}; names the limit)
     * @throws IllegalArgumentException when the memory is on the heap
     * @throws IllegalStateException after the id's close
     */
    public MemoryRegion registerMessages(MemorySegment memory) throws VerbsException {
        return domain().registerMemory(memory, AccessFlags.LOCAL_WRITE);
    }

    /**
     * Registers memory that the peer may read (rdma_reg_read(3)): with LOCAL_WRITE and REMOTE_READ. Makes a system call.
     *
     * @param memory native memory
     * @return the region, to be closed by the caller
     * @throws VerbsException when memory can't be locked ({@code ENOMEM}; names the limit)
     * @throws IllegalArgumentException when the memory is on the heap
     * @throws IllegalStateException after the id's close
     */
    public MemoryRegion registerRead(MemorySegment memory) throws VerbsException {
        return domain().registerMemory(memory, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
    }

    /**
     * Registers memory that the peer may write (rdma_reg_write(3)): with LOCAL_WRITE and REMOTE_WRITE. Makes a system
     * call.
     *
     * @param memory native memory
     * @return the region, to be closed by the caller
     * @throws VerbsException when memory can't be locked ({@code ENOMEM}; names the limit)
     * @throws IllegalArgumentException when the memory is on the heap
     * @throws IllegalStateException after the id's close
     */
    public MemoryRegion registerWrite(MemorySegment memory) throws VerbsException {
        return domain().registerMemory(memory, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
    }

    private ProtectionDomain domain() {
        id.life().enter();
        try {
            return id.resources().domain();
        } finally {
            id.life().exit();
        }
    }

    /**
     * Posts a receive (rdma_post_recv(3)), to the shared receive queue when the queue pair has one. Does not block.
     *
     * @param workRequestId what the completion will carry
     * @param region where the message goes
     * @param offset where in the region, in bytes
     * @param lengthBytes how much fits
     * @throws VerbsException when it fails, as {@link QueuePair#postReceive} tells
     * @throws IndexOutOfBoundsException when it is not inside the region
     * @throws IllegalStateException after close
     */
    public void postReceive(long workRequestId, MemoryRegion region, long offset, int lengthBytes)
            throws VerbsException {
        Objects.checkFromIndexSize(offset, lengthBytes, region.lengthBytes());
        receiving.lock();
        try {
            receive.sgeCount(1).sge(0, region.address() + offset, lengthBytes, region.localKey());
            post(workRequestId);
        } finally {
            receiving.unlock();
        }
    }

    /**
     * Posts a receive into several pieces of memory (rdma_post_recvv(3)). Does not block.
     *
     * @param workRequestId what the completion will carry
     * @param pieces where the message goes
     * @throws VerbsException when it fails, as {@link QueuePair#postReceive} tells
     * @throws IndexOutOfBoundsException when there are more pieces than the queue pair takes
     * @throws IllegalStateException after close
     */
    public void postReceiveVector(long workRequestId, ScatterGatherList pieces) throws VerbsException {
        receiving.lock();
        try {
            receive.sgeCount(pieces.size());
            for (int i = 0; i < pieces.size(); i++) {
                receive.sge(i, pieces.address(i), pieces.lengthBytes(i), pieces.localKey(i));
            }
            post(workRequestId);
        } finally {
            receiving.unlock();
        }
    }

    /** Under {@link #receiving}. */
    private void post(long workRequestId) throws VerbsException {
        receive.workRequestId(workRequestId);
        if (shared == null) {
            queuePair.postReceive(receive);
        } else {
            shared.postReceive(receive);
        }
    }

    /**
     * Posts a send (rdma_post_send(3)). Does not block.
     *
     * @param workRequestId what the completion will carry
     * @param region where the message lies
     * @param offset where in the region, in bytes
     * @param lengthBytes its length
     * @param flags bits of {@link SendFlags}
     * @throws VerbsException when it fails, as {@link QueuePair#postSend} tells
     * @throws IndexOutOfBoundsException when it is not inside the region
     * @throws IllegalStateException after close
     */
    public void postSend(long workRequestId, MemoryRegion region, long offset, int lengthBytes, int flags)
            throws VerbsException {
        sending.lock();
        try {
            piece(region, offset, lengthBytes);
            post(workRequestId, SendOpcode.SEND, flags);
        } finally {
            sending.unlock();
        }
    }

    /**
     * Posts a send of memory that need not be registered (rdma_post_send(3) without a region). Does not block; the memory
     * may be used again afterwards.
     *
     * @param workRequestId what the completion will carry
     * @param memory the message, native memory of no more than the queue pair's inline limit
     * @param flags bits of {@link SendFlags}; INLINE is added
     * @throws VerbsException when it fails, as {@link QueuePair#postSend} tells
     * @throws IllegalArgumentException when the memory is on the heap
     * @throws IllegalStateException after close, of the memory's arena too
     */
    public void postSendInline(long workRequestId, MemorySegment memory, int flags) throws VerbsException {
        sending.lock();
        try {
            inlinePiece(memory);
            post(workRequestId, SendOpcode.SEND, flags | SendFlags.INLINE);
        } finally {
            sending.unlock();
            // The driver has copied it by its address, which keeps nothing reachable.
            Reference.reachabilityFence(memory);
        }
    }

    /**
     * Posts a send of several pieces of memory (rdma_post_sendv(3)). Does not block.
     *
     * @param workRequestId what the completion will carry
     * @param pieces where the message lies
     * @param flags bits of {@link SendFlags}
     * @throws VerbsException when it fails, as {@link QueuePair#postSend} tells
     * @throws IndexOutOfBoundsException when there are more pieces than the queue pair takes
     * @throws IllegalStateException after close
     */
    public void postSendVector(long workRequestId, ScatterGatherList pieces, int flags) throws VerbsException {
        sending.lock();
        try {
            pieces(pieces);
            post(workRequestId, SendOpcode.SEND, flags);
        } finally {
            sending.unlock();
        }
    }

    /**
     * Posts a read of the peer's memory (rdma_post_read(3)). Does not block.
     *
     * @param workRequestId what the completion will carry
     * @param region where the data goes
     * @param offset where in the region, in bytes
     * @param lengthBytes its length
     * @param flags bits of {@link SendFlags}
     * @param remoteAddress where it lies at the peer
     * @param remoteKey the key of that memory
     * @throws VerbsException when it fails, as {@link QueuePair#postSend} tells
     * @throws IndexOutOfBoundsException when it is not inside the region
     * @throws IllegalStateException after close
     */
    public void postRead(
            long workRequestId,
            MemoryRegion region,
            long offset,
            int lengthBytes,
            int flags,
            long remoteAddress,
            int remoteKey)
            throws VerbsException {
        sending.lock();
        try {
            piece(region, offset, lengthBytes);
            send.remote(remoteAddress, remoteKey);
            post(workRequestId, SendOpcode.READ, flags);
        } finally {
            sending.unlock();
        }
    }

    /**
     * Posts a read of the peer's memory into several pieces (rdma_post_readv(3)). Does not block.
     *
     * @param workRequestId what the completion will carry
     * @param pieces where the data goes
     * @param flags bits of {@link SendFlags}
     * @param remoteAddress where it lies at the peer
     * @param remoteKey the key of that memory
     * @throws VerbsException when it fails, as {@link QueuePair#postSend} tells
     * @throws IndexOutOfBoundsException when there are more pieces than the queue pair takes
     * @throws IllegalStateException after close
     */
    public void postReadVector(
            long workRequestId, ScatterGatherList pieces, int flags, long remoteAddress, int remoteKey)
            throws VerbsException {
        sending.lock();
        try {
            pieces(pieces);
            send.remote(remoteAddress, remoteKey);
            post(workRequestId, SendOpcode.READ, flags);
        } finally {
            sending.unlock();
        }
    }

    /**
     * Posts a write to the peer's memory (rdma_post_write(3)). Does not block.
     *
     * @param workRequestId what the completion will carry
     * @param region where the data lies
     * @param offset where in the region, in bytes
     * @param lengthBytes its length
     * @param flags bits of {@link SendFlags}
     * @param remoteAddress where it goes at the peer
     * @param remoteKey the key of that memory
     * @throws VerbsException when it fails, as {@link QueuePair#postSend} tells
     * @throws IndexOutOfBoundsException when it is not inside the region
     * @throws IllegalStateException after close
     */
    public void postWrite(
            long workRequestId,
            MemoryRegion region,
            long offset,
            int lengthBytes,
            int flags,
            long remoteAddress,
            int remoteKey)
            throws VerbsException {
        sending.lock();
        try {
            piece(region, offset, lengthBytes);
            send.remote(remoteAddress, remoteKey);
            post(workRequestId, SendOpcode.WRITE, flags);
        } finally {
            sending.unlock();
        }
    }

    /**
     * Posts a write of several pieces to the peer's memory (rdma_post_writev(3)). Does not block.
     *
     * @param workRequestId what the completion will carry
     * @param pieces where the data lies
     * @param flags bits of {@link SendFlags}
     * @param remoteAddress where it goes at the peer
     * @param remoteKey the key of that memory
     * @throws VerbsException when it fails, as {@link QueuePair#postSend} tells
     * @throws IndexOutOfBoundsException when there are more pieces than the queue pair takes
     * @throws IllegalStateException after close
     */
    public void postWriteVector(
            long workRequestId, ScatterGatherList pieces, int flags, long remoteAddress, int remoteKey)
            throws VerbsException {
        sending.lock();
        try {
            pieces(pieces);
            send.remote(remoteAddress, remoteKey);
            post(workRequestId, SendOpcode.WRITE, flags);
        } finally {
            sending.unlock();
        }
    }

    /**
     * Posts a datagram (rdma_post_ud_send(3)), with the Q_Key of the UDP port space. Does not block.
     *
     * @param workRequestId what the completion will carry
     * @param region where the message lies
     * @param offset where in the region, in bytes
     * @param lengthBytes its length
     * @param flags bits of {@link SendFlags}
     * @param addressHandle where it goes
     * @param remoteQueuePairNumber the queue pair there
     * @throws VerbsException when it fails, as {@link QueuePair#postSend} tells
     * @throws IndexOutOfBoundsException when it is not inside the region
     * @throws IllegalStateException after close, of the address handle too
     */
    public void postDatagramSend(
            long workRequestId,
            MemoryRegion region,
            long offset,
            int lengthBytes,
            int flags,
            AddressHandle addressHandle,
            int remoteQueuePairNumber)
            throws VerbsException {
        sending.lock();
        try {
            piece(region, offset, lengthBytes);
            send.datagram(addressHandle, remoteQueuePairNumber, DatagramParameters.UDP_QUEUE_KEY);
            post(workRequestId, SendOpcode.SEND, flags);
        } finally {
            sending.unlock();
        }
    }

    /** Under {@link #sending}. */
    private void piece(MemoryRegion region, long offset, int lengthBytes) {
        Objects.checkFromIndexSize(offset, lengthBytes, region.lengthBytes());
        send.sgeCount(1).sge(0, region.address() + offset, lengthBytes, region.localKey());
    }

    /** Under {@link #sending}. */
    private void inlinePiece(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory on the heap can't be sent");
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("the memory's arena is closed");
        }
        send.sgeCount(1).sge(0, memory.address(), Math.toIntExact(memory.byteSize()), 0);
    }

    /** Under {@link #sending}. */
    private void pieces(ScatterGatherList pieces) {
        send.sgeCount(pieces.size());
        for (int i = 0; i < pieces.size(); i++) {
            send.sge(i, pieces.address(i), pieces.lengthBytes(i), pieces.localKey(i));
        }
    }

    /** Under {@link #sending}. */
    private void post(long workRequestId, int opcode, int flags) throws VerbsException {
        queuePair.postSend(send.workRequestId(workRequestId).opcode(opcode).flags(flags));
    }

    /**
     * Waits for completions of sends, reads and writes (rdma_get_send_comp(3)). For a queue pair that was given no queue
     * of send completions; otherwise that queue's owner polls it.
     *
     * @param into where they go
     * @param timeoutMillis how long to wait; 0 only looks
     * @return how many were taken; 0 when the time is over
     * @throws IOException when polling or waiting fails
     * @throws IllegalStateException after the id's close, also while waiting, when another thread waits for the same, or
     *     when the queue is the program's
     */
    public int getSendCompletion(WorkCompletions into, int timeoutMillis) throws IOException {
        return await(true, into, Waiting.deadlineNanos(timeoutMillis));
    }

    /**
     * Waits for completions of receives (rdma_get_recv_comp(3)). For a queue pair that was given no queue of receive
     * completions; otherwise that queue's owner polls it.
     *
     * @param into where they go
     * @param timeoutMillis how long to wait; 0 only looks
     * @return how many were taken; 0 when the time is over
     * @throws IOException when polling or waiting fails
     * @throws IllegalStateException after the id's close, also while waiting, when another thread waits for the same, or
     *     when the queue is the program's
     */
    public int getReceiveCompletion(WorkCompletions into, int timeoutMillis) throws IOException {
        return await(false, into, Waiting.deadlineNanos(timeoutMillis));
    }

    private int await(boolean sends, WorkCompletions into, long deadlineNanos) throws IOException {
        while (true) {
            id.life().enter();
            try {
                IdResources.OwnQueue own =
                        sends ? id.resources().sendQueue() : id.resources().receiveQueue();
                if (own == null) {
                    throw new IllegalStateException("the completion queue was given to this CommunicationId");
                }
                int count = own.queue().poll(into);
                if (count == 0) {
                    own.queue().requestNotification(false);
                    count = own.queue().poll(into);
                }
                if (count > 0 || !own.awaitEvent(deadlineNanos)) {
                    return count;
                }
            } finally {
                id.life().exit();
            }
        }
    }

    /** Frees the work requests; the id and its queue pair stay. Idempotent. */
    @Override
    public void close() {
        sending.lock();
        try {
            send.close();
        } finally {
            sending.unlock();
        }
        receiving.lock();
        try {
            receive.close();
        } finally {
            receiving.unlock();
        }
    }
}
