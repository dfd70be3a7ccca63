package io.rdmanio.lab.verbs;

import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/**
 * rping's client: announces a buffer with data, which the server reads, and then another, into which the server writes
 * what it has read. One thread.
 */
final class PingClient {
    private final Rping.Options options;

    PingClient(Rping.Options options) {
        this.options = options;
    }

    void run(InetSocketAddress server) throws IOException {
        try (EventChannel channel = EventChannel.open(RdmaEngine.system());
                CommunicationId id = channel.createId(PortSpace.TCP)) {
            id.resolveAddress(null, server, Waiting.PATIENCE_MILLIS);
            Waiting.expect(channel, CommunicationEventType.ADDRESS_RESOLVED);
            id.resolveRoute(Waiting.PATIENCE_MILLIS);
            Waiting.expect(channel, CommunicationEventType.ROUTE_RESOLVED);
            try (PingConnection connection = new PingConnection(id, options.sizeBytes(), channel.fileDescriptor())) {
                id.connect(PingConnection.PARAMETERS, null);
                Waiting.expect(channel, CommunicationEventType.ESTABLISHED);
                for (int i = 0; i < options.count(); i++) {
                    exchange(connection, i);
                }
                connection.disconnect();
                Waiting.expect(channel, CommunicationEventType.DISCONNECTED);
            }
        }
        System.out.println("DONE exchanges=" + options.count());
    }

    private void exchange(PingConnection connection, int number) throws IOException {
        MemorySegment sent = connection.source().memory();
        MemorySegment echoed = connection.sink().memory();
        sent.copyFrom(MemorySegment.ofArray(PingData.of(number, options.sizeBytes())));
        echoed.fill((byte) 0);
        connection.announce(connection.source(), options.sizeBytes());
        awaitGoAhead(connection);
        connection.announce(connection.sink(), options.sizeBytes());
        awaitGoAhead(connection);
        if (options.verify()) {
            PingData.verify(number, echoed);
        }
        if (options.verbose()) {
            System.out.println("ping data: " + PingData.text(echoed));
        }
    }

    private static void awaitGoAhead(PingConnection connection) throws IOException {
        if (connection.awaitAnnouncement() == null) {
            throw new IOException("the server disconnected in the middle of an exchange");
        }
    }
}
