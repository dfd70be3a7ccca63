package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.HandMade.Two;
import io.rdmanio.verbs.cm.TestDevice;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The life of a queue pair on a real device: creation, changes of state that fail, queries, and the order of closing. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class QueuePairTest {
    // The kernel answers no query for the rate limit.
    private static final Set<QueuePairAttribute> QUERIED =
            EnumSet.complementOf(EnumSet.of(QueuePairAttribute.RATE_LIMIT));
    private static final QueuePairCapabilities SMALL = new QueuePairCapabilities(4, 4, 1, 1, 0);

    @BeforeAll
    static void useDevice() {
        assertThat(TestDevice.name()).isNotEmpty();
    }

    @Test
    void create_grantsAtLeastWhatWasWanted() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            QueuePairCapabilities granted = one.pair.capabilities();
            assertThat(granted.maxSendWorkRequests()).isGreaterThanOrEqualTo(HandMade.DEPTH);
            assertThat(granted.maxReceiveWorkRequests()).isGreaterThanOrEqualTo(HandMade.DEPTH);
            assertThat(granted.maxSendSges()).isGreaterThanOrEqualTo(HandMade.SGES);
            assertThat(granted.maxReceiveSges()).isGreaterThanOrEqualTo(HandMade.SGES);
            assertThat(one.pair.type()).isEqualTo(QueuePairType.RELIABLE_CONNECTED);
            assertThat(one.pair.domain()).isSameAs(one.domain);
            assertThat(one.pair.initAttributes().sendQueue()).isSameAs(one.sends);
            assertThat(one.pair.initAttributes().receiveQueue()).isSameAs(one.receives);
            assertThat(one.pair.initAttributes().capabilities()).isEqualTo(granted);
            try (QueuePair other = one.domain.createQueuePair(one.attributes(QueuePairType.RELIABLE_CONNECTED, 4))) {
                assertThat(other.number()).isNotEqualTo(one.pair.number());
            }
        }
    }

    @Test
    void create_explainsWhatIsTooLarge() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            QueuePairInitAttributes huge = one.attributes(QueuePairType.RELIABLE_CONNECTED, 4)
                    .withCapabilities(new QueuePairCapabilities(1 << 26, 1, 1, 1, 0));
            assertThatThrownBy(() -> one.domain.createQueuePair(huge))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_qp(RELIABLE_CONNECTED")
                    .hasMessageContaining("maxSendWorkRequests=67108864");
        }
    }

    /** The types that the device under test has. */
    private static Set<QueuePairType> types() {
        EnumSet<QueuePairType> types = EnumSet.of(QueuePairType.RELIABLE_CONNECTED);
        if (TestDevice.has(Feature.UNRELIABLE_CONNECTIONS)) {
            types.add(QueuePairType.UNRELIABLE_CONNECTED);
        }
        if (TestDevice.has(Feature.DATAGRAMS)) {
            types.add(QueuePairType.UNRELIABLE_DATAGRAM);
        }
        return types;
    }

    @ParameterizedTest
    @EnumSource(names = {"UNRELIABLE_CONNECTED", "UNRELIABLE_DATAGRAM", "RAW_PACKET", "XRC_SEND", "DRIVER"})
    void create_ofATypeTheDeviceLacks_isAnError(QueuePairType type) throws VerbsException {
        boolean has = types().contains(type);
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            QueuePairInitAttributes wanted = one.attributes(type, 4);
            if (has) {
                one.domain.createQueuePair(wanted).close();
            } else {
                assertThatThrownBy(() -> one.domain.createQueuePair(wanted))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining("ibv_create_qp(" + type);
            }
        }
    }

    @Test
    void create_refusesWhatADriverWouldFollowNullFor() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED);
                HandMade other = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            QueuePairInitAttributes bare = QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTED, SMALL);
            assertThatThrownBy(() -> one.domain.createQueuePair(bare))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("send completions");
            assertThatThrownBy(() -> one.domain.createQueuePair(bare.withSendQueue(one.sends)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("receive completions");
            assertThatThrownBy(() -> one.domain.createQueuePair(bare.withCompletionQueue(other.sends)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("different devices");
            QueuePairInitAttributes xrc = QueuePairInitAttributes.of(QueuePairType.XRC_RECEIVE, SMALL);
            assertThatThrownBy(() -> one.domain.createQueuePair(xrc))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("XRC domain");
            QueuePairInitAttributes unknown =
                    QueuePairInitAttributes.of(QueuePairType.UNKNOWN, SMALL).withCompletionQueue(one.sends);
            assertThatThrownBy(() -> one.domain.createQueuePair(unknown)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void useAfterClose_isRefused() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            one.pair.close();
            one.pair.close();
            assertThatThrownBy(one.pair::state)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this QueuePair is closed");
            assertThatThrownBy(() -> one.pair.modify(new QueuePairAttributes()))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> one.pair.query(QUERIED)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> one.postReceive(1, 0, 1)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> one.pair.postSend(one.prepare(SendOpcode.SEND, 0, 0, 1)))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void domain_closesItsQueuePairs() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            one.domain.close();
            assertThatThrownBy(one.pair::toError).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> one.domain.createQueuePair(one.attributes(QueuePairType.RELIABLE_CONNECTED, 1)))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void completionQueue_closesItsQueuePairs() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            one.receives.close();
            assertThatThrownBy(one.pair::toError).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> one.domain.createQueuePair(one.attributes(QueuePairType.RELIABLE_CONNECTED, 1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this CompletionQueue is closed");
        }
    }

    @Test
    @Needs(Feature.QUEUE_PAIR_QUERY)
    void query_tellsWhatWasSet() throws VerbsException {
        try (Two pair = HandMade.connected(QueuePairType.RELIABLE_CONNECTED)) {
            HandMade left = pair.left();
            QueuePairQuery answer = left.pair.query(QUERIED);
            QueuePairAttributes found = answer.attributes();
            assertThat(found.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            assertThat(found.pathMtuBytes()).isEqualTo(1024);
            assertThat(found.destinationNumber()).isEqualTo(pair.right().pair.number());
            assertThat(found.accessFlags()).isEqualTo(HandMade.ALL_ACCESS);
            assertThat(found.portNumber()).isEqualTo(HandMade.PORT);
            assertThat(found.partitionKeyIndex()).isZero();
            assertThat(found.timeout()).isEqualTo(14);
            assertThat(found.retryCount()).isEqualTo(2);
            assertThat(found.rnrRetryCount()).isEqualTo(1);
            assertThat(found.minRnrTimer()).isEqualTo(1);
            assertThat(found.maxReadAtomic()).isEqualTo(4);
            assertThat(found.maxDestinationReadAtomic()).isEqualTo(4);
            assertThat(found.isDraining()).isFalse();
            AddressHandleAttributes path = found.addressVector();
            assertThat(path.route().destination()).isEqualTo(left.path().route().destination());
            assertThat(path.route().sourceGidIndex())
                    .isEqualTo(left.path().route().sourceGidIndex());
            assertThat(answer.initAttributes().sendQueue()).isSameAs(left.sends);
            assertThat(answer.initAttributes().capabilities().maxSendWorkRequests())
                    .isGreaterThanOrEqualTo(HandMade.DEPTH);
            assertThat(answer.initAttributes().signalAll()).isFalse();
            assertThat(left.pair
                            .query(EnumSet.of(QueuePairAttribute.TIMEOUT))
                            .attributes()
                            .marked())
                    .isEqualTo(Set.of(QueuePairAttribute.TIMEOUT));
        }
    }

    @Test
    void query_ofTheRateLimit_explainsItself() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            assertThatThrownBy(() -> one.pair.query(EnumSet.of(QueuePairAttribute.RATE_LIMIT)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("RATE_LIMIT");
        }
    }

    @Test
    void query_neverFailsForWhatAdriverLeavesUndefined() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            assertThat(one.pair.query(QUERIED).attributes()).isNotNull();
            assertThat(one.pair.state()).isNotNull();
        }
    }

    @Test
    @Needs(Feature.OWN_CONNECTIONS)
    void everyFailingTransition_explainsItself() throws VerbsException {
        for (QueuePairType type : types()) {
            for (QueuePairState from : EnumSet.of(
                    QueuePairState.RESET,
                    QueuePairState.INITIALIZED,
                    QueuePairState.READY_TO_RECEIVE,
                    QueuePairState.READY_TO_SEND,
                    QueuePairState.ERROR)) {
                failEveryTransition(type, from);
            }
        }
    }

    /** Tries all states without what they need, on the device; the table must have known what happens. */
    private static void failEveryTransition(QueuePairType type, QueuePairState from) throws VerbsException {
        for (QueuePairState to : QueuePairState.values()) {
            if (to == QueuePairState.UNKNOWN || to == QueuePairState.SEND_QUEUE_ERROR) {
                continue;
            }
            try (HandMade one = inState(type, from)) {
                boolean expected = QueuePairTransitions.exists(from, to)
                        && QueuePairTransitions.required(type, from, to).isEmpty();
                QueuePairAttributes change = new QueuePairAttributes().state(to);
                String what = type + " " + from + " to " + to;
                if (expected) {
                    one.pair.modify(change);
                    continue;
                }
                assertThatThrownBy(() -> one.pair.modify(change))
                        .as(what)
                        .isInstanceOfSatisfying(
                                VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                        .hasMessageContaining(QueuePairTransitions.explain(type, from, change))
                        .hasMessageContaining("queuePair=" + one.pair.number());
                assertThat(one.pair.state()).as(what).isEqualTo(from);
            }
        }
    }

    private static HandMade inState(QueuePairType type, QueuePairState state) throws VerbsException {
        HandMade one = new HandMade(type);
        if (state == QueuePairState.RESET) {
            return one;
        }
        one.pair.modify(HandMade.toInitialized(type));
        if (state == QueuePairState.ERROR) {
            one.pair.toError();
        } else if (state != QueuePairState.INITIALIZED) {
            one.pair.modify(one.toReadyToReceive(one.pair.number()));
            if (state == QueuePairState.READY_TO_SEND) {
                one.pair.modify(one.toReadyToSend());
            }
        }
        return one;
    }

    @Test
    @Needs(Feature.OWN_CONNECTIONS)
    void modify_namesMissingAndAlienAttributes() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            QueuePairAttributes change = HandMade.toInitialized(QueuePairType.RELIABLE_CONNECTED);
            change.mark(EnumSet.of(
                    QueuePairAttribute.STATE, QueuePairAttribute.PORT, QueuePairAttribute.PARTITION_KEY_INDEX));
            change.timeout(14);
            assertThatThrownBy(() -> one.pair.modify(change))
                    .hasMessageContaining("missing: ACCESS_FLAGS (IBV_QP_ACCESS_FLAGS)")
                    .hasMessageContaining("not allowed: TIMEOUT (IBV_QP_TIMEOUT)");
            assertThatThrownBy(() -> one.pair.modify(HandMade.toInitialized(QueuePairType.RELIABLE_CONNECTED)
                            .portNumber(77)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("one of the values does not suit")
                    .hasMessageContaining("PORT=77");
            assertThatThrownBy(() -> one.pair.modify(new QueuePairAttributes().state(QueuePairState.UNKNOWN)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @Needs(Feature.DRAINED_STATE)
    void sendQueue_drainsAndGoesOn() throws VerbsException {
        try (Two pair = HandMade.connected(QueuePairType.RELIABLE_CONNECTED)) {
            HandMade left = pair.left();
            left.pair.modify(new QueuePairAttributes()
                    .state(QueuePairState.SEND_QUEUE_DRAINED)
                    .drainedNotification(false));
            assertThat(left.pair.state()).isEqualTo(QueuePairState.SEND_QUEUE_DRAINED);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (left.pair.query(QUERIED).attributes().isDraining()) {
                assertThat(System.nanoTime()).as("it drains").isLessThan(deadline);
                Thread.onSpinWait();
            }
            left.pair.modify(new QueuePairAttributes()
                    .state(QueuePairState.READY_TO_SEND)
                    .currentState(QueuePairState.SEND_QUEUE_DRAINED));
            left.pair.postSend(left.prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 10)
                    .remote(pair.right().region.address(), pair.right().region.remoteKey()));
            assertThat(left.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    void pathToSender_withoutHeader_isLocal() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            assertThat(one.device.pathToSender(HandMade.PORT, one.completions, 0, null))
                    .isEqualTo(AddressHandleAttributes.local(HandMade.PORT, 0));
        }
    }

    @Test
    @Without(Feature.DATAGRAMS)
    void datagramOperations_ofADeviceWithoutDatagrams_areErrors() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            AddressHandleAttributes path = AddressHandleAttributes.global(HandMade.PORT, GlobalRoute.to(Gid.ZERO, 0));
            assertThatThrownBy(() -> one.domain.createAddressHandle(path))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_ah");
            assertThatThrownBy(() -> one.domain.createAddressHandle(HandMade.PORT, one.completions, 0, null))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_ah_from_wc");
            Gid group = Gid.of(new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, (byte) 239, 77, 1, 1});
            assertThatThrownBy(() -> one.pair.attachMulticast(group, 0))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_attach_mcast");
            assertThatThrownBy(() -> one.pair.detachMulticast(group, 0))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_detach_mcast");
        }
    }

    @Test
    void modify_overIwarp_saysWhoChangesStates() throws VerbsException {
        try (HandMade one = new HandMade(QueuePairType.RELIABLE_CONNECTED)) {
            if (TestDevice.has(Feature.OWN_CONNECTIONS)) {
                one.pair.modify(HandMade.toInitialized(QueuePairType.RELIABLE_CONNECTED));
                return;
            }
            // Without a connection below it siw must not let the queue pair become ready, nor may anything hang.
            try {
                one.pair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));
            } catch (VerbsException e) {
                if (e.errno() == Errno.EINVAL) {
                    assertThat(e).hasMessageContaining("the connection manager changes the states");
                }
            }
        }
    }
}
