package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.HandMade.Completion;
import io.rdmanio.verbs.cm.TestDevice;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Datagrams between queue pairs made by hand: address handles, answers, what is dropped, and multicast. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
@Needs(Feature.DATAGRAMS)
class DatagramTest {
    private static final int LENGTH = 500;
    private static final int HEADER = GlobalRoute.HEADER_BYTES;
    private static final int TARGET = 4096;
    private static final int IMMEDIATE = 0x7654321;

    /** The JDK keeps a descriptor of its own once a channel was closed; let it have it before anybody counts. */
    @BeforeAll
    static void useChannelOnce() throws IOException {
        DatagramChannel.open(StandardProtocolFamily.INET).close();
    }

    private static HandMade side() throws VerbsException {
        return new HandMade(QueuePairType.UNRELIABLE_DATAGRAM).connect(0);
    }

    private static SendWorkRequest datagram(HandMade from, AddressHandle to, int number, int queueKey) {
        return from.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, LENGTH).datagram(to, number, queueKey);
    }

    private static void assertSent(HandMade side) throws VerbsException {
        Completion completion = side.awaitSend();
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(completion.opcode()).isEqualTo(WorkCompletionOpcode.SEND);
    }

    @Test
    void datagram_arrivesBehindItsHeader() throws VerbsException {
        try (HandMade left = side();
                HandMade right = side();
                AddressHandle toRight = left.domain.createAddressHandle(left.path())) {
            assertThat(toRight.domain()).isSameAs(left.domain);
            left.fill(0, LENGTH, 1);
            right.postReceive(7, TARGET, HEADER + LENGTH);
            left.pair.postSend(datagram(left, toRight, right.pair.number(), HandMade.QUEUE_KEY));
            assertSent(left);
            Completion received = right.awaitReceive();
            assertThat(received)
                    .isEqualTo(new Completion(
                            7, WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE, HEADER + LENGTH, null));
            assertThat(right.completions.hasGlobalRouteHeader(0)).isTrue();
            assertThat(right.completions.sourceQueuePairNumber(0)).isEqualTo(left.pair.number());
            assertThat(right.completions.queuePairNumber(0)).isEqualTo(right.pair.number());
            assertThat(right.bytes(TARGET + HEADER, LENGTH)).isEqualTo(left.bytes(0, LENGTH));
        }
    }

    @Test
    void immediateData_arrives() throws VerbsException {
        try (HandMade left = side();
                HandMade right = side();
                AddressHandle toRight = left.domain.createAddressHandle(left.path())) {
            right.postReceive(7, TARGET, HEADER + LENGTH);
            left.pair.postSend(datagram(left, toRight, right.pair.number(), HandMade.QUEUE_KEY)
                    .opcode(SendOpcode.SEND_WITH_IMM)
                    .immediateData(IMMEDIATE));
            assertThat(right.awaitReceive().immediate()).isEqualTo(IMMEDIATE);
            assertSent(left);
        }
    }

    @Test
    void addressHandleOfACompletion_leadsBack() throws VerbsException {
        try (HandMade left = side();
                HandMade right = side();
                AddressHandle toRight = left.domain.createAddressHandle(left.path())) {
            right.postReceive(7, TARGET, HEADER + LENGTH);
            left.pair.postSend(datagram(left, toRight, right.pair.number(), HandMade.QUEUE_KEY));
            right.awaitReceive();
            int sender = right.completions.sourceQueuePairNumber(0);
            MemorySegment header = right.memory.asSlice(TARGET, HEADER);
            left.postReceive(8, TARGET, HEADER + LENGTH);
            left.postReceive(9, 2 * TARGET, HEADER + LENGTH);
            // In one step, and in two: the path, and a handle of it. The header may lie on the heap.
            AddressHandleAttributes path = right.device.pathToSender(
                    HandMade.PORT, right.completions, 0, MemorySegment.ofArray(right.bytes(TARGET, HEADER)));
            assertThat(path.isGlobal()).isTrue();
            assertThat(path.portNumber()).isEqualTo(HandMade.PORT);
            Map.Entry<Integer, Gid> source = HandMade.source(right.device);
            assertThat(path.route().sourceGidIndex()).isEqualTo(source.getKey());
            assertThat(path.route().destination()).isEqualTo(source.getValue());
            try (AddressHandle back = right.domain.createAddressHandle(HandMade.PORT, right.completions, 0, header);
                    AddressHandle alsoBack = right.domain.createAddressHandle(path)) {
                right.pair.postSend(datagram(right, back, sender, HandMade.QUEUE_KEY));
                assertSent(right);
                assertThat(left.awaitReceive().id()).isEqualTo(8);
                right.pair.postSend(datagram(right, alsoBack, sender, HandMade.QUEUE_KEY));
                assertSent(right);
                assertThat(left.awaitReceive().id()).isEqualTo(9);
            }
            assertSent(left);
        }
    }

    @Test
    void addressHandleOfACompletion_wantsTheHeaderItTellsOf() throws VerbsException {
        try (HandMade left = side();
                HandMade right = side();
                AddressHandle toRight = left.domain.createAddressHandle(left.path())) {
            right.postReceive(7, TARGET, HEADER + LENGTH);
            left.pair.postSend(datagram(left, toRight, right.pair.number(), HandMade.QUEUE_KEY));
            right.awaitReceive();
            assertSent(left);
            assertThatThrownBy(() -> right.domain.createAddressHandle(HandMade.PORT, right.completions, 0, null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("40 bytes");
            MemorySegment tooShort = right.memory.asSlice(TARGET, HEADER - 1);
            assertThatThrownBy(() -> right.device.pathToSender(HandMade.PORT, right.completions, 0, tooShort))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() ->
                            right.device.pathToSender(HandMade.PORT, right.completions, HandMade.DEPTH, right.memory))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            // A header that is none: its destination is not in the table.
            MemorySegment other = right.memory.asSlice(3 * TARGET, HEADER).fill((byte) 0x41);
            assertThatThrownBy(() -> right.device.pathToSender(HandMade.PORT, right.completions, 0, other))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_init_ah_from_wc");
            assertThatThrownBy(() -> right.domain.createAddressHandle(HandMade.PORT, right.completions, 0, other))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_ah_from_wc");
        }
    }

    @Test
    void wrongQueueKey_isDropped() throws VerbsException {
        try (HandMade left = side();
                HandMade right = side();
                AddressHandle toRight = left.domain.createAddressHandle(left.path())) {
            right.postReceive(7, TARGET, HEADER + LENGTH);
            left.pair.postSend(datagram(left, toRight, right.pair.number(), HandMade.QUEUE_KEY + 1));
            assertSent(left);
            assertThat(right.isSilent(right.receives)).isTrue();
            left.pair.postSend(datagram(left, toRight, right.pair.number(), HandMade.QUEUE_KEY));
            assertSent(left);
            assertThat(right.awaitReceive().id()).isEqualTo(7);
        }
    }

    @Test
    void unknownNumber_isDropped() throws VerbsException {
        try (HandMade left = side();
                AddressHandle toNobody = left.domain.createAddressHandle(left.path())) {
            left.pair.postSend(datagram(left, toNobody, 0x00BEEF, HandMade.QUEUE_KEY));
            assertSent(left);
            assertThat(left.pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        }
    }

    @Test
    void messageLongerThanTheMtu_fails() throws VerbsException {
        try (HandMade left = side();
                AddressHandle toSelf = left.domain.createAddressHandle(left.path())) {
            int mtu = left.device.portAttributes(HandMade.PORT).activeMtuBytes();
            left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, mtu + 1)
                    .datagram(toSelf, left.pair.number(), HandMade.QUEUE_KEY));
            assertThat(left.awaitSend().status()).isNotEqualTo(WorkCompletionStatus.FLUSHED);
            assertThat(left.isSilent(left.receives)).isTrue();
        }
    }

    @Test
    void sendWithoutAddress_isRefusedBeforeTheDriverFollowsAPointer() throws VerbsException {
        try (HandMade left = side();
                HandMade other = side();
                AddressHandle foreign = other.domain.createAddressHandle(other.path());
                SendWorkRequest second = new SendWorkRequest(1)) {
            assertThatThrownBy(() -> left.pair.postSend(
                            left.prepare(SendOpcode.SEND, 0, 0, 1).remote(0xDEAD, 1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("datagram(...)");
            assertThatThrownBy(() -> left.pair.postSend(datagram(left, foreign, 1, 1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another domain");
            AddressHandle closed = left.domain.createAddressHandle(left.path());
            SendWorkRequest list = datagram(left, closed, 1, 1).next(second);
            assertThatThrownBy(() -> left.pair.postSend(list)).isInstanceOf(IllegalArgumentException.class);
            closed.close();
            assertThatThrownBy(() -> left.pair.postSend(list))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this AddressHandle is closed");
            assertThat(left.isSilent(left.sends)).isTrue();
        }
    }

    @Test
    void addressHandle_explainsWhatDoesNotSuit() throws VerbsException {
        try (HandMade side = side()) {
            AddressHandleAttributes good = side.path();
            GlobalRoute route = good.route();
            assertThatThrownBy(() -> side.domain.createAddressHandle(AddressHandleAttributes.global(
                            HandMade.PORT, new GlobalRoute(route.destination(), 0, 255, 1, 0))))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_ah")
                    .hasMessageContaining("sourceGidIndex=255");
            assertThatThrownBy(() -> side.domain.createAddressHandle(AddressHandleAttributes.global(9, route)))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                    .hasMessageContaining("The port must exist");
            assertThatThrownBy(() -> side.domain.createAddressHandle(AddressHandleAttributes.local(HandMade.PORT, 5)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("a device of RoCE needs a global route");
        }
    }

    @Test
    void domain_closesItsAddressHandles() throws VerbsException {
        try (HandMade side = side()) {
            AddressHandle handle = side.domain.createAddressHandle(side.path());
            side.domain.close();
            handle.close();
            SendWorkRequest request = side.prepare(SendOpcode.SEND, 0, 0, 1).datagram(handle, 1, 1);
            assertThatThrownBy(() -> side.pair.postSend(request)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> side.domain.createAddressHandle(side.path()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this ProtectionDomain is closed");
        }
    }

    private static InetAddress address(int last) throws IOException {
        return InetAddress.getByName("239.77.1." + last);
    }

    private static Gid group(int last) throws IOException {
        return Gid.of(address(last));
    }

    @Test
    void multicast_reachesWhoIsAttached() throws Exception {
        Gid group = group(1);
        // Attaching is the device's business; the host must be a member of the IP group, or IP delivers nothing to it.
        try (DatagramChannel member = DatagramChannel.open(StandardProtocolFamily.INET);
                HandMade sender = side();
                HandMade attached = side();
                HandMade other = side();
                AddressHandle toGroup = sender.domain.createAddressHandle(AddressHandleAttributes.global(
                        HandMade.PORT,
                        GlobalRoute.to(group, HandMade.source(sender.device).getKey())))) {
            member.join(
                    address(1),
                    NetworkInterface.getByInetAddress(TestDevice.address(0).getAddress()));
            attached.pair.attachMulticast(group, 0);
            attached.pair.attachMulticast(group, 0);
            attached.postReceive(7, TARGET, HEADER + LENGTH);
            other.postReceive(7, TARGET, HEADER + LENGTH);
            sender.fill(0, LENGTH, 5);
            sender.pair.postSend(datagram(sender, toGroup, SendWorkRequest.MULTICAST_NUMBER, HandMade.QUEUE_KEY));
            assertSent(sender);
            assertThat(attached.awaitReceive().lengthBytes()).isEqualTo(HEADER + LENGTH);
            assertThat(attached.bytes(TARGET + HEADER, LENGTH)).isEqualTo(sender.bytes(0, LENGTH));
            assertThat(other.isSilent(other.receives)).isTrue();

            attached.pair.detachMulticast(group, 0);
            attached.postReceive(8, TARGET, HEADER + LENGTH);
            sender.pair.postSend(datagram(sender, toGroup, SendWorkRequest.MULTICAST_NUMBER, HandMade.QUEUE_KEY));
            assertSent(sender);
            assertThat(attached.isSilent(attached.receives)).isTrue();
        }
    }

    @Test
    void closingAnAttachedQueuePair_detachesIt() throws Exception {
        try (HandMade side = side()) {
            side.pair.attachMulticast(group(2), 0);
            side.pair.attachMulticast(group(3), 0);
            side.pair.close();
            side.pair.close();
            assertThatThrownBy(() -> side.pair.attachMulticast(group(2), 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this QueuePair is closed");
        }
    }

    @Test
    void wrongGroups_areExplained() throws Exception {
        try (HandMade side = side();
                HandMade reliable = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            assertThatThrownBy(() -> side.pair.detachMulticast(group(4), 0))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_detach_mcast")
                    .hasMessageContaining(group(4).toString());
            assertThatThrownBy(() -> side.pair.attachMulticast(
                            Gid.of(TestDevice.address(0).getAddress()), 0))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_attach_mcast")
                    .hasMessageContaining("multicast group");
            assertThatThrownBy(() -> reliable.pair.attachMulticast(group(4), 0))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("IBV_QPT_UD");
            assertThatThrownBy(() -> side.pair.attachMulticast(group(4), 65536))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> side.pair.attachMulticast(null, 0)).isInstanceOf(NullPointerException.class);
        }
    }
}
