package io.rdmanio.stream;

/**
 * States of a connection. They only ever grow; {@link StreamConnection} holds the one method that changes them, and
 * {@link EventReaction} says what each communication event means in each of them.
 */
enum ConnectionState {
    /** Created, perhaps bound. */
    NEW,
    /** The peer's address is being resolved to a device and a hardware address. */
    RESOLVING_ADDRESS,
    /** The route to it is being resolved. */
    RESOLVING_ROUTE,
    /** Memory and queues are being made, then the request is under way. */
    CONNECTING,
    /** A request of a peer has been taken; its acceptance is under way. */
    ACCEPTING,
    /** Bytes may flow. */
    CONNECTED,
    /** Ended by us: the tail is being delivered, then everything is destroyed. */
    CLOSING,
    /** Could not connect, or refused; holds its reason. */
    FAILED,
    /** Everything is destroyed. */
    CLOSED
}
