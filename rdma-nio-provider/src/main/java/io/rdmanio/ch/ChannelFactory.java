package io.rdmanio.ch;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/** Makes channels and selectors for the provider, whose package can't see their classes. Stateless; thread-safe. */
public final class ChannelFactory {
    private ChannelFactory() {}

    /**
     * Makes a socket channel that is not connected.
     *
     * @throws UnsupportedOperationException if the family is not an internet family
     */
    public static SocketChannel socketChannel(SelectorProvider provider, ProtocolFamily family) {
        return new SocketChannelImpl(provider, family);
    }

    /**
     * Makes a server socket channel that is not bound.
     *
     * @throws UnsupportedOperationException if the family is not an internet family
     */
    public static ServerSocketChannel serverSocketChannel(SelectorProvider provider, ProtocolFamily family) {
        return new ServerSocketChannelImpl(provider, family);
    }

    /**
     * Makes a selector.
     *
     * @throws IOException if the process has no descriptor left
     */
    public static AbstractSelector selector(SelectorProvider provider) throws IOException {
        return new RdmaSelectorImpl(provider);
    }
}
