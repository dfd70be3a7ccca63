package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SocketAddressesTest {
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(128, 8);

    @AfterEach
    void free() {
        arena.close();
    }

    private InetSocketAddress roundTrip(InetSocketAddress address) {
        memory.fill((byte) 0x5a);
        SocketAddresses.write(address, memory);
        return SocketAddresses.read(memory);
    }

    @Test
    void inet4_goesBothWays() throws UnknownHostException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName("10.77.0.1"), 0xABCD);
        assertThat(roundTrip(address)).isEqualTo(address);
        assertThat(memory.asSlice(0, 8).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(new byte[] {2, 0, (byte) 0xAB, (byte) 0xCD, 10, 77, 0, 1});
    }

    @Test
    void inet6_goesBothWays() throws UnknownHostException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName("fd77::1"), 4791);
        assertThat(roundTrip(address)).isEqualTo(address);
        assertThat(SockaddrIn6.SIN6_SCOPE_ID.get(memory)).isZero();
    }

    @Test
    void linkLocal_keepsItsScope() throws UnknownHostException {
        byte[] bytes = InetAddress.getByName("fe80::1").getAddress();
        InetSocketAddress read = roundTrip(new InetSocketAddress(Inet6Address.getByAddress(null, bytes, 7), 1));
        assertThat(((Inet6Address) read.getAddress()).getScopeId()).isEqualTo(7);
        assertThat(read.getAddress().getAddress()).isEqualTo(bytes);
    }

    @Test
    void mappedInet4_isUnmapped() throws UnknownHostException {
        byte[] mapped = new byte[16];
        mapped[10] = (byte) 0xFF;
        mapped[11] = (byte) 0xFF;
        mapped[12] = 10;
        mapped[15] = 9;
        SocketAddresses.write(new InetSocketAddress(Inet6Address.getByAddress(null, mapped, -1), 80), memory);
        assertThat(SockaddrIn.SIN_FAMILY.get(memory)).isEqualTo(SocketAddresses.AF_INET);
        assertThat(SocketAddresses.read(memory))
                .isEqualTo(new InetSocketAddress(InetAddress.getByName("10.0.0.9"), 80));
    }

    @Test
    void unsetOrForeignFamily_isNull() {
        memory.fill((byte) 0);
        assertThat(SocketAddresses.read(memory)).isNull();
        SockaddrIn.SIN_FAMILY.set(memory, 27);
        assertThat(SocketAddresses.read(memory)).isNull();
    }
}
