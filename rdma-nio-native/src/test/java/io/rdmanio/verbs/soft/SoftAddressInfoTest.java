package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.AddressFamily;
import io.rdmanio.verbs.cm.AddressInfo;
import io.rdmanio.verbs.cm.AddressInfoFlags;
import io.rdmanio.verbs.cm.AddressInfoHints;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.PortSpace;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Look-ups that ask no name service: numbers, wildcards, services, and the codes of what is not found. */
@Timeout(20)
class SoftAddressInfoTest {
    private static final AddressInfoHints NUMERIC = AddressInfoHints.NONE.withFlags(AddressInfoFlags.NUMERIC_HOST);

    private static AddressInfo lookUp(String node, String service, AddressInfoHints hints) throws VerbsException {
        return SoftAddressInfo.lookUp(node, service, hints).getFirst();
    }

    private static void assertCode(String code, String node, String service, AddressInfoHints hints) {
        assertThatThrownBy(() -> lookUp(node, service, hints))
                .isInstanceOfSatisfying(VerbsException.class, e -> {
                    assertThat(e.operation()).isEqualTo("rdma_getaddrinfo");
                    assertThat(e.errno()).isZero();
                })
                .hasMessageContaining(code);
    }

    @Test
    void numbers_areFoundWithTypeAndPortSpace() throws VerbsException {
        AddressInfo info = lookUp("10.0.0.1", "80", AddressInfoHints.NONE);
        assertThat(info.destination()).isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("10.0.0.1"), 80));
        assertThat(info.queuePairType()).isEqualTo(QueuePairType.RELIABLE_CONNECTED);
        assertThat(info.portSpace()).isEqualTo(PortSpace.TCP);
        assertThat(info.family()).isEqualTo(AddressFamily.INET);
        assertThat(info.rawDestination()).startsWith(2, 0, 0, 80, 10, 0, 0, 1).hasSize(16);
        AddressInfo datagrams = lookUp("fd00::1", "1", AddressInfoHints.NONE.withPortSpace(PortSpace.UDP));
        assertThat(datagrams.queuePairType()).isEqualTo(QueuePairType.UNRELIABLE_DATAGRAM);
        assertThat(datagrams.family()).isEqualTo(AddressFamily.INET6);
        assertThat(datagrams.rawDestination()).startsWith(10, 0, 0, 1).hasSize(28);
    }

    @Test
    void passive_isTheWildcardOrTheNode() throws VerbsException {
        AddressInfoHints passive = NUMERIC.withFlags(AddressInfoFlags.PASSIVE | AddressInfoFlags.NUMERIC_HOST);
        AddressInfo any = lookUp(null, "7", passive);
        assertThat(any.isPassive()).isTrue();
        assertThat(any.source()).isEqualTo(new InetSocketAddress("0.0.0.0", 7));
        assertThat(any.destination()).isNull();
        assertThat(lookUp(null, "7", passive.withFamily(AddressFamily.INET6)).source())
                .isEqualTo(new InetSocketAddress("::", 7));
        assertThat(lookUp("127.0.0.1", null, passive).source())
                .isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
        assertThat(lookUp(null, "7", NUMERIC.withFamily(AddressFamily.INET)).destination())
                .isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 7));
    }

    @Test
    void hints_giveTheSourceOrAll() throws VerbsException {
        InetSocketAddress source = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 5);
        InetSocketAddress destination = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 6);
        assertThat(lookUp("10.0.0.1", "80", NUMERIC.withSource(source)).source())
                .isEqualTo(source);
        AddressInfo all = lookUp(null, null, NUMERIC.withSource(source).withDestination(destination));
        assertThat(all.source()).isEqualTo(source);
        assertThat(all.destination()).isEqualTo(destination);
        assertThat(all.queuePairType()).isEqualTo(QueuePairType.UNKNOWN);
    }

    @Test
    void whatIsNotFound_hasTheCodeOfGetaddrinfo() {
        assertCode("Name or service not known (EAI_NONAME, -2)", "no such host", null, NUMERIC);
        assertCode("EAI_SERVICE", "10.0.0.1", "no-such-service", NUMERIC);
        assertCode("EAI_SERVICE", "10.0.0.1", "65536", NUMERIC);
        assertCode("EAI_SERVICE", "10.0.0.1", "99999999999", NUMERIC);
        assertCode("EAI_ADDRFAMILY", "10.0.0.1", "1", NUMERIC.withFamily(AddressFamily.INET6));
        assertCode(
                "EAI_SOCKTYPE",
                "10.0.0.1",
                "1",
                NUMERIC.withPortSpace(PortSpace.TCP).withQueuePairType(QueuePairType.UNRELIABLE_DATAGRAM));
        assertCode(
                "EAI_FAMILY",
                "10.0.0.1",
                "1",
                NUMERIC.withFlags(AddressInfoFlags.FAMILY).withFamily(AddressFamily.INFINIBAND));
    }

    @Test
    void eventString_isTheLibrarysName() {
        for (CommunicationEventType type : CommunicationEventType.values()) {
            String expected = type == CommunicationEventType.UNKNOWN ? "UNKNOWN EVENT" : type.nativeName();
            assertThat(SoftEventChannel.eventString(type.value())).isEqualTo(expected);
        }
    }
}
