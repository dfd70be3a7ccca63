package io.rdmanio.lab.verbs;

import io.rdmanio.verbs.AddressHandle;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.DatagramParameters;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.MulticastMembership;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * rdma-core's mckey in Java: joins a multicast group and receives a number of datagrams that go there, or sends them. Takes
 * mckey's options of the same names; with {@code -V}, what another Mckey sent is verified.
 */
public final class Mckey {
    private static final String USAGE = "Mckey -m GROUP -b ADDRESS [-s] [-C COUNT] [-S SIZE] [-V]";
    private static final int DEFAULT_COUNT = 10;
    private static final int DEFAULT_BYTES = 100;
    private static final int MAX_BYTES = 4096;
    private static final int MAX_COUNT = 1000;

    private Mckey() {}

    public static void main(String[] args) throws IOException {
        CommandLine line = new CommandLine(args, "m:b:sC:S:V", USAGE);
        line.text('b');
        InetAddress group = InetAddress.getByName(line.text('m'));
        int count = line.number('C', DEFAULT_COUNT, 1, MAX_COUNT);
        int sizeBytes = line.number('S', DEFAULT_BYTES, 1, MAX_BYTES);
        try (EventChannel channel = EventChannel.open(RdmaEngine.system());
                CommunicationId id = channel.createId(PortSpace.UDP)) {
            id.resolveAddress(line.address('b', 0), new InetSocketAddress(group, 0), Waiting.PATIENCE_MILLIS);
            Waiting.expect(channel, CommunicationEventType.ADDRESS_RESOLVED);
            try (DatagramEnd end = new DatagramEnd(id, count, sizeBytes)) {
                if (!line.has('s')) {
                    end.postReceives();
                }
                try (MulticastMembership membership = id.joinMulticast(group)) {
                    DatagramParameters peers = awaitJoin(channel, membership);
                    System.out.println("JOINED " + group.getHostAddress());
                    if (line.has('s')) {
                        try (AddressHandle way = end.wayTo(peers)) {
                            end.sendAll(way, peers.queuePairNumber(), peers.queueKey());
                        }
                    } else {
                        end.receiveAll(false, line.has('V'));
                    }
                }
            }
        }
        System.out.println("DONE datagrams=" + count);
    }

    private static DatagramParameters awaitJoin(EventChannel channel, MulticastMembership membership)
            throws IOException {
        try (CommunicationEvent event = Waiting.next(channel, CommunicationEventType.MULTICAST_JOIN)) {
            if (event.membership() != membership) {
                throw new IOException("another group was joined");
            }
            return event.datagramParameters();
        }
    }
}
