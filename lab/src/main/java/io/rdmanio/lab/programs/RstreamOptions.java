package io.rdmanio.lab.programs;

import java.util.ArrayList;
import java.util.List;

/**
 * rstream's command line, as far as it concerns a program on channels.
 *
 * @param server the server's address; null in the server itself
 * @param bind the local address; null for any
 * @param connections the tests of each connection, one connection after the other
 * @param verify whether the bytes are checked
 * @param select whether channels are non-blocking, with a selector
 * @param hold whether to wait for a line of input once a connection stands; rstream has no such option
 */
record RstreamOptions(
        String server,
        String bind,
        int port,
        List<List<Test>> connections,
        boolean verify,
        boolean select,
        boolean hold) {

    /** One test: in every round, so many transfers of the size each way. */
    record Test(String name, int sizeBytes, int transfers, int rounds) {}

    static RstreamOptions parse(String[] args, String usage) {
        String server = null;
        String bind = null;
        String size = null;
        String count = null;
        String rounds = null;
        int port = 7471;
        boolean verify = false;
        boolean select = false;
        boolean hold = false;
        for (int i = 0; i < args.length; i += 2) {
            if (i + 1 == args.length) {
                throw new IllegalArgumentException("usage: " + usage);
            }
            String value = args[i + 1];
            switch (args[i] + (args[i].equals("-T") ? value.charAt(0) : "")) {
                case "-s" -> server = value;
                case "-b" -> bind = value;
                case "-p" -> port = Integer.parseInt(value);
                case "-S" -> size = value;
                case "-C" -> count = value;
                case "-I" -> rounds = value;
                case "-Tv" -> verify = true;
                case "-Ta" -> select = true;
                case "-Th" -> hold = true;
                default -> throw new IllegalArgumentException(args[i] + " " + value + "; usage: " + usage);
            }
        }
        boolean all = "all".equals(size);
        List<List<Test>> connections;
        if ((size == null || all) && count == null && rounds == null) {
            connections = List.of(latencyTests(all), bandwidthTests(all));
        } else {
            connections = List.of(List.of(
                    new Test("custom", number(all ? null : size, 1000), number(count, 1000), number(rounds, 1))));
        }
        return new RstreamOptions(server, bind, port, connections, verify, select, hold);
    }

    private static int number(String text, int otherwise) {
        return text == null ? otherwise : Integer.parseInt(text);
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
