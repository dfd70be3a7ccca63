package io.rdmanio.ch;

import io.rdmanio.policy.TransportPolicy;
import io.rdmanio.stream.StreamConfiguration;
import io.rdmanio.stream.StreamConnection;
import io.rdmanio.stream.StreamRuntime;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A socket channel over an RDMA stream: binding, connecting, reading and writing. Thread-safe, as {@link SocketChannelBase}
 * says.
 */
final class SocketChannelImpl extends SocketChannelBase {
    private final ByteBuffer[] readOne = new ByteBuffer[1]; // guarded by readLock
    private final ByteBuffer[] writeOne = new ByteBuffer[1]; // guarded by writeLock

    /** A channel that is not connected. */
    SocketChannelImpl(SelectorProvider provider, ProtocolFamily family) {
        super(provider, family);
    }

    /** The channel of a connection that a peer has made. */
    SocketChannelImpl(
            SelectorProvider provider, ProtocolFamily family, StreamConnection accepted, SocketOptionValues inherited) {
        super(provider, family, accepted, inherited);
    }

    @Override
    Socket newAdaptor() {
        return SocketAdaptor.of(this);
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
                bound.bind(address, sharesPort());
            } catch (IOException e) {
                discard(bound);
                throw e;
            }
            int port = bound.localAddress().getPort();
            own(bound);
            synchronized (stateLock) {
                localAddress = new InetSocketAddress(address.getAddress(), port);
            }
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    /** rdma_cm has one option that lets sockets share a port, for what the kernel's sockets have two. */
    private boolean sharesPort() throws IOException {
        return getOption(StandardSocketOptions.SO_REUSEADDR) || getOption(StandardSocketOptions.SO_REUSEPORT);
    }

    private static StreamConnection newConnection() throws IOException {
        return new StreamConnection(StreamRuntime.over(TransportPolicy.engine()));
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
        if (!isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        connectOrClose(() -> {
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
            own(connecting);
        }
        StreamConfiguration sizes;
        int typeOfService;
        synchronized (stateLock) {
            sizes = options.configuration();
            typeOfService = options.get(StandardSocketOptions.IP_TOS, null);
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

    @Override
    public int read(ByteBuffer target) throws IOException {
        Objects.requireNonNull(target, "dst");
        return read(target, Wait.NONE);
    }

    private int read(ByteBuffer target, Wait wait) throws IOException {
        readLock.lock();
        try {
            readOne[0] = target;
            return (int) readLocked(readOne, 0, 1, wait);
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
            return readLocked(targets, offset, length, Wait.NONE);
        } finally {
            readLock.unlock();
        }
    }

    /**
     * Reads for the adaptor, in blocking mode, within a time.
     *
     * @param timeoutMillis 0 for endless
     * @throws SocketTimeoutException if the time is over; the channel stays usable
     * @throws IllegalBlockingModeException in non-blocking mode
     */
    int readWithin(ByteBuffer target, int timeoutMillis) throws IOException {
        return read(target, timeoutMillis == 0 ? Wait.ENDLESS : Wait.until(timeoutMillis));
    }

    /** How an adaptor's operation waits; a channel's own says nothing of it. */
    private record Wait(boolean required, long deadlineNanos, boolean bounded) {
        static final Wait NONE = new Wait(false, 0, false);
        static final Wait ENDLESS = new Wait(true, 0, false);

        static Wait until(int timeoutMillis) {
            return new Wait(true, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis), true);
        }
    }

    private long readLocked(ByteBuffer[] targets, int offset, int length, Wait wait) throws IOException {
        ensureOpenAndConnected();
        boolean blocking = requireMode(wait.required);
        long count = 0;
        try {
            beginRead(blocking);
            if (inputShut) {
                return -1;
            }
            if (!requireRoom(targets, offset, length)) {
                return 0;
            }
            count = connection.reader().read(targets, offset, length);
            while (count == 0 && blocking && isOpen()) {
                if (!connection.await(SelectionKey.OP_READ, wait.deadlineNanos, wait.bounded) && isOpen()) {
                    throw new SocketTimeoutException("Read timed out");
                }
                count = isOpen() ? connection.reader().read(targets, offset, length) : 0;
            }
            return count;
        } finally {
            endRead(blocking, count != 0);
        }
    }

    private boolean requireMode(boolean blockingRequired) {
        boolean blocking = isBlocking();
        if (blockingRequired && !blocking) {
            throw new IllegalBlockingModeException();
        }
        return blocking;
    }

    private static boolean requireRoom(ByteBuffer[] targets, int offset, int length) {
        boolean room = false;
        for (int i = offset; i < offset + length; i++) {
            if (targets[i].isReadOnly()) {
                throw new IllegalArgumentException("Read-only buffer");
            }
            room |= targets[i].hasRemaining();
        }
        return room;
    }

    /** Bytes that can be read without blocking, also while another thread is blocked in a read. */
    int available() throws IOException {
        synchronized (stateLock) {
            ensureOpenAndConnected();
            return inputShut ? 0 : connection.reader().available();
        }
    }

    // -- writing --

    @Override
    public int write(ByteBuffer source) throws IOException {
        Objects.requireNonNull(source, "src");
        return write(source, false);
    }

    /**
     * Writes for the adaptor, in blocking mode, all of it.
     *
     * @throws IOException if the channel is closed, shut or reset before all is written
     * @throws IllegalBlockingModeException in non-blocking mode
     */
    void writeFully(ByteBuffer source) throws IOException {
        writeLock.lock();
        try {
            while (source.hasRemaining()) {
                write(source, true); // writes less only when it can't go on, and the next tells why
            }
        } finally {
            writeLock.unlock();
        }
    }

    private int write(ByteBuffer source, boolean blockingRequired) throws IOException {
        writeLock.lock();
        try {
            writeOne[0] = source;
            return (int) writeLocked(writeOne, 0, 1, blockingRequired);
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
            return writeLocked(sources, offset, length, false);
        } finally {
            writeLock.unlock();
        }
    }

    private long writeLocked(ByteBuffer[] sources, int offset, int length, boolean blockingRequired)
            throws IOException {
        ensureOpenAndConnected();
        boolean blocking = requireMode(blockingRequired);
        long count = 0;
        try {
            beginWrite(blocking);
            count = connection.writer().write(sources, offset, length);
            boolean more = blocking && connection.writer().hasRemaining();
            while (more && isOpen() && !outputShut) {
                connection.await(SelectionKey.OP_WRITE, 0, false);
                long written = writeMore(sources, offset, length, count);
                count += Math.max(written, 0);
                more = written >= 0 && connection.writer().hasRemaining();
            }
        } catch (SocketException e) {
            if (isOpen() && !outputShut) {
                throw e;
            } // else the end of our output is why, and that is told below
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
            return connection.writer().goOn(sources, offset, length);
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
}
