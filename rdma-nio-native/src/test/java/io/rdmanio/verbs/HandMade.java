package io.rdmanio.verbs;

import io.rdmanio.verbs.cm.TestDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A queue pair that no connection manager knows, with all that it needs: a device opened for it, a domain, a queue for
 * each direction, and registered memory. A test connects it by hand. Not thread-safe.
 */
final class HandMade implements AutoCloseable {
    static final int PORT = 1;
    static final int DEPTH = 16;
    static final int MEMORY_BYTES = 16384;
    static final int INLINE_BYTES = 64;
    static final int SGES = 3;
    static final int QUEUE_KEY = 0x1234;
    static final int ALL_ACCESS =
            AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

    final OpenDeviceContext device;
    final ProtectionDomain domain;
    final CompletionQueue sends;
    final CompletionQueue receives;
    final QueuePair pair;
    final MemorySegment memory;
    final MemoryRegion region;
    /** The address that the queue pair's packets come from. */
    final InetAddress local;
    /** The address that they go to. */
    final InetAddress remote;

    final WorkCompletions completions = new WorkCompletions(DEPTH);
    final SendWorkRequest send = new SendWorkRequest(SGES);
    final ReceiveWorkRequest receive = new ReceiveWorkRequest(SGES);
    private final Arena arena = Arena.ofShared();

    HandMade(QueuePairType type) throws VerbsException {
        this(type, DEPTH);
    }

    HandMade(QueuePairType type, int depth) throws VerbsException {
        this(
                type,
                depth,
                openDevice(),
                TestDevice.address(0).getAddress(),
                TestDevice.address(0).getAddress());
    }

    /** A queue pair of a device that it closes in the end. */
    HandMade(QueuePairType type, int depth, OpenDeviceContext device, InetAddress local, InetAddress remote)
            throws VerbsException {
        this.device = device;
        this.local = local;
        this.remote = remote;
        domain = device.allocateProtectionDomain();
        sends = device.createCompletionQueue(4 * DEPTH, null);
        receives = device.createCompletionQueue(4 * DEPTH, null);
        pair = domain.createQueuePair(attributes(type, depth));
        memory = arena.allocate(MEMORY_BYTES, 4096);
        region = domain.registerMemory(memory, allAccess());
    }

    static OpenDeviceContext openDevice() throws VerbsException {
        return TestDevice.engine().open(TestDevice.name());
    }

    static int allAccess() {
        return TestDevice.has(Feature.ATOMICS) ? ALL_ACCESS : ALL_ACCESS & ~AccessFlags.REMOTE_ATOMIC;
    }

    QueuePairInitAttributes attributes(QueuePairType type, int depth) {
        return QueuePairInitAttributes.of(type, new QueuePairCapabilities(depth, depth, SGES, SGES, INLINE_BYTES))
                .withSendQueue(sends)
                .withReceiveQueue(receives);
    }

    /** The entry of the port's table for the address under test, and the entry itself. */
    static Map.Entry<Integer, Gid> source(DeviceContext device) throws VerbsException {
        InetAddress address = TestDevice.address(0).getAddress();
        return Map.entry(index(device, address), Gid.of(address));
    }

    /** The entry of the port's table for an address. */
    private static int index(DeviceContext device, InetAddress address) throws VerbsException {
        Gid wanted = Gid.of(address);
        int length = device.portAttributes(PORT).gidTableLength();
        for (int i = 0; i < length; i++) {
            if (device.gid(PORT, i).equals(wanted)) {
                return i;
            }
        }
        throw new AssertionError("the GID table lacks " + wanted);
    }

    /** The way to the peer. */
    AddressHandleAttributes path() throws VerbsException {
        return AddressHandleAttributes.global(PORT, GlobalRoute.to(Gid.of(remote), index(device, local)));
    }

    static QueuePairAttributes toInitialized(QueuePairType type) {
        QueuePairAttributes attributes = new QueuePairAttributes()
                .state(QueuePairState.INITIALIZED)
                .partitionKeyIndex(0)
                .portNumber(PORT);
        return type == QueuePairType.UNRELIABLE_DATAGRAM
                ? attributes.queueKey(QUEUE_KEY)
                : attributes.accessFlags(allAccess());
    }

