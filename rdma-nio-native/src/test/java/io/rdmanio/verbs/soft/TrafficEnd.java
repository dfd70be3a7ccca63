package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import java.nio.ByteBuffer;
import java.util.Random;

/**
 * An end of a connection with random traffic: sends, writes, reads and atomics of all sizes, to memory that the peer
 * allocated and to memory that it merely registered. Counts what is on the way. For one thread.
 */
final class TrafficEnd {
    private static final int DEPTH = 32;
    private static final int INLINE_BYTES = 128;
    private static final int ATOMIC_BYTES = 8;
    private static final int REQUESTS_PER_STEP = 8;
    private static final int DATA_BYTES = 2 * (Long.BYTES + Integer.BYTES);
    private static final QueuePairCapabilities CAPABILITIES =
            new QueuePairCapabilities(DEPTH, DEPTH, 2, 1, INLINE_BYTES);

    /** How far the connection is. */
    enum Progress {
        CONNECTING,
        ESTABLISHED,
        /** An event has told the end, or a call of the connection manager failed since the peer is gone. */
        ENDED
    }

    private interface Step {
        void take() throws VerbsException;
    }

    final CommunicationId id;
    private final TrafficNode node;
    private final int number;
    private final boolean sharesReceives;
    private final long[] remoteAddresses = new long[2];
    private final int[] remoteKeys = new int[2];
    private QueuePair pair;
    private Progress progress = Progress.CONNECTING;
    private boolean wasEstablished;
    private String ending = "";
    private int sends;
    private int receives;
    private int failed;

    TrafficEnd(TrafficNode node, CommunicationId id, int number, boolean sharesReceives) {
        this.node = node;
        this.id = id;
        this.number = number;
        this.sharesReceives = sharesReceives;
    }

    boolean isEstablished() {
        return progress == Progress.ESTABLISHED;
    }

    /** Whether it once was established, and the event that ended it says that it was. */
    boolean endedAsItShould() {
        return !wasEstablished || ending.equals(CommunicationEventType.DISCONNECTED.name());
    }

    /** Whether its end was told and nothing is on the way any more. */
    boolean isOver() {
        return progress == Progress.ENDED && sends == 0 && receives == 0;
    }

    private void createQueuePair() throws VerbsException {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTED, CAPABILITIES)
                .withCompletionQueue(node.queue);
        pair = id.createQueuePair(
                node.domain, sharesReceives ? attributes.withSharedReceiveQueue(node.shared) : attributes);
        for (int i = 0; i < DEPTH && !sharesReceives; i++) {
            postReceive();
        }
    }

    private void postReceive() throws VerbsException {
        pair.postReceive(node.prepareReceive(number));
        receives++;
    }

    private byte[] privateData() {
        return ByteBuffer.allocate(DATA_BYTES)
                .putLong(node.direct.address())
                .putInt(node.direct.remoteKey())
                .putLong(node.foreign.address())
                .putInt(node.foreign.remoteKey())
                .array();
    }

    private void learn(byte[] privateData) {
        ByteBuffer data = ByteBuffer.wrap(privateData);
        for (int i = 0; i < remoteKeys.length; i++) {
            remoteAddresses[i] = data.getLong();
            remoteKeys[i] = data.getInt();
        }
    }

    void accept(CommunicationEvent request) throws VerbsException {
        learn(request.privateData());
        createQueuePair();
        attempt(() -> id.accept(TrafficNode.PARAMETERS, privateData()));
    }

    void handle(CommunicationEvent event) throws VerbsException {
        switch (event.type()) {
            case ADDRESS_RESOLVED -> attempt(() -> id.resolveRoute(TrafficNode.TIMEOUT_MILLIS));
            case ROUTE_RESOLVED -> {
                createQueuePair();
                attempt(() -> id.connect(TrafficNode.PARAMETERS, privateData()));
            }
            case ESTABLISHED -> {
                if (remoteKeys[0] == 0) {
                    learn(event.privateData());
                }
                progress = Progress.ESTABLISHED;
                wasEstablished = true;
            }
            case TIME_WAIT_EXIT -> {
                // Comes after the end.
            }
            default -> end(event.type().name());
        }
    }

    /** A step of the connection manager, which fails when the peer is gone already. */
    private void attempt(Step step) throws VerbsException {
        try {
            step.take();
        } catch (VerbsException e) {
            end(e.toString());
        }
    }

    private void end(String how) throws VerbsException {
        progress = Progress.ENDED;
        ending = how;
        // Of a connection that never stood, the queue pair is the application's to end.
        if (!wasEstablished && pair != null) {
            pair.toError();
        }
    }

    void completed(boolean isReceive, boolean succeeded) throws VerbsException {
        if (!succeeded) {
            failed++;
        }
        if (!isReceive) {
            sends--;
            return;
        }
        receives--;
        if (succeeded && progress != Progress.ENDED && failed == 0) {
            postReceive();
        }
    }

    /** Posts some requests, as many as there is room for; after the first that failed none that would fail as well. */
    boolean postSome() throws VerbsException {
        int posted = 0;
        while (isEstablished() && failed == 0 && sends < DEPTH && posted < REQUESTS_PER_STEP) {
            pair.postSend(prepare(node.random));
            sends++;
            posted++;
        }
        return posted > 0;
    }

    private SendWorkRequest prepare(Random random) {
        int memory = random.nextInt(remoteKeys.length);
        SendWorkRequest request = node.send.clear().workRequestId(number * 2L).immediateData(number);
        int flags = SendFlags.SIGNALED | (random.nextInt(8) == 0 ? SendFlags.FENCE : 0);
        int kind = random.nextInt(8);
        int lengthBytes = switch (kind) {
            case 0, 1 -> random.nextInt(TrafficNode.RECEIVE_BYTES + 1);
            case 2, 3 -> ATOMIC_BYTES;
            default -> random.nextInt(1 << random.nextInt(17));
        };
        long remote = remoteAddresses[memory] + random.nextInt(TrafficNode.MEMORY_BYTES - lengthBytes + 1);
        switch (kind) {
            case 0 -> request.opcode(SendOpcode.SEND);
            case 1 -> request.opcode(SendOpcode.SEND_WITH_IMM);
            case 2, 3 ->
                request.opcode(kind == 2 ? SendOpcode.FETCH_AND_ADD : SendOpcode.COMPARE_AND_SWAP)
                        .atomic(remoteAddresses[memory] + 8L * random.nextInt(64), remoteKeys[memory], 1, 2);
            case 4 -> request.opcode(SendOpcode.READ).remote(remote, remoteKeys[memory]);
            case 5 -> request.opcode(SendOpcode.WRITE_WITH_IMM).remote(remote, remoteKeys[memory]);
            default -> request.opcode(SendOpcode.WRITE).remote(remote, remoteKeys[memory]);
        }
        boolean mayBeInline = kind < 2 || kind > 4;
        if (mayBeInline && lengthBytes <= INLINE_BYTES && random.nextBoolean()) {
            flags |= SendFlags.INLINE;
        }
        int first = random.nextInt(lengthBytes + 1);
        if (kind == 2 || kind == 3) {
            first = ATOMIC_BYTES;
        }
        MemoryRegion from = node.local;
        return request.flags(flags)
                .sgeCount(first == lengthBytes ? 1 : 2)
                .sge(0, from, 0, first)
                .sge(1, from, first, lengthBytes - first);
    }

    @Override
    public String toString() {
        return "end " + number + (sharesReceives ? " (shared receives)" : "") + ": " + progress + " " + ending + ", "
                + sends + " sends and " + receives + " receives on the way, " + failed + " failed";
    }
}
