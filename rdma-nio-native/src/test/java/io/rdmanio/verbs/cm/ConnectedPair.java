package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Two endpoints of this process that are connected through the device. Each has one receive of the whole memory posted.
 */
final class ConnectedPair implements AutoCloseable {
    static final byte[] CLIENT_DATA = {1, 2, 3};
    static final byte[] SERVER_DATA = {4, 5, 6, 7};
    static final long RECEIVE_ID = 77;

    final EventChannel channel;
    final CommunicationId listener;
    final Endpoint client;
    final Endpoint server;
    final CommunicationEvent request;
    final byte[] dataAtClient;

    ConnectedPair() throws IOException {
        this(TestDevice.engine(), TestDevice.address(0), TestDevice.parameters());
    }

    ConnectedPair(RdmaEngine engine, InetSocketAddress address, ConnectionParameters parameters) throws IOException {
        channel = EventChannel.open(engine);
        listener = TestDevice.listen(channel, address);
        client = new Endpoint(TestDevice.resolve(channel, listener.localAddress()));
        client.postReceive(RECEIVE_ID, 0, Endpoint.MEMORY_BYTES);
        client.id.connect(parameters, CLIENT_DATA);
        request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST);
        server = new Endpoint(request.id());
        server.postReceive(RECEIVE_ID, 0, Endpoint.MEMORY_BYTES);
        server.id.accept(parameters, SERVER_DATA);
        request.close();
        byte[] data = null;
        for (int i = 0; i < 2; i++) {
            try (CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.ESTABLISHED)) {
                if (event.id() == client.id) {
                    data = event.privateData();
                }
            }
        }
        dataAtClient = data;
    }

    @Override
    public void close() throws VerbsException {
        client.close();
        server.close();
        channel.close();
    }
}
