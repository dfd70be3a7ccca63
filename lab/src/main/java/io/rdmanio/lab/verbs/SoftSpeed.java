package io.rdmanio.lab.verbs;

import io.rdmanio.verbs.RdmaEngine;
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
 * The Java side of the measurements of the software device, one of two processes. It obeys commands of its input, a word
 * and a count a line, and tells for each nanoseconds and allocated bytes; {@link SoftSpeedComparison} gives each command to
 * both, to the server first. {@code lab/c/soft_speed.c} does the first three of them in C.
 *
 * <pre>
 * ping N      round trips of 64 bytes, written with immediate data; who waits polls
 * events N    the same; who waits arms the queue, polls once more, and sleeps for the completion channel
 * stream N    writes of 64 KiB into the server's memory; the server does nothing
 * write N     writes of 1 MiB likewise
 * read N      reads of 1 MiB likewise
 * open N      so many more connections
 * heap N      collects garbage, and tells how many bytes of the heap are in use
 * </pre>
 */
public final class SoftSpeed {
    private static final String USAGE = "SoftSpeed serve ADDRESS | connect ADDRESS PORT";
    private static final int BACKLOG = 16;

    private SoftSpeed() {}

    public static void main(String[] args) throws IOException {
        String role = args.length > 1 ? args[0] : "";
        if (args.length != (role.equals("connect") ? 3 : 2)) {
            throw new IllegalArgumentException("usage: " + USAGE);
        }
        InetAddress address = InetAddress.getByName(args[1]);
        try (EventChannel channel = EventChannel.open(RdmaEngine.soft())) {
            switch (role) {
                case "serve" -> serve(channel, address);
                case "connect" -> connect(channel, new InetSocketAddress(address, Integer.parseInt(args[2])));
                default -> throw new IllegalArgumentException("usage: " + USAGE);
            }
        }
    }

    private static void serve(EventChannel channel, InetAddress address) throws IOException {
        CommunicationId listener = channel.createId(PortSpace.TCP);
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(BACKLOG);
        System.out.println("READY " + listener.localAddress().getPort());
        try (CommunicationEvent request = Waiting.next(channel, CommunicationEventType.CONNECT_REQUEST);
                SoftSpeedEnd end = new SoftSpeedEnd(request.id())) {
            end.learn(request.privateData());
            request.id().accept(PingConnection.PARAMETERS, end.privateData());
            Waiting.expect(channel, CommunicationEventType.ESTABLISHED);
            try (IdleConnections idle = new IdleConnections(channel, end)) {
                obey(end, idle, null);
            }
        }
    }

    private static void connect(EventChannel channel, InetSocketAddress server) throws IOException {
        CommunicationId id = IdleConnections.resolve(channel, server);
        try (SoftSpeedEnd end = new SoftSpeedEnd(id)) {
            id.connect(PingConnection.PARAMETERS, end.privateData());
            try (CommunicationEvent established = Waiting.next(channel, CommunicationEventType.ESTABLISHED)) {
                end.learn(established.privateData());
            }
            try (IdleConnections idle = new IdleConnections(channel, end)) {
                obey(end, idle, server);
            }
        }
    }

    /** Reads commands until the input ends; a client has a server to connect to. */
    private static void obey(SoftSpeedEnd end, IdleConnections idle, InetSocketAddress serverOrNull)
            throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        boolean isClient = serverOrNull != null;
        System.out.println("STARTED");
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ", -1);
            int count = Integer.parseInt(words[1]);
            end.begin();
            switch (words[0]) {
                case "ping" -> end.ping(isClient, count, false);
                case "events" -> end.ping(isClient, count, true);
                case "stream", "write" -> {
                    if (isClient) {
                        end.stream(
                                count, words[0].equals("stream") ? SoftSpeedEnd.BLOCK_BYTES : SoftSpeedEnd.LARGE_BYTES);
                    }
                }
                case "read" -> {
                    if (isClient) {
                        end.read(count);
                    }
                }
                case "open" -> {
                    if (isClient) {
                        idle.connect(serverOrNull, count);
                    } else {
                        idle.accept(count);
                    }
                }
                case "heap" -> System.gc();
                default -> throw new IllegalArgumentException("unknown command " + line);
            }
            end.finish();
            long bytes = words[0].equals("heap")
                    ? ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
                    : end.allocatedBytes();
            System.out.println("TOOK " + end.nanos() + " " + bytes);
        }
    }
}
