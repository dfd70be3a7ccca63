package io.rdmanio.lab.verbs;

import com.sun.management.ThreadMXBean;
import io.rdmanio.linux.Poll;
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
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.cm.CommunicationId;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;

/**
 * One end of a connection over the software device whose speed is measured. {@code struct end} of
 * {@code lab/c/soft_speed.c} does the same work in C: 64 bytes each way, 16 receives posted, one send in 32 signaled. For one
 * thread.
 */
final class SoftSpeedEnd implements AutoCloseable {
    static final int BLOCK_BYTES = 64 * 1024;
    static final int LARGE_BYTES = 1024 * 1024;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int MESSAGE_BYTES = 64;
    private static final int RECEIVE_DEPTH = 16;
    private static final int SEND_DEPTH = 64;
    private static final int SIGNAL_INTERVAL = 32;
    private static final int STREAM_SIGNAL_INTERVAL = 8;
    // Unsignaled messages stay in the send queue until a signaled request after them completes.
    private static final int STREAM_DEPTH = SEND_DEPTH - SIGNAL_INTERVAL;
    private static final long STREAM_BYTES = 256L * BLOCK_BYTES;
    private static final long SOURCE = MESSAGE_BYTES;
    private static final long HEADER_BYTES = 4096;
    private static final int COMPLETIONS = 8;
    private static final int PATIENCE_MILLIS = 60_000;
    private static final int ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

    private final CommunicationId id;
    private final Arena arena = Arena.ofShared();
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final MemoryRegion region;
    private final MemorySegment memory;
    private final SendWorkRequest send = new SendWorkRequest(arena, 1);
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest(arena, 1);
    private final WorkCompletions completions = new WorkCompletions(arena, COMPLETIONS);
    private long remoteAddress;
    private int remoteKey;
    private int found;
    private int next;
    private int sent;
    private int done;
    private long bytes;
    private long start;
    private long nanos;

    /** Prepares an end, with all its receives posted: they take no data, since what comes is written. */
    SoftSpeedEnd(CommunicationId id) throws VerbsException {
        this.id = id;
        DeviceContext device = id.device();
        domain = device.allocateProtectionDomain();
        channel = device.createCompletionChannel();
        queue = device.createCompletionQueue(SEND_DEPTH + RECEIVE_DEPTH, channel);
        pair = id.createQueuePair(
                domain,
                QueuePairInitAttributes.of(
                                QueuePairType.RELIABLE_CONNECTED,
                                new QueuePairCapabilities(SEND_DEPTH, RECEIVE_DEPTH, 1, 1, 0))
                        .withCompletionQueue(queue));
        region = domain.allocateMemory(HEADER_BYTES + STREAM_BYTES, ACCESS);
        memory = region.memory();
        memory.fill((byte) 1);
        for (int i = 0; i < RECEIVE_DEPTH; i++) {
            pair.postReceive(receive.sgeCount(0));
        }
    }

    ProtectionDomain domain() {
        return domain;
    }

    CompletionQueue queue() {
        return queue;
    }

    /** What the peer must know. */
    byte[] privateData() {
        return ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
                .putLong(region.address())
                .putInt(region.remoteKey())
                .array();
    }

    /** Takes what the peer made known. */
    void learn(byte[] privateData) {
        ByteBuffer data = ByteBuffer.wrap(privateData);
        remoteAddress = data.getLong();
        remoteKey = data.getInt();
    }

    /** A command begins. */
    void begin() {
        bytes = THREADS.getCurrentThreadAllocatedBytes();
        start = System.nanoTime();
    }

    /** A command has ended. */
    void finish() {
        nanos = System.nanoTime() - start;
        bytes = THREADS.getCurrentThreadAllocatedBytes() - bytes;
    }

    /** How long the command took. */
    long nanos() {
        return nanos;
    }

    /** What this thread allocated for it. */
    long allocatedBytes() {
        return bytes;
    }

