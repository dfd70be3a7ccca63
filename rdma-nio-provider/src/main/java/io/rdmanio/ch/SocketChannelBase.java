package io.rdmanio.ch;

import io.rdmanio.stream.ReadinessSource;
import io.rdmanio.stream.StreamConnection;
import io.rdmanio.stream.Watch;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a socket channel is apart from its I/O: state, options, addresses, half-close, close, and what a selector needs.
 *
 * <p>Locks in order: read, write, state. Connecting, binding and changing the blocking mode take both outer ones, so they
 * wait for I/O in progress; nothing blocks under the state lock. A closed channel lets go of its connection when the last
 * thread has left it and its last key is gone; the tail is then delivered in the background. Thread-safe.
 */
abstract class SocketChannelBase extends SocketChannel implements SelectableRdmaChannel {
    /** States of the channel; they only grow. */
    enum State {
        UNCONNECTED,
        PENDING,
        CONNECTED,
        CLOSING,
        CLOSED
    }

    final ProtocolFamily family;
    final ReentrantLock readLock = new ReentrantLock();
    final ReentrantLock writeLock = new ReentrantLock();
    final Object stateLock = new Object();
    final ChannelKeys keys = new ChannelKeys();

    // begin: written under stateLock
    volatile State state = State.UNCONNECTED;
    volatile StreamConnection connection;
    volatile boolean inputShut;
    volatile boolean outputShut;
    final SocketOptionValues options;
    boolean reading;
    boolean writing;
    InetSocketAddress localAddress;
    InetSocketAddress remoteAddress;
    private Socket socket;

    /** The connection is broken, not ended, when it is let go of: closed with SO_LINGER 0 while registered. */
    private boolean abortOnRelease;
    // end

    /** A channel that is not connected. */
    SocketChannelBase(SelectorProvider provider, ProtocolFamily family) {
        super(provider);
        Objects.requireNonNull(family, "family");
        if (family != StandardProtocolFamily.INET && family != StandardProtocolFamily.INET6) {
            throw new UnsupportedOperationException("Protocol family " + family + " is not supported");
        }
        this.family = family;
        this.options = SocketOptionValues.ofSocket();
    }

    /** The channel of a connection that a peer has made. */
    SocketChannelBase(
            SelectorProvider provider, ProtocolFamily family, StreamConnection accepted, SocketOptionValues inherited) {
        super(provider);
        this.family = family;
        this.options = inherited;
        this.connection = accepted;
        this.localAddress = accepted.localAddress();
        this.remoteAddress = accepted.remoteAddress();
        this.state = State.CONNECTED;
    }

    final void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    final void ensureOpenAndConnected() throws ClosedChannelException {
        State now = state;
        if (now.compareTo(State.CONNECTED) > 0 || !isOpen()) {
            throw new ClosedChannelException();
        }
        if (now != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
    }

    @Override
    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    @Override
    public boolean isConnectionPending() {
        return state == State.PENDING;
    }

    abstract Socket newAdaptor();

    @Override
    public Socket socket() {
        synchronized (stateLock) {
            if (socket == null) {
                socket = newAdaptor();
            }
            return socket;
        }
    }

    // -- options and addresses --

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.check(name, value);
        synchronized (stateLock) {
            ensureOpen();
            options.put(name, value);
            if (connection != null) {
                connection.keepAlive(options.keepAlive());
            }
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        options.checkName(name);
        synchronized (stateLock) {
            ensureOpen();
            return options.get(name, connection == null ? null : connection.sizes());
        }
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
        synchronized (stateLock) {
            ensureOpen();
            return localAddress;
        }
    }

    @Override
    public SocketAddress getRemoteAddress() throws IOException {
        synchronized (stateLock) {
            ensureOpen();
            return remoteAddress;
        }
    }

    /** The local address, also of a closed channel; null if it never had one. */
    InetSocketAddress localAddress() {
        synchronized (stateLock) {
            return localAddress;
        }
    }

    /** The peer's address, also of a closed channel; null if it never had one. */
    InetSocketAddress remoteAddress() {
        synchronized (stateLock) {
            return remoteAddress;
        }
    }

    // -- operations in progress --

    final void beginRead(boolean blocking) throws ClosedChannelException {
        if (blocking) {
            begin();
            synchronized (stateLock) {
                ensureOpen();
                reading = true;
            }
        }
    }

    final void endRead(boolean blocking, boolean completed) throws AsynchronousCloseException {
        if (blocking) {
            synchronized (stateLock) {
                reading = false;
                if (state == State.CLOSING) {
                    finishClose();
                }
            }
            end(completed);
        }
    }

    final void beginWrite(boolean blocking) throws ClosedChannelException {
        if (blocking) {
            begin();
            synchronized (stateLock) {
                ensureOpen();
                writing = true;
            }
        }
        if (outputShut) {
            throw new ClosedChannelException();
        }
    }

    final void endWrite(boolean blocking, boolean completed) throws AsynchronousCloseException {
        if (blocking) {
            synchronized (stateLock) {
                writing = false;
                if (state == State.CLOSING) {
                    finishClose();
                }
            }
            end(completed);
        }
    }

    // -- half-close --

    @Override
    public SocketChannel shutdownInput() throws IOException {
        synchronized (stateLock) {
            ensureOpen();
            if (!isConnected()) {
                throw new NotYetConnectedException();
            }
            if (!inputShut) {
                inputShut = true;
                connection.reader().shutdown();
            }
            return this;
        }
    }

    @Override
    public SocketChannel shutdownOutput() throws IOException {
        synchronized (stateLock) {
            ensureOpen();
            if (!isConnected()) {
                throw new NotYetConnectedException();
            }
            if (!outputShut) {
                outputShut = true;
                connection.shutdownOutput();
            }
            return this;
        }
    }

    boolean isInputOpen() {
        return !inputShut;
    }

    boolean isOutputOpen() {
        return !outputShut;
    }

    // -- blocking mode and close --

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            // the stream never blocks; taking the locks waits for I/O in progress
            ensureOpen();
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        boolean blocking = isBlocking();
        int lingerSeconds;
        boolean deferred;
        synchronized (stateLock) {
            state = State.CLOSING;
            lingerSeconds = options.get(StandardSocketOptions.SO_LINGER, null);
            deferred = !blocking && lingerSeconds == 0 && isRegistered();
            abortOnRelease = deferred;
        }
        if (!blocking) {
            // none of them blocks; what is in progress comes to its end as if the close came after it
            waitForHolder(readLock);
            waitForHolder(writeLock);
        } // else this may run in a thread that interrupts another, and must not wait
        StreamConnection closing = connection;
        if (closing != null) {
            if (!deferred) {
                closing.close(lingerSeconds == 0);
            }
            closing.endWaits();
        }
        synchronized (stateLock) {
            finishClose();
        }
        boolean lingers = closing != null && blocking && lingerSeconds > 0;
        if (lingers && !closing.awaitDrained(TimeUnit.SECONDS.toNanos(lingerSeconds))) {
            closing.close(true);
        }
    }

