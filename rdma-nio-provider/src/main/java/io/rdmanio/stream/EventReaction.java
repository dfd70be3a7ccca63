package io.rdmanio.stream;

import io.rdmanio.verbs.cm.CommunicationEventType;

/**
 * What a communication event means for a connection, by the state it is in. Total: every event in every state has an
 * entry, so none is ever waited for or lost (rdma_get_cm_event(3)).
 */
enum EventReaction {
    /** The address is resolved: resolve the route. */
    RESOLVE_ROUTE,
    /** The route is resolved: make memory and queues, then send the request. */
    SEND_REQUEST,
    /** The peer has accepted, or has seen that we did: bytes may flow. */
    ESTABLISH,
    /** The address or the route is not resolved: once more if there is time, else the connection fails. */
    RETRY_OR_FAIL,
    /** The connection cannot be made. */
    FAIL,
    /** The peer or the network has ended the connection: drain what arrived, then classify the end. */
    END,
    /** The device is gone: the connection breaks. */
    BREAK,
    /** Known and without consequence in this state: late, a hint, or not meant for a connection of ours. */
    IGNORE;

    static EventReaction of(ConnectionState state, CommunicationEventType type) {
        return switch (state) {
            case NEW -> type == CommunicationEventType.DEVICE_REMOVAL ? FAIL : IGNORE;
            case RESOLVING_ADDRESS ->
                switch (type) {
                    case ADDRESS_RESOLVED -> RESOLVE_ROUTE;
                    case ADDRESS_ERROR -> RETRY_OR_FAIL;
                    case DEVICE_REMOVAL, UNREACHABLE, CONNECT_ERROR -> FAIL;
                    default -> IGNORE;
                };
            case RESOLVING_ROUTE ->
                switch (type) {
                    case ROUTE_RESOLVED -> SEND_REQUEST;
                    case ROUTE_ERROR -> RETRY_OR_FAIL;
                    case ADDRESS_ERROR, DEVICE_REMOVAL, UNREACHABLE, CONNECT_ERROR -> FAIL;
                    default -> IGNORE;
                };
            case CONNECTING ->
                switch (type) {
                    case ESTABLISHED -> ESTABLISH;
                    case REJECTED, UNREACHABLE, CONNECT_ERROR, DISCONNECTED, DEVICE_REMOVAL -> FAIL;
                    default -> IGNORE;
                };
            case ACCEPTING ->
                switch (type) {
                    case ESTABLISHED -> ESTABLISH;
                    case REJECTED, UNREACHABLE, CONNECT_ERROR, DISCONNECTED, DEVICE_REMOVAL -> FAIL;
                    default -> IGNORE;
                };
            case CONNECTED ->
                switch (type) {
                    case DISCONNECTED -> END;
                    case DEVICE_REMOVAL -> BREAK;
                    // UNREACHABLE and ADDRESS_CHANGE come for live connections when a neighbour entry or a bond
                    // changes; the queue pair itself tells if it can still reach the peer
                    default -> IGNORE;
                };
            case CLOSING ->
                switch (type) {
                    case DISCONNECTED -> END;
                    case DEVICE_REMOVAL -> BREAK;
                    default -> IGNORE;
                };
            case FAILED, CLOSED -> IGNORE;
        };
    }
}
