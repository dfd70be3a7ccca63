package io.rdmanio.ch;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.util.Set;

/** A server socket channel seen as a server socket. Thread-safe. */
final class ServerSocketAdaptor extends ServerSocket {
    private final ServerSocketChannelImpl channel;
    private volatile int timeoutMillis;

    private ServerSocketAdaptor(ServerSocketChannelImpl channel) {
        super(new NoSocketImpl());
        this.channel = channel;
    }

    static ServerSocket of(ServerSocketChannelImpl channel) {
        return new ServerSocketAdaptor(channel);
    }

    @Override
    public ServerSocketChannel getChannel() {
        return channel;
    }

    @Override
    public void bind(SocketAddress local) throws IOException {
        bind(local, 0);
    }

    @Override
    public void bind(SocketAddress local, int backlog) throws IOException {
        AdaptorExceptions.io(() -> channel.bind(local, backlog));
    }

    @Override
    public InetAddress getInetAddress() {
        InetSocketAddress local = channel.localAddress();
        return local == null ? null : local.getAddress();
    }

    @Override
    public int getLocalPort() {
        InetSocketAddress local = channel.localAddress();
        return local == null ? -1 : local.getPort();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return channel.localAddress();
    }

    @Override
    public Socket accept() throws IOException {
        return AdaptorExceptions.io(() -> channel.acceptWithin(timeoutMillis)).socket();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public boolean isBound() {
        return channel.localAddress() != null;
    }

    @Override
    public boolean isClosed() {
        return !channel.isOpen();
    }

    private void requireOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    @Override
    public void setSoTimeout(int timeout) throws SocketException {
        requireOpen();
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMillis = timeout;
    }

    @Override
    public int getSoTimeout() throws SocketException {
        requireOpen();
        return timeoutMillis;
    }

    @Override
    public void setReuseAddress(boolean on) throws SocketException {
        AdaptorExceptions.option(() -> channel.setOption(StandardSocketOptions.SO_REUSEADDR, on));
    }

    @Override
    public boolean getReuseAddress() throws SocketException {
        return AdaptorExceptions.option(() -> channel.getOption(StandardSocketOptions.SO_REUSEADDR));
    }

    @Override
    public void setReceiveBufferSize(int size) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException("size cannot be 0 or negative");
        }
        AdaptorExceptions.option(() -> channel.setOption(StandardSocketOptions.SO_RCVBUF, size));
    }

    @Override
    public int getReceiveBufferSize() throws SocketException {
        return AdaptorExceptions.option(() -> channel.getOption(StandardSocketOptions.SO_RCVBUF));
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        channel.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return channel.supportedOptions();
    }

    @Override
    public String toString() {
        return isBound()
                ? "ServerSocket[addr=" + getInetAddress() + ",localport=" + getLocalPort() + "]"
                : "ServerSocket[unbound]";
    }
}
