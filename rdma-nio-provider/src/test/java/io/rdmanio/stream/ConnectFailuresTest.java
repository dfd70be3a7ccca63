package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ConnectFailuresTest {
    private static final InetSocketAddress PEER = new InetSocketAddress("192.0.2.1", 7);
    private static final int MAX_ERRNO = 133;
    private static final ConnectFailures RDMA = new ConnectFailures(RdmaEngine.system());
    private static final ConnectFailures SOFT = new ConnectFailures(RdmaEngine.soft());

    @Test
    void rejection_isConnectionRefused() {
        for (int reason : new int[] {8, 28, -Errno.ECONNREFUSED}) {
            assertThat(RDMA.of(CommunicationEventType.REJECTED, reason, PEER))
                    .isInstanceOf(ConnectException.class)
                    .hasMessageContaining("Connection refused")
                    .hasMessageContaining("192.0.2.1:7");
        }
    }

    @Test
    void rejectionForAnotherReason_namesIt() {
        assertThat(RDMA.of(CommunicationEventType.REJECTED, 17, PEER))
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("17");
    }

    @Test
    void silence_isATimeOut() {
        assertThat(RDMA.of(CommunicationEventType.UNREACHABLE, -Errno.ETIMEDOUT, PEER))
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("timed out");
    }

    @Test
    void noRouteAndNoDevice_areToldApart() {
        assertThat(RDMA.of(CommunicationEventType.ADDRESS_ERROR, -Errno.EHOSTUNREACH, PEER))
                .isInstanceOf(NoRouteToHostException.class)
                .hasMessageContaining("No route to host");
        assertThat(RDMA.of(CommunicationEventType.ADDRESS_ERROR, -Errno.ENODEV, PEER))
                .isInstanceOf(NoRouteToHostException.class)
                .hasMessageContaining("No RDMA device");
    }

    @Test
    void softwareDevice_addressElsewhere_saysWhomItReaches() {
        for (int errno : new int[] {Errno.ENETUNREACH, Errno.EHOSTUNREACH}) {
            VerbsException refused = new VerbsException("rdma_resolve_addr", "", errno, "");
            assertThat(SOFT.of(refused, PEER))
                    .isInstanceOf(NoRouteToHostException.class)
                    .hasMessageContaining("No route to host: " + PEER)
                    .hasMessageContaining("the software device, which this process uses, reaches this host only")
                    .hasMessageContaining("-Dio.rdmanio.policy=rdma")
                    .hasCause(refused);
            assertThat(RDMA.of(refused, PEER)).hasMessage("No route to host: " + PEER);
        }
    }

    @Test
    void softwareDevice_nobodyListens_saysWhere() {
        assertThat(SOFT.of(CommunicationEventType.REJECTED, 8, PEER))
                .isInstanceOf(ConnectException.class)
                .hasMessage("Connection refused: " + PEER
                        + " (no process of this user listens there on the software device)");
        assertThat(RDMA.of(CommunicationEventType.REJECTED, 8, PEER)).hasMessage("Connection refused: " + PEER);
    }

    @Test
    void removedDevice_isTheOneThatWasUsed() {
        assertThat(RDMA.of(CommunicationEventType.DEVICE_REMOVAL, 0, PEER))
                .isInstanceOf(SocketException.class)
                .hasMessage("The RDMA device on the way to " + PEER + " was removed");
        assertThat(SOFT.of(CommunicationEventType.DEVICE_REMOVAL, 0, PEER))
                .isInstanceOf(SocketException.class)
                .hasMessage("The software device on the way to " + PEER + " was removed");
    }

    @Test
    void bindWithoutDevice_namesTheRdmaDevice() {
        VerbsException refused = new VerbsException("rdma_listen", "", Errno.ENODEV, "");
        assertThat(RDMA.ofBind(refused, PEER))
                .isInstanceOf(BindException.class)
                .hasMessageContaining("No RDMA device has the address " + PEER)
                .hasCause(refused);
    }

    /** Whatever goes wrong over the software device, no RDMA device is said to lack, reach or have anything. */
    @ParameterizedTest
    @EnumSource
    void softwareDevice_speaksOfNoOther(CommunicationEventType type) {
        for (int errno = 0; errno <= MAX_ERRNO; errno++) {
            VerbsException refused = new VerbsException("rdma_listen", "", errno, "");
            for (IOException failure :
                    List.of(SOFT.of(type, -errno, PEER), SOFT.of(refused, PEER), SOFT.ofBind(refused, PEER))) {
                assertThat(failure.getMessage().replace("what an RDMA device lacks here", ""))
                        .as("%s, errno %d", type, errno)
                        .doesNotContain("RDMA device")
                        .doesNotContain("rdma link");
            }
        }
    }
}
