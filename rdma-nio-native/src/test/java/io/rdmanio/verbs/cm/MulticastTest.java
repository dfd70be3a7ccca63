package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Joining and leaving multicast groups on a real device. */
@Tag("rdma")
@Needs(Feature.MULTICAST)
@ExtendWith(LeakCheck.class)
class MulticastTest {
    private static final int MULTICAST_QUEUE_PAIR = 0xFFFFFF;

    private static InetAddress group(int last) throws IOException {
        return InetAddress.getByName("239.77.0." + last);
    }

    private static CommunicationId bound(EventChannel channel, PortSpace space) throws IOException {
        CommunicationId id = channel.createId(space);
        id.bind(TestDevice.address(0));
        return id;
    }

    @Test
    void joinMulticast_tellsWhereToSend() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                Endpoint member = new Endpoint(bound(channel, PortSpace.UDP), QueuePairType.UNRELIABLE_DATAGRAM);
                MulticastMembership membership = member.id.joinMulticast(group(1));
                CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.MULTICAST_JOIN)) {
            assertThat(event.status()).isZero();
            assertThat(event.id()).isSameAs(member.id);
            assertThat(event.membership()).isSameAs(membership);
            assertThat(event.privateData()).isEmpty();
            assertThat(event.connectionParameters()).isNull();
            assertThat(membership.group()).isEqualTo(group(1));
            assertThat(membership.id()).isSameAs(member.id);
            DatagramParameters parameters = event.datagramParameters();
            assertThat(parameters.queuePairNumber()).isEqualTo(MULTICAST_QUEUE_PAIR);
            assertThat(parameters.queueKey()).isEqualTo(DatagramParameters.UDP_QUEUE_KEY);
            assertThat(parameters.addressHandleAttributes().isGlobal()).isTrue();
            assertThat(parameters.addressHandleAttributes().portNumber()).isEqualTo(1);
        }
    }

    @Test
    void leave_paysForItsEventsAndLetsTheGroupBeJoinedAgain() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                Endpoint member = new Endpoint(bound(channel, PortSpace.UDP), QueuePairType.UNRELIABLE_DATAGRAM)) {
            MulticastMembership first = member.id.joinMulticast(group(2));
            CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.MULTICAST_JOIN);
            assertThatThrownBy(() -> member.id.joinMulticast(group(2)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("has joined");
            first.close();
            first.close();
            event.close();
            assertThat(event.membership()).isSameAs(first);
            try (MulticastMembership second = member.id.joinMulticast(group(2), MulticastJoin.FULL_MEMBER)) {
                try (CommunicationEvent again = TestDevice.next(channel, CommunicationEventType.MULTICAST_JOIN)) {
                    assertThat(again.membership()).isSameAs(second);
                }
            }
        }
    }

    @Test
    void leave_beforeTheEventIsTakenForgetsTheEvent() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = bound(channel, PortSpace.UDP)) {
            id.joinMulticast(group(3)).close();
            assertThat(channel.takeEvent()).isNull();
        }
    }

    @Test
    void closingTheQueuePair_leavesItsGroups() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine())) {
            CommunicationId id = bound(channel, PortSpace.UDP);
            // One is joined before there is a queue pair, and gets it when the event is taken.
            MulticastMembership before = id.joinMulticast(group(4));
            try (Endpoint member = new Endpoint(id, QueuePairType.UNRELIABLE_DATAGRAM)) {
                id.joinMulticast(group(5));
                TestDevice.expect(channel, CommunicationEventType.MULTICAST_JOIN);
                TestDevice.expect(channel, CommunicationEventType.MULTICAST_JOIN);
                member.pair.close();
                // Left, so it can be joined again.
                id.joinMulticast(before.group());
                TestDevice.expect(channel, CommunicationEventType.MULTICAST_JOIN);
            }
        }
    }

    @Test
    void queuePairThatIsAttachedByItsIdToo_closesAfterTheIdLeft() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                Endpoint member = new Endpoint(bound(channel, PortSpace.UDP), QueuePairType.UNRELIABLE_DATAGRAM)) {
            MulticastMembership membership = member.id.joinMulticast(group(7));
            try (CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.MULTICAST_JOIN)) {
                Gid gid = event.datagramParameters()
                        .addressHandleAttributes()
                        .route()
                        .destination();
                member.pair.attachMulticast(gid, 0);
                membership.close();
                assertThatThrownBy(() -> member.pair.detachMulticast(gid, 0))
                        .isInstanceOfSatisfying(
                                VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
            }
            member.pair.close();
        }
    }

    @Test
    void closingTheChannel_leavesGroupsOfItsIds() throws IOException {
        EventChannel channel = EventChannel.open(TestDevice.engine());
        CommunicationId id = bound(channel, PortSpace.UDP);
        MulticastMembership membership = id.joinMulticast(group(6));
        CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.MULTICAST_JOIN);
        channel.close();
        event.close();
        membership.close();
        assertThatThrownBy(() -> id.joinMulticast(group(6))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void migrate_takesMembershipsAlong() throws IOException {
        try (EventChannel first = EventChannel.open(TestDevice.engine());
                EventChannel second = EventChannel.open(TestDevice.engine());
                CommunicationId id = bound(first, PortSpace.UDP)) {
            MulticastMembership membership = id.joinMulticast(group(7));
            id.migrate(second);
            try (CommunicationEvent event = TestDevice.next(second, CommunicationEventType.MULTICAST_JOIN)) {
                assertThat(event.membership()).isSameAs(membership);
                membership.close();
            }
        }
    }

    @Test
    void joinMulticast_unboundOrConnectedIsRefused() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId unbound = channel.createId(PortSpace.UDP);
                CommunicationId connected = bound(channel, PortSpace.TCP)) {
            for (CommunicationId id : new CommunicationId[] {unbound, connected}) {
                for (int i = 0; i < 2; i++) {
                    assertThatThrownBy(() -> id.joinMulticast(group(8)))
                            .isInstanceOfSatisfying(VerbsException.class, e -> {
                                assertThat(e.operation()).isEqualTo("rdma_join_multicast");
                                assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                                assertThat(e).hasMessageContaining("239.77.0.8");
                            });
                }
            }
            assertThatThrownBy(() -> unbound.joinMulticast(group(8), MulticastJoin.FULL_MEMBER))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.operation()).isEqualTo("rdma_join_multicast_ex"));
        }
    }

    @Test
    void joinMulticast_ofNoGroupFails() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = bound(channel, PortSpace.UDP)) {
            InetAddress wildcard = InetAddress.getByName("0.0.0.0");
            try (MulticastMembership membership = id.joinMulticast(wildcard);
                    CommunicationEvent event = TestDevice.next(channel)) {
                assertThat(event.type()).isEqualTo(CommunicationEventType.MULTICAST_ERROR);
                assertThat(event.membership()).isSameAs(membership);
            } catch (VerbsException e) {
                assertThat(e.errno()).isEqualTo(Errno.EINVAL);
            }
        }
    }

    @Test
    void sendOnly_isJoinedOrRefusedWithItsReason() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = bound(channel, PortSpace.UDP)) {
            try (MulticastMembership membership = id.joinMulticast(group(9), MulticastJoin.SEND_ONLY_FULL_MEMBER);
                    CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.MULTICAST_JOIN)) {
                assertThat(event.membership()).isSameAs(membership);
            }
        }
    }

    @Test
    void ipoib_isRefusedWhereThereIsNoIpoib() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = channel.createId(PortSpace.IPOIB)) {
            assertThatThrownBy(() -> id.bind(TestDevice.address(0)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("no IPoIB interface");
        }
    }

    @Test
    void joinMulticast_ofIpv6GroupIsRefusedByTheKernel() throws IOException {
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = bound(channel, PortSpace.UDP)) {
            assertThatThrownBy(() -> id.joinMulticast(InetAddress.getByName("ff0e::77")))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ff0e:0:0:0:0:0:0:77")
                    .hasMessageContaining("IPv6");
        }
    }
}
