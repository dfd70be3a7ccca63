package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Events that no device here sends, made up over real objects: they are told, and close goes its way. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class InjectedEventTest {
    private final InjectingEngine injecting = new InjectingEngine();

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    private ConnectedPair connect(RdmaEngine engine) throws IOException {
        return new ConnectedPair(engine, TestDevice.address(0), TestDevice.parameters());
    }

    @ParameterizedTest
    @EnumSource
    void everyAsyncEvent_namesItsObjectAndDoesNotHinderClose(AsyncEventType type) throws IOException {
        try (ConnectedPair pair = connect(injecting.engine())) {
            DeviceContext device = pair.server.id.device();
            // Closed with its domain.
            SharedReceiveQueue shared =
                    pair.server.domain.createSharedReceiveQueue(new SharedReceiveQueueAttributes(4, 1, 0));
            boolean portEvent = type.subject() == AsyncEventType.Subject.PORT;
            injecting.asyncEvents.add(new TakenAsyncEvent(type.value(), element(type), portEvent ? 1 : 0));
            try (AsyncEvent event = device.takeAsyncEvent()) {
                assertThat(event.type()).isEqualTo(type);
                assertThat(event.portNumber()).isEqualTo(portEvent ? 1 : 0);
                assertThat(event.queuePair()).isSameAs(only(type, AsyncEventType.Subject.QUEUE_PAIR, pair.server.pair));
                assertThat(event.completionQueue())
                        .isSameAs(only(type, AsyncEventType.Subject.COMPLETION_QUEUE, pair.server.queue));
                assertThat(event.sharedReceiveQueue())
                        .isSameAs(only(type, AsyncEventType.Subject.SHARED_RECEIVE_QUEUE, shared));
                if (type.subject().isObject()) {
                    pair.server.id.close();
                    pair.server.queue.close();
                    pair.server.domain.close();
                    assertThat(injecting.acknowledged).isEqualTo(1);
                }
            }
            assertThat(injecting.acknowledged).isEqualTo(1);
        }
    }

    private static Object only(AsyncEventType type, AsyncEventType.Subject subject, Object object) {
        return type.subject() == subject ? object : null;
    }

    private long element(AsyncEventType type) {
        return switch (type.subject()) {
            case QUEUE_PAIR -> injecting.queuePair;
            case COMPLETION_QUEUE -> injecting.completionQueue;
            case SHARED_RECEIVE_QUEUE -> injecting.sharedReceiveQueue;
            case WORK_QUEUE -> Long.MAX_VALUE;
            case DEVICE, PORT -> 0;
        };
    }

    @ParameterizedTest
    @EnumSource(
            value = CommunicationEventType.class,
            names = {"DEVICE_REMOVAL", "ADDRESS_CHANGE", "TIME_WAIT_EXIT", "UNREACHABLE", "CONNECT_ERROR"})
    void eventOfALiveConnection_isToldAndDoesNotHinderClose(CommunicationEventType type) throws IOException {
        try (ConnectedPair pair = connect(injecting.engine())) {
            injecting.events.add(type);
            CommunicationEvent event = TestDevice.next(pair.channel, type);
            assertThat(event.id()).isSameAs(pair.server.id);
            assertThat(event.status()).isZero();
            pair.server.id.close();
            event.close();
            assertThat(injecting.acknowledged).isEqualTo(1);
            assertThatThrownBy(() -> pair.server.pair.toError())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this QueuePair is closed");
        }
    }

    @Test
    void removalOfTheDevice_isToldToAListenerToo() throws IOException {
        try (EventChannel channel = EventChannel.open(injecting.engine())) {
            CommunicationId listener = TestDevice.listen(channel);
            injecting.events.add(CommunicationEventType.DEVICE_REMOVAL);
            try (CommunicationEvent event = TestDevice.next(channel, CommunicationEventType.DEVICE_REMOVAL)) {
                assertThat(event.id()).isSameAs(listener);
            }
            listener.close();
            assertThat(channel.takeEvent()).isNull();
        }
    }
}
