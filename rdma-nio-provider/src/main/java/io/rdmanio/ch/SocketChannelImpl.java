package io.rdmanio.ch;

import io.rdmanio.policy.TransportPolicy;
import io.rdmanio.stream.ReadinessSource;
import io.rdmanio.stream.StreamConfiguration;
import io.rdmanio.stream.StreamConnection;
import io.rdmanio.stream.StreamRuntime;
import io.rdmanio.stream.Watch;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A socket channel over an RDMA stream.
 *
 * <p>Locks in order: read, write, state. Connecting, binding and changing the blocking mode take both outer ones, so they
 * wait for I/O in progress; nothing blocks under the state lock. A closed channel lets go of its connection when the last
 * thread has left it and its last key is gone; the tail is then delivered in the background. Thread-safe.
 */
final class SocketChannelImpl extends SocketChannel implements SelectableRdmaChannel {
    /** States of the channel; they only grow. */
    private enum State {
        UNCONNECTED,
        PENDING,
        CONNECTED,
        CLOSING,
        CLOSED
    }

    private final ProtocolFamily family;
    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();
    private final Object stateLock = new Object();
    private final ChannelKeys keys = new ChannelKeys();

    private final ByteBuffer[] readOne = new ByteBuffer[1]; // guarded by readLock
    private final ByteBuffer[] writeOne = new ByteBuffer[1]; // guarded by writeLock

    // begin: written under stateLock
    private volatile State state = State.UNCONNECTED;
    private volatile StreamConnection connection;
    private volatile boolean inputShut;
    private volatile boolean outputShut;
    private final SocketOptionValues options = SocketOptionValues.ofSocket();
    private boolean reading;
    private boolean writing;
    private InetSocketAddress localAddress;
    private InetSocketAddress remoteAddress;
    private Socket socket;
    // end

    /** A channel that is not connected. */
    SocketChannelImpl(SelectorProvider provider, ProtocolFamily family) {
        super(provider);
        Objects.requireNonNull(family, "family");
        if (family != StandardProtocolFamily.INET && family != StandardProtocolFamily.INET6) {
            throw new UnsupportedOperationException("Protocol family " + family + " is not supported");
        }
        this.family = family;
    }

    /** The channel of a connection that a peer has made. */
    SocketChannelImpl(SelectorProvider provider, StreamConnection accepted) {
        super(provider);
        this.family = StandardProtocolFamily.INET6;
        this.connection = accepted;
        this.localAddress = accepted.localAddress();
        this.remoteAddress = accepted.remoteAddress();
        this.state = State.CONNECTED;
    }