    /**
     * Round trips, begun by the client, and one before them that waits until the other is awake and whose time does not
     * count.
     */
    void ping(boolean isClient, int count, boolean byEvents) throws IOException {
        for (int i = 0; i <= count; i++) {
            if (isClient) {
                sendMessage(i);
                receiveMessage(i, byEvents);
                if (i == 0) {
                    start = System.nanoTime();
                }
            } else {
                receiveMessage(i, byEvents);
                sendMessage(i);
            }
        }
    }

    private void sendMessage(int number) throws VerbsException {
        memory.set(ValueLayout.JAVA_LONG, SOURCE, number);
        pair.postSend(send.workRequestId(0)
                .opcode(SendOpcode.WRITE_WITH_IMM)
                .flags(++sent % SIGNAL_INTERVAL == 0 ? SendFlags.SIGNALED : 0)
                .immediateData(number)
                .remote(remoteAddress, remoteKey)
                .sgeCount(1)
                .sge(0, region.address() + SOURCE, MESSAGE_BYTES, region.localKey()));
    }

    private void receiveMessage(int number, boolean byEvents) throws IOException {
        int entry = takeReceive();
        while (entry < 0) {
            if (byEvents) {
                queue.requestNotification(false);
                entry = takeReceive();
                if (entry >= 0) {
                    break;
                }
                awaitEvent();
            }
            entry = takeReceive();
        }
        if (completions.lengthBytes(entry) != MESSAGE_BYTES
                || completions.immediateData(entry) != number
                || memory.get(ValueLayout.JAVA_LONG, 0) != number) {
            throw new IOException("a wrong message instead of " + number);
        }
        pair.postReceive(receive);
    }

    private void awaitEvent() throws IOException {
        long begin = System.nanoTime();
        // A signal ends the wait as well.
        while (Poll.awaitReadable(channel.fileDescriptor(), -1, PATIENCE_MILLIS) == 0) {
            if (System.nanoTime() - begin > PATIENCE_MILLIS * 1_000_000L) {
                throw new IOException("nothing came");
            }
        }
        channel.takeEvent();
    }

    /** Looks for a receive among the completions; those of sends are passed over. Returns its index, -1 for none. */
    private int takeReceive() throws IOException {
        while (true) {
            if (next == found) {
                next = 0;
                found = queue.poll(completions);
                if (found == 0) {
                    return -1;
                }
            }
            int entry = next++;
            ensureSucceeded(entry);
            if (completions.hasImmediate(entry)) {
                return entry;
            }
        }
    }

    private void ensureSucceeded(int entry) throws IOException {
        if (!completions.succeeded(entry)) {
            throw new IOException("work ended with " + WorkCompletionStatus.of(completions.status(entry)));
        }
    }

    /** Writes of a size, one after the other all over the server's memory, as many at a time as the send queue takes. */
    void stream(int count, int sizeBytes) throws IOException {
        transfer(SendOpcode.WRITE, count, sizeBytes);
    }

    /** Reads of 1 MiB likewise. */
    void read(int count) throws IOException {
        transfer(SendOpcode.READ, count, LARGE_BYTES);
    }

    private void transfer(int opcode, int count, int sizeBytes) throws IOException {
        next = 0;
        found = 0;
        done = 0;
        int posted = 0;
        while (done < count) {
            if (posted < count && posted - done < STREAM_DEPTH) {
                long offset = HEADER_BYTES + (long) posted * sizeBytes % STREAM_BYTES;
                posted++;
                boolean signaled = posted % STREAM_SIGNAL_INTERVAL == 0 || posted == count;
                pair.postSend(send.workRequestId(posted)
                        .opcode(opcode)
                        .flags(signaled ? SendFlags.SIGNALED : 0)
                        .remote(remoteAddress + offset, remoteKey)
                        .sgeCount(1)
                        .sge(0, region.address() + offset, sizeBytes, region.localKey()));
            } else {
                takeSends();
            }
        }
    }

    /** Takes the completions that are there; their numbers tell how far the transfer has come, those of messages nothing. */
    private void takeSends() throws IOException {
        for (int n = queue.poll(completions); n > 0; n = queue.poll(completions)) {
            for (int i = 0; i < n; i++) {
                ensureSucceeded(i);
                done = Math.max(done, (int) completions.workRequestId(i));
            }
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
