package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.soft.IdState.Input;
import io.rdmanio.verbs.soft.IdState.Reaction;
import java.net.InetSocketAddress;
import java.util.Arrays;

/**
 * What an id is in: its place in the machine of {@link IdState}, and what follows from each input: messages to the peer,
 * steps of the queue pair, timers, events for the program. Whoever calls an operation of the program has seen that the
 * state allows it.
 *
 * <p>Not thread-safe: the lock of the {@link ConnectionManager} is held in all methods.
 */
final class SoftConnection {
    // IB_CM_REJ_TIMEOUT: whoever asked waits no longer.
    static final int REASON_TIMEOUT = 4;
    // IB_CM_REJ_CONSUMER_DEFINED: the program said so, or is gone.
    static final int REASON_CONSUMER = 28;

    private static final byte[] NOTHING = {};

    /** This side's number of the connection, never 0. */
    final long number;

    final ConnectionTerms terms = new ConnectionTerms();
    private final ConnectionManager manager;
    private IdState state = IdState.IDLE;
    private SoftCommunicationId owner;
    private PortBinding binding;
    private InetSocketAddress source;
    private InetSocketAddress destination;
    private ConnectedQueuePair queuePair;
    private ConnectionAttempt attempt;
    private ConnectionPeer peer;
    // Whom to ask for the connection; null when nobody was looked for before.
    private ConnectionPeer chosen;
    // Whether the kernel was asked who listens there, and not only a peer.
    private boolean isFoundByName;
    private long foundNanos;
    private int listenerEpoch;
    // 0 as long as the peer has not told it.
    private long peerNumber;
    private boolean isAsked;
    private Runnable timer;
    private int backlog;
    private int waitingRequests;

    SoftConnection(ConnectionManager manager, long number) {
        this.manager = manager;
        this.number = number;
    }

    IdState state() {
        return state;
    }

    /** The only place where the state changes. */
    private boolean take(Input input) {
        Reaction reaction = state.on(input);
        state = reaction.next();
        return reaction.kind() == Reaction.Kind.TAKEN;
    }

    boolean refuses(Input operation) {
        return state.on(operation).kind() != Reaction.Kind.TAKEN;
    }

    /** The id that the program has; null before it has taken the request that this one is. */
    SoftCommunicationId owner() {
        return owner;
    }

    void owner(SoftCommunicationId id) {
        owner = id;
    }

    PortBinding binding() {
        return binding;
    }

    InetSocketAddress source() {
        return source;
    }

    InetSocketAddress destination() {
        return destination;
    }

    ConnectionPeer peer() {
        return peer;
    }

    long peerNumber() {
        return peerNumber;
    }

    /** Whether a listener has as many requests as it wanted to have wait. */
    boolean isBacklogFull() {
        return waitingRequests >= backlog;
    }

    void requestAdded() {
        waitingRequests++;
    }

    void requestTaken() {
        waitingRequests--;
    }

    /** What is agreed on, as far as it is; null before there is anything. */
    ConnectedQueuePair.Agreement agreement() {
        return switch (state) {
            case RESPONDED, REQUESTED, ACCEPTED, ESTABLISHED -> isAsked ? terms.asAcceptor() : terms.asInitiator();
            default -> null;
        };
    }

    /** What the program made for it and has not destroyed; null when there is none. */
    ConnectedQueuePair queuePair() {
        return queuePair == null || queuePair.isDestroyed() ? null : queuePair;
    }

    void queuePair(ConnectedQueuePair newQueuePair) {
        queuePair = newQueuePair;
    }

    private void post(CommunicationEventType type, int status, byte[] privateData, ConnectionParameters parameters) {
        // A program that has not taken the request yet hears nothing else of it: its accept will fail.
        if (owner != null) {
            owner.queue().add(new EventQueue.Event(type, status, this, null, privateData, parameters));
        }
    }

    private void post(CommunicationEventType type, int status) {
        post(type, status, NOTHING, ConnectionTerms.NONE);
    }

    // What the program does.

    void bind(PortBinding newBinding) {
        take(Input.BIND);
        binding = newBinding;
        source = new InetSocketAddress(newBinding.address(), newBinding.port);
    }

    void resolveAddress(PortBinding newBinding, InetSocketAddress newDestination) {
        take(Input.RESOLVE_ADDRESS);
        binding = newBinding;
        source = new InetSocketAddress(newBinding.address(), newBinding.port);
        destination = newDestination;
    }

    void tellAddressResolved() {
        post(CommunicationEventType.ADDRESS_RESOLVED, 0);
    }

    void resolveRoute() {
        take(Input.RESOLVE_ROUTE);
    }

    void tellRouteResolved() {
        post(CommunicationEventType.ROUTE_RESOLVED, 0);
    }

    void listen(int wantedBacklog) {
        take(Input.LISTEN);
        backlog = wantedBacklog;
    }

