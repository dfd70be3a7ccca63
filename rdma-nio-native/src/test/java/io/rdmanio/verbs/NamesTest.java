package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.PortSpace;
import org.junit.jupiter.api.Test;

/** Enums and exceptions. */
class NamesTest {
    private static final int NOT_KNOWN = 4711;

    @Test
    void unknownValue_isAValue() {
        assertThat(WorkCompletionStatus.of(NOT_KNOWN)).isEqualTo(WorkCompletionStatus.UNKNOWN);
        assertThat(CommunicationEventType.of(NOT_KNOWN)).isEqualTo(CommunicationEventType.UNKNOWN);
        assertThat(QueuePairState.of(NOT_KNOWN)).isEqualTo(QueuePairState.UNKNOWN);
        assertThat(TransportType.of(-1)).isEqualTo(TransportType.UNKNOWN);
    }

    @Test
    void knownValue_goesBothWays() {
        for (CommunicationEventType type : CommunicationEventType.values()) {
            assertThat(CommunicationEventType.of(type.value())).isEqualTo(type);
        }
        for (AsyncEventType type : AsyncEventType.values()) {
            assertThat(AsyncEventType.of(type.value())).isEqualTo(type);
        }
        assertThat(AsyncEventType.values()).hasSize(21);
        for (Rate rate : Rate.values()) {
            assertThat(Rate.of(rate.value())).isEqualTo(rate);
        }
        assertThat(GidType.of(2)).isEqualTo(GidType.ROCE_V2);
        assertThat(GidType.of(NOT_KNOWN)).isEqualTo(GidType.UNKNOWN);
        assertThat(PortSpace.of(0x106)).isEqualTo(PortSpace.TCP);
        assertThat(CommunicationEventType.values()).hasSize(17);
    }

    @Test
    void exception_namesOperationErrorAndCure() {
        VerbsException e = new VerbsException("ibv_reg_mr", "length=1", Errno.ENOMEM, "Do this.");
        assertThat(e).hasMessage("ibv_reg_mr(length=1): out of memory (ENOMEM, 12). Do this.");
        assertThat(e.operation()).isEqualTo("ibv_reg_mr");
        assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
        assertThat(e.errorName()).isEqualTo("ENOMEM");
        VerbsException other = new VerbsException("ibv_x", "", 0, "The library lacks it.");
        assertThat(other).hasMessage("ibv_x: The library lacks it.");
        assertThat(other.errorName()).isEmpty();
    }

    @Test
    void connectionParameters_fitIntoBytes() {
        assertThatThrownBy(() -> new ConnectionParameters(256, 0, 0, 0, 0, false, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("responderResources");
        assertThatThrownBy(() -> new ConnectionParameters(0, 0, 0, -1, 0, false, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
