package io.rdmanio.lab.programs;

import java.util.ArrayList;
import java.util.List;

/**
 * rstream's command line, as far as it concerns a program on channels. Of sizes, counts and ports there may be several, with
 * commas, which rstream doesn't know: that many connections one after the other, each with a peer of its own.
 *
 * @param server the server's address; null in the server itself
 * @param bind the local address; null for any
 * @param connections what is done over each connection, one after the other
 * @param verify whether the bytes are checked
 * @param select whether channels are non-blocking, with a selector
 * @param hold whether to wait for a line of input once the first connection stands; rstream has no such option
 * @param turns whether to wait for a line of input before each connection
 * @param bufferBytes what SO_SNDBUF and SO_RCVBUF are set to; 0 to leave them
 */
record RstreamOptions(
        String server,
        String bind,
        List<Connection> connections,
        boolean verify,
        boolean select,
        boolean hold,
        boolean turns,
        int bufferBytes) {

    /** One test: in every round, so many transfers of the size each way. */
    record Test(String name, int sizeBytes, int transfers, int rounds) {}

    /**
     * The tests of one connection.
     *
     * @param anotherPeer whether it is with another process than the one before
     */
    record Connection(int port, boolean anotherPeer, List<Test> tests) {}

    static RstreamOptions parse(String[] args, String usage) {
        String server = null;
        String bind = null;
        String size = null;
        String count = null;
        String rounds = null;
        String port = "7471";
        boolean verify = false;
        boolean select = false;
        boolean hold = false;
        boolean turns = false;
        int bufferBytes = 0;
        for (int i = 0; i < args.length; i += 2) {
            if (i + 1 == args.length) {
                throw new IllegalArgumentException("usage: " + usage);
            }
            String value = args[i + 1];
            switch (args[i] + (args[i].equals("-T") ? value.charAt(0) : "")) {
                case "-s" -> server = value;
                case "-b" -> bind = value;
                case "-p" -> port = value;
                case "-S" -> size = value;
                case "-C" -> count = value;
                case "-I" -> rounds = value;
                case "-B" -> bufferBytes = Integer.parseInt(value);
                case "-Tv" -> verify = true;
                case "-Ta" -> select = true;
                case "-Th" -> hold = true;
                case "-Tt" -> turns = true;
                default -> throw new IllegalArgumentException(args[i] + " " + value + "; usage: " + usage);
            }
        }
        boolean all = "all".equals(size);
        List<Connection> connections;
        if ((size == null || all) && count == null && rounds == null) {
            int only = Integer.parseInt(port);
            connections = List.of(
                    new Connection(only, true, latencyTests(all)), new Connection(only, false, bandwidthTests(all)));
        } else {
            connections = custom(
                    numbers(all ? null : size, 1000),
                    numbers(count, 1000),
                    numbers(rounds, 1),
                    numbers(port, 0),
                    usage);
        }
        return new RstreamOptions(server, bind, connections, verify, select, hold, turns, bufferBytes);
    }

    /** One connection for each place in the longest of the lists. */
    private static List<Connection> custom(
            List<Integer> sizes, List<Integer> counts, List<Integer> rounds, List<Integer> ports, String usage) {
        List<List<Integer>> lists = List.of(sizes, counts, rounds, ports);
        int longest = lists.stream().mapToInt(List::size).max().orElseThrow();
        if (lists.stream().anyMatch(list -> list.size() != 1 && list.size() != longest)) {
            throw new IllegalArgumentException("lists of different lengths; usage: " + usage);
        }
        List<Connection> connections = new ArrayList<>();
        for (int i = 0; i < longest; i++) {
            Test test = new Test("custom", at(sizes, i), at(counts, i), at(rounds, i));
            connections.add(new Connection(at(ports, i), true, List.of(test)));
        }
        return connections;
    }

    private static int at(List<Integer> list, int index) {
        return list.size() == 1 ? list.getFirst() : list.get(index);
    }

    private static List<Integer> numbers(String text, int otherwise) {
        if (text == null) {
            return List.of(otherwise);
        }
        List<Integer> numbers = new ArrayList<>();
        for (String number : text.split(",", -1)) {
            numbers.add(Integer.valueOf(number));
        }
        return numbers;
    }

    /** 64, 4 Ki, 64 Ki and 1 Mi; or all powers of two from 64 to 4 Mi with, from 128 on, the steps halfway between. */
    private static List<Integer> sizes(boolean all) {
        if (!all) {
            return List.of(1 << 6, 1 << 12, 1 << 16, 1 << 20);
        }
        List<Integer> sizes = new ArrayList<>(List.of(1 << 6));
        for (int size = 1 << 7; size <= 1 << 22; size <<= 1) {
            sizes.add(size);
            sizes.add(size + size / 2);
        }
        return sizes;
    }

    /** How often rstream repeats a size. */
    private static int repetitions(int size) {
        if (size >= 1 << 20) {
            return 100;
        }
        if (size >= 1 << 16) {
            return 1_000;
        }
        return size >= 1 << 10 ? 10_000 : 100_000;
    }

    private static List<Test> latencyTests(boolean all) {
        return sizes(all).stream()
                .map(size -> new Test("latency", size, 1, repetitions(size)))
                .toList();
    }

    private static List<Test> bandwidthTests(boolean all) {
        return sizes(all).stream()
                .map(size -> new Test("bandwidth", size, repetitions(size), 1))
                .toList();
    }
}
