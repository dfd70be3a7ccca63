package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.CompletionChannel;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.WorkCompletions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/** One side of a connection with everything it needs: a queue pair, its queues, and a page of registered memory. */
final class Endpoint implements AutoCloseable {
    static final int DEPTH = 8;
    static final int MEMORY_BYTES = 4096;
    static final int WANTED_INLINE_BYTES = 64;

    final CommunicationId id;
    final ProtectionDomain domain;
    final CompletionChannel channel;
    final CompletionQueue queue;
    final QueuePair pair;
    final MemorySegment memory;
    final MemoryRegion region;
    final SendWorkRequest send = new SendWorkRequest(2);
    final ReceiveWorkRequest receive = new ReceiveWorkRequest(1);
    final WorkCompletions completions = new WorkCompletions(1);
    private final Arena arena = Arena.ofShared();

    Endpoint(CommunicationId id) throws VerbsException {
        this(id, QueuePairType.RELIABLE_CONNECTED);
    }

    Endpoint(CommunicationId id, QueuePairType type) throws VerbsException {
        this.id = id;
        DeviceContext context = id.device();
        domain = context.allocateProtectionDomain();
        channel = context.createCompletionChannel();
        queue = context.createCompletionQueue(2 * DEPTH, channel);
        pair = id.createQueuePair(
                domain,
                QueuePairInitAttributes.of(type, new QueuePairCapabilities(DEPTH, DEPTH, 2, 1, WANTED_INLINE_BYTES))
                        .withCompletionQueue(queue));
        memory = arena.allocate(MEMORY_BYTES, MEMORY_BYTES);
        region = domain.registerMemory(memory, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
    }

    void postReceive(long workRequestId, long offset, int lengthBytes) throws VerbsException {
        receive.workRequestId(workRequestId)
                .sgeCount(1)
                .sge(0, region.address() + offset, lengthBytes, region.localKey());
        pair.postReceive(receive);
    }

    /** A send work request for a piece of the memory. */
    SendWorkRequest prepare(int opcode, int flags, long offset, int lengthBytes) {
        return send.workRequestId(opcode)
                .opcode(opcode)
                .flags(flags)
                .sgeCount(1)
                .sge(0, region.address() + offset, lengthBytes, region.localKey());
    }

    /** Waits for one completion, by events of the channel. */
    Completion awaitCompletion() throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TestDevice.TIMEOUT_MILLIS);
        while (System.nanoTime() < deadline) {
            if (queue.poll(completions) > 0) {
                return new Completion(completions);
            }
            queue.requestNotification(false);
            if (queue.poll(completions) > 0) {
                return new Completion(completions);
            }
            channel.awaitEvent(1000);
        }
        throw new AssertionError("no completion within " + TestDevice.TIMEOUT_MILLIS + " ms");
    }

    /** What a completion says. */
    record Completion(
            long workRequestId,
            WorkCompletionStatus status,
            int opcode,
            int lengthBytes,
            boolean hasImmediate,
            int data) {
        private Completion(WorkCompletions entry) {
            this(
                    entry.workRequestId(0),
                    WorkCompletionStatus.of(entry.status(0)),
                    entry.opcode(0),
                    entry.lengthBytes(0),
                    entry.hasImmediate(0),
                    entry.immediateData(0));
        }
    }

    @Override
    public void close() throws VerbsException {
        id.close();
        region.close();
        queue.close();
        channel.close();
        domain.close();
        send.close();
        receive.close();
        completions.close();
        arena.close();
    }
}
