package io.rdmanio.lab.verbs;

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
import io.rdmanio.verbs.cm.ConnectionParameters;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One end of an rping connection: a queue pair, two messages of 16 bytes and registered memory for the data. A message
 * tells the peer where a buffer is (address, key and length, in network order); what a server tells means only "go on".
 *
 * <p>For one thread, but for {@link #disconnect}.
 */
final class PingConnection implements AutoCloseable {
    static final ConnectionParameters PARAMETERS = new ConnectionParameters(1, 1, 0, 7, 7, false, 0);

    private static final int MESSAGE_BYTES = 16;
    private static final int DEPTH = 8;
    private static final ValueLayout.OfLong ADDRESS = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int KEY_OFFSET = 8;
    private static final int LENGTH_OFFSET = 12;

    // A completion's number tells what it completes.
    private static final long RECEIVE = 1;
    private static final long SEND = 2;
    private static final long TRANSFER = 3;

    private final CommunicationId id;
    private final int watchedDescriptor;
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment incoming = arena.allocate(MESSAGE_BYTES, 16);
    private final MemorySegment outgoing = arena.allocate(MESSAGE_BYTES, 16);
    private final MemoryRegion incomingRegion;
    private final MemoryRegion outgoingRegion;
    private final MemoryRegion source;
    private final MemoryRegion sink;
    private final SendWorkRequest send = new SendWorkRequest(arena, 1);
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest(arena, 1);
    private final WorkCompletions completions = new WorkCompletions(arena, 1);
    private final AtomicBoolean disconnecting = new AtomicBoolean();
    private Buffer announced;
    private boolean ended;

    /** A buffer of the peer. */
    record Buffer(long address, int key, int lengthBytes) {}

    /**
     * Prepares the connection, with a receive posted.
     *
     * @param id with a device
     * @param sizeBytes the size of each of the two buffers
     * @param watchedDescriptor what else ends a wait for completions when it gets readable; -1 for nothing
     */
    PingConnection(CommunicationId id, int sizeBytes, int watchedDescriptor) throws VerbsException {
        this.id = id;
        this.watchedDescriptor = watchedDescriptor;
        DeviceContext device = id.device();
        domain = device.allocateProtectionDomain();
        channel = device.createCompletionChannel();
        queue = device.createCompletionQueue(2 * DEPTH, channel);
        pair = id.createQueuePair(
                domain,
                QueuePairInitAttributes.of(
                                QueuePairType.RELIABLE_CONNECTED, new QueuePairCapabilities(DEPTH, DEPTH, 1, 1, 0))
                        .withCompletionQueue(queue));
        incomingRegion = domain.registerMemory(incoming, AccessFlags.LOCAL_WRITE);
        outgoingRegion = domain.registerMemory(outgoing, 0);
        // On iWARP, where a read puts its data must be open to writes of the peer.
        int access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;
        source = domain.registerMemory(arena.allocate(sizeBytes, 4096), access);
        sink = domain.registerMemory(arena.allocate(sizeBytes, 4096), access);
        receive.workRequestId(RECEIVE)
                .sgeCount(1)
                .sge(0, incomingRegion.address(), MESSAGE_BYTES, incomingRegion.localKey());
        pair.postReceive(receive);
    }

    MemoryRegion source() {
        return source;
    }

    MemoryRegion sink() {
        return sink;
    }

    /** Tells the peer where a buffer is, and waits until the message is sent. */
    void announce(MemoryRegion region, int lengthBytes) throws IOException {
        outgoing.set(ADDRESS, 0, region.address());
        outgoing.set(WORD, KEY_OFFSET, region.remoteKey());
        outgoing.set(WORD, LENGTH_OFFSET, lengthBytes);
        post(SendOpcode.SEND, SEND, outgoingRegion, MESSAGE_BYTES);
    }

    /** Reads all of the peer's buffer into the memory, and waits until it is there. */
    void read(Buffer from, MemoryRegion into) throws IOException {
        transfer(SendOpcode.READ, from, into);
    }

    /** Writes the memory into all of the peer's buffer, and waits until it is there. */
    void write(MemoryRegion from, Buffer into) throws IOException {
        transfer(SendOpcode.WRITE, into, from);
    }

    private void transfer(int opcode, Buffer remote, MemoryRegion local) throws IOException {
        if (Integer.compareUnsigned(remote.lengthBytes, (int) local.lengthBytes()) > 0) {
            throw new IOException("the peer's buffer of " + Integer.toUnsignedString(remote.lengthBytes)
                    + " bytes is larger than ours of " + local.lengthBytes());
        }
        send.remote(remote.address, remote.key);
        post(opcode, TRANSFER, local, remote.lengthBytes);
    }

    private void post(int opcode, long number, MemoryRegion local, int lengthBytes) throws IOException {
        pair.postSend(send.workRequestId(number)
                .opcode(opcode)
                .flags(SendFlags.SIGNALED)
                .sgeCount(1)
                .sge(0, local.address(), lengthBytes, local.localKey()));
        while (await() != number) {
            if (ended) {
                throw new IOException("the peer disconnected in the middle of an exchange");
            }
        }
    }

    /** Waits for what the peer announces; null when it has disconnected instead. */
    Buffer awaitAnnouncement() throws IOException {
        while (announced == null && !ended) {
            await();
        }
        Buffer buffer = announced;
        announced = null;
        return buffer;
    }

    /** Waits for one completion, deals with it, and returns its number. */
    private long await() throws IOException {
        awaitCompletion();
        int status = completions.status(0);
        long number = completions.workRequestId(0);
        if (status == WorkCompletionStatus.FLUSHED.value()) {
            ended = true;
            return 0;
        }
        if (!completions.succeeded(0)) {
            throw new IOException("work request " + number + " ended with " + WorkCompletionStatus.of(status));
        }
        if (number == RECEIVE) {
            if (completions.lengthBytes(0) != MESSAGE_BYTES) {
                throw new IOException("a message of " + completions.lengthBytes(0) + " bytes");
            }
            announced = new Buffer(
                    incoming.get(ADDRESS, 0), incoming.get(WORD, KEY_OFFSET), incoming.get(WORD, LENGTH_OFFSET));
            pair.postReceive(receive);
        }
        return number;
    }

    private void awaitCompletion() throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Waiting.PATIENCE_MILLIS);
        while (queue.poll(completions) == 0) {
            queue.requestNotification(false);
            if (queue.poll(completions) > 0) {
                return;
            }
            int ready = Poll.awaitReadable(channel.fileDescriptor(), watchedDescriptor, Waiting.PATIENCE_MILLIS);
            if ((ready & 1) != 0) {
                channel.takeEvent();
            } else if (ready != 0) {
                throw new IOException("an event of the connection in the middle of an exchange");
            } else if (System.nanoTime() - deadline > 0) {
                throw new IOException("no completion within " + Waiting.PATIENCE_MILLIS + " ms");
            }
        }
    }

    /**
     * Disconnects, or answers the peer's disconnecting; whoever waits for a completion gets one. Idempotent; for any
     * thread.
     */
    void disconnect() throws VerbsException {
        if (disconnecting.compareAndSet(false, true)) {
            id.disconnect();
        }
    }

    @Override
    public void close() throws VerbsException {
        id.close();
        queue.close();
        channel.close();
        domain.close();
        send.close();
        receive.close();
        completions.close();
        arena.close();
    }
}
