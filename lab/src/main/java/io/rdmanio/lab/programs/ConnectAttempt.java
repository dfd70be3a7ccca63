package io.rdmanio.lab.programs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/**
 * Tries to connect, blocking and at the same time with a selector, as often as told, and reports each attempt as
 * {@code blocking 12 ms java.net.ConnectException: Connection refused}, and whether the attempts after the first two left
 * descriptors open. It expects failure: an attempt that connects makes the exit status 4.
 */
public final class ConnectAttempt {
    private static final String USAGE = "ConnectAttempt HOST PORT [--times=N]";
    private static final long SETTLE_NANOS = 500_000_000L;
    private static final long SETTLE_LIMIT_NANOS = 10_000_000_000L;

    private ConnectAttempt() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Options options = new Options(args, 2, USAGE, "times");
        boolean connected = attemptBoth(options.address(0));
        long before = settledDescriptors();
        for (int i = 1; i < options.count("times", 1); i++) {
            connected |= attemptBoth(options.address(0));
        }
        System.out.println("DESCRIPTORS before=" + before + " after=" + settledDescriptors());
        System.exit(connected ? 4 : 0);
    }

    private static boolean attemptBoth(InetSocketAddress address) {
        CompletableFuture<Boolean> selecting = CompletableFuture.supplyAsync(
                () -> attempt("selecting", address),
                task -> Thread.ofPlatform().daemon().start(task));
        boolean blocking = attempt("blocking", address);
        return selecting.join() || blocking;
    }

    private static boolean attempt(String how, InetSocketAddress address) {
        long start = System.nanoTime();
        String outcome;
        boolean connected = false;
        try {
            if (how.equals("blocking")) {
                SocketChannel.open(address).close();
            } else {
                connectSelecting(address);
            }
            connected = true;
            outcome = "connected";
        } catch (Exception | LinkageError e) {
            outcome = e.toString();
            for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
                outcome += "; caused by " + cause;
            }
        }
        System.out.printf("%s %d ms %s%n", how, (System.nanoTime() - start) / 1_000_000, outcome.replace('\n', ' '));
        return connected;
    }

    private static void connectSelecting(InetSocketAddress address) throws IOException {
        try (Selector selector = Selector.open();
                SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_CONNECT);
            if (!channel.connect(address)) {
                while (!channel.finishConnect()) {
                    selector.select();
                    selector.selectedKeys().clear();
                }
            }
        }
    }

    /** The count once it has stayed the same for a while: a provider may let go of them behind a failure. */
    private static long settledDescriptors() throws IOException, InterruptedException {
        long count = openDescriptors();
        long end = System.nanoTime() + SETTLE_LIMIT_NANOS;
        for (long since = System.nanoTime(); System.nanoTime() - since < SETTLE_NANOS && System.nanoTime() < end; ) {
            Thread.sleep(20);
            long now = openDescriptors();
            if (now != count) {
                count = now;
                since = System.nanoTime();
            }
        }
        return count;
    }

    private static long openDescriptors() throws IOException {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            long count = 0;
            for (Path _ : descriptors) {
                count++;
            }
            return count;
        }
    }
}
