package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.ProcessCredentials;
import io.rdmanio.linux.SystemCallException;
import io.rdmanio.linux.UnixSocket;
import io.rdmanio.verbs.soft.ControlMessage.Hello;
import io.rdmanio.verbs.soft.ControlMessage.Join;
import io.rdmanio.verbs.soft.ControlMessage.TurnedAway;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A connection between two processes until it is a pair, or not. The end that connected says hello, the other answers,
 * then both tell their memory in the same order. Nothing is read from a process of another user, no memory is made
 * for one whose version is another, and a process that says nothing is dropped after some seconds.
 *
 * <p>Two processes need one pair only. The answer to a hello says so if there is one, or one that is further on; and if
 * both have connected to each other at the same time, both go on with the connection of the lower token. Belongs to the
 * progress thread.
 */
final class PairHandshake implements ControlSocket.Receiver {
    /** How long a process that connected may take to say what it has to. */
    static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final int CATCH_UP_MESSAGES = 64;
    private static final Logger LOG = System.getLogger(PairHandshake.class.getName());

    /** What is expected next. */
    private enum State {
        HELLO,
        JOIN,
        OVER
    }

    private final SoftHost host;
    private final ControlSocket socket;
    private final int peerProcessId;
    /** For whom this connected; null at the end that was connected to. */
    private final PairAttempt attempt;

    private final List<PairAttempt> waiting = new ArrayList<>();
    private State state = State.HELLO;
    private PeerId peer;
    private ProcessPair pair;
    private ProgressThread.Timer timer;

    private PairHandshake(SoftHost host, UnixSocket connection, int peerProcessId, PairAttempt attempt) {
        this.host = host;
        this.socket = new ControlSocket(host.progress(), connection);
        this.peerProcessId = peerProcessId;
        this.attempt = attempt;
    }

    /**
     * Begins with a connection.
     *
     * @param host the host
     * @param connection the connection, closed by this sooner or later
     * @param attempt for whom it was made; null for one that was accepted
     * @return the handshake
     * @throws IOException when it can't begin, because of another user's process (EACCES), because there are too many, or this
     *     process has too many already (EAGAIN), or for want of something
     */
    static PairHandshake begin(SoftHost host, UnixSocket connection, PairAttempt attempt) throws IOException {
        PairHandshake handshake;
        try {
            ProcessCredentials credentials = connection.peerCredentials();
            if (!host.trusts(credentials)) {
                throw Errno.exception("a connection with " + credentials, Errno.EACCES);
            }
            int processId = credentials.processId();
            if (attempt == null
                    && (host.pairs().isFull(processId) || host.pairs().areTooManyGreeting(processId))) {
                tellTurnedAway(connection);
                throw Errno.exception("one more connection with " + credentials, Errno.EAGAIN);
            }
            handshake = new PairHandshake(host, connection, processId, attempt);
            handshake.socket.open(handshake);
        } catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
        host.pairs().add(handshake);
        handshake.timer = host.progress().schedule(System.nanoTime() + TIMEOUT_NANOS, handshake::timedOut);
        if (attempt != null) {
            handshake.hello(false);
        }
        return handshake;
    }

    /** Says so once, before the connection is anybody's; who gives no room for it is told by its end alone. */
    private static void tellTurnedAway(UnixSocket connection) throws SystemCallException {
        ByteBuffer bytes = ByteBuffer.allocateDirect(ControlMessages.MAX_BYTES);
        int descriptors = ControlMessages.encode(new TurnedAway(), bytes, new int[ControlMessages.MAX_DESCRIPTORS]);
        assert descriptors == 0;
        boolean ignored = connection.send(MemorySegment.ofBuffer(bytes.flip()));
    }

    /** Known to other searches at the same name, unless it has ended already. */
    void isUnderwayAt(String abstractName) {
        if (state != State.OVER) {
            host.pairs().begun(abstractName, this);
        }
    }

    private void timedOut() {
        drop("no answer");
        if (attempt != null && attempt.isAbout(this)) {
            attempt.again();
        }
    }

    private void hello(boolean useExisting) {
        socket.send(new Hello(ControlMessage.VERSION, host.token(), useExisting));
    }

    @Override
    public void received(ControlMessage message) throws ProtocolException {
        if (state == State.HELLO && message instanceof Hello hello) {
            peer = new PeerId(hello.token(), peerProcessId);
            if (attempt != null) {
                answered(hello);
            } else {
                greeted(hello);
            }
        } else if (state == State.JOIN && message instanceof Join join) {
            joined(join);
        } else if (attempt != null && message instanceof TurnedAway) {
            ended(Errno.EAGAIN, "the other process has too many pairs");
        } else {
            message.discard();
            throw new ProtocolException("in a handshake that expects " + state + ": " + message);
        }
    }

