package io.rdmanio.lab.programs;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Receives files as the server of rdma-core's rcopy does, one connection after the other, and writes each where its sender
 * wants it. Prints {@code RECEIVED} for each, and ends after as many as it is told.
 */
public final class RcopyServer {
    private static final String USAGE = "RcopyServer HOST PORT [--files=N] [--hold]";
    private static final int EBUSY = 16;
    private static final int EINVAL = 22;

    private final SocketChannel channel;
    private final Transfers transfers;
    private Path path;
    private FileChannel file;
    private int received;

    private RcopyServer(SocketChannel channel) throws IOException {
        this.channel = channel;
        this.transfers = Transfers.blocking(channel);
    }

    public static void main(String[] args) throws IOException {
        Options options = new Options(args, 2, USAGE, "files", "hold");
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(options.address(0));
            System.out.println("READY " + listener.socket().getLocalPort());
            boolean hold = options.has("hold");
            int toReceive = options.count("files", 1);
            while (toReceive > 0) {
                SocketChannel accepted = listener.accept();
                if (hold) {
                    Hold.awaitLine();
                    hold = false;
                }
                toReceive -= new RcopyServer(accepted).serve();
            }
        }
        System.out.println("DONE");
    }

    /** Serves the connection to its end; returns how many files have come. */
    private int serve() throws IOException {
        try (transfers) {
            RcopyMessage message;
            while ((message = RcopyMessage.read(transfers)) != null) {
                int status = obey(message);
                message.answer(status).write(transfers, ByteBuffer.allocate(0));
                if (status != 0) {
                    break; // what follows a message that was not understood is not understood either
                }
            }
            return received;
        } finally {
            if (file != null) {
                file.close();
            }
        }
    }

    private int obey(RcopyMessage message) throws IOException {
        ByteBuffer body = RcopyMessage.buffer(message.bodyBytes());
        transfers.readAll(body);
        body.flip();
        return switch (message.command()) {
            case RcopyMessage.OPEN -> open(body);
            case RcopyMessage.WRITE -> receive(body);
            case RcopyMessage.CLOSE -> close();
            default -> EINVAL;
        };
    }

    private int open(ByteBuffer body) throws IOException {
        if (file != null) {
            return EBUSY;
        }
        String padded = StandardCharsets.UTF_8.decode(body).toString();
        int end = padded.indexOf('\0');
        if (end < 0) {
            return EINVAL;
        }
        path = Path.of(padded.substring(0, end));
        file = FileChannel.open(
                path, StandardOpenOption.WRITE, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
        return 0;
    }

    private int receive(ByteBuffer body) throws IOException {
        if (file == null || body.remaining() != RcopyMessage.WRITE_BODY_BYTES) {
            return EINVAL;
        }
        long bytes = body.getLong();
        long position = 0;
        while (position < bytes) {
            long count = file.transferFrom(channel, position, bytes - position);
            if (count == 0) {
                throw new EOFException("end of stream after " + position + " of " + bytes + " bytes");
            }
            position += count;
        }
        received++;
        System.out.println("RECEIVED bytes=" + bytes + " " + path);
        return 0;
    }

    private int close() throws IOException {
        if (file == null) {
            return EINVAL;
        }
        file.close();
        file = null;
        return 0;
    }
}
