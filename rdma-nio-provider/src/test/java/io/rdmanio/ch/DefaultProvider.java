package io.rdmanio.ch;

import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** A program that tells which provider its JVM has found. */
final class DefaultProvider {
    private DefaultProvider() {}

    /** Runs it. */
    public static void main(String[] arguments) throws Exception {
        SelectorProvider provider = SelectorProvider.provider();
        System.out.println(provider.getClass().getName());
        try (SocketChannel channel = SocketChannel.open()) {
            System.out.println(channel.provider().equals(SelectorProvider.provider()) ? "the same" : "another");
        }
    }
}
