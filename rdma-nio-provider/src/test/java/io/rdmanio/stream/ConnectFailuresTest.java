package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.cm.CommunicationEventType;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import org.junit.jupiter.api.Test;

class ConnectFailuresTest {
    private static final InetSocketAddress PEER = new InetSocketAddress("192.0.2.1", 7);

    @Test
    void rejection_isConnectionRefused() {
        for (int reason : new int[] {8, 28, -Errno.ECONNREFUSED}) {
            assertThat(ConnectFailures.of(CommunicationEventType.REJECTED, reason, PEER))
                    .isInstanceOf(ConnectException.class)
                    .hasMessageContaining("Connection refused")
                    .hasMessageContaining("192.0.2.1:7");
        }
    }

    @Test
    void rejectionForAnotherReason_namesIt() {
        assertThat(ConnectFailures.of(CommunicationEventType.REJECTED, 17, PEER))
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("17");
    }

    @Test
    void silence_isATimeOut() {
        assertThat(ConnectFailures.of(CommunicationEventType.UNREACHABLE, -Errno.ETIMEDOUT, PEER))
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("timed out");
    }

    @Test
    void noRouteAndNoDevice_areToldApart() {
        assertThat(ConnectFailures.of(CommunicationEventType.ADDRESS_ERROR, -Errno.EHOSTUNREACH, PEER))
                .isInstanceOf(NoRouteToHostException.class)
                .hasMessageContaining("No route to host");
        assertThat(ConnectFailures.of(CommunicationEventType.ADDRESS_ERROR, -Errno.ENODEV, PEER))
                .isInstanceOf(NoRouteToHostException.class)
                .hasMessageContaining("No RDMA device");
    }
}
