package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.GidType;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.PortState;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.RoceOnly;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.cm.Endpoint.Completion;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What goes wrong in a network, on a device of the tests' own. The last test leaves it without a connection manager: rxe
 * takes the queue pair of management datagrams out of service when one could not be sent, and nobody brings it back.
 */
@Tag("rdma")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(LeakCheck.class)
class FaultTest {
    private static final int NO_RETRY = 0;
    private static final int FOREVER = 7;

    @BeforeAll
    static void createDevice() throws Exception {
        PrivateDevice.create();
        TestDevice.useNew(PrivateDevice.address(0).getAddress());
    }

    @AfterEach
    void restore() throws Exception {
        PrivateDevice.restore();
        // A packet that is sent before the device is ready is lost, and the connection manager repeats it seconds
        // later.
        try (OpenDeviceContext device = RdmaEngine.system().open(PrivateDevice.NAME)) {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TestDevice.TIMEOUT_MILLIS);
            while (!isReady(device)) {
                assertThat(System.nanoTime()).as("device ready in time").isLessThan(deadline);
                Thread.sleep(10);
            }
        }
    }

    private static boolean isReady(OpenDeviceContext device) throws IOException {
        return device.portAttributes(1).state() == PortState.ACTIVE
                && (TestDevice.isIwarp()
                        || device.findGid(
                                        1,
                                        GidType.ROCE_V2,
                                        PrivateDevice.address(0).getAddress())
                                .isPresent());
    }

    @AfterAll
    static void retireDevice() throws Exception {
        PrivateDevice.retire();
    }

    private static ConnectedPair connect(int retryCount, int rnrRetryCount) throws IOException {
        return new ConnectedPair(
                RdmaEngine.system(),
                PrivateDevice.address(0),
                new ConnectionParameters(1, 1, 0, retryCount, rnrRetryCount, false, 0));
    }

    /** Takes events until one of this type comes; what else comes is passed over. */
    private static AsyncEvent await(DeviceContext device, AsyncEventType type) throws IOException {
        List<String> others = new ArrayList<>();
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TestDevice.TIMEOUT_MILLIS);
        while (System.nanoTime() < deadline) {
            AsyncEvent event = device.takeAsyncEvent();
            if (event == null) {
                Poll.awaitReadable(device.asyncFileDescriptor(), -1, 100);
            } else if (event.type() == type) {
                return event;
            } else {
                others.add(event.toString());
                event.close();
            }
        }
        throw new AssertionError("no " + type + " within " + TestDevice.TIMEOUT_MILLIS + " ms, but " + others);
    }

    @Test
    void linkDownAndUp_isToldByEventsAndByThePort() throws Exception {
        try (OpenDeviceContext device = RdmaEngine.system().open(PrivateDevice.NAME)) {
            assertThat(device.portAttributes(1).state()).isEqualTo(PortState.ACTIVE);
            PrivateDevice.linkDown();
            try (AsyncEvent event = await(device, AsyncEventType.PORT_ERROR)) {
                assertThat(event.portNumber()).isEqualTo(1);
            }
            assertThat(device.portAttributes(1).state()).isEqualTo(PortState.DOWN);
            PrivateDevice.linkUp();
            try (AsyncEvent event = await(device, AsyncEventType.PORT_ACTIVE)) {
                assertThat(event.portNumber()).isEqualTo(1);
            }
            assertThat(device.portAttributes(1).state()).isEqualTo(PortState.ACTIVE);
        }
    }

    @Test
    @RoceOnly("the GID of iWARP is made of the hardware address")
    void addressThatComesAndGoes_changesTheGidTable() throws Exception {
        InetAddress address = InetAddress.getByName("10.79.1.7");
        try (OpenDeviceContext device = RdmaEngine.system().open(PrivateDevice.NAME)) {
            assertThat(device.findGid(1, GidType.ROCE_V2, address)).isEmpty();
            PrivateDevice.addAddress("10.79.1.7/24");
            await(device, AsyncEventType.GID_CHANGE).close();
            assertThat(device.findGid(1, GidType.ROCE_V2, address)).isPresent();
            PrivateDevice.deleteAddress("10.79.1.7/24");
            try (AsyncEvent event = await(device, AsyncEventType.GID_CHANGE)) {
                assertThat(event.portNumber()).isEqualTo(1);
            }
            assertThat(device.findGid(1, GidType.ROCE_V2, address)).isEmpty();
        }
    }

    /**
     * RoCE: the device tells that its GID table changed, nobody tells the connection (librdmacm's ADDRESS_CHANGE is for
     * bonds of interfaces only), and the next request fails at once on the side that posts it: the table's entry that
     * the queue pair names is void, so rxe can't make a packet. The peer, which sends nothing, notices nothing. iWARP:
     * nobody tells anything, as the GID is made of the hardware address. A request succeeds, for siw has handed it to
     * TCP, which repeats it until the address is back; nothing is lost.
     */
    @Test
    void addressThatGoesUnderAConnection_isNotToldToIt() throws Exception {
        try (ConnectedPair pair = connect(1, 1);
                OpenDeviceContext device = RdmaEngine.system().open(PrivateDevice.NAME)) {
            PrivateDevice.deleteAddress();
            if (TestDevice.isIwarp()) {
                assertNothingIsTold(pair, device);
                pair.client.pair.postSend(pair.client.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 8));
                assertThat(pair.client.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(pair.server.queue.poll(pair.server.completions)).isZero();
                PrivateDevice.restore();
                Completion received = pair.server.awaitCompletion();
                assertThat(received.workRequestId()).isEqualTo(ConnectedPair.RECEIVE_ID);
                assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            } else {
                await(device, AsyncEventType.GID_CHANGE).close();
                drain(device);
                assertNothingIsTold(pair, device);
                assertSendFails(pair.client);
                assertThat(pair.client.pair.state()).isEqualTo(QueuePairState.ERROR);
                assertThat(pair.server.pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
                assertThat(pair.server.queue.poll(pair.server.completions)).isZero();
                assertNothingIsTold(pair, device);
            }
        }
    }

    /** Without its address an iWARP connection still ends on the side that ends it; of RoCE's end nobody hears. */
    @Test
    void connectionWithoutItsAddress_canBeDisconnectedAndClosed() throws Exception {
        long begin;
        try (ConnectedPair pair = connect(1, 1)) {
            PrivateDevice.deleteAddress();
            begin = System.nanoTime();
            pair.client.id.disconnect();
            if (TestDevice.isIwarp()) {
                try (CommunicationEvent event = TestDevice.next(pair.channel, CommunicationEventType.DISCONNECTED)) {
                    assertThat(event.id()).isSameAs(pair.client.id);
                }
            }
            Completion flushed = pair.client.awaitCompletion();
            assertThat(flushed.workRequestId()).isEqualTo(ConnectedPair.RECEIVE_ID);
            assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.FLUSHED);
        }
        assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.MILLISECONDS.toNanos(TestDevice.TIMEOUT_MILLIS));
    }

    /** The queue pair keeps the entry that the address had, which is void for ever; the address gets another one. */
    @Test
    @RoceOnly("TCP only waits for the address")
    void addressThatReturns_doesNotReviveAConnection() throws Exception {
        InetAddress address = PrivateDevice.address(0).getAddress();
        try (OpenDeviceContext device = RdmaEngine.system().open(PrivateDevice.NAME)) {
            try (ConnectedPair pair = connect(1, 1)) {
                int index = gidIndex(device, address);
                PrivateDevice.deleteAddress();
                await(device, AsyncEventType.GID_CHANGE).close();
                restore();
                assertThat(gidIndex(device, address)).isNotEqualTo(index);
                assertSendFails(pair.client);
                assertSendFails(pair.server);
            }
            connect(1, 1).close();
        }
    }

    private static int gidIndex(DeviceContext device, InetAddress address) throws VerbsException {
        return device.findGid(1, GidType.ROCE_V2, address).orElseThrow().index();
    }

    /** A request fails without a packet sent, and the receive is flushed. */
    private static void assertSendFails(Endpoint end) throws IOException {
        end.pair.postSend(end.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 8));
        Completion failed = end.awaitCompletion();
        assertThat(failed.workRequestId()).isEqualTo(SendOpcode.SEND);
        assertThat(failed.status()).isEqualTo(WorkCompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
        Completion flushed = end.awaitCompletion();
        assertThat(flushed.workRequestId()).isEqualTo(ConnectedPair.RECEIVE_ID);
        assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.FLUSHED);
    }

    /** For a while neither the connection manager nor the device has an event. */
    private static void assertNothingIsTold(ConnectedPair pair, DeviceContext device) throws Exception {
        assertThat(pair.channel.awaitEvent(300)).isNull();
        assertThat(device.takeAsyncEvent()).isNull();
    }

    @Test
    @RoceOnly("TCP retries underneath iWARP")
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
    @RoceOnly("iWARP does not tell that no receive is posted")
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
    @Order(Integer.MAX_VALUE)
    void networkThatGoes_leavesEverythingToBeClosed() throws Exception {
        try (ConnectedPair pair = connect(1, 1);
                OpenDeviceContext device = RdmaEngine.system().open(PrivateDevice.NAME)) {
            PrivateDevice.retire();
            await(device, AsyncEventType.PORT_ERROR).close();
            assertThat(device.portAttributes(1).state()).isEqualTo(PortState.DOWN);
            if (TestDevice.isIwarp()) {
                // siw ends its connections when the interface goes down.
                TestDevice.next(pair.channel, CommunicationEventType.DISCONNECTED)
                        .close();
                assertThat(pair.client.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.FLUSHED);
            } else {
                // Nobody tells the connection; the next request finds no address to come from.
                assertThat(pair.channel.takeEvent()).isNull();
                assertSendFails(pair.client);
            }
        }
    }

    @Test
    void overrunOfACompletionQueue_isToldAndDoesNotHinderClose() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            DeviceContext device = pair.client.id.device();
            overrun(pair, device);
            AsyncEvent event = await(device, AsyncEventType.COMPLETION_QUEUE_ERROR);
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
