package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.cm.CommunicationEventType;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Every communication event in every state has an entry, and the entries that matter are these. */
class EventReactionStateTest {
    @Test
    void everyEventInEveryState_hasAReaction() {
        for (ConnectionState state : ConnectionState.values()) {
            for (CommunicationEventType type : CommunicationEventType.values()) {
                assertThat(EventReaction.of(state, type))
                        .as("%s in %s", type, state)
                        .isNotNull();
            }
        }
    }

    /** Whatever says that the connection can't be made ends the wait for it, in each state that waits. */
    @Test
    void everyFailureWhileConnecting_endsTheWait() {
        Set<EventReaction> ends = EnumSet.of(EventReaction.FAIL, EventReaction.RETRY_OR_FAIL);
        assertThat(EventReaction.of(ConnectionState.RESOLVING_ADDRESS, CommunicationEventType.ADDRESS_ERROR))
                .isIn(ends);
        assertThat(EventReaction.of(ConnectionState.RESOLVING_ROUTE, CommunicationEventType.ROUTE_ERROR))
                .isIn(ends);
        for (ConnectionState waiting : EnumSet.of(ConnectionState.CONNECTING, ConnectionState.ACCEPTING)) {
            for (CommunicationEventType failure : EnumSet.of(
                    CommunicationEventType.CONNECT_ERROR,
                    CommunicationEventType.UNREACHABLE,
                    CommunicationEventType.REJECTED,
                    CommunicationEventType.DISCONNECTED,
                    CommunicationEventType.DEVICE_REMOVAL)) {
                assertThat(EventReaction.of(waiting, failure))
                        .as("%s in %s", failure, waiting)
                        .isEqualTo(EventReaction.FAIL);
            }
        }
        for (ConnectionState waiting : EnumSet.range(ConnectionState.RESOLVING_ADDRESS, ConnectionState.ACCEPTING)) {
            assertThat(EventReaction.of(waiting, CommunicationEventType.DEVICE_REMOVAL))
                    .isEqualTo(EventReaction.FAIL);
        }
    }

    @Test
    void theWayToAConnection_isTakenStepByStep() {
        assertThat(EventReaction.of(ConnectionState.RESOLVING_ADDRESS, CommunicationEventType.ADDRESS_RESOLVED))
                .isEqualTo(EventReaction.RESOLVE_ROUTE);
        assertThat(EventReaction.of(ConnectionState.RESOLVING_ROUTE, CommunicationEventType.ROUTE_RESOLVED))
                .isEqualTo(EventReaction.SEND_REQUEST);
        assertThat(EventReaction.of(ConnectionState.CONNECTING, CommunicationEventType.ESTABLISHED))
                .isEqualTo(EventReaction.ESTABLISH);
        assertThat(EventReaction.of(ConnectionState.ACCEPTING, CommunicationEventType.ESTABLISHED))
                .isEqualTo(EventReaction.ESTABLISH);
    }

    /** Since Linux 6.0 UNREACHABLE comes for live connections when a neighbour entry changes: a hint, no end. */
    @Test
    void unreachableWhileConnected_isAHint() {
        assertThat(EventReaction.of(ConnectionState.CONNECTED, CommunicationEventType.UNREACHABLE))
                .isEqualTo(EventReaction.IGNORE);
    }

    @Test
    void anEnd_isSeenWhileConnectedAndWhileClosing() {
        for (ConnectionState state : EnumSet.of(ConnectionState.CONNECTED, ConnectionState.CLOSING)) {
            assertThat(EventReaction.of(state, CommunicationEventType.DISCONNECTED))
                    .isEqualTo(EventReaction.END);
            assertThat(EventReaction.of(state, CommunicationEventType.DEVICE_REMOVAL))
                    .isEqualTo(EventReaction.BREAK);
        }
    }

    @Test
    void nothingDisturbsTheDead() {
        for (CommunicationEventType type : CommunicationEventType.values()) {
            assertThat(EventReaction.of(ConnectionState.FAILED, type)).isEqualTo(EventReaction.IGNORE);
            assertThat(EventReaction.of(ConnectionState.CLOSED, type)).isEqualTo(EventReaction.IGNORE);
        }
    }
}