    QueuePairAttributes toReadyToReceive(int peerNumber) throws VerbsException {
        QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE);
        if (pair.type() == QueuePairType.UNRELIABLE_DATAGRAM) {
            return attributes;
        }
        attributes
                .addressVector(path())
                .pathMtuBytes(1024)
                .destinationNumber(peerNumber)
                .receivePacketNumber(0x123);
        return pair.type() == QueuePairType.RELIABLE_CONNECTED
                ? attributes.maxDestinationReadAtomic(4).minRnrTimer(1)
                : attributes;
    }

    QueuePairAttributes toReadyToSend() {
        QueuePairAttributes attributes =
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPacketNumber(0x123);
        return pair.type() == QueuePairType.RELIABLE_CONNECTED
                ? attributes.timeout(14).retryCount(2).rnrRetryCount(1).maxReadAtomic(4)
                : attributes;
    }

    /** Brings the queue pair up until it sends to a peer, which is any number for datagrams. */
    HandMade connect(int peerNumber) throws VerbsException {
        pair.modify(toInitialized(pair.type()));
        pair.modify(toReadyToReceive(peerNumber));
        pair.modify(toReadyToSend());
        return this;
    }

    /** Two queue pairs that are connected with each other; both devices are the one under test. */
    static Two connected(QueuePairType type) throws VerbsException {
        return connected(type, DEPTH);
    }

    static Two connected(QueuePairType type, int depth) throws VerbsException {
        HandMade left = new HandMade(type, depth);
        HandMade right = new HandMade(type, depth);
        left.connect(right.pair.number());
        right.connect(left.pair.number());
        return new Two(left, right);
    }

    /** Two queue pairs. */
    record Two(HandMade left, HandMade right) implements AutoCloseable {
        @Override
        public void close() throws VerbsException {
            left.close();
            right.close();
        }
    }

    void fill(long offset, int length, int seed) {
        for (int i = 0; i < length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, offset + i, (byte) (i * 7 + seed));
        }
    }

    byte[] bytes(long offset, int length) {
        return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    void postReceive(long workRequestId, long offset, int length) throws VerbsException {
        pair.postReceive(receive.workRequestId(workRequestId).sgeCount(1).sge(0, region, offset, length));
    }

    /** A send work request of one entry. */
    SendWorkRequest prepare(int opcode, int flags, long offset, int length) {
        return send.clear()
                .workRequestId(opcode)
                .opcode(opcode)
                .flags(flags)
                .sgeCount(1)
                .sge(0, region, offset, length);
    }

    /** What a completion says. */
    record Completion(long id, WorkCompletionStatus status, int opcode, int lengthBytes, Integer immediate) {
        static Completion of(WorkCompletions completions, int i) {
            return new Completion(
                    completions.workRequestId(i),
                    WorkCompletionStatus.of(completions.status(i)),
                    completions.opcode(i),
                    completions.lengthBytes(i),
                    completions.hasImmediate(i) ? (Integer) completions.immediateData(i) : null);
        }
    }

    Completion awaitSend() throws VerbsException {
        return await(sends, 1).getFirst();
    }

    Completion awaitReceive() throws VerbsException {
        return await(receives, 1).getFirst();
    }

    /** Waits for so many completions, and for no more than those. */
    List<Completion> await(CompletionQueue queue, int count) throws VerbsException {
        List<Completion> found = new ArrayList<>();
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (found.size() < count) {
            int polled = queue.poll(completions);
            for (int i = 0; i < polled; i++) {
                found.add(Completion.of(completions, i));
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError("only " + found + " of " + count + " completions within 10 s");
            }
            LockSupport.parkNanos(100_000);
        }
        return found;
    }

    /** Nothing arrives for a while. */
    boolean isSilent(CompletionQueue queue) throws VerbsException {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
        return queue.poll(completions) == 0;
    }

    @Override
    public void close() throws VerbsException {
        device.close();
        completions.close();
        send.close();
        receive.close();
        arena.close();
    }
}