    private void ensureOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    private void ensureOpenAndConnected() throws ClosedChannelException {
        State now = state;
        if (now.compareTo(State.CONNECTED) > 0 || !isOpen()) {
            throw new ClosedChannelException();
        }
        if (now != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
    }

    @Override
    public Socket socket() {
        synchronized (stateLock) {
            if (socket == null) {
                socket = SocketAdaptor.of(this);
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
        T checked = options.check(name, value);
        synchronized (stateLock) {
            ensureOpen();
            options.put(name, checked);
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        options.checkName(name);
        synchronized (stateLock) {
            ensureOpen();
            if (name == StandardSocketOptions.SO_SNDBUF) {
                return name.type().cast(configuration().sendBufferBytes());
            }
            if (name == StandardSocketOptions.SO_RCVBUF) {
                return name.type().cast(configuration().receiveBufferBytes());
            }
            return options.get(name);
        }
    }

    private StreamConfiguration configuration() {
        int send = options.get(StandardSocketOptions.SO_SNDBUF);
        int receive = options.get(StandardSocketOptions.SO_RCVBUF);
        StreamConfiguration standard = StreamConfiguration.DEFAULT;
        return standard.withBuffers(
                send == 0 ? standard.sendBufferBytes() : send, receive == 0 ? standard.receiveBufferBytes() : receive);
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

    // -- binding and connecting --

    @Override
    public SocketChannel bind(SocketAddress local) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            synchronized (stateLock) {
                ensureOpen();
                if (state == State.PENDING) {
                    throw new ConnectionPendingException();
                }
                if (localAddress != null) {
                    throw new AlreadyBoundException();
                }
            }
            InetSocketAddress address = Addresses.checkLocal(local, family);
            StreamConnection bound = newConnection();
            try {
                bound.bind(address, getOption(StandardSocketOptions.SO_REUSEADDR));
            } catch (IOException e) {
                bound.close(true);
                bound.release();
                throw e;
            }
            synchronized (stateLock) {
                connection = bound;
                localAddress = bound.localAddress();
            }
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    private static StreamConnection newConnection() throws IOException {
        TransportPolicy.current();
        return new StreamConnection(StreamRuntime.get());
    }

    @Override
    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    @Override
    public boolean isConnectionPending() {
        return state == State.PENDING;
    }

    @Override
    public boolean connect(SocketAddress remote) throws IOException {
        InetSocketAddress address = Addresses.checkRemote(remote, family);
        return connectOrClose(() -> {
            boolean blocking = isBlocking();
            boolean connected = false;
            try {
                beginConnect(blocking, address);
                startConnecting(address);
                connected = blocking && awaitConnected(0, false);
            } finally {
                endConnect(blocking, connected);
            }
            return connected;
        });
    }

    @Override
    public boolean finishConnect() throws IOException {
        return connectOrClose(() -> {
            if (isConnected()) {
                return true;
            }
            ensureOpen();
            boolean blocking = isBlocking();
            boolean connected = false;
            try {
                beginFinishConnect(blocking);
                connected = blocking ? awaitConnected(0, false) : connection.finishConnect();
            } finally {
                endConnect(blocking, connected);
            }
            return connected;
        });
    }

    /**
     * Connects for the adaptor, in blocking mode, within a time.
     *
     * @throws SocketTimeoutException if the time is over; the channel is closed then
     */
    void connectWithin(SocketAddress remote, int timeoutMillis) throws IOException {
        InetSocketAddress address = Addresses.checkRemote(remote, family);
        connectOrClose(() -> {
            if (!isBlocking()) {
                throw new IllegalBlockingModeException();
            }
            boolean connected = false;
            try {
                beginConnect(true, address);
                startConnecting(address);
                long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
                connected = awaitConnected(deadlineNanos, timeoutMillis > 0);
                if (!connected && isOpen()) {
                    throw new SocketTimeoutException("Connect timed out");
                }
            } finally {
                endConnect(true, connected);
            }
            return connected;
        });
    }

    private interface ConnectAction {
        boolean run() throws IOException;
    }

    private boolean connectOrClose(ConnectAction action) throws IOException {
        try {
            readLock.lock();
            writeLock.lock();
            try {
                ensureOpen();
                return action.run();
            } finally {
                writeLock.unlock();
                readLock.unlock();
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private void beginConnect(boolean blocking, InetSocketAddress address) throws IOException {
        if (blocking) {
            begin();
        }
        synchronized (stateLock) {
            ensureOpen();
            if (state == State.CONNECTED) {
                throw new AlreadyConnectedException();
            }
            if (state == State.PENDING) {
                throw new ConnectionPendingException();
            }
            state = State.PENDING;
            remoteAddress = address;
            reading = blocking;
        }
    }

    private void beginFinishConnect(boolean blocking) throws IOException {
        if (blocking) {
            begin();
        }
        synchronized (stateLock) {
            ensureOpen();
            if (state != State.PENDING) {
                throw new NoConnectionPendingException();
            }
            reading = blocking;
        }
    }

    private void startConnecting(InetSocketAddress address) throws IOException {
        StreamConnection connecting = connection;
        if (connecting == null) {
            connecting = newConnection();
            synchronized (stateLock) {
                if (state != State.PENDING) {
                    connecting.close(true);
                    connecting.release();
                    throw new AsynchronousCloseException();
                }
                connection = connecting;
            }
        }
        StreamConfiguration sizes;
        int typeOfService;
        synchronized (stateLock) {
            sizes = configuration();
            typeOfService = options.get(StandardSocketOptions.IP_TOS);
        }
        connecting.connect(address, sizes, typeOfService == 0 ? -1 : typeOfService);
        keys.channelChanged();
    }

    private boolean awaitConnected(long deadlineNanos, boolean bounded) throws IOException {
        return connection.await(SelectionKey.OP_CONNECT, deadlineNanos, bounded)
                && connection.finishConnect()
                && isOpen();
    }

    private void endConnect(boolean blocking, boolean connected) throws IOException {
        endRead(blocking, connected);
        if (connected) {
            synchronized (stateLock) {
                if (state == State.PENDING) {
                    localAddress = connection.localAddress();
                    state = State.CONNECTED;
                }
            }
            keys.channelChanged();
        }
    }

    // -- reading --

    private void beginRead(boolean blocking) throws ClosedChannelException {
        if (blocking) {
            begin();
            synchronized (stateLock) {
                ensureOpen();
                reading = true;
            }
        }
    }

    private void endRead(boolean blocking, boolean completed) throws AsynchronousCloseException {
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

    @Override
    public int read(ByteBuffer target) throws IOException {
        Objects.requireNonNull(target, "dst");
        return read(target, 0, false);
    }

    private int read(ByteBuffer target, long deadlineNanos, boolean bounded) throws IOException {
        readLock.lock();
        try {
            readOne[0] = target;
            return (int) readLocked(readOne, 0, 1, deadlineNanos, bounded);
        } finally {
            readOne[0] = null;
            readLock.unlock();
        }
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, targets.length);
        readLock.lock();
        try {
            return readLocked(targets, offset, length, 0, false);
        } finally {
            readLock.unlock();
        }
    }

    private long readLocked(ByteBuffer[] targets, int offset, int length, long deadlineNanos, boolean bounded)
            throws IOException {
        ensureOpenAndConnected();
        boolean room = requireWritable(targets, offset, length);
        boolean blocking = isBlocking();
        long count = 0;
        try {
            beginRead(blocking);
            if (inputShut) {
                return -1;
            }
            if (!room) {
                return 0;
            }
            count = connection.reader().read(targets, offset, length);
            while (count == 0 && blocking && isOpen()) {
                if (!connection.await(SelectionKey.OP_READ, deadlineNanos, bounded) && isOpen()) {
                    throw new SocketTimeoutException("Read timed out");
                }
                count = isOpen() ? connection.reader().read(targets, offset, length) : 0;
            }
            return count;
        } finally {
            endRead(blocking, count != 0);
        }
    }

    private static boolean requireWritable(ByteBuffer[] targets, int offset, int length) {
        boolean room = false;
        for (int i = offset; i < offset + length; i++) {
            if (targets[i].isReadOnly()) {
                throw new IllegalArgumentException("Read-only buffer");
            }
            room |= targets[i].hasRemaining();
        }
        return room;
    }

    /**
     * Reads for the adaptor, in blocking mode, within a time.
     *
     * @param timeoutMillis 0 for endless
     * @throws SocketTimeoutException if the time is over; the channel stays usable
     */
    int readWithin(ByteBuffer target, int timeoutMillis) throws IOException {
        if (!isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        return read(target, deadlineNanos, timeoutMillis > 0);
    }

    /** Bytes that can be read without blocking. */
    int available() throws IOException {
        readLock.lock();
        try {
            ensureOpenAndConnected();
            return inputShut ? 0 : connection.reader().available();
        } finally {
            readLock.unlock();
        }
    }

    // -- writing --

    private void beginWrite(boolean blocking) throws ClosedChannelException {
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

    private void endWrite(boolean blocking, boolean completed) throws AsynchronousCloseException {
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

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source, "src");
        writeLock.lock();
        try {
            writeOne[0] = source;
            return (int) writeLocked(writeOne, 0, 1);
        } finally {
            writeOne[0] = null;
            writeLock.unlock();
        }
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, sources.length);
        writeLock.lock();
        try {
            return writeLocked(sources, offset, length);
        } finally {
            writeLock.unlock();
        }
    }

    private long writeLocked(ByteBuffer[] sources, int offset, int length) throws IOException {
        ensureOpenAndConnected();
        boolean blocking = isBlocking();
        long count = 0;
        try {
            beginWrite(blocking);
            count = connection.writer().write(sources, offset, length);
            while (blocking && isOpen() && !outputShut && hasRemaining(sources, offset, length)) {
                connection.await(SelectionKey.OP_WRITE, 0, false);
                long more = writeMore(sources, offset, length, count);
                if (more < 0) {
                    break;
                }
                count += more;
            }
        } finally {
            endWrite(blocking, count > 0);
        }
        if (count == 0 && outputShut && hasRemaining(sources, offset, length)) {
            throw new AsynchronousCloseException();
        }
        return count;
    }

    /** Goes on with a blocking write; -1 if it can't, and something was written before: the next write tells why. */
    private long writeMore(ByteBuffer[] sources, int offset, int length, long before) throws IOException {
        if (!isOpen() || outputShut) {
            return -1;
        }
        try {
            return connection.writer().write(sources, offset, length);
        } catch (SocketException e) {
            if (before == 0) {
                throw e;
            }
            return -1;
        }
    }

    private static boolean hasRemaining(ByteBuffer[] sources, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (sources[i].hasRemaining()) {
                return true;
            }
        }
        return false;
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
        if (isBlocking()) {
            // may run in a thread that interrupts another: never wait for the read and write locks here
            closeConnection();
        } else {
            closeConnection();
            readLock.lock();
            readLock.unlock();
            writeLock.lock();
            writeLock.unlock();
        }
        StreamConnection closing = connection;
        int lingerSeconds;
        synchronized (stateLock) {
            lingerSeconds = options.get(StandardSocketOptions.SO_LINGER);
            finishClose();
        }
        if (closing != null && isBlocking() && lingerSeconds > 0
                && !closing.awaitDrained(TimeUnit.SECONDS.toNanos(lingerSeconds))) {
            closing.close(true);
        }
    }

    /** Ends the connection: at once for a linger of 0, else delivering the tail; wakes the threads that use it. */
    private void closeConnection() {
        StreamConnection closing;
        boolean abort;
        synchronized (stateLock) {
            if (state.compareTo(State.CLOSING) >= 0) {
                return;
            }
            state = State.CLOSING;
            closing = connection;
            int linger = options.get(StandardSocketOptions.SO_LINGER);
            abort = linger == 0;
        }
        if (closing != null) {
            closing.close(abort);
            closing.endWaits();
        }
    }

    /** Lets go of the connection if no thread and no key uses it any more. State lock held. */
    private void finishClose() {
        if (state == State.CLOSING && !reading && !writing && !isRegistered()) {
            state = State.CLOSED;
            if (connection != null) {
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
        return source.readyOrSleep(watch, io, notified);
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