    private static void waitForHolder(ReentrantLock lock) {
        lock.lock();
        try {
            assert lock.isHeldByCurrentThread();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a connection as this channel's own.
     *
     * @throws AsynchronousCloseException if the channel was closed meanwhile; the connection is ended then
     */
    final void own(StreamConnection made) throws AsynchronousCloseException {
        synchronized (stateLock) {
            if (state.compareTo(State.CLOSING) < 0) {
                connection = made;
                made.keepAlive(options.keepAlive());
                return;
            }
        }
        discard(made);
        throw new AsynchronousCloseException();
    }

    static void discard(StreamConnection made) {
        made.close(true);
        made.release();
    }

    /** Lets go of the connection if no thread and no key uses it any more. State lock held. */
    final void finishClose() {
        if (state == State.CLOSING && !reading && !writing && !isRegistered()) {
            state = State.CLOSED;
            if (connection != null) {
                if (abortOnRelease) {
                    connection.close(true);
                }
                connection.release();
            }
        }
    }

    @Override
    public void kill() {
        synchronized (stateLock) {
            finishClose();
        }
    }

    // -- for the selector --

    @Override
    public ReadinessSource source() {
        return connection;
    }

    @Override
    public int readyOps(Watch watch, int interestOps, boolean notified) {
        StreamConnection source = connection;
        State now = state;
        if (now == State.PENDING && interestOps != 0) {
            if (source.readyOrSleep(watch, SelectionKey.OP_CONNECT, notified) == 0) {
                return 0;
            }
            return source.connectFailed() ? interestOps : interestOps & SelectionKey.OP_CONNECT;
        }
        int io = now == State.CONNECTED ? interestOps & (SelectionKey.OP_READ | SelectionKey.OP_WRITE) : 0;
        if (now != State.CONNECTED || io == interestOps) {
            return source.readyOrSleep(watch, io, notified);
        }
        // of interest is also what is ready only when all is, since no operation is left that would block
        int ready = source.readyOrSleep(watch, io | StreamConnection.HUNG_UP, notified);
        return (ready & StreamConnection.HUNG_UP) != 0 ? interestOps : ready;
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
        StringBuilder text = new StringBuilder(SocketChannel.class.getName()).append('[');
        if (!isOpen()) {
            text.append("closed");
        } else {
            synchronized (stateLock) {
                text.append(
                        switch (state) {
                            case UNCONNECTED -> "unconnected";
                            case PENDING -> "connection-pending";
                            default -> "connected";
                        });
                if (localAddress != null) {
                    text.append(" local=").append(localAddress);
                }
                if (remoteAddress != null) {
                    text.append(" remote=").append(remoteAddress);
                }
            }
        }
        return text.append(']').toString();
    }
}