    @Override
    public void kicked() throws ProtocolException {
        throw new ProtocolException("a kick in a handshake");
    }

    /** At the end that was connected to. */
    private void greeted(Hello hello) {
        if (hello.version() != ControlMessage.VERSION) {
            hello(false);
            ended(Errno.EPROTONOSUPPORT, "version " + hello.version());
            return;
        }
        boolean useExisting = !isOwn() && host.pairs().isKnown(peer);
        hello(useExisting);
        if (useExisting) {
            drop("there is a pair already");
            return;
        }
        state = State.JOIN;
        if (!isOwn()) {
            host.pairs().claim(peer, this);
        }
    }

    private boolean isOwn() {
        return peer.equals(host.id());
    }

    /** At the end that connected. */
    private void answered(Hello hello) throws ProtocolException {
        if (hello.version() != ControlMessage.VERSION) {
            ended(Errno.EPROTONOSUPPORT, "version " + hello.version());
            return;
        }
        ProcessPair existing = host.pairs().alive(peer);
        if (existing != null) {
            attempt.paired(existing);
            List.copyOf(waiting).forEach(other -> other.paired(existing));
            drop("there is a pair already");
            return;
        }
        PairHandshake ahead = host.pairs().claimant(peer);
        boolean leads = !hello.useExisting() && (ahead == null || ahead.yieldsTo(this));
        if (leads) {
            invite();
            return;
        }
        if (ahead != null) {
            attempt.waitFor(ahead);
        } else {
            // The other end knows of a connection that has not come here yet.
            attempt.again();
        }
        drop("another connection is ahead");
    }

    /** Two processes have connected to each other, and neither end has gone further on than hello. */
    private boolean yieldsTo(PairHandshake other) {
        return attempt == null && Long.compareUnsigned(host.token(), other.peer.token()) < 0;
    }

    private void invite() {
        PairHandshake yielding = host.pairs().claimant(peer);
        host.pairs().claim(peer, this);
        if (yielding != null) {
            List.copyOf(yielding.waiting).forEach(other -> other.waitFor(this));
            yielding.waiting.clear();
        }
        state = State.JOIN;
        if (makePair()) {
            socket.send(pair.invitation());
        }
    }

    /** Returns false when it failed, and with it the handshake. */
    private boolean makePair() {
        try {
            pair = new ProcessPair(host, peer, socket);
            return true;
        } catch (IOException e) {
            int errno = e instanceof SystemCallException failure ? failure.errno() : Errno.EIO;
            ended(errno, "no memory for a pair: " + e.getMessage());
            return false;
        }
    }

    private void joined(Join join) throws ProtocolException {
        boolean accepting = attempt == null;
        if (accepting && host.pairs().isFull(peerProcessId)) {
            // Others of it have become pairs since this one was let in.
            join.discard();
            socket.send(new TurnedAway());
            ended(Errno.EAGAIN, "the process has too many pairs");
            return;
        }
        if (accepting && !makePair()) {
            join.discard();
            return;
        }
        pair.join(join);
        if (accepting) {
            socket.send(pair.invitation());
        }
        ProcessPair made = pair;
        pair = null;
        leave();
        host.pairs().add(made, accepting && isOwn());
        if (attempt != null) {
            attempt.paired(made);
        }
        List.copyOf(waiting).forEach(other -> other.paired(made));
    }

    @Override
    public void ended(int errno, String reason) {
        if (state == State.OVER) {
            return;
        }
        drop(reason);
        if (attempt != null && attempt.isAbout(this)) {
            attempt.failed(errno);
        }
    }

    /** Ends it without telling who began it; those who wait for it try for themselves. */
    void drop(String reason) {
        if (state == State.OVER) {
            return;
        }
        LOG.log(Level.DEBUG, "a handshake with process {0} ends: {1}", peerProcessId, reason);
        leave();
        socket.close();
        if (pair != null) {
            pair.abandon();
        }
        List.copyOf(waiting).forEach(PairAttempt::again);
    }

    private void leave() {
        state = State.OVER;
        timer.cancel();
        host.pairs().remove(this);
    }

    /** The process at the other end. */
    int peerProcessId() {
        return peerProcessId;
    }

    /** Whether the other end began it. */
    boolean isAccepted() {
        return attempt == null;
    }

    /** An attempt needs its outcome too. */
    void addWaiting(PairAttempt other) {
        waiting.add(other);
    }

    /** An attempt doesn't need its outcome any more. */
    void leftBy(PairAttempt other) {
        waiting.remove(other);
        if (other == attempt && waiting.isEmpty()) {
            drop("nobody waits for it any more");
        }
    }

    /** Handles what has arrived up to now, so that a peer that is gone is known to be. */
    void catchUp() {
        socket.receive(CATCH_UP_MESSAGES);
    }
}
