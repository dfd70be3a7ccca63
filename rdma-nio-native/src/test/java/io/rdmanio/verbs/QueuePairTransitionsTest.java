package io.rdmanio.verbs;

import static io.rdmanio.verbs.QueuePairState.ERROR;
import static io.rdmanio.verbs.QueuePairState.INITIALIZED;
import static io.rdmanio.verbs.QueuePairState.READY_TO_RECEIVE;
import static io.rdmanio.verbs.QueuePairState.READY_TO_SEND;
import static io.rdmanio.verbs.QueuePairState.RESET;
import static io.rdmanio.verbs.QueuePairState.SEND_QUEUE_DRAINED;
import static io.rdmanio.verbs.QueuePairState.SEND_QUEUE_ERROR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of transitions, and what it says. */
class QueuePairTransitionsTest {
    private static final Set<QueuePairType> TYPES =
            EnumSet.complementOf(EnumSet.of(QueuePairType.UNKNOWN, QueuePairType.DRIVER));

    /** Which states follow a state, by the letters of the states' C names. */
    @ParameterizedTest
    @CsvSource({
        "RESET, RESET INITIALIZED",
        "INITIALIZED, RESET INITIALIZED READY_TO_RECEIVE ERROR",
        "READY_TO_RECEIVE, RESET READY_TO_SEND ERROR",
        "READY_TO_SEND, RESET READY_TO_SEND SEND_QUEUE_DRAINED ERROR",
        "SEND_QUEUE_DRAINED, RESET READY_TO_SEND SEND_QUEUE_DRAINED ERROR",
        "SEND_QUEUE_ERROR, RESET READY_TO_SEND ERROR",
        "ERROR, RESET ERROR"
    })
    void states_haveTheirSuccessors(QueuePairState from, String successors) {
        Set<QueuePairState> expected = Arrays.stream(successors.split(" "))
                .map(QueuePairState::valueOf)
                .collect(Collectors.toSet());
        for (QueuePairState to : QueuePairState.values()) {
            assertThat(QueuePairTransitions.exists(from, to)).as("to " + to).isEqualTo(expected.contains(to));
        }
    }

    /** The required attributes as ibv_modify_qp(3) lists them. */
    @ParameterizedTest
    @CsvSource({
        "UNRELIABLE_DATAGRAM, RESET, INITIALIZED, PARTITION_KEY_INDEX PORT QUEUE_KEY",
        "UNRELIABLE_DATAGRAM, INITIALIZED, READY_TO_RECEIVE, ''",
        "UNRELIABLE_DATAGRAM, READY_TO_RECEIVE, READY_TO_SEND, SEND_PACKET_NUMBER",
        "UNRELIABLE_CONNECTED, RESET, INITIALIZED, PARTITION_KEY_INDEX PORT ACCESS_FLAGS",
        "UNRELIABLE_CONNECTED, INITIALIZED, READY_TO_RECEIVE, ADDRESS_VECTOR PATH_MTU DESTINATION_NUMBER"
                + " RECEIVE_PACKET_NUMBER",
        "UNRELIABLE_CONNECTED, READY_TO_RECEIVE, READY_TO_SEND, SEND_PACKET_NUMBER",
        "RELIABLE_CONNECTED, RESET, INITIALIZED, PARTITION_KEY_INDEX PORT ACCESS_FLAGS",
        "RELIABLE_CONNECTED, INITIALIZED, READY_TO_RECEIVE, ADDRESS_VECTOR PATH_MTU DESTINATION_NUMBER"
                + " RECEIVE_PACKET_NUMBER MAX_DESTINATION_READ_ATOMIC MIN_RNR_TIMER",
        "RELIABLE_CONNECTED, READY_TO_RECEIVE, READY_TO_SEND, SEND_PACKET_NUMBER MAX_READ_ATOMIC RETRY_COUNT"
                + " RNR_RETRY_COUNT TIMEOUT",
        "RAW_PACKET, RESET, INITIALIZED, PORT",
        "RAW_PACKET, INITIALIZED, READY_TO_RECEIVE, ''",
        "RAW_PACKET, READY_TO_RECEIVE, READY_TO_SEND, ''",
        "XRC_SEND, READY_TO_RECEIVE, READY_TO_SEND, SEND_PACKET_NUMBER MAX_READ_ATOMIC RETRY_COUNT RNR_RETRY_COUNT"
                + " TIMEOUT",
        "XRC_SEND, INITIALIZED, READY_TO_RECEIVE, ADDRESS_VECTOR PATH_MTU DESTINATION_NUMBER RECEIVE_PACKET_NUMBER",
        "XRC_RECEIVE, INITIALIZED, READY_TO_RECEIVE, ADDRESS_VECTOR PATH_MTU DESTINATION_NUMBER RECEIVE_PACKET_NUMBER"
                + " MAX_DESTINATION_READ_ATOMIC MIN_RNR_TIMER",
        "XRC_RECEIVE, READY_TO_RECEIVE, READY_TO_SEND, SEND_PACKET_NUMBER TIMEOUT"
    })
    void required_isWhatTheManualLists(QueuePairType type, QueuePairState from, QueuePairState to, String attributes) {
        Set<QueuePairAttribute> expected = Arrays.stream(attributes.split(" "))
                .filter(name -> !name.isEmpty())
                .map(QueuePairAttribute::valueOf)
                .collect(Collectors.toSet());
        assertThat(QueuePairTransitions.required(type, from, to)).isEqualTo(expected);
    }

