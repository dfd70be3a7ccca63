package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.cm.Endpoint.Completion;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What becomes of a connection whose peer, whose receives or whose completion queue give out. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class ExhaustionTest {
    private static final int NO_RETRY = 0;
    private static final int FOREVER = 7;

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    private static ConnectedPair connect(int retryCount, int rnrRetryCount) throws IOException {
        return new ConnectedPair(
                TestDevice.engine(),
                TestDevice.address(0),
                new ConnectionParameters(1, 1, 0, retryCount, rnrRetryCount, false, 0));
    }

    @Test
    @Needs(Feature.TRANSPORT_TIMEOUT)
    void peerThatNoLongerAnswers_exhaustsTheRetries() throws IOException {
        try (ConnectedPair pair = connect(1, FOREVER)) {
            // A queue pair in ERROR drops what arrives, as a network that loses everything does.
            pair.server.pair.toError();
            pair.client.pair.postSend(pair.client.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 8));
            Completion failed = pair.client.awaitCompletion();
            assertThat(failed.workRequestId()).isEqualTo(SendOpcode.SEND);
            assertThat(failed.status()).isEqualTo(WorkCompletionStatus.RETRY_EXCEEDED);
            Completion flushed = pair.client.awaitCompletion();
            assertThat(flushed.workRequestId()).isEqualTo(ConnectedPair.RECEIVE_ID);
            assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        }
    }

    @Test
    @Needs(Feature.RECEIVER_NOT_READY)
    void peerWithoutReceives_exhaustsTheReceiverNotReadyRetries() throws IOException {
        try (ConnectedPair pair = connect(FOREVER, NO_RETRY)) {
            pair.client.pair.postSend(pair.client.prepare(SendOpcode.SEND, 0, 0, 8));
            pair.client.pair.postSend(pair.client.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 8));
            assertThat(pair.server.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.client.awaitCompletion().status())
                    .isEqualTo(WorkCompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
            assertThat(pair.client.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        }
    }

    @Test
    void overrunOfACompletionQueue_isToldAndDoesNotHinderClose() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            DeviceContext device = pair.client.id.device();
            overrun(pair, device);
            AsyncEvent event = TestDevice.nextAsync(device, AsyncEventType.COMPLETION_QUEUE_ERROR);
            CompletionQueue queue = event.completionQueue();
            assertThat(queue).isSameAs(pair.client.queue);
            // Its native destroy waits for the event, which nobody acknowledges but close itself.
            queue.close();
            event.close();
            drain(device);
        }
    }

    @Test
    void overrunThatNobodyTakes_doesNotHinderClose() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            DeviceContext device = pair.client.id.device();
            overrun(pair, device);
            pair.client.queue.close();
            drain(device);
        }
    }

    /** Generates completions that nobody polls until the device tells that there are too many. */
    private static void overrun(ConnectedPair pair, DeviceContext device) throws IOException {
        if (TestDevice.has(Feature.RESIZED_COMPLETION_QUEUES)) {
            // Some devices keep a slot of the send queue until its completion is polled.
            pair.client.queue.resize(Endpoint.DEPTH / 2);
        }
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TestDevice.TIMEOUT_MILLIS);
        pair.client
                .prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8)
                .remote(pair.server.region.address(), pair.server.region.remoteKey());
        while (System.nanoTime() < deadline) {
            if (Poll.awaitReadable(device.asyncFileDescriptor(), -1, 0) != 0) {
                return;
            }
            try {
                pair.client.pair.postSend(pair.client.send);
            } catch (VerbsException e) {
                assertThat(e.errorName()).isEqualTo("ENOMEM"); // The send queue is full for a moment.
                Thread.onSpinWait();
            }
        }
        throw new AssertionError("no asynchronous event within " + TestDevice.TIMEOUT_MILLIS + " ms");
    }

    /** Nothing about the dead queue is left to be told. */
    private static void drain(DeviceContext device) throws VerbsException {
        for (AsyncEvent event = device.takeAsyncEvent(); event != null; event = device.takeAsyncEvent()) {
            assertThat(event.completionQueue()).isNull();
            event.close();
        }
    }
}
