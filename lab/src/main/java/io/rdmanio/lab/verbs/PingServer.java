package io.rdmanio.lab.verbs;

import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * rping's server: reads what a client has, checks it, and writes it back into another buffer of the client. One thread
 * takes the events, each client has one for its exchanges.
 */
final class PingServer {
    private static final int BACKLOG = 8;
    private static final Duration PATIENCE = Duration.ofMillis(2 * Waiting.PATIENCE_MILLIS);

    private final Rping.Options options;

    PingServer(Rping.Options options) {
        this.options = options;
    }

    /** One client: its connection, and the thread that serves it. Closed by the thread that takes the events. */
    private static final class Client implements AutoCloseable {
        private final Rping.Options options;
        private final PingConnection connection;
        private final Thread thread = Thread.ofPlatform().name("rping-client").unstarted(this::run);
        private int exchanges;
        private IOException failure;

        Client(Rping.Options options, CommunicationId id) throws VerbsException {
            this.options = options;
            connection = new PingConnection(id, options.sizeBytes(), -1);
        }

        /** Serves the client until it disconnects; after a failure it is the server that does. */
        private void run() {
            try {
                while (exchange()) {
                    exchanges++;
                }
            } catch (IOException e) {
                failure = e;
                try {
                    connection.disconnect();
                } catch (VerbsException suppressed) {
                    failure.addSuppressed(suppressed);
                }
            }
        }

        private boolean exchange() throws IOException {
            PingConnection.Buffer source = connection.awaitAnnouncement();
            if (source == null) {
                return false;
            }
            connection.read(source, connection.sink());
            var data = connection.sink().memory().asSlice(0, source.lengthBytes());
            if (options.verbose()) {
                System.out.println("server ping data: " + PingData.text(data));
            }
            if (options.verify()) {
                PingData.verify(exchanges, data);
            }
            connection.announce(connection.sink(), source.lengthBytes());
            PingConnection.Buffer target = connection.awaitAnnouncement();
            if (target == null) {
                throw new IOException("the client disconnected in the middle of an exchange");
            }
            connection.write(connection.sink(), target);
            connection.announce(connection.sink(), target.lengthBytes());
            return true;
        }

        /** After the disconnection: lets the thread come to its end, and tells how it went. */
        void end() throws IOException, InterruptedException {
            connection.disconnect();
            if (!thread.join(PATIENCE)) {
                throw new IOException("the thread of a client does not end");
            }
            if (failure != null) {
                throw failure;
            }
            System.out.println("DONE exchanges=" + exchanges);
        }

        @Override
        public void close() throws VerbsException {
            connection.close();
        }
    }

    /** Serves one client; or, if persistent, all that come, until the process is killed. */
    void run(InetSocketAddress address) throws IOException, InterruptedException {
        try (EventChannel channel = EventChannel.open(RdmaEngine.system());
                CommunicationId listener = channel.createId(PortSpace.TCP)) {
            listener.bind(address);
            listener.listen(BACKLOG);
            System.out.println("READY " + listener.localAddress().getPort());
            boolean taken = false;
            boolean over = false;
            while (!over) {
                try (CommunicationEvent event = Waiting.next(channel)) {
                    switch (event.type()) {
                        case CONNECT_REQUEST -> {
                            answer(event.id(), taken && !options.persistent());
                            taken = true;
                        }
                        case ESTABLISHED -> client(event).thread.start();
                        case DISCONNECTED -> {
                            end(client(event));
                            over = !options.persistent();
                        }
                        case TIME_WAIT_EXIT -> {}
                        default -> throw new IOException("unexpected " + event);
                    }
                }
            }
        }
    }

    private static Client client(CommunicationEvent event) {
        return (Client) event.id().attachment();
    }

    private void answer(CommunicationId id, boolean refuse) throws VerbsException {
        if (refuse) {
            try (id) {
                id.reject(null);
            }
            return;
        }
        id.attach(new Client(options, id));
        id.accept(PingConnection.PARAMETERS, null);
    }

    private void end(Client client) throws IOException, InterruptedException {
        try (client) {
            client.end();
        } catch (IOException e) {
            if (!options.persistent()) {
                throw e;
            }
            System.out.println("FAILED " + e.getMessage());
        }
    }
}
