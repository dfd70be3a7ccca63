package io.rdmanio.lab.programs;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Sends all files of a folder, the longest first, to a server of rdma-core's rcopy, each over a connection of its own as
 * rcopy does, and has it write them to another folder. Prints {@code SENT} for each.
 */
public final class RcopyClient {
    private static final String USAGE = "RcopyClient HOST PORT SOURCE-FOLDER DESTINATION-FOLDER [--hold]";
    private static final int REGULAR_FILE_MODE = 0100644;

    /** A path ends with at least one zero, and is as long as a multiple of this. */
    private static final int PATH_UNIT_BYTES = 8;

    private RcopyClient() {}

    public static void main(String[] args) throws IOException {
        Options options = new Options(args, 4, USAGE, "hold");
        InetSocketAddress server = options.address(0);
        List<Path> sources;
        try (Stream<Path> files = Files.list(Path.of(options.operand(2)))) {
            sources = files.sorted(Comparator.comparingLong(RcopyClient::length).reversed())
                    .toList();
        }
        boolean hold = options.has("hold");
        for (Path source : sources) {
            SocketChannel channel = SocketChannel.open(server);
            if (hold) {
                Hold.awaitLine();
                hold = false;
            }
            send(channel, source, Path.of(options.operand(3)).resolve(source.getFileName()));
        }
        System.out.println("DONE");
    }

    private static long length(Path file) {
        return file.toFile().length();
    }

    private static void send(SocketChannel channel, Path source, Path destination) throws IOException {
        try (Transfers transfers = Transfers.blocking(channel);
                FileChannel file = FileChannel.open(source)) {
            ask(transfers, RcopyMessage.OPEN, REGULAR_FILE_MODE, path(destination));
            RcopyMessage.expectSuccess(transfers, RcopyMessage.OPEN);
            ByteBuffer size = RcopyMessage.buffer(RcopyMessage.WRITE_BODY_BYTES);
            ask(transfers, RcopyMessage.WRITE, 0, size.putLong(file.size()).flip());
            long sent = 0;
            while (sent < file.size()) {
                sent += file.transferTo(sent, file.size() - sent, channel);
            }
            RcopyMessage.expectSuccess(transfers, RcopyMessage.WRITE);
            ask(transfers, RcopyMessage.CLOSE, 0, ByteBuffer.allocate(0));
            RcopyMessage.expectSuccess(transfers, RcopyMessage.CLOSE);
            System.out.println("SENT bytes=" + sent + " " + destination);
        }
    }

    private static void ask(Transfers transfers, int command, int data, ByteBuffer body) throws IOException {
        new RcopyMessage(command, body.remaining(), data, 0).write(transfers, body);
    }

    private static ByteBuffer path(Path path) {
        byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        int padded = (name.length + PATH_UNIT_BYTES) / PATH_UNIT_BYTES * PATH_UNIT_BYTES;
        return ByteBuffer.allocate(padded).put(name).rewind();
    }
}