    void connect(ConnectionParameters parameters, byte[] privateData) {
        take(Input.CONNECT);
        terms.own(parameters);
        attempt = new ConnectionAttempt(
                manager,
                this,
                new ControlMessage.ConnectRequest(
                        number,
                        terms.queuePairNumber(queuePair()),
                        source,
                        destination,
                        terms.message(queuePair()),
                        Arrays.copyOf(privateData, ControlMessage.REQUEST_PRIVATE_DATA_BYTES)));
        startTimer(manager.answerNanos());
        attempt.begin(chosen);
    }

    /**
     * Accepts.
     *
     * @throws VerbsException when the queue pair can't be made ready; the request is rejected then
     */
    void accept(ConnectionParameters parameters, byte[] privateData) throws VerbsException {
        terms.own(parameters);
        ConnectedQueuePair pair = queuePair();
        if (pair != null) {
            connect(pair, terms.asAcceptor());
        }
        take(Input.ACCEPT);
        peer.send(new ControlMessage.ConnectReply(
                peerNumber,
                number,
                terms.queuePairNumber(pair),
                terms.message(pair),
                Arrays.copyOf(privateData, ControlMessage.REPLY_PRIVATE_DATA_BYTES)));
        startTimer(manager.answerNanos());
    }

    private void connect(ConnectedQueuePair pair, ConnectedQueuePair.Agreement agreement) throws VerbsException {
        try {
            pair.connect(peer, agreement);
        } catch (VerbsException e) {
            take(Input.FAULT);
            pair.enterError();
            sendReject(REASON_CONSUMER, NOTHING);
            throw e;
        }
    }

    void reject(byte[] privateData) {
        take(Input.REJECT);
        stopWaiting();
        sendReject(REASON_CONSUMER, privateData);
    }

    private void sendReject(int reason, byte[] privateData) {
        if (peer != null) {
            peer.send(new ControlMessage.ConnectReject(
                    peerNumber, number, reason, Arrays.copyOf(privateData, ControlMessage.REJECT_PRIVATE_DATA_BYTES)));
        }
    }

    void establish() {
        take(Input.ESTABLISH);
        peer.send(new ControlMessage.ReadyToUse(peerNumber));
    }

    void dataCame() {
        take(Input.NOTIFY);
        stopWaiting();
        post(CommunicationEventType.ESTABLISHED, 0);
    }

    void disconnect() {
        IdState before = state;
        take(Input.DISCONNECT);
        failQueuePair();
        if (before == IdState.ESTABLISHED) {
            peer.send(new ControlMessage.DisconnectRequest(peerNumber));
            startTimer(manager.answerNanos());
        } else if (before == IdState.DISCONNECT_ASKED) {
            peer.send(new ControlMessage.DisconnectReply(peerNumber));
            startTimer(ConnectionManager.TIME_WAIT_NANOS);
        }
    }

    private void failQueuePair() {
        ConnectedQueuePair pair = queuePair();
        if (pair != null) {
            pair.enterError();
        }
    }

    /** Leaves the peer as the kernel does when it destroys an id. */
    void destroy() {
        IdState before = state;
        take(Input.DESTROY);
        stopWaiting();
        switch (before) {
            case CONNECTING -> sendReject(REASON_TIMEOUT, NOTHING);
            case RESPONDED, REQUESTED, ACCEPTED -> sendReject(REASON_CONSUMER, NOTHING);
            case ESTABLISHED -> peer.send(new ControlMessage.DisconnectRequest(peerNumber));
            case DISCONNECT_ASKED -> peer.send(new ControlMessage.DisconnectReply(peerNumber));
            default -> {}
        }
    }

    // What the peer does.

    /** A peer's request to connect, which this was made for. */
    void requested(ConnectionPeer from, ControlMessage.ConnectRequest request) {
        state = IdState.REQUESTED;
        isAsked = true;
        peer = from;
        peerNumber = request.connection();
        source = request.destination();
        destination = request.source();
        terms.peers(request.parameters(), request.queuePair());
        // Until it accepts, this side wants what the peer does.
        terms.own(terms.peers());
    }

    /** The program knows whom it is going to connect to. */
    void choose(ConnectionPeer found) {
        chosen = found;
    }

    /** Whoever is asked has the name of the listener. */
    void foundByName() {
        isFoundByName = true;
        foundNanos = System.nanoTime();
    }

    /** A peer is about to be asked that has this epoch. */
    void asks(int epoch) {
        listenerEpoch = epoch;
    }

    void peerFound(ConnectionPeer found) {
        peer = found;
    }

