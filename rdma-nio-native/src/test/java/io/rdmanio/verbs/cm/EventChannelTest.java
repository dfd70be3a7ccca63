package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.TakenEvent;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whose an event is, and when it is acknowledged. Tokens count from 1. */
@ExtendWith(LeakCheck.class)
class EventChannelTest {
    private static final int EVENT = 70;

    private final FakeEngine fake = new FakeEngine();
    private EventChannel channel;

    @BeforeEach
    void open() throws VerbsException {
        RdmaEngine engine = VerbsAccess.get().newEngine(fake);
        channel = EventChannel.open(engine);
    }

    private void arrives(CommunicationEventType type, long idToken, CommunicationIdHandle newId) {
        fake.events.add(new TakenEvent(EVENT, type, -5, idToken, newId, new byte[] {1}, null));
    }

    @Test
    void event_findsItsIdAndIsAcknowledgedOnce() throws VerbsException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        id.attach("mine");
        arrives(CommunicationEventType.ESTABLISHED, 1, null);
        CommunicationEvent event = channel.takeEvent();
        assertThat(event.id()).isSameAs(id);
        assertThat(event.id().attachment()).isEqualTo("mine");
        assertThat(event.listenId()).isNull();
        assertThat(event.status()).isEqualTo(-5);
        assertThat(event.privateData()).containsExactly(1);
        assertThat(fake.journal).isEmpty();
        event.close();
        event.close();
        channel.close();
        assertThat(fake.journal).containsExactly("acknowledge 70", "destroy id 1", "destroy event channel");
    }

    @Test
    void noEvent_isNull() throws VerbsException {
        assertThat(channel.takeEvent()).isNull();
        channel.close();
        assertThatThrownBy(channel::takeEvent).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> channel.createId(PortSpace.TCP)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void awaitEvent_givesUpInTimeAndEndsWithClose() throws IOException, InterruptedException {
        assertThat(channel.awaitEvent(0)).isNull();
        assertThat(channel.awaitEvent(30)).isNull();
        assertThatThrownBy(() -> channel.awaitEvent(-1)).isInstanceOf(IllegalArgumentException.class);
        AtomicReference<Throwable> end = new AtomicReference<>();
        Thread waiter = Thread.ofPlatform().start(() -> {
            try {
                channel.awaitEvent(60_000);
            } catch (IOException | IllegalStateException e) {
                end.set(e);
            }
        });
        await().until(() -> waiter.getState() == Thread.State.RUNNABLE);
        channel.close();
        assertThat(waiter.join(Duration.ofSeconds(10))).isTrue();
        assertThat(end.get()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void eventOfAClosedId_hasNoIdAndIsAcknowledgedAtOnce() throws VerbsException {
        channel.createId(PortSpace.TCP).close();
        arrives(CommunicationEventType.DISCONNECTED, 1, null);
        CommunicationEvent event = channel.takeEvent();
        assertThat(event.id()).isNull();
        assertThat(event.type()).isEqualTo(CommunicationEventType.DISCONNECTED);
        event.close();
        channel.close();
        assertThat(fake.journal).containsExactly("destroy id 1", "acknowledge 70", "destroy event channel");
    }

    @Test
    void request_bringsANewIdAndIsTheListenersDebt() throws VerbsException {
        CommunicationId listener = channel.createId(PortSpace.TCP);
        arrives(CommunicationEventType.CONNECT_REQUEST, 1, fake.newId("new"));
        CommunicationEvent event = channel.takeEvent();
        assertThat(event.listenId()).isSameAs(listener);
        assertThat(event.id()).isNotNull().isNotSameAs(listener);
        event.id().close();
        assertThat(fake.journal).containsExactly("id new gets token 2", "destroy id new");
        listener.close();
        assertThat(fake.journal).endsWith("acknowledge 70", "destroy id 1");
        event.close();
        channel.close();
    }

    @Test
    void requestWhoseListenerIsGone_isDestroyedAfterItsEventIsPaid() throws VerbsException {
        channel.createId(PortSpace.TCP).close();
        arrives(CommunicationEventType.CONNECT_REQUEST, 1, fake.newId("orphan"));
        assertThat(channel.takeEvent()).isNull();
        assertThat(fake.journal).containsExactly("destroy id 1", "acknowledge 70", "destroy id orphan");
        channel.close();
    }

    @Test
    void closingTheChannel_closesIdsYoungestFirst() throws VerbsException {
        channel.createId(PortSpace.TCP);
        channel.createId(PortSpace.UDP);
        arrives(CommunicationEventType.ADDRESS_RESOLVED, 1, null);
        CommunicationEvent event = channel.takeEvent();
        channel.close();
        event.close();
        assertThat(fake.journal)
                .containsExactly("destroy id 2", "acknowledge 70", "destroy id 1", "destroy event channel");
    }

    @Test
    void failedDestroy_isThrownAndCanBeTriedAgain() throws VerbsException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        fake.failNextDestroy = 16;
        assertThatThrownBy(channel::close).isInstanceOf(VerbsException.class).hasMessageContaining("EBUSY");
        assertThatThrownBy(channel::takeEvent).isInstanceOf(IllegalStateException.class);
        assertThat(fake.journal).isEmpty();
        channel.close();
        id.close();
        assertThat(fake.journal).containsExactly("destroy id 1", "destroy event channel");
    }

    @Test
    void unknownPortSpace_isRefused() throws VerbsException {
        assertThatThrownBy(() -> channel.createId(PortSpace.UNKNOWN)).isInstanceOf(IllegalArgumentException.class);
        channel.close();
    }

    @Test
    void negativeTimeout_isRefused() throws VerbsException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        InetSocketAddress address = new InetSocketAddress("10.0.0.1", 1);
        assertThatThrownBy(() -> id.resolveAddress(null, address, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> id.resolveRoute(-1)).isInstanceOf(IllegalArgumentException.class);
        channel.close();
    }

    @Test
    void migrate_paysMovesAndRenames() throws VerbsException {
        EventChannel target = EventChannel.open(VerbsAccess.get().newEngine(fake));
        CommunicationId id = channel.createId(PortSpace.TCP);
        assertThatThrownBy(() -> id.migrate(target)).isInstanceOf(IllegalArgumentException.class);
        target.close();
        EventChannel second = EventChannel.open(channel.engine());
        second.createId(PortSpace.TCP);
        arrives(CommunicationEventType.ESTABLISHED, 1, null);
        CommunicationEvent event = channel.takeEvent();
        fake.journal.clear();
        id.migrate(second);
        assertThat(fake.journal).containsExactly("acknowledge 70", "migrate id 1", "id 1 gets token 2");
        event.close();
        channel.close();
        arrives(CommunicationEventType.DISCONNECTED, 2, null);
        assertThat(second.takeEvent().id()).isSameAs(id);
        second.close();
        assertThat(fake.journal)
                .containsExactly(
                        "acknowledge 70",
                        "migrate id 1",
                        "id 1 gets token 2",
                        "destroy event channel",
                        "acknowledge 70",
                        "destroy id 1",
                        "destroy id 1",
                        "destroy event channel");
    }

    @Test
    void eventOfALeftGroup_isPaidAndPassedOver() throws VerbsException {
        channel.createId(PortSpace.UDP);
        fake.events.add(
                new TakenEvent(EVENT, CommunicationEventType.MULTICAST_JOIN, 0, 1, null, new byte[0], null, null, 77));
        assertThat(channel.takeEvent()).isNull();
        channel.close();
        assertThat(fake.journal).containsExactly("acknowledge 70", "destroy id 1", "destroy event channel");
    }

    @Test
    void engineWithoutAnOperation_saysSo() throws VerbsException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        RdmaEngine engine = channel.engine();
        assertThatThrownBy(() -> DeviceList.open(engine)).hasMessageContaining("rdma_get_devices");
        assertThatThrownBy(() -> AddressInfo.lookUp(engine, "x", null, AddressInfoHints.NONE))
                .hasMessageContaining("rdma_getaddrinfo");
        assertThatThrownBy(() -> CommunicationEventType.UNREACHABLE.eventString(engine))
                .hasMessageContaining("rdma_event_str");
        id.close();
        channel.close();
    }
}
