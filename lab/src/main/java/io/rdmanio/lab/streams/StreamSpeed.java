package io.rdmanio.lab.streams;

import com.sun.management.ThreadMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The program whose speed is measured: one of two processes that talk over plain channels, whatever the provider. It obeys
 * commands of its input, a line each, and answers with the times between which it was at work by the clock that all
 * processes have in common, the bytes that its threads allocated meanwhile, and, for round trips, what half of them and 99
 * of 100 took at most. {@link StreamSpeedComparison} gives each command to both, to the server first.
 *
 * <pre>
 * open N waiting|selecting    connects N more, with blocking channels or with selectors
 * close                       closes them; the server waits for their ends
 * exchange BYTES N            N round trips on each connection, one message of that size under way on each
 * stream BYTES N              N messages of that size from the client on each connection, as fast as they are taken
 * idle MILLIS                 waits for anything on any connection, in vain
 * </pre>
 */
public final class StreamSpeed {
    private static final String USAGE = "StreamSpeed serve | connect PORT";
    private static final String INPUT_ENDED = "";
    private static final int END_MILLIS = 10_000;
    private static final int STUCK_STATUS = 3;

    private StreamSpeed() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        BlockingQueue<String> commands = new LinkedBlockingQueue<>();
        Thread.ofPlatform().daemon().name("commands").start(() -> readCommands(commands));
        InetAddress loopback = InetAddress.getLoopbackAddress();
        String role = args.length > 0 ? args[0] : "";
        if (role.equals("serve") && args.length == 1) {
            try (ServerEnd end = new ServerEnd(new InetSocketAddress(loopback, 0))) {
                System.out.println("READY " + end.port());
                obey(end, commands);
            }
        } else if (role.equals("connect") && args.length == 2) {
            try (ClientEnd end = new ClientEnd(new InetSocketAddress(loopback, Integer.parseInt(args[1])))) {
                obey(end, commands);
            }
        } else {
            throw new IllegalArgumentException("usage: " + USAGE);
        }
    }

    /** Hands lines over. Ends the process, whatever it is at, soon after whoever commands it is gone. */
    private static void readCommands(BlockingQueue<String> commands) {
        try {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                commands.add(line);
            }
        } catch (IOException _) {
            // No input is as good as its end.
        }
        commands.add(INPUT_ENDED);
        try {
            Thread.sleep(END_MILLIS);
        } catch (InterruptedException _) {
            // Nobody interrupts this thread but to have it end.
        }
        Runtime.getRuntime().halt(STUCK_STATUS);
    }

    private static void obey(StreamEnd end, BlockingQueue<String> commands) throws IOException, InterruptedException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        System.out.println("STARTED " + SelectorProvider.provider().getClass().getName());
        for (String line = commands.take(); !line.equals(INPUT_ENDED); line = commands.take()) {
            String[] words = line.split(" ", -1);
            StreamEnd.Work work = prepare(end, words);
            long allocatedBefore = threads.getTotalThreadAllocatedBytes();
            long began = System.nanoTime();
            work.run();
            long ended = System.nanoTime();
            long allocated = threads.getTotalThreadAllocatedBytes() - allocatedBefore;
            RoundTripTimes times = end.takeTimes();
            System.out.println("TOOK " + began + " " + ended + " " + allocated + " " + times.atMost(0.5) + " "
                    + times.atMost(0.99));
        }
    }

    private static StreamEnd.Work prepare(StreamEnd end, String[] words) throws IOException {
        return switch (words[0]) {
            case "open" -> end.opening(Integer.parseInt(words[1]), words[2].equals("waiting"));
            case "close" -> end::closeConnections;
            case "exchange" -> end.exchanging(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            case "stream" -> end.streaming(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
            case "idle" -> end.idling(Integer.parseInt(words[1]));
            default -> throw new IllegalArgumentException("unknown command " + String.join(" ", words));
        };
    }
}
