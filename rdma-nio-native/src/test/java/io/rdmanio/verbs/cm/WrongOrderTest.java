package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.QueuePairAttribute;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Operations on ids that are not where they should be, and values at the edge: errors with a reason, never a crash. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class WrongOrderTest {
    private EventChannel channel;

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    @BeforeEach
    void open() throws VerbsException {
        channel = EventChannel.open(TestDevice.engine());
    }

    @AfterEach
    void close() throws VerbsException {
        channel.close();
    }

    private static void assertInvalid(String function, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfSatisfying(VerbsException.class, e -> {
            assertThat(e.operation()).isEqualTo(function);
            assertThat(e.errno()).isEqualTo(Errno.EINVAL);
            // What function, what error, and a sentence of what to do.
            assertThat(e).hasMessageContaining("EINVAL").hasMessageMatching("(?s).*[.] [A-Z].*[.]");
        });
    }

    @Test
    void idWithoutDevice_refusesWhatNeedsOne() throws IOException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        assertInvalid("rdma_resolve_route", () -> id.resolveRoute(1));
        assertInvalid("rdma_connect", () -> id.connect(TestDevice.parameters(), null));
        assertInvalid("rdma_accept", () -> id.accept(TestDevice.parameters(), null));
        assertInvalid("rdma_reject", () -> id.reject(null));
        assertInvalid("rdma_disconnect", id::disconnect);
        assertInvalid("rdma_establish", id::establish);
        assertInvalid("rdma_init_qp_attr", () -> id.initQueuePairAttributes(QueuePairState.INITIALIZED));
        assertThatThrownBy(() -> id.notify(AsyncEventType.COMMUNICATION_ESTABLISHED))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.operation()).isEqualTo("rdma_notify"));
        assertThat(id.sourcePort()).isZero();
        assertThat(id.destinationPort()).isZero();
        assertThat(id.portNumber()).isZero();
    }

    @Test
    void boundId_refusesWhatIsForOthers() throws IOException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        id.bind(TestDevice.address(0));
        assertThat(id.sourcePort()).isEqualTo(id.localAddress().getPort()).isPositive();
        assertInvalid("rdma_bind_addr", () -> id.bind(TestDevice.address(0)));
        assertInvalid("rdma_resolve_route", () -> id.resolveRoute(1));
        assertInvalid("rdma_connect", () -> id.connect(TestDevice.parameters(), null));
        assertInvalid("rdma_accept", () -> id.accept(TestDevice.parameters(), null));
        assertInvalid("rdma_reject", () -> id.reject(null));
        assertInvalid("rdma_disconnect", id::disconnect);
    }

    @Test
    void listen_twiceIsRefused() throws IOException {
        CommunicationId listener = TestDevice.listen(channel);
        assertInvalid("rdma_listen", () -> listener.listen(1));
        assertInvalid("rdma_connect", () -> listener.connect(TestDevice.parameters(), null));
        assertInvalid("rdma_accept", () -> listener.accept(TestDevice.parameters(), null));
    }

    @Test
    void resolvedId_refusesToListen() throws IOException {
        CommunicationId id = TestDevice.resolve(channel, 1);
        assertInvalid("rdma_listen", () -> id.listen(1));
        assertThat(id.destinationPort()).isEqualTo(1);
        assertInvalid("rdma_accept", () -> id.accept(TestDevice.parameters(), null));
    }

    @Test
    void connect_beyondTheDevicesLimitsIsRefused() throws IOException {
        try (Endpoint client = new Endpoint(TestDevice.resolve(channel, 1))) {
            int tooMany = client.id.device().attributes().maxQueuePairReadAtomics() + 1;
            ConnectionParameters parameters = new ConnectionParameters(tooMany, 1, 0, 7, 7, false, 0);
            assertInvalid("rdma_connect", () -> client.id.connect(parameters, null));
            assertInvalid("rdma_establish", client.id::establish);
        }
    }

    @Test
    @Needs(Feature.CONNECTION_ATTRIBUTES)
    void initQueuePairAttributes_tellsWhatInitNeeds() throws IOException {
        CommunicationId id = TestDevice.resolve(channel, 1);
        QueuePairAttributes attributes = id.initQueuePairAttributes(QueuePairState.INITIALIZED);
        assertThat(attributes.state()).isEqualTo(QueuePairState.INITIALIZED);
        assertThat(attributes.portNumber()).isEqualTo(1);
        assertThat(attributes.marked())
                .contains(
                        QueuePairAttribute.STATE,
                        QueuePairAttribute.PORT,
                        QueuePairAttribute.PARTITION_KEY_INDEX,
                        QueuePairAttribute.ACCESS_FLAGS);
    }

    @Test
    void addressReuse_letsTwoIdsBind() throws IOException {
        CommunicationId first = channel.createId(PortSpace.TCP);
        CommunicationId second = channel.createId(PortSpace.TCP);
        first.options().setReuseAddress(true);
        second.options().setReuseAddress(true);
        first.bind(TestDevice.address(0));
        second.bind(first.localAddress());
        assertThat(second.localAddress()).isEqualTo(first.localAddress());
    }

    @Test
    void options_checkTheirRanges() throws IOException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        IdOptions options = id.options();
        assertThatThrownBy(() -> options.setAcknowledgementTimeout(32)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> options.setAcknowledgementTimeout(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> options.setPath(new byte[IdOptions.PATH_BYTES - 1]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> options.setPath(new byte[7 * IdOptions.PATH_BYTES]))
                .isInstanceOf(IllegalArgumentException.class);
        options.setAcknowledgementTimeout(14);
        assertInvalid("rdma_set_option", () -> options.setPath(new byte[IdOptions.PATH_BYTES]));
        id.close();
        assertThatThrownBy(() -> options.setReuseAddress(true))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this CommunicationId is closed");
    }

    @Test
    void closedId_refusesEverything() throws IOException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        id.close();
        for (ThrowingCallable call : new ThrowingCallable[] {
            id::establish,
            id::sourcePort,
            id::destinationPort,
            id::protectionDomain,
            () -> id.notify(AsyncEventType.COMMUNICATION_ESTABLISHED),
            () -> id.initQueuePairAttributes(QueuePairState.INITIALIZED),
            () -> id.joinMulticast(TestDevice.address(0).getAddress()),
            () -> id.createSharedReceiveQueue(null, new io.rdmanio.verbs.SharedReceiveQueueAttributes(1, 1, 0)),
            () -> id.migrate(channel)
        }) {
            assertThatThrownBy(call)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this CommunicationId is closed");
        }
    }

    @Test
    void peerThatVanishes_isNoticedByAccept() throws IOException {
        try (EventChannel clients = EventChannel.open(TestDevice.engine());
                CommunicationId listener = TestDevice.listen(channel)) {
            Endpoint client = new Endpoint(TestDevice.resolve(clients, listener.sourcePort()));
            client.id.connect(TestDevice.parameters(), null);
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST);
                    Endpoint server = new Endpoint(request.id())) {
                client.close();
                try {
                    server.id.accept(TestDevice.parameters(), null);
                } catch (VerbsException e) {
                    assertThat(e.operation()).isEqualTo("rdma_accept");
                    return;
                }
                try (CommunicationEvent end = TestDevice.next(channel)) {
                    assertThat(end.type() == CommunicationEventType.ESTABLISHED
                                    && TestDevice.has(Feature.PEER_LOSS_AT_ACCEPT))
                            .as("%s", end)
                            .isFalse();
                }
            }
        }
    }

    private interface PrivateDataCall {
        void with(byte[] data) throws VerbsException;
    }

    private static void assertLimit(String function, int limitBytes, PrivateDataCall call) {
        assertInvalid(function, () -> call.with(new byte[limitBytes + 1]));
        assertThatCode(() -> call.with(new byte[limitBytes])).doesNotThrowAnyException();
    }

    @Test
    @Needs(Feature.PRIVATE_DATA_LIMITS)
    void privateData_isTakenUpToItsLimit() throws IOException {
        try (CommunicationId listener = TestDevice.listen(channel);
                Endpoint client = new Endpoint(TestDevice.resolve(channel, listener.sourcePort()))) {
            assertLimit("rdma_connect", 56, data -> client.id.connect(TestDevice.parameters(), data));
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST);
                    CommunicationId id = request.id()) {
                assertLimit("rdma_reject", 148, id::reject);
            }
            try (CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.REJECTED)) {
                assertThat(event.privateData()).hasSize(148);
            }
        }
    }

    @Test
    void acceptWithTheMostPrivateData_arrives() throws IOException {
        int limit = 196;
        try (CommunicationId listener = TestDevice.listen(channel);
                Endpoint client = new Endpoint(TestDevice.resolve(channel, listener.sourcePort()))) {
            client.id.connect(TestDevice.parameters(), null);
            try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST);
                    Endpoint server = new Endpoint(request.id())) {
                byte[] data = new byte[limit];
                data[limit - 1] = 7;
                server.id.accept(TestDevice.parameters(), data);
                for (int i = 0; i < 2; i++) {
                    try (CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.ESTABLISHED)) {
                        if (event.id() == client.id) {
                            assertThat(event.privateData()).startsWith(data);
                        }
                    }
                }
            }
        }
    }

    @Test
    void everyPortSpace_makesIds() throws IOException {
        for (PortSpace space : PortSpace.values()) {
            if (space != PortSpace.UNKNOWN) {
                channel.createId(space).close();
            }
        }
    }
}
