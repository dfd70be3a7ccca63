package io.rdmanio.ch;

import io.rdmanio.policy.TransportPolicy;
import io.rdmanio.stream.ReadinessSource;
import io.rdmanio.stream.StreamConnection;
import io.rdmanio.stream.StreamListener;
import io.rdmanio.stream.StreamRuntime;
import io.rdmanio.stream.Watch;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A server socket channel whose peers connect by RDMA. Connections are accepted eagerly; accept takes one that is there.
 *
 * <p>Lock order: accept, state. Accepts serialise, nothing blocks under the state lock. Thread-safe.
 */
final class ServerSocketChannelImpl extends ServerSocketChannel implements SelectableRdmaChannel {
    private static final int DEFAULT_BACKLOG = 50;

    private final ProtocolFamily family;
    private final ReentrantLock acceptLock = new ReentrantLock();
    private final Object stateLock = new Object();
    private final ChannelKeys keys = new ChannelKeys();

    // begin: written under stateLock
    private volatile StreamListener listener;
    private final SocketOptionValues options = SocketOptionValues.ofServerSocket();
    private InetSocketAddress localAddress;
    private ServerSocket socket;
    // end

    ServerSocketChannelImpl(SelectorProvider provider, ProtocolFamily family) {
        super(provider);
        Objects.requireNonNull(family, "family");
        if (family != StandardProtocolFamily.INET && family != StandardProtocolFamily.INET6) {
            throw new UnsupportedOperationException("Protocol family " + family + " is not supported");
        }
        this.family = family;
    }

    private void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public ServerSocket socket() {
        synchronized (stateLock) {
            if (socket == null) {
                socket = ServerSocketAdaptor.of(this);
            }
            return socket;
        }
    }

    // -- options and address --

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.check(name, value);
        synchronized (stateLock) {
            ensureOpen();
            options.put(name, value);
            if (listener != null) {
                listener.configure(options.configuration());
            }
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        options.checkName(name);
        synchronized (stateLock) {
            ensureOpen();
            return options.get(name, null);
        }
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        synchronized (stateLock) {
            ensureOpen();
            return localAddress;
        }
    }

    /** The local address, also of a closed channel; null if it never had one. */
    InetSocketAddress localAddress() {
        synchronized (stateLock) {
            return localAddress;
        }
    }

    // -- binding and accepting --

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        InetSocketAddress address;
        synchronized (stateLock) {
            ensureOpen();
            if (localAddress != null) {
                throw new AlreadyBoundException();
            }
            address = Addresses.checkLocal(local, family);
            StreamListener bound = new StreamListener(StreamRuntime.over(TransportPolicy.engine()));
            bound.configure(options.configuration());
            bound.bind(
                    address,
                    family == StandardProtocolFamily.INET6,
                    backlog < 1 ? DEFAULT_BACKLOG : backlog,
                    options.get(StandardSocketOptions.SO_REUSEADDR, null));
            listener = bound;
            localAddress = bound.localAddress();
        }
        keys.channelChanged();
        return this;
    }

    @Override
    public SocketChannel accept() throws IOException {
        return accept(0, false);
    }

    /**
     * Accepts for the adaptor.
     *
     * @param timeoutMillis 0 for endless
     * @throws SocketTimeoutException if the time is over
     * @throws IllegalBlockingModeException if the channel is non-blocking and there is a time, or none waits
     */
    SocketChannel acceptWithin(int timeoutMillis) throws IOException {
        long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        SocketChannel accepted = accept(deadlineNanos, timeoutMillis > 0);
        if (accepted == null) {
            throw new IllegalBlockingModeException();
        }
        return accepted;
    }

    private SocketChannel accept(long deadlineNanos, boolean bounded) throws IOException {
        StreamConnection accepted = null;
        acceptLock.lock();
        try {
            boolean blocking = isBlocking();
            if (bounded && !blocking) {
                throw new IllegalBlockingModeException();
            }
            ensureOpen();
            StreamListener from = listener;
            if (from == null) {
                throw new NotYetBoundException();
            }
            try {
                if (blocking) {
                    begin();
                }
                accepted = from.accept();
                while (accepted == null && blocking && isOpen()) {
                    if (!from.await(SelectionKey.OP_ACCEPT, deadlineNanos, bounded) && isOpen()) {
                        throw new SocketTimeoutException("Accept timed out");
                    }
                    accepted = from.accept();
                }
            } finally {
                if (blocking) {
                    endAccept(accepted);
                }
            }
        } finally {
            acceptLock.unlock();
        }
        return accepted == null ? null : new SocketChannelImpl(provider(), family, accepted, inherited());
    }

    private SocketOptionValues inherited() {
        synchronized (stateLock) {
            return options.inherited();
        }
    }

    private void endAccept(StreamConnection accepted) throws AsynchronousCloseException {
        try {
            end(accepted != null);
        } catch (AsynchronousCloseException e) {
            if (accepted != null) {
                accepted.close(true);
                accepted.release();
            }
            throw e;
        }
    }

    // -- blocking mode and close --

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        acceptLock.lock();
        try {
            // taking the lock waits for an accept in progress
            ensureOpen();
        } finally {
            acceptLock.unlock();
        }
    }

    @Override
    protected void implCloseSelectableChannel() {
        StreamListener closing;
        synchronized (stateLock) {
            closing = listener;
        }
        if (closing != null) {
            closing.endWaits();
            closing.close();
        }
    }

    @Override
    public void kill() {
        // a listener has no descriptor that a selector could still watch: closing it is all
    }

    // -- for the selector --

    @Override
    public ReadinessSource source() {
        return listener;
    }

    @Override
    public int readyOps(Watch watch, int interestOps, boolean notified) {
        return listener.readyOrSleep(watch, interestOps, notified);
    }

    @Override
    public void registered(SelectionKeyImpl key) {
        keys.add(key);
    }

    @Override
    public void deregistered(SelectionKeyImpl key) {
        keys.remove(key);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(ServerSocketChannel.class.getName()).append('[');
        if (!isOpen()) {
            text.append("closed");
        } else {
            InetSocketAddress address = localAddress();
            text.append(address == null ? "unbound" : address);
        }
        return text.append(']').toString();
    }
}
