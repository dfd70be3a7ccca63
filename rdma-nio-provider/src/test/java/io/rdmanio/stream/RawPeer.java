package io.rdmanio.stream;

import io.rdmanio.linux.Poll;
import io.rdmanio.policy.TransportPolicy;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/**
 * A peer that posts whatever messages a test wants, right or wrong, over a connection made by hand. It never looks at what it
 * receives unless told to. Not thread-safe.
 */
final class RawPeer implements AutoCloseable {
    /** A key that nobody has. */
    static final int NO_KEY = 0x7fff_ff00;

    private static final int EVENT_TIMEOUT_MILLIS = 20_000;

    private final ResourceStack open = new ResourceStack();
    private final EventChannel events;
    private final CommunicationId id;
    private StreamResources resources;
    private MessagePoster poster;
    private PeerParameters victim;

    private RawPeer() throws IOException {
        events = open.add(EventChannel.open(TransportPolicy.engine()));
        id = open.add(events.createId(PortSpace.TCP));
    }

    /** The other end of a request. */
    private RawPeer(EventChannel events, CommunicationId requested) {
        this.events = events;
        id = open.add(requested);
    }

    /** Accepts what a test's victim asks for. Not thread-safe. */
    static final class Listener implements AutoCloseable {
        private final RawPeer bound = new RawPeer();

        Listener(InetSocketAddress address) throws IOException {
            try {
                bound.id.bind(address);
                bound.id.listen(1);
            } catch (IOException e) {
                try (bound) {
                    throw e;
                }
            }
        }

        InetSocketAddress address() {
            return bound.id.localAddress();
        }

        /**
         * Accepts one request.
         *
         * @param change what to make of an honest peer's private data
         * @return the peer, to be closed before this
         * @throws IOException naming the event, if anything but CONNECT_REQUEST and ESTABLISHED comes
         */
        RawPeer accept(UnaryOperator<byte[]> change) throws IOException {
            RawPeer peer;
            ConnectionParameters parameters;
            try (CommunicationEvent request = bound.next(CommunicationEventType.CONNECT_REQUEST)) {
                peer = new RawPeer(bound.events, request.id());
                parameters = request.connectionParameters();
                peer.victim = PeerParameters.decode(request.privateData());
            }
            try {
                peer.makeResources();
                peer.id.accept(parameters, peer.parameters(change));
                peer.expect(CommunicationEventType.ESTABLISHED);
                return peer;
            } catch (IOException | RuntimeException e) {
                try (peer) {
                    throw e;
                }
            }
        }

        @Override
        public void close() throws IOException {
            bound.close();
        }
    }

    /** Connects with the private data of an honest peer. */
    static RawPeer connect(InetSocketAddress target) throws IOException {
        return connect(target, UnaryOperator.identity());
    }

    /**
     * Connects.
     *
     * @param change what to make of an honest peer's private data
     * @throws IOException naming the event, if anything but ESTABLISHED comes
     */
    static RawPeer connect(InetSocketAddress target, UnaryOperator<byte[]> change) throws IOException {
        RawPeer peer = new RawPeer();
        try {
            peer.id.resolveAddress(null, target, 5000);
            peer.expect(CommunicationEventType.ADDRESS_RESOLVED);
            peer.id.resolveRoute(5000);
            peer.expect(CommunicationEventType.ROUTE_RESOLVED);
            peer.makeResources();
            int depth = peer.id.device().transport() == TransportType.IWARP ? 1 : 0;
            peer.id.connect(new ConnectionParameters(0, depth, 1, 7, 7, false, 0), peer.parameters(change));
            peer.victim = PeerParameters.decode(peer.expect(CommunicationEventType.ESTABLISHED));
            return peer;
        } catch (IOException | RuntimeException e) {
            try (peer) {
                throw e;
            }
        }
    }

    private void makeResources() throws IOException {
        resources = open.add(StreamResources.create(
                id,
                StreamConfiguration.DEFAULT,
                true,
                StreamRuntime.over(TransportPolicy.engine()).memory(),
                null)); // memory of its own
        poster = open.add(MessagePoster.over(resources));
    }

    private byte[] parameters(UnaryOperator<byte[]> change) {
        return change.apply(StreamProtocol.parametersOf(resources).encode());
    }

