package io.rdmanio.lab.verbs;

import io.rdmanio.verbs.AddressHandle;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.DatagramParameters;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * rdma-core's udaddy in Java, as client and server, for one client: the connection manager tells the client where the
 * server's queue pair is; the client sends a number of datagrams, and the server sends as many back to where the first came
 * from. Takes udaddy's options of the same names; with {@code -V}, what another Udaddy sent is verified.
 */
public final class Udaddy {
    private static final String USAGE = "Udaddy [-s SERVER] [-b ADDRESS] [-C COUNT] [-S SIZE] [-V]";
    private static final int PORT = 7174;
    private static final int DEFAULT_COUNT = 10;
    private static final int DEFAULT_BYTES = 100;
    private static final int MAX_BYTES = 4096;
    private static final int MAX_COUNT = 1000;

    private final int count;
    private final int sizeBytes;
    private final boolean verify;

    private Udaddy(CommandLine line) {
        count = line.number('C', DEFAULT_COUNT, 1, MAX_COUNT);
        sizeBytes = line.number('S', DEFAULT_BYTES, 1, MAX_BYTES);
        verify = line.has('V');
    }

    public static void main(String[] args) throws IOException {
        CommandLine line = new CommandLine(args, "s:b:C:S:V", USAGE);
        Udaddy udaddy = new Udaddy(line);
        try (EventChannel channel = EventChannel.open(RdmaEngine.system());
                CommunicationId id = channel.createId(PortSpace.UDP)) {
            if (line.has('s')) {
                InetSocketAddress local = line.has('b') ? line.address('b', 0) : null;
                udaddy.send(channel, id, local, line.address('s', PORT));
            } else {
                udaddy.serve(channel, id, line.address('b', PORT));
            }
        }
        System.out.println("DONE datagrams=" + udaddy.count);
    }

    private static ConnectionParameters parameters(int queuePairNumber) {
        return new ConnectionParameters(0, 0, 0, 0, 0, false, queuePairNumber);
    }

    private void send(EventChannel channel, CommunicationId id, InetSocketAddress local, InetSocketAddress server)
            throws IOException {
        id.resolveAddress(local, server, Waiting.PATIENCE_MILLIS);
        Waiting.expect(channel, CommunicationEventType.ADDRESS_RESOLVED);
        id.resolveRoute(Waiting.PATIENCE_MILLIS);
        Waiting.expect(channel, CommunicationEventType.ROUTE_RESOLVED);
        try (DatagramEnd end = new DatagramEnd(id, count, sizeBytes)) {
            end.postReceives();
            id.connect(parameters(end.number()), null);
            DatagramParameters peer;
            try (CommunicationEvent event = Waiting.next(channel, CommunicationEventType.ESTABLISHED)) {
                peer = event.datagramParameters();
            }
            try (AddressHandle way = end.wayTo(peer)) {
                end.sendAll(way, peer.queuePairNumber(), peer.queueKey());
            }
            end.receiveAll(false, verify);
            if (end.senderNumber() != peer.queuePairNumber()) {
                throw new IOException("the replies come from another queue pair");
            }
        }
    }

    private void serve(EventChannel channel, CommunicationId listener, InetSocketAddress address) throws IOException {
        listener.bind(address);
        listener.listen(1);
        System.out.println("READY " + PORT);
        CommunicationId id;
        try (CommunicationEvent event = Waiting.next(channel, CommunicationEventType.CONNECT_REQUEST)) {
            id = event.id();
        }
        try (id;
                DatagramEnd end = new DatagramEnd(id, count, sizeBytes)) {
            end.postReceives();
            id.accept(parameters(end.number()), null);
            end.receiveAll(true, verify);
            end.sendAll(end.wayBack(), end.senderNumber(), DatagramParameters.UDP_QUEUE_KEY);
        }
    }
}