    void received(ControlMessage.Connection message) {
        switch (message) {
            case ControlMessage.ConnectRequest request ->
                throw new IllegalArgumentException("not of a connection: " + request);
            case ControlMessage.ConnectReply reply -> replied(reply);
            case ControlMessage.ConnectReject reject -> {
                if (reject.reason() == ConnectionAttempt.REASON_NO_LISTENER) {
                    manager.refused(destination);
                }
                if (attempt == null || !attempt.triesAgain(reject)) {
                    rejected(reject.reason(), reject.privateData());
                }
            }
            case ControlMessage.ReadyToUse ready -> {
                if (take(Input.READY_RECEIVED)) {
                    stopWaiting();
                    post(CommunicationEventType.ESTABLISHED, 0);
                }
            }
            case ControlMessage.DisconnectRequest request -> disconnectAsked();
            case ControlMessage.DisconnectReply reply -> {
                if (take(Input.DISCONNECT_REPLY_RECEIVED)) {
                    disconnected(0);
                }
            }
        }
    }

    private void replied(ControlMessage.ConnectReply reply) {
        if (!take(Input.REPLY_RECEIVED)) {
            return;
        }
        stopWaiting();
        if (isFoundByName) {
            manager.accepted(destination, peer, listenerEpoch, foundNanos);
        }
        peerNumber = reply.fromConnection();
        terms.peers(reply.parameters(), reply.queuePair());
        byte[] data = Arrays.copyOf(reply.privateData(), ControlMessage.REPLY_PRIVATE_DATA_BYTES);
        ConnectedQueuePair pair = queuePair();
        if (pair == null) {
            post(CommunicationEventType.CONNECT_RESPONSE, 0, data, terms.peers());
            return;
        }
        try {
            connect(pair, terms.asInitiator());
        } catch (VerbsException e) {
            post(CommunicationEventType.CONNECT_ERROR, e.errno() == 0 ? -Errno.EINVAL : -e.errno());
            return;
        }
        establish();
        post(CommunicationEventType.ESTABLISHED, 0, data, terms.peers());
    }

    /** The peer refuses, or nobody is there who could. */
    void rejected(int reason, byte[] privateData) {
        IdState before = state;
        if (take(Input.REJECT_RECEIVED)) {
            stopWaiting();
            if (before == IdState.ESTABLISHED) {
                // It had accepted, and left before it heard that it was heard.
                failQueuePair();
                disconnected(0);
            } else {
                failed(before, reason, privateData);
            }
        }
    }

    private void failed(IdState before, int reason, byte[] privateData) {
        if (before != IdState.REQUESTED) {
            failQueuePair();
            post(
                    CommunicationEventType.REJECTED,
                    reason,
                    Arrays.copyOf(privateData, ControlMessage.REJECT_PRIVATE_DATA_BYTES),
                    ConnectionTerms.NONE);
        }
    }

    private void disconnectAsked() {
        IdState before = state;
        if (take(Input.DISCONNECT_RECEIVED)) {
            stopWaiting();
            if (before == IdState.DISCONNECTING) {
                disconnected(0);
            } else {
                post(CommunicationEventType.DISCONNECTED, 0);
            }
        }
    }

    private void disconnected(int status) {
        post(CommunicationEventType.DISCONNECTED, status);
        startTimer(ConnectionManager.TIME_WAIT_NANOS);
    }

    /** Tells what Linux tells the others when a process ends and its ids are destroyed. */
    void peerLost() {
        IdState before = state;
        if (take(Input.PEER_LOST)) {
            stopWaiting();
            if (state == IdState.FAILED) {
                failed(before, REASON_CONSUMER, NOTHING);
                return;
            }
            failQueuePair();
            if (before == IdState.DISCONNECT_ASKED) {
                startTimer(ConnectionManager.TIME_WAIT_NANOS);
            } else {
                disconnected(0);
            }
        }
    }

    /** There is no way to the peer's process. */
    void unreachable(int errno) {
        if (take(Input.FAULT)) {
            stopWaiting();
            post(
                    errno == Errno.ETIMEDOUT
                            ? CommunicationEventType.UNREACHABLE
                            : CommunicationEventType.CONNECT_ERROR,
                    -errno);
        }
    }

    private void deadline() {
        IdState before = state;
        timer = null;
        if (take(Input.DEADLINE)) {
            if (state == IdState.FAILED) {
                stopWaiting();
                sendReject(REASON_TIMEOUT, NOTHING);
                post(CommunicationEventType.UNREACHABLE, -Errno.ETIMEDOUT);
            } else if (before == IdState.DISCONNECTING) {
                disconnected(-Errno.ETIMEDOUT);
            } else {
                post(CommunicationEventType.TIME_WAIT_EXIT, 0);
            }
        }
    }

    private void startTimer(long nanos) {
        stopTimer();
        timer = manager.schedule(nanos, this::deadline);
    }

    private void stopTimer() {
        if (timer != null) {
            timer.run();
            timer = null;
        }
    }

    private void stopWaiting() {
        stopTimer();
        if (attempt != null) {
            attempt.stop();
            attempt = null;
        }
    }
}
