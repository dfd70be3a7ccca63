package io.rdmanio;

import io.rdmanio.ch.ChannelFactory;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;

/**
 * The provider whose socket channels send their bytes over RDMA.
 *
 * <p>Chosen for a whole JVM by {@code -Djava.nio.channels.spi.SelectorProvider=io.rdmanio.RdmaSelectorProvider}, or by the
 * jar's service entry where that property is not set. Constructing it links no native library and never fails; what a host
 * lacks is told by the channel that first binds or connects. Thread-safe; no method but those of the channels blocks.
 */
public final class RdmaSelectorProvider extends SelectorProvider {
    /** Constructs the provider, as {@link SelectorProvider#provider()} does. */
    public RdmaSelectorProvider() {}

    /**
     * Opens a socket channel that connects by RDMA.
     *
     * @return a channel for IPv4 and IPv6 addresses
     */
    @Override
    public SocketChannel openSocketChannel() {
        return openSocketChannel(StandardProtocolFamily.INET6);
    }

    /**
     * Opens a socket channel that connects by RDMA.
     *
     * @param family INET, or INET6 for both
     * @throws UnsupportedOperationException for other families; Unix-domain channels are not there yet
     */
    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) {
        return ChannelFactory.socketChannel(this, family);
    }

    /**
     * Opens a server socket channel whose peers connect by RDMA.
     *
     * @return a channel for IPv4 and IPv6 addresses
     */
    @Override
    public ServerSocketChannel openServerSocketChannel() {
        return openServerSocketChannel(StandardProtocolFamily.INET6);
    }

    /**
     * Opens a server socket channel whose peers connect by RDMA.
     *
     * @param family INET, or INET6 for both
     * @throws UnsupportedOperationException for other families; Unix-domain channels are not there yet
     */
    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) {
        return ChannelFactory.serverSocketChannel(this, family);
    }

    /**
     * Opens a selector for the channels of this provider.
     *
     * @throws IOException if the process has no descriptor left
     */
    @Override
    public AbstractSelector openSelector() throws IOException {
        return ChannelFactory.selector(this);
    }

    /**
     * Not there yet.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public DatagramChannel openDatagramChannel() {
        throw new UnsupportedOperationException(
                "Datagram channels are not there yet in " + getClass().getName());
    }

    /**
     * Not there yet.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) {
        return openDatagramChannel();
    }

    /**
     * Not there yet.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    public Pipe openPipe() {
        throw new UnsupportedOperationException(
                "Pipes are not there yet in " + getClass().getName());
    }

    /**
     * The channel inherited from the process that started the JVM.
     *
     * @return null: an RDMA connection can't be inherited
     */
    @Override
    public Channel inheritedChannel() {
        return null;
    }
}
