package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is found out without an id: addresses, devices, names of events. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class AddressInfoTest {
    private static final AddressInfoHints TCP =
            AddressInfoHints.NONE.withPortSpace(PortSpace.TCP).withQueuePairType(QueuePairType.RELIABLE_CONNECTED);
    private static final int PORT = 7471;

    @BeforeAll
    static void useDevices() throws VerbsException {
        TestDevice.use();
        // They stay open, so before anybody counts descriptors.
        DeviceList.open(TestDevice.engine()).close();
    }

    private static AddressInfo lookUp(String node, String service, AddressInfoHints hints) throws IOException {
        List<AddressInfo> found = AddressInfo.lookUp(TestDevice.engine(), node, service, hints);
        assertThat(found).isNotEmpty();
        return found.getFirst();
    }

    @Test
    void lookUp_findsADestination() throws IOException {
        InetSocketAddress address = TestDevice.address(PORT);
        AddressInfo info = lookUp(address.getAddress().getHostAddress(), String.valueOf(PORT), TCP);
        assertThat(info.isPassive()).isFalse();
        assertThat(info.family()).isEqualTo(AddressFamily.INET);
        assertThat(info.queuePairType()).isEqualTo(QueuePairType.RELIABLE_CONNECTED);
        assertThat(info.portSpace()).isEqualTo(PortSpace.TCP);
        assertThat(info.destination()).isEqualTo(address);
        assertThat(info.source()).isNull();
        assertThat(info.rawDestination()).hasSize(16);
        assertThat(info.rawSource()).isEmpty();
        assertThat(info.route()).isEmpty();
        assertThat(info.connectData()).isEmpty();
    }

    @Test
    void lookUp_findsAWildcardToListenAt() throws IOException {
        AddressInfo info = lookUp(null, String.valueOf(PORT), TCP.withFlags(AddressInfoFlags.PASSIVE));
        assertThat(info.isPassive()).isTrue();
        assertThat(info.source().getPort()).isEqualTo(PORT);
        assertThat(info.source().getAddress().isAnyLocalAddress()).isTrue();
        assertThat(info.destination()).isNull();
    }

    @Test
    void lookUp_infersTypeAndPortSpaceOfDatagrams() throws IOException {
        AddressInfo info = lookUp(
                "fd77::1",
                "1",
                AddressInfoHints.NONE
                        .withFlags(AddressInfoFlags.NUMERIC_HOST)
                        .withQueuePairType(QueuePairType.UNRELIABLE_DATAGRAM)
                        .withPortSpace(PortSpace.UDP)
                        .withFamily(AddressFamily.INET6));
        assertThat(info.family()).isEqualTo(AddressFamily.INET6);
        assertThat(info.queuePairType()).isEqualTo(QueuePairType.UNRELIABLE_DATAGRAM);
        assertThat(info.portSpace()).isEqualTo(PortSpace.UDP);
        assertThat(info.destination().getAddress().getHostAddress()).isEqualTo("fd77:0:0:0:0:0:0:1");
    }

    @Test
    void lookUp_takesAddressesFromTheHints() throws IOException {
        InetSocketAddress source = TestDevice.address(0);
        InetSocketAddress destination = TestDevice.address(PORT);
        AddressInfo info = lookUp(null, null, TCP.withSource(source).withDestination(destination));
        assertThat(info.source()).isEqualTo(source);
        assertThat(info.destination()).isEqualTo(destination);
    }

    @Test
    void lookUp_ofABadHostNamesTheCode() {
        AddressInfoHints numeric = TCP.withFlags(AddressInfoFlags.NUMERIC_HOST);
        assertThatThrownBy(() -> lookUp("no such host", null, numeric))
                .isInstanceOfSatisfying(VerbsException.class, e -> {
                    assertThat(e.operation()).isEqualTo("rdma_getaddrinfo");
                    assertThat(e.errno()).isZero();
                    assertThat(e)
                            .hasMessageContaining("no such host")
                            .hasMessageContaining("EAI_NONAME")
                            .hasMessageContaining("Name or service not known");
                });
    }

    @Test
    void lookUp_ofABadServiceNamesTheCode() {
        assertThatThrownBy(() -> lookUp("10.0.0.1", "no-such-service", TCP))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("EAI_SERVICE");
    }

    @Test
    void lookUp_ofContradictoryHintsNamesTheCode() {
        AddressInfoHints contradictory = TCP.withQueuePairType(QueuePairType.UNRELIABLE_DATAGRAM);
        assertThatThrownBy(() -> lookUp("10.0.0.1", "1", contradictory))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("EAI_SOCKTYPE");
    }

    @Test
    void lookUp_ofNothingIsRefused() {
        assertThatThrownBy(() -> lookUp(null, null, TCP)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TCP.withPortSpace(PortSpace.UNKNOWN)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TCP.withSource(InetSocketAddress.createUnresolved("x", 1)))
                .isInstanceOf(java.nio.channels.UnresolvedAddressException.class);
    }

    private static AddressInfo withAddresses(InetSocketAddress source, byte[] rawSource, byte[] rawDestination) {
        return new AddressInfo(
                0,
                AddressFamily.INET,
                QueuePairType.RELIABLE_CONNECTED,
                PortSpace.TCP,
                source,
                null,
                null,
                null,
                new byte[0],
                new byte[0],
                rawSource,
                rawDestination);
    }

    /** The library would write past the end of its own structures. */
    @Test
    void addressThatCHasNoRoomFor_isRefused() {
        byte[] none = new byte[0];
        byte[] large = new byte[129];
        assertThat(withAddresses(null, new byte[128], none).rawSource()).hasSize(128);
        assertThatThrownBy(() -> withAddresses(null, large, none))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rawSource of 129 bytes");
        assertThatThrownBy(() -> withAddresses(null, none, large))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rawDestination");
        assertThatThrownBy(() -> withAddresses(InetSocketAddress.createUnresolved("x", 1), none, none))
                .isInstanceOf(java.nio.channels.UnresolvedAddressException.class);
    }

    @Test
    void deviceList_lendsTheDevicesOfTheIds() throws IOException {
        DeviceList list = DeviceList.open(TestDevice.engine());
        try (list;
                EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = TestDevice.listen(channel)) {
            assertThat(list.devices()).extracting(DeviceContext::name).containsAll(TestDevice.names());
            assertThat(list.devices()).contains(id.device());
            assertThat(id.device().attributes().maxQueuePairs()).isPositive();
        }
        list.close();
        assertThatThrownBy(list::devices).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void eventString_isTheLibrarysName() throws IOException {
        for (CommunicationEventType type : CommunicationEventType.values()) {
            String expected = type == CommunicationEventType.UNKNOWN ? "UNKNOWN EVENT" : type.nativeName();
            assertThat(type.eventString(TestDevice.engine())).isEqualTo(expected);
        }
    }
}