    @ParameterizedTest
    @EnumSource
    void everyTransition_isExplained(QueuePairState from) {
        for (QueuePairType type : TYPES) {
            for (QueuePairState to : QueuePairState.values()) {
                if (from == QueuePairState.UNKNOWN || to == QueuePairState.UNKNOWN) {
                    continue;
                }
                String text = QueuePairTransitions.explain(type, from, new QueuePairAttributes().state(to));
                Set<QueuePairAttribute> required = QueuePairTransitions.required(type, from, to);
                if (!QueuePairTransitions.exists(from, to)) {
                    assertThat(text).contains("No change leads from " + from, from.nativeName(), to.nativeName());
                } else if (required.isEmpty()) {
                    assertThat(text).contains("one of the values");
                } else {
                    required.forEach(attribute -> assertThat(text).contains(attribute.nativeName()));
                    assertThat(text).contains("missing: ").doesNotContain("not allowed");
                }
                assertThat(Collections.disjoint(QueuePairTransitions.optional(type, from, to), required))
                        .as("a required attribute is not optional too")
                        .isTrue();
            }
        }
    }

    @Test
    void explain_namesWhatIsMissingAndWhatIsNotAllowed() {
        assertThat(QueuePairTransitions.explain(
                        QueuePairType.RELIABLE_CONNECTED,
                        RESET,
                        new QueuePairAttributes()
                                .state(INITIALIZED)
                                .portNumber(1)
                                .partitionKeyIndex(0)
                                .queueKey(7)))
                .isEqualTo(
                        "RESET (IBV_QPS_RESET) to INITIALIZED (IBV_QPS_INIT) of RELIABLE_CONNECTED (IBV_QPT_RC) needs"
                                + " ACCESS_FLAGS (IBV_QP_ACCESS_FLAGS), PARTITION_KEY_INDEX (IBV_QP_PKEY_INDEX), PORT"
                                + " (IBV_QP_PORT); missing: ACCESS_FLAGS (IBV_QP_ACCESS_FLAGS); not allowed: QUEUE_KEY"
                                + " (IBV_QP_QKEY).");
    }

    @Test
    void explain_withoutStateMeansTheSameState() {
        assertThat(QueuePairTransitions.explain(
                        QueuePairType.RELIABLE_CONNECTED, READY_TO_RECEIVE, new QueuePairAttributes().minRnrTimer(1)))
                .startsWith("No change leads from READY_TO_RECEIVE (IBV_QPS_RTR) to READY_TO_RECEIVE");
        assertThat(QueuePairTransitions.explain(
                        QueuePairType.RELIABLE_CONNECTED, READY_TO_SEND, new QueuePairAttributes().minRnrTimer(1)))
                .contains("one of the values does not suit");
        assertThat(QueuePairTransitions.explain(
                        QueuePairType.UNRELIABLE_DATAGRAM, SEND_QUEUE_ERROR, new QueuePairAttributes().state(ERROR)))
                .contains("one of the values");
        assertThat(QueuePairTransitions.explain(
                        QueuePairType.RELIABLE_CONNECTED, SEND_QUEUE_DRAINED, new QueuePairAttributes().queueKey(1)))
                .contains("not allowed: QUEUE_KEY");
    }

