package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.HandMade.Completion;
import io.rdmanio.verbs.HandMade.Two;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Unreliable connections made by hand: what they can, and what they can't. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
@Needs(Feature.UNRELIABLE_CONNECTIONS)
class UnreliableConnectionTest {
    private static final int LENGTH = 3000;
    private static final int TARGET = 8192;
    private static final int IMMEDIATE = 0x11223344;

    private static Two pair() throws VerbsException {
        return HandMade.connected(QueuePairType.UNRELIABLE_CONNECTED);
    }

    private static SendWorkRequest toPeer(Two pair, int opcode) {
        return pair.left()
                .prepare(opcode, SendFlags.SIGNALED, 0, LENGTH)
                .remote(
                        pair.right().region.address() + TARGET,
                        pair.right().region.remoteKey());
    }

    @Test
    void sends_arrive() throws VerbsException {
        try (Two pair = pair()) {
            pair.left().fill(0, LENGTH, 1);
            pair.right().postReceive(7, TARGET, LENGTH);
            pair.right().postReceive(8, 0, LENGTH);
            pair.left().pair.postSend(pair.left().prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, LENGTH));
            assertThat(pair.left().awaitSend().opcode()).isEqualTo(WorkCompletionOpcode.SEND);
            assertThat(pair.right().awaitReceive())
                    .isEqualTo(new Completion(
                            7, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE, LENGTH, null));
            assertThat(pair.right().bytes(TARGET, LENGTH)).isEqualTo(pair.left().bytes(0, LENGTH));
            pair.left()
                    .pair
                    .postSend(pair.left()
                            .prepare(SendOpcode.SEND_WITH_IMM, SendFlags.SIGNALED, 0, 1)
                            .immediateData(IMMEDIATE));
            assertThat(pair.right().awaitReceive().immediate()).isEqualTo(IMMEDIATE);
        }
    }

    @Test
    void writes_arrive() throws VerbsException {
        try (Two pair = pair()) {
            pair.left().fill(0, LENGTH, 2);
            pair.right().postReceive(9, 0, 0);
            pair.left().pair.postSend(toPeer(pair, SendOpcode.WRITE));
            assertThat(pair.left().awaitSend().opcode()).isEqualTo(WorkCompletionOpcode.WRITE);
            // There is no acknowledgement: the write with immediate data tells that the one before it has arrived.
            pair.left().pair.postSend(toPeer(pair, SendOpcode.WRITE_WITH_IMM).immediateData(IMMEDIATE));
            assertThat(pair.right().awaitReceive())
                    .isEqualTo(new Completion(
                            9,
                            WorkCompletionStatus.SUCCESS,
                            WorkCompletionOpcode.RECEIVE_WRITE_WITH_IMM,
                            LENGTH,
                            IMMEDIATE));
            assertThat(pair.right().bytes(TARGET, LENGTH)).isEqualTo(pair.left().bytes(0, LENGTH));
        }
    }

    @Test
    void read_isNoOperationOfIt() throws VerbsException {
        try (Two pair = pair()) {
            WorkCompletionStatus status;
            try {
                pair.left().pair.postSend(toPeer(pair, SendOpcode.READ));
                status = pair.left().awaitSend().status();
            } catch (PostException e) {
                assertThat(e).hasMessageContaining("opcode");
                status = WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
            }
            assertThat(status).isEqualTo(WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
        }
    }

    @Test
    void messageWithoutReceive_isLost() throws VerbsException {
        try (Two pair = pair()) {
            pair.left().pair.postSend(pair.left().prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
            assertThat(pair.left().awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            pair.right().postReceive(1, 0, 10);
            assertThat(pair.right().isSilent(pair.right().receives)).isTrue();
            pair.left().pair.postSend(pair.left().prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 10));
            assertThat(pair.right().awaitReceive().id()).isEqualTo(1);
        }
    }
}
