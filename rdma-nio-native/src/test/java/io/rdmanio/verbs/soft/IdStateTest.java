package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.soft.IdState.Input;
import io.rdmanio.verbs.soft.IdState.Reaction;
import io.rdmanio.verbs.soft.IdState.Reaction.Kind;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Every input in every state has an answer of its kind, and those that matter are these. */
class IdStateTest {
    private static final Set<Input> OPERATIONS = EnumSet.range(Input.BIND, Input.DESTROY);

    @Test
    void everyInputInEveryState_hasAnAnswerOfItsKind() {
        for (IdState state : IdState.values()) {
            for (Input input : Input.values()) {
                Reaction reaction = state.on(input);
                assertThat(reaction.next()).as("%s in %s", input, state).isNotNull();
                if (OPERATIONS.contains(input)) {
                    assertThat(reaction.kind()).as("%s in %s", input, state).isNotEqualTo(Kind.IGNORED);
                } else {
                    // Whatever a peer says, it is no error of the program's.
                    assertThat(reaction.kind()).as("%s in %s", input, state).isNotEqualTo(Kind.REFUSED);
                }
                if (reaction.kind() != Kind.TAKEN) {
                    assertThat(reaction.next()).as("%s in %s", input, state).isEqualTo(state);
                }
            }
        }
    }

    @Test
    void everyStep_leadsForward() {
        for (IdState state : IdState.values()) {
            for (Input input : Input.values()) {
                assertThat(state.on(input).next()).as("%s in %s", input, state).isGreaterThanOrEqualTo(state);
            }
        }
    }

    @Test
    void everyState_canBeDestroyedOnceAndIsThenDead() {
        for (IdState state : IdState.values()) {
            assertThat(state.on(Input.DESTROY).next()).isEqualTo(IdState.DESTROYED);
        }
        for (Input input : Input.values()) {
            assertThat(IdState.DESTROYED.on(input).kind()).as("%s", input).isNotEqualTo(Kind.TAKEN);
        }
    }

    @Test
    void theLossOfThePeer_endsEverythingThatHasOne() {
        for (IdState state : EnumSet.range(IdState.CONNECTING, IdState.DISCONNECT_ASKED)) {
            assertThat(state.on(Input.PEER_LOST).kind()).as("%s", state).isEqualTo(Kind.TAKEN);
            assertThat(state.on(Input.PEER_LOST).next()).as("%s", state).isIn(IdState.FAILED, IdState.DISCONNECTED);
        }
        for (IdState state : EnumSet.complementOf(EnumSet.range(IdState.CONNECTING, IdState.DISCONNECT_ASKED))) {
            assertThat(state.on(Input.PEER_LOST).kind()).as("%s", state).isEqualTo(Kind.IGNORED);
        }
    }

    @Test
    void whateverWaitsForThePeer_endsInTime() {
        for (IdState state : EnumSet.of(IdState.CONNECTING, IdState.ACCEPTED, IdState.DISCONNECTING)) {
            assertThat(state.on(Input.DEADLINE).next()).as("%s", state).isIn(IdState.FAILED, IdState.DISCONNECTED);
        }
    }

    @Test
    void bothSides_getToAConnectionStepByStep() {
        assertThat(after(Input.BIND, Input.RESOLVE_ADDRESS, Input.RESOLVE_ROUTE, Input.CONNECT))
                .isEqualTo(IdState.CONNECTING);
        assertThat(IdState.CONNECTING.on(Input.REPLY_RECEIVED).next()).isEqualTo(IdState.RESPONDED);
        assertThat(IdState.RESPONDED.on(Input.ESTABLISH).next()).isEqualTo(IdState.ESTABLISHED);
        assertThat(after(Input.LISTEN)).isEqualTo(IdState.LISTENING);
        assertThat(IdState.REQUESTED.on(Input.ACCEPT).next()).isEqualTo(IdState.ACCEPTED);
        assertThat(IdState.ACCEPTED.on(Input.READY_RECEIVED).next()).isEqualTo(IdState.ESTABLISHED);
        assertThat(IdState.ESTABLISHED.on(Input.DISCONNECT).next()).isEqualTo(IdState.DISCONNECTING);
        assertThat(IdState.ESTABLISHED.on(Input.DISCONNECT_RECEIVED).next()).isEqualTo(IdState.DISCONNECT_ASKED);
        assertThat(IdState.DISCONNECT_ASKED.on(Input.DISCONNECT).next()).isEqualTo(IdState.DISCONNECTED);
        assertThat(IdState.DISCONNECTING.on(Input.DISCONNECT_REPLY_RECEIVED).next())
                .isEqualTo(IdState.DISCONNECTED);
    }

    private static IdState after(Input... inputs) {
        IdState state = IdState.IDLE;
        for (Input input : inputs) {
            assertThat(state.on(input).kind()).as("%s in %s", input, state).isEqualTo(Kind.TAKEN);
            state = state.on(input).next();
        }
        return state;
    }
}
