package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may bind what, as rdma_cm decides it, within a process and between two. */
class PortsTest {
    private static final int PORT = 7471;
    private static final InetAddress ONE = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress TWO = InetAddress.ofLiteral("127.0.0.2");
    private static final InetAddress ANY_4 = InetAddress.ofLiteral("0.0.0.0");
    private static final InetAddress ONE_6 = InetAddress.ofLiteral("::1");
    private static final InetAddress ANY_6 = InetAddress.ofLiteral("::");
    private static final boolean REUSE = true;
    private static final boolean ONLY_6 = true;

    private final FakeTown town = new FakeTown();
    private final Ports first = ports(town.newProcess());
    private final Ports other = ports(town.newProcess());

    private static Ports ports(FakeTown.FakeProcess process) {
        PortBlocks blocks = new PortBlocks(process, PortBlocks.usableBlocks(new int[] {32_768, 60_999}));
        return new Ports(process, "process" + process.number, blocks);
    }

    private Ports second(boolean sameProcess) {
        return sameProcess ? first : other;
    }

    private static void assertConflict(int errno, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        Ports.Conflict.class, e -> assertThat(e.errno()).isEqualTo(errno));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sameAddress_isInUse(boolean sameProcess) throws Exception {
        PortBinding binding = first.bind(ONE, PORT, false, false);
        assertConflict(Errno.EADDRINUSE, () -> second(sameProcess).bind(ONE, PORT, false, false));
        assertConflict(Errno.EADDRINUSE, () -> second(sameProcess).bind(ONE, PORT, REUSE, false));
        second(sameProcess).bind(TWO, PORT, false, false);
        second(sameProcess).bind(ONE, PORT + 1, false, false);
        first.release(binding);
        assertThatCode(() -> second(sameProcess).bind(ONE, PORT, false, false)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void wildcard_isInTheWayOfEverythingOfItsFamilies(boolean sameProcess) throws Exception {
        first.bind(ANY_4, PORT, false, false);
        assertConflict(Errno.EADDRNOTAVAIL, () -> second(sameProcess).bind(ONE, PORT, false, false));
        assertConflict(Errno.EADDRNOTAVAIL, () -> second(sameProcess).bind(ANY_6, PORT, false, false));
        second(sameProcess).bind(ANY_6, PORT, false, ONLY_6);
        second(sameProcess).bind(ONE, PORT + 1, false, false);
        assertConflict(Errno.EADDRNOTAVAIL, () -> first.bind(ANY_4, PORT + 1, false, false));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void wildcardOfIpv6_takesIpv4TooUnlessItIsAskedNotTo(boolean sameProcess) throws Exception {
        PortBinding both = first.bind(ANY_6, PORT, false, false);
        assertConflict(Errno.EADDRNOTAVAIL, () -> second(sameProcess).bind(ONE, PORT, false, false));
        assertConflict(Errno.EADDRNOTAVAIL, () -> second(sameProcess).bind(ONE_6, PORT, false, ONLY_6));
        first.release(both);
        first.bind(ANY_6, PORT, false, ONLY_6);
        second(sameProcess).bind(ANY_4, PORT, false, false);
        assertConflict(Errno.EADDRNOTAVAIL, () -> second(sameProcess).bind(ONE_6, PORT, false, ONLY_6));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sameIpv6Address_isInUseWhateverItLeavesAlone(boolean sameProcess) throws Exception {
        first.bind(ONE_6, PORT, false, ONLY_6);
        assertConflict(Errno.EADDRINUSE, () -> second(sameProcess).bind(ONE_6, PORT, false, false));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void reuse_isForThoseWhoAllAllowItAndForNoListener(boolean sameProcess) throws Exception {
        PortBinding binding = first.bind(ONE, PORT, REUSE, false);
        PortBinding shared = second(sameProcess).bind(ONE, PORT, REUSE, false);
        assertConflict(Errno.EADDRINUSE, () -> second(sameProcess).bind(ONE, PORT, false, false));
        assertConflict(Errno.EADDRINUSE, () -> first.listen(binding));
        second(sameProcess).release(shared);
        first.listen(binding);
        assertConflict(Errno.EADDRINUSE, () -> second(sameProcess).bind(ONE, PORT, REUSE, false));
        assertConflict(Errno.EADDRNOTAVAIL, () -> second(sameProcess).bind(ANY_4, PORT, REUSE, false));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void reuseAllowedLater_countsFromThenOn(boolean sameProcess) throws Exception {
        PortBinding binding = first.bind(ONE, PORT, false, false);
        assertConflict(Errno.EADDRINUSE, () -> second(sameProcess).bind(ONE, PORT, REUSE, false));
        first.allowReuse(binding);
        PortBinding shared = second(sameProcess).bind(ONE, PORT, REUSE, false);
        first.release(binding);
        second(sameProcess).release(shared);
        assertThat(town.names).isEmpty();
    }

    @Test
    void automaticPorts_areOutsideOfTcpsAndNeverTheSame() throws Exception {
        Set<Integer> ports = new HashSet<>();
        List<PortBinding> bindings = new ArrayList<>();
        InetSocketAddress destination = new InetSocketAddress(ONE, 80);
        for (int i = 0; i < 3 * PortBlocks.PORTS; i++) {
            bindings.add(first.bindToConnect(ONE, destination));
            bindings.add(other.bindToConnect(ONE, destination));
        }
        for (PortBinding binding : bindings) {
            assertThat(ports.add(binding.port)).isTrue();
        }
        assertThat(ports).allMatch(port -> port > 60_999 || port < 32_768);
        assertThat(town.names).hasSize(6);
        for (int i = 0; i < bindings.size(); i++) {
            (i % 2 == 0 ? first : other).release(bindings.get(i));
        }
        assertThat(town.names).isEmpty();
    }

    @Test
    void portZero_bindsAFreeOneThatNobodyElseCan() throws Exception {
        PortBinding binding = first.bind(ONE, 0, false, false);
        assertThat(binding.port).isPositive();
        assertConflict(Errno.EADDRINUSE, () -> first.bind(ONE, binding.port, false, false));
        assertConflict(Errno.EADDRINUSE, () -> other.bind(ONE, binding.port, false, false));
        first.release(binding);
        assertThat(town.names).isEmpty();
    }

    @Test
    void exhaustedPorts_areSharedForDifferentDestinations() throws Exception {
        PortBlocks blocks = new PortBlocks(town.newProcess(), List.of(1000));
        Set<Integer> taken = new HashSet<>();
        for (int i = 0; i < PortBlocks.PORTS; i++) {
            taken.add(blocks.take(port -> !taken.contains(port)));
        }
        assertThat(taken).hasSize(PortBlocks.PORTS).doesNotContain(0);
        assertThat(blocks.take(port -> !taken.contains(port))).isZero();
        int shared = blocks.share(taken::contains);
        assertThat(taken).contains(shared);
        taken.forEach(blocks::giveBack);
        assertThat(town.names).hasSize(1);
        blocks.giveBack(shared);
        assertThat(town.names).isEmpty();
    }

    @Test
    void tcpRange_isTheSystems() throws Exception {
        assertThat(PortBlocks.tcpRange())
                .containsExactly(Arrays.stream(range().split("\\s+"))
                        .mapToInt(Integer::parseInt)
                        .toArray());
    }

    private static String range() throws IOException {
        Process cat = new ProcessBuilder("cat", "/proc/sys/net/ipv4/ip_local_port_range").start();
        return new String(cat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }

    @Test
    void usableBlocks_leaveTcpItsRange() {
        assertThat(PortBlocks.usableBlocks(new int[] {32_768, 60_999}))
                .allMatch(block -> (block + 1) * PortBlocks.PORTS <= 32_768 || block * PortBlocks.PORTS > 60_999)
                .startsWith(1023)
                .hasSizeGreaterThan(400);
        assertThat(PortBlocks.usableBlocks(new int[] {1024, 65_535}))
                .startsWith(1023)
                .hasSizeGreaterThan(60);
    }

    @Test
    void namesThatMeanNothing_areInNobodysWay() throws Exception {
        FakeTown.FakeProcess stranger = town.newProcess();
        for (String name : List.of("tcp/", "tcp/4/x/y", "tcp/4/127.0.0.1/7471/reuse", "tcp/////", "tcp/4/a/7471/b/c")) {
            stranger.take(name);
        }
        assertThatCode(() -> first.bind(ANY_4, PORT, false, false)).doesNotThrowAnyException();
    }

    @Test
    void conflictAfterTheNameWasTaken_givesItBack() throws Exception {
        first.bind(ANY_4, PORT, false, false);
        assertConflict(Errno.EADDRNOTAVAIL, () -> other.bind(ONE, PORT, false, false));
        assertThat(town.names).hasSize(1);
    }
}