    @Test
    void unknown_isNotExplained() {
        QueuePairAttributes change = new QueuePairAttributes().state(INITIALIZED);
        assertThat(QueuePairTransitions.explain(QueuePairType.UNKNOWN, RESET, change))
                .isEmpty();
        assertThat(QueuePairTransitions.explain(QueuePairType.DRIVER, RESET, change))
                .isEmpty();
        assertThat(QueuePairTransitions.explain(QueuePairType.RELIABLE_CONNECTED, QueuePairState.UNKNOWN, change))
                .isEmpty();
    }

    @Test
    void attributes_checkWhatFitsAndTellWhatIsMarked() {
        QueuePairAttributes attributes = new QueuePairAttributes();
        assertThatThrownBy(() -> attributes.timeout(32)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> attributes.rnrRetryCount(8)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> attributes.pathMtuBytes(1000)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> attributes.pathMtuBytes(8192)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> attributes.portNumber(256)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> attributes.partitionKeyIndex(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> attributes.addressVector(null)).isInstanceOf(NullPointerException.class);
        assertThat(attributes.mask()).isZero();
        attributes.timeout(14).pathMtuBytes(4096);
        assertThat(attributes.mask()).isEqualTo(1 << 9 | 1 << 8);
        assertThat(attributes).hasToString("PATH_MTU=4096, TIMEOUT=14");
        attributes.mark(EnumSet.of(QueuePairAttribute.TIMEOUT));
        assertThat(attributes.marked()).containsExactly(QueuePairAttribute.TIMEOUT);
        assertThat(attributes.pathMtuBytes()).isEqualTo(4096);
        assertThat(QueuePairAttribute.of(-1)).hasSize(QueuePairAttribute.values().length);
        QueuePairAttributes unset = new QueuePairAttributes().mark(EnumSet.of(QueuePairAttribute.ADDRESS_VECTOR));
        assertThatThrownBy(unset::requireKnownValues).hasMessageContaining("ADDRESS_VECTOR");
        QueuePairAttributes unknown = new QueuePairAttributes().state(QueuePairState.UNKNOWN);
        assertThatThrownBy(unknown::requireKnownValues).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void paths_checkWhatFits() {
        Gid gid = new Gid(0xfe80_0000_0000_0000L, 1);
        assertThatThrownBy(() -> new GlobalRoute(gid, 0, 256, 0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new GlobalRoute(null, 0, 0, 0, 0)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> AddressHandleAttributes.local(1, 65536)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> AddressHandleAttributes.local(-1, 1)).isInstanceOf(IllegalArgumentException.class);
        AddressHandleAttributes path = AddressHandleAttributes.local(1, 5)
                .withServiceLevel(3)
                .withSourcePathBits(2)
                .withStaticRate(7);
        assertThat(path).isEqualTo(new AddressHandleAttributes(null, 5, 3, 2, 7, 1));
        assertThat(path.isGlobal()).isFalse();
    }

    @Test
    void gids_areWrittenAsSysfsDoes() throws Exception {
        Gid gid = Gid.of(InetAddress.getByName("10.77.0.1"));
        assertThat(gid).hasToString("0000:0000:0000:0000:0000:ffff:0a4d:0001");
        assertThat(Gid.of(gid.bytes())).isEqualTo(gid);
        assertThat(gid.toAddress().getHostAddress()).isEqualTo("10.77.0.1");
        assertThat(Gid.of(InetAddress.getByName("ff12::1")).isMulticast()).isTrue();
        assertThat(gid.isMulticast()).isFalse();
        assertThat(Gid.ZERO.isZero()).isTrue();
        assertThatThrownBy(() -> Gid.of(new byte[4])).isInstanceOf(IllegalArgumentException.class);
    }
}
