package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.AddressInfo;
import io.rdmanio.verbs.cm.AddressInfoFlags;
import io.rdmanio.verbs.cm.AddressInfoHints;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.spi.ListenerHandle;
import io.rdmanio.verbs.spi.TakenEvent;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ids without an event channel of the program's: they get one, and what happened before comes along. */
@Timeout(20)
class SoftEndpointsTest extends ConnectionTestBase {
    private static AddressInfo address(int flags, String host, int port) throws VerbsException {
        return SoftAddressInfo.lookUp(host, String.valueOf(port), AddressInfoHints.NONE.withFlags(flags))
                .getFirst();
    }

    private static AddressInfo withConnectData(AddressInfo info, byte[] data) {
        return new AddressInfo(
                0,
                info.family(),
                QueuePairType.RELIABLE_CONNECTED,
                PortSpace.TCP,
                info.source(),
                info.destination(),
                null,
                null,
                NOTHING,
                data,
                NOTHING,
                NOTHING);
    }

    @Test
    void connectionOfTwoEndpoints_endsInTheirChannels() throws VerbsException {
        ListenerHandle listener = SoftEndpoints.listening(far, address(AddressInfoFlags.PASSIVE, "127.0.0.1", 0));
        InetSocketAddress place = listener.id().localAddress();
        listener.id().listen(1);
        SoftCommunicationId client = (SoftCommunicationId)
                SoftEndpoints.connecting(near, withConnectData(address(0, "127.0.0.1", place.getPort()), DATA));
        ids.add(client);
        client.migrate(nearEvents);
        client.setToken(5);
        expectNothing(nearEvents);
        assertThat(client.remoteAddress()).isEqualTo(place);
        assertThat(listener.takeRequest()).isNull();
        client.connect(PARAMETERS, new byte[] {4});
        town.settle();
        ListenerHandle.TakenRequest request = listener.takeRequest();
        assertThat(listener.takeRequest()).isNull();
        assertThat(request.privateData()).startsWith(1, 2, 3, 4).hasSize(56);
        assertThat(request.connectionParameters().initiatorDepth()).isEqualTo(1);
        SoftCommunicationId server = (SoftCommunicationId) request.id();
        ids.add(server);
        server.accept(PARAMETERS, DATA);
        town.settle();
        expect(nearEvents, CommunicationEventType.CONNECT_RESPONSE);
        client.establish();
        town.settle();
        // What happened before the program gave it a channel.
        server.migrate(farEvents);
        server.setToken(6);
        TakenEvent established = expect(farEvents, CommunicationEventType.ESTABLISHED);
        assertThat(established.idToken()).isEqualTo(6);
        listener.id().destroy();
        assertThat(far.uses).isEqualTo(1);
    }

    @Test
    void requestThatIsDestroyedUnused_leavesNothing() throws VerbsException {
        ListenerHandle listener = SoftEndpoints.listening(far, address(AddressInfoFlags.PASSIVE, "127.0.0.1", PORT));
        listener.id().listen(2);
        connecting();
        connecting();
        listener.takeRequest().id().destroy();
        listener.id().destroy();
        town.settle();
        expect(nearEvents, CommunicationEventType.REJECTED);
        expect(nearEvents, CommunicationEventType.REJECTED);
        assertThat(far.uses).isEqualTo(1);
    }

    @Test
    void addressThatLeadsNowhere_isAnErrorOfCreateEp() throws VerbsException {
        AddressInfo elsewhere = address(0, "198.51.100.7", 1);
        assertThatThrownBy(() -> SoftEndpoints.connecting(near, elsewhere))
                .isInstanceOfSatisfying(VerbsException.class, e -> {
                    assertThat(e.operation()).isEqualTo("rdma_create_ep");
                    assertThat(e.errno()).isEqualTo(Errno.ENETUNREACH);
                })
                .hasMessageContaining("198.51.100.7");
        AddressInfo passive = address(AddressInfoFlags.PASSIVE, "127.0.0.1", PORT);
        ListenerHandle first = SoftEndpoints.listening(far, passive);
        assertThatThrownBy(() -> SoftEndpoints.listening(near, passive))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        assertThatThrownBy(() -> SoftEndpoints.connecting(near, passive)).hasMessageContaining("EINVAL");
        assertThatThrownBy(() -> SoftEndpoints.listening(near, elsewhere)).hasMessageContaining("EINVAL");
        first.id().destroy();
    }

    @Test
    void deviceList_isTheDeviceOfTheIds() throws VerbsException {
        SoftDeviceList list = new SoftDeviceList(near);
        SoftCommunicationId id = id(nearEvents);
        id.bind(at(0));
        assertThat(list.devices()).hasSize(1);
        assertThat(list.devices().getFirst()).isSameAs(id.device());
        list.destroy();
    }
}
