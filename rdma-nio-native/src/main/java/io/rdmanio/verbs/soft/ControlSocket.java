package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Epoll;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.ReceivedMessage;
import io.rdmanio.linux.SystemCallException;
import io.rdmanio.linux.UnixSocket;
import io.rdmanio.linux.UnixSocket.Receipt;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One connection to another process, over which control messages go. What the socket has no room for waits in order,
 * with descriptors of its own, until there is; what the other process sends is read on the progress thread, so much at a
 * time that one peer doesn't hold up the others.
 *
 * <p>A datagram of one byte is no message but a kick: the work set of the receiver's header has something, or had. It may
 * overtake messages, and is left out when there is no room, since then there is something to read anyway.
 *
 * <p>Thread safety: {@link #send} and {@link #kick} may be called by any thread, the other methods by the progress thread.
 * The queue is guarded by the lock, under which nothing blocks.
 */
final class ControlSocket {
    /** Where what arrives goes; called on the progress thread. */
    interface Receiver {
        /**
         * Takes a message, and with it its descriptors, whatever comes of it.
         *
         * @param message the message
         * @throws ProtocolException when the peer must not send it, or not now
         */
        void received(ControlMessage message) throws ProtocolException;

        /**
         * The peer has put something into the work set.
         *
         * @throws ProtocolException when it must not, not now
         */
        void kicked() throws ProtocolException;

        /**
         * The connection is over: nothing arrives any more. Called once, and not after {@link ControlSocket#close}.
         *
         * @param errno ECONNRESET when the peer has closed it, EPROTO when it broke the protocol, or what else went wrong
         * @param reason the same in words
         */
        void ended(int errno, String reason);
    }

    /**
     * How many messages may wait to be sent: what there is to say when as many queue pairs begin or end at once as two processes can
     * share. A peer that reads so little is not worth more.
     */
    static final int MAX_QUEUED_MESSAGES = 4 * ReadySet.SLOTS;

    private static final Logger LOG = System.getLogger(ControlSocket.class.getName());
    private static final int MESSAGES_PER_EVENT = 64;
    private static final MemorySegment KICK = Arena.global().allocateFrom(ValueLayout.JAVA_BYTE, (byte) 1);

    private final ProgressThread progress;
    private final UnixSocket socket;
    private final MemorySegment received = Arena.ofAuto().allocate(ControlMessages.MAX_BYTES);
    private final ReceivedMessage receipt = new ReceivedMessage();
    private ProgressThread.Watch watch;
    private Receiver receiver;
    private boolean sawEnd;
    private boolean ended;

    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by the lock.
    private final MemorySegment sending = Arena.ofAuto().allocate(ControlMessages.MAX_BYTES);
    private final ByteBuffer sendingBytes = sending.asByteBuffer();
    private final int[] sendingDescriptors = new int[ControlMessages.MAX_DESCRIPTORS];
    private final Deque<QueuedMessage> queue = new ArrayDeque<>();
    /** Nothing is sent any more: closed, or the peer has closed its end, though what it sent before is still to be read. */
    private boolean mute;
    // End of what the lock guards.

    /**
     * Takes a connection over.
     *
     * @param progress the thread that looks after it
     * @param socket the connection, closed by this from now on
     */
    ControlSocket(ProgressThread progress, UnixSocket socket) {
        this.progress = progress;
        this.socket = socket;
    }

    /**
     * Begins to receive.
     *
     * @param first where to, until {@link #receiver} says otherwise
     * @throws IOException when the socket can't be watched
     */
    void open(Receiver first) throws IOException {
        receiver = first;
        watch = progress.watch(socket.fileDescriptor(), Epoll.IN, this::ready);
    }

    /**
     * Has all further messages go elsewhere.
     *
     * @param next where to
     */
    void receiver(Receiver next) {
        receiver = next;
    }

    /**
     * Sends a message, after those sent before. When it can't be sent, the receiver hears of the end later.
     *
     * @param message the message, whose descriptors stay the caller's
     */
    void send(ControlMessage message) {
        lock.lock();
        try {
            if (mute) {
                return;
            }
            sendingBytes.clear();
            int count = ControlMessages.encode(message, sendingBytes, sendingDescriptors);
            MemorySegment bytes = sending.asSlice(0, sendingBytes.position());
            int[] descriptors = Arrays.copyOf(sendingDescriptors, count);
            if (!queue.isEmpty() || !trySend(bytes, descriptors)) {
                enqueue(QueuedMessage.copyOf(bytes, descriptors));
            }
        } catch (IOException e) {
            endLater(Errno.EIO, "a message can't be sent: " + e.getMessage());
        } finally {
            lock.unlock();
        }
    }

    /** Returns false when there is no room now. */
    private boolean trySend(MemorySegment bytes, int[] descriptors) throws SystemCallException {
        try {
            return socket.send(bytes, descriptors);
        } catch (SystemCallException e) {
            if (e.errno() != Errno.EPIPE && e.errno() != Errno.ECONNRESET) {
                throw e;
            }
            // That it is over is found by reading, after what the peer said last.
            muteNow();
            return true;
        }
    }

    private void muteNow() {
        mute = true;
        queue.forEach(QueuedMessage::close);
        queue.clear();
    }

    private void enqueue(QueuedMessage message) throws IOException {
        queue.add(message);
        if (queue.size() > MAX_QUEUED_MESSAGES) {
            endLater(Errno.ENOBUFS, "the peer has not read " + MAX_QUEUED_MESSAGES + " messages");
        } else if (queue.size() == 1) {
            watch.interest(Epoll.IN | Epoll.OUT);
        }
    }

    private void endLater(int errno, String reason) {
        muteNow();
        try {
            progress.execute(() -> end(errno, reason));
        } catch (RejectedExecutionException e) {
            LOG.log(Level.DEBUG, "the host was closed before this mattered: {0}", reason);
        }
    }

    /** Tells the peer of work, if the socket has room. */
    void kick() {
        try {
            boolean ignored = socket.send(KICK);
        } catch (SystemCallException e) {
            LOG.log(Level.TRACE, "the peer is gone, as reading will find", e);
        } catch (IllegalStateException e) {
            LOG.log(Level.TRACE, "closed meanwhile", e);
        }
    }

    private void ready(int events) {
        if ((events & Epoll.OUT) != 0) {
            flush();
        }
        receive(MESSAGES_PER_EVENT);
    }

    private void flush() {
        lock.lock();
        try {
            while (!queue.isEmpty()
                    && trySend(queue.peek().bytes(), queue.peek().descriptors())) {
                // Muted, there is none any more.
                QueuedMessage sent = queue.poll();
                if (sent != null) {
                    sent.close();
                }
            }
            if (queue.isEmpty()) {
                watch.interest(Epoll.IN);
            }
        } catch (IOException e) {
            endLater(Errno.EIO, "a message can't be sent: " + e.getMessage());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Handles what has arrived. It may be called while another socket's messages are handled, but not this one's.
     *
     * @param most how many messages to handle at most
     */
    void receive(int most) {
        boolean kicked = false;
        try {
            for (int i = 0; i < most && !ended; i++) {
                Receipt result = socket.receive(received, receipt);
                if (result == Receipt.NOTHING_YET) {
                    break;
                }
                if (result == Receipt.MESSAGE && isKick()) {
                    kicked = true;
                } else if (result == Receipt.MESSAGE) {
                    handle(() -> receiver.received(message()));
                } else if (sawEnd) {
                    end(Errno.ECONNRESET, "the peer has closed the connection");
                } else {
                    // A reset comes before what was sent before it, and only once: look again.
                    sawEnd = true;
                }
            }
        } catch (SystemCallException e) {
            end(e.errno(), e.getMessage());
        }
        // Once, however many there were.
        if (kicked && !ended) {
            handle(receiver::kicked);
        }
    }

    private boolean isKick() {
        return receipt.byteCount() == KICK.byteSize()
                && receipt.descriptorCount() == 0
                && !receipt.isControlTruncated();
    }

    /** What is done about something that has arrived. */
    private interface Reaction {
        void run() throws ProtocolException;
    }

    private void handle(Reaction reaction) {
        try {
            reaction.run();
        } catch (ProtocolException e) {
            end(Errno.EPROTO, e.getMessage());
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "a message of another process made the software device fail", e);
            end(Errno.EIO, "a message of the peer made this process fail: " + e);
        } finally {
            receipt.closeDescriptors();
        }
    }

    private ControlMessage message() throws ProtocolException {
        if (receipt.isDataTruncated()) {
            throw new ProtocolException("a message of more than " + ControlMessages.MAX_BYTES + " bytes");
        }
        if (receipt.isControlTruncated()) {
            throw new ProtocolException("a message with more descriptors than this process can take");
        }
        int[] descriptors = new int[receipt.descriptorCount()];
        for (int i = 0; i < descriptors.length; i++) {
            descriptors[i] = receipt.takeDescriptor(i);
        }
        try {
            ByteBuffer bytes = received.asSlice(0, receipt.byteCount()).asByteBuffer();
            return ControlMessages.decode(bytes, descriptors, descriptors.length);
        } catch (ProtocolException e) {
            for (int descriptor : descriptors) {
                FileDescriptors.close(descriptor);
            }
            throw e;
        }
    }

    private void end(int errno, String reason) {
        if (!ended) {
            ended = true;
            receiver.ended(errno, reason);
        }
    }

    /** Closes the connection and drops what waits. Idempotent. */
    void close() {
        ended = true;
        if (watch != null) {
            watch.cancel();
        }
        lock.lock();
        try {
            muteNow();
        } finally {
            lock.unlock();
        }
        socket.close();
    }

    /** A message that the socket had no room for, with descriptors of its own. */
    private record QueuedMessage(
            MemorySegment bytes,
            @SuppressWarnings("ArrayRecordComponent") int[] descriptors) {
        static QueuedMessage copyOf(MemorySegment bytes, int[] descriptors) throws IOException {
            int[] duplicates = new int[descriptors.length];
            int made = 0;
            try {
                while (made < descriptors.length) {
                    duplicates[made] = FileDescriptors.duplicate(descriptors[made]);
                    made++;
                }
            } catch (IOException e) {
                new QueuedMessage(bytes, Arrays.copyOf(duplicates, made)).close();
                throw e;
            }
            MemorySegment copy = Arena.ofAuto().allocate(bytes.byteSize());
            return new QueuedMessage(copy.copyFrom(bytes), duplicates);
        }

        void close() {
            for (int descriptor : descriptors) {
                FileDescriptors.close(descriptor);
            }
        }
    }
}
