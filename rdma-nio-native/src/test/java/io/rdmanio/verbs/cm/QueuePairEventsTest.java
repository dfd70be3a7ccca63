package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.Without;
import io.rdmanio.verbs.WorkCompletionStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Asynchronous events of queue pairs that fail: what a device tells that way, and what by completions alone. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class QueuePairEventsTest {
    private static final int PAGE = 4096;
    /** How long is waited for what must not come. */
    private static final int QUIET_MILLIS = 200;

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    private interface Check {
        void of(ConnectedPair pair) throws IOException;
    }

    /** The client writes to memory of the server that may only be read. */
    private static void afterARefusedWrite(Check check) throws IOException {
        try (ConnectedPair pair = new ConnectedPair();
                Arena arena = Arena.ofShared();
                MemoryRegion readable = pair.server.domain.registerMemory(
                        arena.allocate(PAGE, PAGE), AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ)) {
            pair.client.pair.postSend(pair.client
                    .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8)
                    .remote(readable.address(), readable.remoteKey()));
            check.of(pair);
        }
    }

    @Test
    @Needs(Feature.QUEUE_PAIR_ERROR_EVENTS)
    void refusedWrite_isAnEventAtTheOwner() throws IOException {
        afterARefusedWrite(pair -> {
            try (AsyncEvent event =
                    TestDevice.nextAsync(pair.server.id.device(), AsyncEventType.QUEUE_PAIR_ACCESS_ERROR)) {
                assertThat(event.queuePair()).isSameAs(pair.server.pair);
            }
        });
    }

    @Test
    @Without(Feature.QUEUE_PAIR_ERROR_EVENTS)
    void refusedWrite_isToldByCompletionsAlone() throws IOException {
        afterARefusedWrite(pair -> {
            assertThat(pair.client.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(pair.server.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
            assertThat(pair.server.id.device().awaitAsyncEvent(QUIET_MILLIS)).isNull();
        });
    }

    @Test
    @Needs(Feature.LAST_RECEIVE_EVENT)
    void errorWithASharedQueue_isAnEventOfTheLastReceive() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(1)) {
            receivers.pairs.getFirst().toError();
            try (AsyncEvent event = TestDevice.nextAsync(receivers.device, AsyncEventType.LAST_RECEIVE_REACHED)) {
                assertThat(event.queuePair()).isSameAs(receivers.pairs.getFirst());
            }
        }
    }

    @Test
    @Without(Feature.LAST_RECEIVE_EVENT)
    void errorWithASharedQueue_isQuiet() throws IOException {
        try (SharedReceivers receivers = new SharedReceivers(1)) {
            receivers.pairs.getFirst().toError();
            assertThat(receivers.device.awaitAsyncEvent(QUIET_MILLIS)).isNull();
        }
    }
}
