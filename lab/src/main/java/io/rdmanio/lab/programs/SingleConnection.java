package io.rdmanio.lab.programs;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** The one connection of a program that is told to connect, or to listen and print {@code READY} with its port. */
final class SingleConnection {
    private SingleConnection() {}

    /** Opens what operands 0 to 2 say: {@code connect} or {@code listen}, host, port. */
    static SocketChannel open(Options options) throws IOException {
        switch (options.operand(0)) {
            case "connect" -> {
                return SocketChannel.open(options.address(1));
            }
            case "listen" -> {
                try (ServerSocketChannel server = ServerSocketChannel.open()) {
                    server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
                    server.bind(options.address(1));
                    System.out.println("READY " + server.socket().getLocalPort());
                    return server.accept();
                }
            }
            default -> throw new IllegalArgumentException("connect or listen, not " + options.operand(0));
        }
    }
}
