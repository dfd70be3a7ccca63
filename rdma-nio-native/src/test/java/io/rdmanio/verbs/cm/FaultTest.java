package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.GidType;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.PortState;
import io.rdmanio.verbs.QueuePairState;
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
@Needs(Feature.NETWORK_INTERFACE)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(LeakCheck.class)
class FaultTest {
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
        try (OpenDeviceContext device = TestDevice.engine().open(PrivateDevice.NAME)) {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TestDevice.TIMEOUT_MILLIS);
            while (!isReady(device)) {
                assertThat(System.nanoTime()).as("device ready in time").isLessThan(deadline);
                Thread.sleep(10);
            }
        }
    }

    private static boolean isReady(OpenDeviceContext device) throws IOException {
        return device.portAttributes(1).state() == PortState.ACTIVE
                && (!TestDevice.has(Feature.ADDRESS_GIDS)
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

    /** A connection whose requests are repeated once. */
    private static ConnectedPair connect() throws IOException {
        return new ConnectedPair(
                TestDevice.engine(), PrivateDevice.address(0), new ConnectionParameters(1, 1, 0, 1, 1, false, 0));
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
        try (OpenDeviceContext device = TestDevice.engine().open(PrivateDevice.NAME)) {
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
    @Needs(Feature.ADDRESS_GIDS)
    void addressThatComesAndGoes_changesTheGidTable() throws Exception {
        InetAddress address = InetAddress.getByName("10.79.1.7");
        try (OpenDeviceContext device = TestDevice.engine().open(PrivateDevice.NAME)) {
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
        try (ConnectedPair pair = connect();
                OpenDeviceContext device = TestDevice.engine().open(PrivateDevice.NAME)) {
            PrivateDevice.deleteAddress();
            if (!TestDevice.has(Feature.NETWORK_INTERFACE_GIDS)) {
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
        try (ConnectedPair pair = connect()) {
            PrivateDevice.deleteAddress();
            begin = System.nanoTime();
            pair.client.id.disconnect();
            if (!TestDevice.has(Feature.NETWORK_INTERFACE_GIDS)) {
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
    @Needs(Feature.NETWORK_INTERFACE_GIDS)
    void addressThatReturns_doesNotReviveAConnection() throws Exception {
        InetAddress address = PrivateDevice.address(0).getAddress();
        try (OpenDeviceContext device = TestDevice.engine().open(PrivateDevice.NAME)) {
            try (ConnectedPair pair = connect()) {
                int index = gidIndex(device, address);
                PrivateDevice.deleteAddress();
                await(device, AsyncEventType.GID_CHANGE).close();
                restore();
                assertThat(gidIndex(device, address)).isNotEqualTo(index);
                assertSendFails(pair.client);
                assertSendFails(pair.server);
            }
            connect().close();
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
    @Order(Integer.MAX_VALUE)
    void networkThatGoes_leavesEverythingToBeClosed() throws Exception {
        try (ConnectedPair pair = connect();
                OpenDeviceContext device = TestDevice.engine().open(PrivateDevice.NAME)) {
            PrivateDevice.retire();
            await(device, AsyncEventType.PORT_ERROR).close();
            assertThat(device.portAttributes(1).state()).isEqualTo(PortState.DOWN);
            if (!TestDevice.has(Feature.NETWORK_INTERFACE_GIDS)) {
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

    /** Takes all events, of which none is about a completion queue. */
    private static void drain(DeviceContext device) throws VerbsException {
        for (AsyncEvent event = device.takeAsyncEvent(); event != null; event = device.takeAsyncEvent()) {
            assertThat(event.completionQueue()).isNull();
            event.close();
        }
    }
}
