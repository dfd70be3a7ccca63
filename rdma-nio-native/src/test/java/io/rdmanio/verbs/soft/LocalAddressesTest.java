package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

/** Which addresses are this host's, and in which form they are compared. */
class LocalAddressesTest {
    private static InetAddress address(String literal) {
        return InetAddress.ofLiteral(literal);
    }

    private static InetAddress scoped(String literal, int scope) throws UnknownHostException {
        return Inet6Address.getByAddress(null, address(literal).getAddress(), scope);
    }

    @Test
    void loopback_isLocalInAllOfItsRange() {
        assertThat(LocalAddresses.isLocal(address("127.0.0.1"))).isTrue();
        assertThat(LocalAddresses.isLocal(address("127.9.8.7"))).isTrue();
        assertThat(LocalAddresses.isLocal(address("::1"))).isTrue();
        assertThat(LocalAddresses.isLocal(address("198.51.100.77"))).isFalse();
        assertThat(LocalAddresses.isLocal(address("2001:db8::77"))).isFalse();
    }

    @Test
    void addressesOfInterfaces_areLocal() {
        assertThat(LocalAddresses.all()).isNotEmpty().allMatch(LocalAddresses::isLocal);
    }

    @Test
    void mappedAddress_isTakenAsIpv4() throws UnknownHostException {
        byte[] mapped = new byte[16];
        mapped[10] = (byte) 0xFF;
        mapped[11] = (byte) 0xFF;
        mapped[12] = 127;
        mapped[15] = 1;
        InetAddress address = Inet6Address.getByAddress(null, mapped, 1);
        assertThat(LocalAddresses.normalized(address)).isEqualTo(address("127.0.0.1"));
        assertThat(RawAddresses.of(new InetSocketAddress(address, 7))).hasSize(16);
    }

    @Test
    void scope_tellsLinkLocalAddressesApartAndNoOthers() throws UnknownHostException {
        InetAddress first = LocalAddresses.normalized(scoped("fe80::1", 1));
        InetAddress second = LocalAddresses.normalized(scoped("fe80::1", 2));
        assertThat(LocalAddresses.areSame(first, first)).isTrue();
        assertThat(LocalAddresses.areSame(first, second)).isFalse();
        assertThat(LocalAddresses.text(first)).isEqualTo("fe80:0:0:0:0:0:0:1%1");
        assertThat(LocalAddresses.lacksScope(address("fe80::1"))).isTrue();
        assertThat(LocalAddresses.lacksScope(first)).isFalse();
        InetAddress global = LocalAddresses.normalized(scoped("fd00::2", 4));
        assertThat(LocalAddresses.areSame(global, address("fd00::2"))).isTrue();
        assertThat(LocalAddresses.text(global)).isEqualTo("fd00:0:0:0:0:0:0:2");
    }

    @Test
    void source_isTheOneOfLinuxsRoutes() {
        assertThat(LocalAddresses.sourceFor(address("127.0.0.5"))).isEqualTo(address("127.0.0.1"));
        assertThat(LocalAddresses.sourceFor(address("192.0.2.2"))).isEqualTo(address("192.0.2.2"));
        assertThat(LocalAddresses.loopbackOf(address("::"))).isEqualTo(address("::1"));
    }

    @Test
    void candidates_areTheAddressItselfAndThenTheWildcards() {
        assertThat(PortNames.candidates(address("127.0.0.1"), 80))
                .containsExactly("tcp/4/127.0.0.1/80", "tcp/4/0.0.0.0/80", "tcp/6/0:0:0:0:0:0:0:0/80");
        assertThat(PortNames.candidates(address("::1"), 80))
                .containsExactly(
                        "tcp/6/0:0:0:0:0:0:0:1/80",
                        "tcp/6only/0:0:0:0:0:0:0:1/80",
                        "tcp/6only/0:0:0:0:0:0:0:0/80",
                        "tcp/6/0:0:0:0:0:0:0:0/80");
    }
}
