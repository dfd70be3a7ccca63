package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A connection between two hosts whose data is checked to the last byte: sends, writes, reads and atomics, from the one end
 * to the other and back. For one thread, but for the counter.
 */
final class CheckedTraffic implements AutoCloseable {
    private static final int BYTES = 8192;
    private static final long PAUSE_NANOS = 20_000;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int ALL_RIGHTS =
            AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

    private final Random random;
    private final EventChannel firstChannel;
    private final EventChannel secondChannel;
    private final CommunicationId listener;
    private final End first;
    private final End second;
    private final AtomicLong rounds = new AtomicLong();

    /** Connects the first host's end to the second's. */
    CheckedTraffic(RdmaEngine firstEngine, RdmaEngine secondEngine, long seed) throws IOException {
        random = new Random(seed);
        firstChannel = EventChannel.open(firstEngine);
        secondChannel = EventChannel.open(secondEngine);
        listener = secondChannel.createId(PortSpace.TCP);
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        listener.listen(1);
        CommunicationId id = firstChannel.createId(PortSpace.TCP);
        id.resolveAddress(null, listener.localAddress(), TrafficNode.TIMEOUT_MILLIS);
        expect(firstChannel, CommunicationEventType.ADDRESS_RESOLVED);
        id.resolveRoute(TrafficNode.TIMEOUT_MILLIS);
        expect(firstChannel, CommunicationEventType.ROUTE_RESOLVED);
        first = new End(id);
        id.connect(TrafficNode.PARAMETERS, null);
        try (CommunicationEvent request = next(secondChannel, CommunicationEventType.CONNECT_REQUEST)) {
            second = new End(request.id());
            request.id().accept(TrafficNode.PARAMETERS, null);
        }
        expect(firstChannel, CommunicationEventType.ESTABLISHED);
        expect(secondChannel, CommunicationEventType.ESTABLISHED);
    }

    private static CommunicationEvent next(EventChannel channel, CommunicationEventType type) throws IOException {
        CommunicationEvent event = channel.awaitEvent(TrafficNode.TIMEOUT_MILLIS);
        if (event == null || event.type() != type) {
            throw new IOException("expected " + type + ", got " + event);
        }
        return event;
    }

    private static void expect(EventChannel channel, CommunicationEventType type) throws IOException {
        next(channel, type).close();
    }

    /** How many rounds there were so far; any thread may ask. */
    long rounds() {
        return rounds.get();
    }

    /** A message, a write, a read and an atomic from the one end to the other, or back; all of it checked. */
    void round() throws IOException {
        End from = random.nextBoolean() ? first : second;
        End to = from == first ? second : first;
        int lengthBytes = 1 + random.nextInt(BYTES);
        byte[] data = new byte[lengthBytes];

        fill(from.memory, data);
        to.postReceive(lengthBytes);
        from.post(SendOpcode.SEND, null, lengthBytes);
        to.await();
        from.await();
        check("a message", to.memory, data);

        fill(from.memory, data);
        from.post(SendOpcode.WRITE, to, lengthBytes);
        from.await();
        check("a write", to.memory, data);

        fill(to.memory, data);
        from.post(SendOpcode.READ, to, lengthBytes);
        from.await();
        check("a read", from.memory, data);

        long sum = random.nextLong();
        to.memory.set(ValueLayout.JAVA_LONG, 0, sum);
        from.post(SendOpcode.FETCH_AND_ADD, to, Long.BYTES);
        from.await();
        if (from.memory.get(ValueLayout.JAVA_LONG, 0) != sum || to.memory.get(ValueLayout.JAVA_LONG, 0) != sum + 1) {
            throw new IOException("an atomic of an innocent connection went wrong");
        }
        rounds.incrementAndGet();
    }

    private void fill(MemorySegment memory, byte[] data) {
        random.nextBytes(data);
        MemorySegment.copy(data, 0, memory, ValueLayout.JAVA_BYTE, 0, data.length);
    }

    private static void check(String what, MemorySegment memory, byte[] data) throws IOException {
        long mismatch = memory.asSlice(0, data.length).mismatch(MemorySegment.ofArray(data));
        if (mismatch >= 0) {
            throw new IOException(
                    what + " of " + data.length + " bytes on an innocent connection is wrong at " + mismatch);
        }
    }

    /** One end of it. */
    private static final class End {
        private final CommunicationId id;
        private final ProtectionDomain domain;
        private final CompletionQueue queue;
        private final QueuePair pair;
        private final MemoryRegion region;
        private final MemorySegment memory;
        private final SendWorkRequest send = new SendWorkRequest(1);
        private final ReceiveWorkRequest receive = new ReceiveWorkRequest(1);
        private final WorkCompletions completions = new WorkCompletions(1);

        End(CommunicationId id) throws VerbsException {
            this.id = id;
            DeviceContext device = id.device();
            domain = device.allocateProtectionDomain();
            queue = device.createCompletionQueue(16, null);
            pair = id.createQueuePair(
                    domain,
                    QueuePairInitAttributes.of(
                                    QueuePairType.RELIABLE_CONNECTED, new QueuePairCapabilities(8, 8, 1, 1, 0))
                            .withCompletionQueue(queue));
            region = domain.allocateMemory(BYTES, ALL_RIGHTS);
            memory = region.memory();
        }

        void postReceive(int lengthBytes) throws VerbsException {
            pair.postReceive(receive.sgeCount(1).sge(0, region, 0, lengthBytes));
        }

        void post(int opcode, End to, int lengthBytes) throws VerbsException {
            send.clear().opcode(opcode).flags(SendFlags.SIGNALED).sgeCount(1).sge(0, region, 0, lengthBytes);
            if (opcode == SendOpcode.FETCH_AND_ADD) {
                send.atomic(to.region.address(), to.region.remoteKey(), 1, 0);
            } else if (to != null) {
                send.remote(to.region.address(), to.region.remoteKey());
            }
            pair.postSend(send);
        }

        /** Waits for a completion. */
        void await() throws IOException {
            long deadline = System.nanoTime() + PATIENCE_NANOS;
            while (queue.poll(completions) == 0) {
                if (System.nanoTime() > deadline) {
                    throw new IOException("an innocent connection stands still");
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
            if (!completions.succeeded(0)) {
                throw new IOException(
                        "work of an innocent connection ended with " + WorkCompletionStatus.of(completions.status(0)));
            }
        }

        void close() throws VerbsException {
            id.close();
            region.close();
            queue.close();
            domain.close();
            send.close();
            receive.close();
            completions.close();
        }
    }

    @Override
    public void close() throws VerbsException {
        first.close();
        second.close();
        listener.close();
        firstChannel.close();
        secondChannel.close();
    }
}