    private byte[] expect(CommunicationEventType type) throws IOException {
        try (CommunicationEvent event = next(type)) {
            return event.privateData();
        }
    }

    /** Waits for the next event, to be closed, which must be of the type. */
    private CommunicationEvent next(CommunicationEventType type) throws IOException {
        while (true) {
            CommunicationEvent event = events.takeEvent();
            if (event != null) {
                if (event.type() == type) {
                    return event;
                }
                try (event) {
                    throw new ProtocolException(event.type() + " in place of " + type);
                }
            }
            if (Poll.awaitReadable(events.fileDescriptor(), events.fileDescriptor(), EVENT_TIMEOUT_MILLIS) == 0) {
                throw new ProtocolException("No " + type);
            }
        }
    }

    /** Waits until the victim has ended the connection. */
    void awaitDisconnected() throws IOException {
        expect(CommunicationEventType.DISCONNECTED);
    }

    /** Posts a message without payload. */
    void post(int operation, int value) throws IOException {
        poster.postBare(StreamMessage.of(operation, value), true);
    }

    /** Writes payload to the start of the victim's first half, plus an offset, with a message of one's choice. */
    void postPayload(long offset, byte[] payload, int message) throws IOException {
        postPayloadAt(victim.half().address() + offset, victim.half().key(), payload, message);
    }

    /** What the victim has told of itself. */
    PeerParameters victim() {
        return victim;
    }

    /** Writes payload to an address of one's choice, with a message to one's own victim. */
    void postPayloadAt(long address, int key, byte[] payload, int message) throws IOException {
        MemoryBlock sent = resources.memory.local(payload.length); // goes back with all that is borrowed
        MemorySegment.copy(payload, 0, sent.memory(), ValueLayout.JAVA_BYTE, 0, payload.length);
        poster.payload()
                .sgeCount(1)
                .sge(0, sent.address(), payload.length, sent.localKey())
                .remote(address, key);
        poster.postPayload(message, false, true);
    }

    /** Writes an entry into the victim's table, with an SGL message. */
    void postEntry(int index, long address, int key, int lengthBytes) throws IOException {
        TargetTable.encodeEntry(resources.entries, 0, address, key, lengthBytes, false);
        poster.payload()
                .sgeCount(1)
                .sge(0, resources.entries.address(), TargetTable.ENTRY_BYTES, resources.local.localKey())
                .remote(victim.tableAddress() + (long) index * TargetTable.ENTRY_BYTES, victim.tableKey());
        poster.postPayload(StreamMessage.of(StreamMessage.SGL, 384), false, true);
    }

    /** Writes to where the victim has no memory, without a message: no receive of the victim's is taken for it. */
    void writeNowhere() throws IOException {
        try (SendWorkRequest write = new SendWorkRequest(1)) {
            write.opcode(SendOpcode.WRITE)
                    .workRequestId(MessagePoster.SEND_ID)
                    .flags(SendFlags.SIGNALED)
                    .sgeCount(1)
                    .sge(0, resources.local.address(), 1, resources.local.localKey())
                    .remote(4096, NO_KEY);
            resources.queuePair.postSend(write);
        }
    }

    /** The private data of an honest peer, of a length of one's choice. */
    static byte[] padded(byte[] privateData, int length) {
        byte[] padded = Arrays.copyOf(privateData, length);
        Arrays.fill(padded, privateData.length, length, (byte) 0x5a);
        return padded;
    }

    /** The number of completions there are; they are taken and forgotten. */
    int takeCompletions() throws IOException {
        try (WorkCompletions completions = new WorkCompletions(64)) {
            return resources.completionQueue.poll(completions);
        }
    }

    /** Brings its queue pair to ERROR, without a word to anybody. */
    void fail() throws IOException {
        resources.queuePair.toError();
    }

    /** How many messages it said that the victim may send. */
    int credits() {
        return resources.configuration.receiveCredits();
    }

    /** Whether the victim hears of it nevertheless. */
    boolean tellsOfItsFailure() {
        return id.device().transport() == TransportType.IWARP;
    }

    /** Ends the connection without a word. */
    void vanish() throws IOException {
        id.disconnect();
    }

    @Override
    public void close() throws IOException {
        open.close();
    }
}
