package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.CompletionChannel;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.GlobalRoute;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.WorkCompletions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * One end of a connection made by hand between two software devices, with memory that the peer reaches itself (shared)
 * or not (foreign). Not thread-safe.
 */
final class SoftSide implements AutoCloseable {
    static final int DEPTH = 16;
    static final int MEMORY_BYTES = 1 << 20;
    static final int ALL_ACCESS =
            AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** The host's device; null on that of ids. */
    final SoftDevice device;

    final DeviceContext context;
    final ProtectionDomain domain;
    /** Null when the options say so. */
    final CompletionChannel channel;

    final CompletionQueue sends;
    final CompletionQueue receives;
    final SharedReceiveQueue shared;
    final QueuePair pair;
    final MemoryRegion region;
    final MemorySegment memory;
    final WorkCompletions completions = new WorkCompletions(DEPTH);
    final SendWorkRequest send = new SendWorkRequest(4);
    final ReceiveWorkRequest receive = new ReceiveWorkRequest(4);
    private final Arena arena = Arena.ofShared();

    /** What a side is made of. */
    record Options(boolean foreign, boolean sharedReceives, int depth, int rnrRetries, boolean hasChannel) {
        static final Options DEFAULT = new Options(false, false, DEPTH, 7, true);

        Options withForeignMemory() {
            return new Options(true, sharedReceives, depth, rnrRetries, hasChannel);
        }

        Options withSharedReceives() {
            return new Options(foreign, true, depth, rnrRetries, hasChannel);
        }

        Options withDepth(int entries) {
            return new Options(foreign, sharedReceives, entries, rnrRetries, hasChannel);
        }

        Options withRnrRetries(int retries) {
            return new Options(foreign, sharedReceives, depth, retries, hasChannel);
        }

        Options withoutChannel() {
            return new Options(foreign, sharedReceives, depth, rnrRetries, false);
        }
    }

    private final Options options;
    private final boolean ownsReceives;

    SoftSide(SoftDevice device, Options options) throws VerbsException {
        this(device, options, null);
    }

    /** A side whose receives complete in another's queue; null for one of its own. */
    SoftSide(SoftDevice device, Options options, CompletionQueue commonReceives) throws VerbsException {
        this(device, device.context, options, commonReceives);
    }

    /** A side on a device of ids. */
    SoftSide(DeviceContext context, Options options) throws VerbsException {
        this(null, context, options, null);
    }

    private SoftSide(SoftDevice device, DeviceContext context, Options options, CompletionQueue commonReceives)
            throws VerbsException {
        this.device = device;
        this.context = context;
        this.options = options;
        domain = context.allocateProtectionDomain();
        channel = options.hasChannel ? context.createCompletionChannel() : null;
        sends = context.createCompletionQueue(4 * options.depth, channel);
        ownsReceives = commonReceives == null;
        receives = ownsReceives ? context.createCompletionQueue(4 * options.depth, channel) : commonReceives;
        shared = options.sharedReceives
                ? domain.createSharedReceiveQueue(new SharedReceiveQueueAttributes(options.depth, 4, 0))
                : null;
        QueuePairInitAttributes attributes = QueuePairInitAttributes.of(
                        QueuePairType.RELIABLE_CONNECTED,
                        new QueuePairCapabilities(options.depth, options.depth, 4, 4, 4096))
                .withSendQueue(sends)
                .withReceiveQueue(receives);
        pair = domain.createQueuePair(shared == null ? attributes : attributes.withSharedReceiveQueue(shared));
        if (options.foreign) {
            memory = arena.allocate(MEMORY_BYTES, 4096);
            region = domain.registerMemory(memory, ALL_ACCESS);
        } else {
            region = domain.allocateMemory(MEMORY_BYTES, ALL_ACCESS);
            memory = region.memory();
        }
    }

    /** Two sides of two devices, connected. */
    static SoftSide[] connected(SoftDevice left, SoftDevice right, Options options) throws VerbsException {
        return connected(left, right, options, options);
    }

    static SoftSide[] connected(SoftDevice left, SoftDevice right, Options leftOptions, Options rightOptions)
            throws VerbsException {
        SoftSide[] sides = {new SoftSide(left, leftOptions), new SoftSide(right, rightOptions)};
        sides[0].connect(sides[1]);
        sides[1].connect(sides[0]);
        return sides;
    }

    void connect(SoftSide peer) throws VerbsException {
        connect(peer.context.gid(SoftContext.PORT, 0), peer.pair.number());
    }

    void connect(Gid peer, int peerNumber) throws VerbsException {
        pair.modify(new QueuePairAttributes()
                .state(QueuePairState.INITIALIZED)
                .partitionKeyIndex(0)
                .portNumber(SoftContext.PORT)
                .accessFlags(ALL_ACCESS));
        pair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressHandleAttributes.global(SoftContext.PORT, GlobalRoute.to(peer, 0)))
                .pathMtuBytes(1024)
                .destinationNumber(peerNumber)
                .receivePacketNumber(0)
                .maxDestinationReadAtomic(4)
                .minRnrTimer(1));
        pair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPacketNumber(0)
                .timeout(14)
                .retryCount(2)
                .rnrRetryCount(options.rnrRetries)
                .maxReadAtomic(4));
    }

    void fill(long offset, int length, int seed) {
        for (int i = 0; i < length; i++) {
            memory.set(ValueLayout.JAVA_BYTE, offset + i, (byte) (i * 7 + i / 251 + seed));
        }
    }

    byte[] bytes(long offset, int length) {
        return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    void postReceive(long workRequestId, long offset, int length) throws VerbsException {
        receive.workRequestId(workRequestId).sgeCount(1).sge(0, region, offset, length);
        if (shared != null) {
            shared.postReceive(receive);
        } else {
            pair.postReceive(receive);
        }
    }

    SendWorkRequest prepare(int opcode, int flags, long offset, int length) {
        return send.clear()
                .workRequestId(opcode)
                .opcode(opcode)
                .flags(flags)
                .sgeCount(1)
                .sge(0, region, offset, length);
    }

    SendWorkRequest toPeer(SoftSide peer, int opcode, int flags, long offset, int length, long target) {
        return prepare(opcode, flags, offset, length).remote(peer.region.address() + target, peer.region.remoteKey());
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
            if (polled == 0) {
                LockSupport.parkNanos(20_000);
            }
        }
        return found;
    }

    boolean isSilent(CompletionQueue queue) throws VerbsException {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
        return queue.poll(completions) == 0;
    }

    @Override
    public void close() throws VerbsException {
        pair.close();
        if (shared != null) {
            shared.close();
        }
        sends.close();
        if (ownsReceives) {
            receives.close();
        }
        if (channel != null) {
            channel.close();
        }
        domain.close();
        completions.close();
        send.close();
        receive.close();
        arena.close();
    }
}
