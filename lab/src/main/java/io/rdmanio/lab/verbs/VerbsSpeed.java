package io.rdmanio.lab.verbs;

import com.sun.management.ThreadMXBean;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * The Java side of the comparison of speed; {@code lab/c/verbs_speed.c} is the same in C, and says what the roles and
 * commands are. What a command allocated in Java is counted by the JVM.
 */
public final class VerbsSpeed {
    private static final String USAGE = "VerbsSpeed loop ADDRESS | serve ADDRESS | connect ADDRESS PORT";
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private VerbsSpeed() {}

    public static void main(String[] args) throws IOException {
        String role = args.length > 1 ? args[0] : "";
        if (args.length != (role.equals("connect") ? 3 : 2)) {
            throw new IllegalArgumentException("usage: " + USAGE);
        }
        InetAddress address = InetAddress.getByName(args[1]);
        try (EventChannel channel = EventChannel.open(RdmaEngine.system())) {
            switch (role) {
                case "loop" -> loop(channel, address);
                case "serve" -> serve(channel, address);
                case "connect" -> connect(channel, new InetSocketAddress(address, Integer.parseInt(args[2])));
                default -> throw new IllegalArgumentException("usage: " + USAGE);
            }
        }
    }

    private static void loop(EventChannel channel, InetAddress address) throws IOException {
        CommunicationId listener = listen(channel, address);
        try (SpeedEnd client = beginConnect(channel, listener.localAddress(), false, -1);
                SpeedEnd server = beginAccept(channel, false, -1)) {
            Waiting.expect(channel, CommunicationEventType.ESTABLISHED);
            Waiting.expect(channel, CommunicationEventType.ESTABLISHED);
            obey(client, server);
        }
    }

    private static void serve(EventChannel channel, InetAddress address) throws IOException {
        System.out.println("READY " + listen(channel, address).localAddress().getPort());
        try (SpeedEnd server = beginAccept(channel, true, channel.fileDescriptor())) {
            Waiting.expect(channel, CommunicationEventType.ESTABLISHED);
            while (!server.isOver()) {
                server.receiveMessage();
                if (!server.isOver()) {
                    server.sendMessage();
                }
            }
        }
    }

    private static void connect(EventChannel channel, InetSocketAddress server) throws IOException {
        try (SpeedEnd client = beginConnect(channel, server, true, channel.fileDescriptor())) {
            Waiting.expect(channel, CommunicationEventType.ESTABLISHED);
            obey(client, null);
            client.disconnect();
        }
    }

    private static void obey(SpeedEnd client, SpeedEnd server) throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("STARTED");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ", -1);
            int count = Integer.parseInt(words[1]);
            long bytes;
            long start;
            switch (words[0]) {
                case "ping" -> {
                    bytes = THREADS.getCurrentThreadAllocatedBytes();
                    start = System.nanoTime();
                    SpeedEnd.ping(client, server, count);
                }
                case "poll" -> {
                    client.drain();
                    if (server != null) {
                        server.drain();
                    }
                    bytes = THREADS.getCurrentThreadAllocatedBytes();
                    start = System.nanoTime();
                    client.pollEmpty(count);
                }
                default -> throw new IllegalArgumentException("unknown command " + line);
            }
            long nanos = System.nanoTime() - start;
            System.out.println("TOOK " + nanos + " " + (THREADS.getCurrentThreadAllocatedBytes() - bytes));
        }
    }

    private static CommunicationId listen(EventChannel channel, InetAddress address) throws VerbsException {
        CommunicationId listener = channel.createId(PortSpace.TCP);
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(1);
        return listener;
    }

    private static SpeedEnd beginConnect(
            EventChannel channel, InetSocketAddress server, boolean byEvents, int watchedDescriptor)
            throws IOException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        id.resolveAddress(null, server, Waiting.PATIENCE_MILLIS);
        Waiting.expect(channel, CommunicationEventType.ADDRESS_RESOLVED);
        id.resolveRoute(Waiting.PATIENCE_MILLIS);
        Waiting.expect(channel, CommunicationEventType.ROUTE_RESOLVED);
        SpeedEnd end = new SpeedEnd(id, byEvents, watchedDescriptor);
        id.connect(PingConnection.PARAMETERS, null);
        return end;
    }

    private static SpeedEnd beginAccept(EventChannel channel, boolean byEvents, int watchedDescriptor)
            throws IOException {
        try (CommunicationEvent event = Waiting.next(channel, CommunicationEventType.CONNECT_REQUEST)) {
            SpeedEnd end = new SpeedEnd(event.id(), byEvents, watchedDescriptor);
            event.id().accept(PingConnection.PARAMETERS, null);
            return end;
        }
    }
}
