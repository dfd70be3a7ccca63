package io.rdmanio.lab.verbs;

import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Connections that do nothing, one queue pair each, all with the completion queue of another. For one thread. */
final class IdleConnections implements AutoCloseable {
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(8, 8, 1, 1, 0);

    private final EventChannel channel;
    private final SoftSpeedEnd end;
    private final List<CommunicationId> ids = new ArrayList<>();

    IdleConnections(EventChannel channel, SoftSpeedEnd end) {
        this.channel = channel;
        this.end = end;
    }

    /** An id whose route to a server is resolved. */
    static CommunicationId resolve(EventChannel channel, InetSocketAddress server) throws IOException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        id.resolveAddress(null, server, Waiting.PATIENCE_MILLIS);
        Waiting.expect(channel, CommunicationEventType.ADDRESS_RESOLVED);
        id.resolveRoute(Waiting.PATIENCE_MILLIS);
        Waiting.expect(channel, CommunicationEventType.ROUTE_RESOLVED);
        return id;
    }

    private CommunicationId add(CommunicationId id) throws VerbsException {
        ids.add(id);
        id.createQueuePair(
                end.domain(),
                QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTED, CAPABILITIES)
                        .withCompletionQueue(end.queue()));
        return id;
    }

    /** Connects so many more, one after the other. */
    void connect(InetSocketAddress server, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            add(resolve(channel, server)).connect(PingConnection.PARAMETERS, null);
            Waiting.expect(channel, CommunicationEventType.ESTABLISHED);
        }
    }

    /** Accepts so many more. A request may come before the last connection is known to be established. */
    void accept(int count) throws IOException {
        for (int accepted = 0, established = 0; established < count; ) {
            try (CommunicationEvent event = channel.awaitEvent(Waiting.PATIENCE_MILLIS)) {
                if (event == null) {
                    throw new IOException("no event within " + Waiting.PATIENCE_MILLIS + " ms");
                }
                if (event.type() == CommunicationEventType.CONNECT_REQUEST && accepted++ < count) {
                    add(event.id()).accept(PingConnection.PARAMETERS, null);
                } else if (event.type() == CommunicationEventType.ESTABLISHED) {
                    established++;
                } else {
                    throw new IOException("unexpected " + event);
                }
            }
        }
    }

    @Override
    public void close() throws VerbsException {
        for (CommunicationId id : ids) {
            id.close();
        }
    }
}
