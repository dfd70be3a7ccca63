package io.rdmanio.verbs.soft;

/**
 * Where an id stands between being made and being destroyed. The order is that in which states follow each other, but for
 * an attempt that fails before anybody else has heard of it, which leaves its id where it was.
 *
 * <p>{@link #on} is the whole machine: what every operation of the program, every message of the peer and every other
 * happening means in every state. Immutable; thread-safe.
 */
enum IdState {
    /** Made, not bound. */
    IDLE,
    /** Bound to an address. */
    BOUND,
    /** The address to connect to is one that the device reaches. */
    ADDRESS_RESOLVED,
    /** Ready to connect. */
    ROUTE_RESOLVED,
    /** Hears requests to connect. */
    LISTENING,
    /** Looking for the peer, or waiting for its answer. */
    CONNECTING,
    /** The peer has accepted, and the program's own queue pair is to be made ready by the program. */
    RESPONDED,
    /** A peer's request to connect, which the program is to answer. */
    REQUESTED,
    /** Accepted; the peer has not said that it knows. */
    ACCEPTED,
    /** The connection stands. */
    ESTABLISHED,
    /** The program has ended the connection; the peer has not said that it knows. */
    DISCONNECTING,
    /** The peer has ended the connection; the program has not said that it knows. */
    DISCONNECT_ASKED,
    /** Both know that the connection has ended. */
    DISCONNECTED,
    /** There will be no connection. */
    FAILED,
    /** Destroyed. */
    DESTROYED;

    /** What can happen to an id. */
    enum Input {
        /** rdma_bind_addr(3). */
        BIND,
        /** rdma_resolve_addr(3). */
        RESOLVE_ADDRESS,
        /** rdma_resolve_route(3). */
        RESOLVE_ROUTE,
        /** rdma_listen(3). */
        LISTEN,
        /** rdma_connect(3). */
        CONNECT,
        /** rdma_accept(3). */
        ACCEPT,
        /** rdma_reject(3). */
        REJECT,
        /** rdma_establish(3), or that the queue pair of the id is made ready. */
        ESTABLISH,
        /** rdma_notify(3): data came before the peer said that it knows. */
        NOTIFY,
        /** rdma_disconnect(3). */
        DISCONNECT,
        /** rdma_destroy_id(3). */
        DESTROY,
        /** The peer accepts. */
        REPLY_RECEIVED,
        /** The peer refuses, or was never there. */
        REJECT_RECEIVED,
        /** The peer knows that it is accepted. */
        READY_RECEIVED,
        /** The peer ends the connection. */
        DISCONNECT_RECEIVED,
        /** The peer knows that the connection has ended. */
        DISCONNECT_REPLY_RECEIVED,
        /** The peer's process is gone. */
        PEER_LOST,
        /** What is waited for did not come in time. */
        DEADLINE,
        /** Something on this side went wrong. */
        FAULT
    }

    /**
     * What an input means.
     *
     * @param kind how it is answered
     * @param next the state that follows; the same one unless it is taken
     */
    record Reaction(Kind kind, IdState next) {
        /** How an input is answered. */
        enum Kind {
            /** It is taken, and the next state follows. */
            TAKEN,
            /** An operation of the program that the state does not allow: EINVAL. */
            REFUSED,
            /** Late, or known already: nothing follows. */
            IGNORED
        }
    }

    private Reaction to(IdState next) {
        return new Reaction(Reaction.Kind.TAKEN, next);
    }

    private Reaction stay() {
        return to(this);
    }

    private Reaction refuse() {
        return new Reaction(Reaction.Kind.REFUSED, this);
    }

    private Reaction ignore() {
        return new Reaction(Reaction.Kind.IGNORED, this);
    }

    /**
     * What an input means in this state.
     *
     * @param input the input
     * @return what it means
     */
    Reaction on(Input input) {
        if (this == DESTROYED) {
            return isOperation(input) ? refuse() : ignore();
        }
        return switch (input) {
            case DESTROY -> to(DESTROYED);
            case BIND -> this == IDLE ? to(BOUND) : refuse();
            case RESOLVE_ADDRESS -> this == IDLE || this == BOUND ? to(ADDRESS_RESOLVED) : refuse();
            case RESOLVE_ROUTE -> this == ADDRESS_RESOLVED ? to(ROUTE_RESOLVED) : refuse();
            case LISTEN -> this == IDLE || this == BOUND ? to(LISTENING) : refuse();
            case CONNECT -> this == ROUTE_RESOLVED ? to(CONNECTING) : refuse();
            case ACCEPT -> this == REQUESTED ? to(ACCEPTED) : refuse();
            case REJECT -> isUndecided() ? to(FAILED) : refuse();
            case ESTABLISH -> this == RESPONDED ? to(ESTABLISHED) : refuse();
            case NOTIFY -> this == ACCEPTED ? to(ESTABLISHED) : refuse();
            case DISCONNECT -> onDisconnect();
            case REPLY_RECEIVED -> this == CONNECTING ? to(RESPONDED) : ignore();
            case READY_RECEIVED -> this == ACCEPTED ? to(ESTABLISHED) : ignore();
            case REJECT_RECEIVED, FAULT ->
                isUndecided() ? to(FAILED) : this == ESTABLISHED ? to(DISCONNECTED) : ignore();
            case DISCONNECT_RECEIVED -> onDisconnectReceived();
            case DISCONNECT_REPLY_RECEIVED -> this == DISCONNECTING ? to(DISCONNECTED) : ignore();
            case PEER_LOST -> onPeerLost();
            case DEADLINE -> onDeadline();
        };
    }

    private static boolean isOperation(Input input) {
        return input.compareTo(Input.DESTROY) <= 0;
    }

    /** Whether there may or may not be a connection yet. */
    private boolean isUndecided() {
        return this == CONNECTING || this == RESPONDED || this == REQUESTED || this == ACCEPTED;
    }

    /** As the kernel does, which knows no error once there was a request: it does what is left to do. */
    private Reaction onDisconnect() {
        return switch (this) {
            case ESTABLISHED -> to(DISCONNECTING);
            case DISCONNECT_ASKED -> to(DISCONNECTED);
            case CONNECTING, RESPONDED, REQUESTED, ACCEPTED, DISCONNECTING, DISCONNECTED, FAILED -> stay();
            case IDLE, BOUND, ADDRESS_RESOLVED, ROUTE_RESOLVED, LISTENING, DESTROYED -> refuse();
        };
    }

    private Reaction onDisconnectReceived() {
        return switch (this) {
            // The peer's last word before this one is lost only with the peer.
            case ACCEPTED, ESTABLISHED -> to(DISCONNECT_ASKED);
            // Both have ended it at the same time, and each takes the other's word for an answer.
            case DISCONNECTING -> to(DISCONNECTED);
            default -> ignore();
        };
    }

    private Reaction onPeerLost() {
        return switch (this) {
            case CONNECTING, RESPONDED, REQUESTED, ACCEPTED -> to(FAILED);
            case ESTABLISHED, DISCONNECTING, DISCONNECT_ASKED -> to(DISCONNECTED);
            default -> ignore();
        };
    }

    private Reaction onDeadline() {
        return switch (this) {
            case CONNECTING, ACCEPTED -> to(FAILED);
            case DISCONNECTING -> to(DISCONNECTED);
            // The time in which the queue pair's number was not to be used again.
            case DISCONNECTED -> stay();
            default -> ignore();
        };
    }
}
