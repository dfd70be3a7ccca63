package io.rdmanio.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.RdmaEngine;
import java.net.SocketException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On a host with a device, and on one without: the rule is the same, and the outcome another. */
class TransportPolicyTest {
    private final RdmaEngine rdma = RdmaEngine.system();
    private final RdmaEngine soft = RdmaEngine.soft();
    private final Optional<String> noRdma = rdma.unavailableReason();
    private final TransportPolicy policy = new TransportPolicy(rdma, soft);

    @ParameterizedTest
    @ValueSource(strings = {"auto", "AUTO"})
    void auto_isRdmaWhereThereIsADeviceAndSoftElsewhere(String value) throws SocketException {
        assertThat(policy.engine(value)).isSameAs(noRdma.isEmpty() ? rdma : soft);
        assertThat(policy.engine(value)).isSameAs(policy.engine("auto"));
    }

    @Test
    void soft_isSoftWhateverThereIs() throws SocketException {
        assertThat(policy.engine("soft")).isSameAs(soft);
    }

    @Test
    void rdma_demandsADevice() throws SocketException {
        if (noRdma.isEmpty()) {
            assertThat(policy.engine("rdma")).isSameAs(rdma);
        } else {
            assertThatThrownBy(() -> policy.engine("rdma"))
                    .isInstanceOf(SocketException.class)
                    .hasMessage("RDMA is not available: " + noRdma.get());
        }
    }

    @Test
    void anythingElse_isRefused() {
        assertThatThrownBy(() -> policy.engine("kernel"))
                .isInstanceOf(SocketException.class)
                .hasMessageContaining("not there yet");
        assertThatThrownBy(() -> policy.engine("fast"))
                .isInstanceOf(SocketException.class)
                .hasMessage("io.rdmanio.policy=fast is no policy; those are auto, rdma, soft and kernel");
    }
}
