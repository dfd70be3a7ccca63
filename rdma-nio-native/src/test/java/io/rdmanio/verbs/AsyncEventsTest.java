package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whose an asynchronous event is, and who acknowledges it. */
@ExtendWith(LeakCheck.class)
class AsyncEventsTest {
    private final FakeEngine fake = new FakeEngine();
    private OpenDeviceContext device;

    @BeforeEach
    void open() throws VerbsException {
        device = VerbsAccess.get().newEngine(fake).open("fake0");
    }

    @AfterEach
    void close() throws VerbsException {
        device.close();
    }

    private void happens(AsyncEventType type, long element) {
        fake.asyncEvents.add(TakenAsyncEvent.ofObject(type, element));
    }

    @Test
    void event_isMappedToItsObjectAndAcknowledgedOnce() throws VerbsException {
        device.createCompletionQueue(1, null);
        CompletionQueue second = device.createCompletionQueue(1, null);
        happens(AsyncEventType.COMPLETION_QUEUE_ERROR, 2);
        AsyncEvent event = device.takeAsyncEvent();
        assertThat(event.type()).isEqualTo(AsyncEventType.COMPLETION_QUEUE_ERROR);
        assertThat(event.value()).isZero();
        assertThat(event.completionQueue()).isSameAs(second);
        assertThat(event.queuePair()).isNull();
        assertThat(event.sharedReceiveQueue()).isNull();
        assertThat(event.portNumber()).isZero();
        assertThat(event).hasToString("AsyncEvent[COMPLETION_QUEUE_ERROR]");
        assertThat(device.takeAsyncEvent()).isNull();
        assertThat(fake.journal).isEmpty();
        event.close();
        event.close();
        assertThat(fake.journal).containsExactly("acknowledge COMPLETION_QUEUE_ERROR of 2");
    }

    @Test
    void closingAnObject_paysForItsEvents() throws VerbsException {
        CompletionQueue queue = device.createCompletionQueue(1, null);
        happens(AsyncEventType.COMPLETION_QUEUE_ERROR, 1);
        AsyncEvent event = device.takeAsyncEvent();
        queue.close();
        event.close();
        assertThat(event.completionQueue()).isSameAs(queue);
        assertThat(fake.journal).containsExactly("acknowledge COMPLETION_QUEUE_ERROR of 1", "destroy queue 0");
    }

    @Test
    void eventOfAnObjectBeingDestroyed_isAcknowledgedAndPassedOver() throws VerbsException {
        CompletionQueue queue = device.createCompletionQueue(1, null);
        List<AsyncEvent> taken = new ArrayList<>();
        fake.duringDestroy = () -> {
            happens(AsyncEventType.COMPLETION_QUEUE_ERROR, 1);
            fake.asyncEvents.add(TakenAsyncEvent.ofPort(AsyncEventType.PORT_ERROR, 1));
            try {
                taken.add(device.takeAsyncEvent());
            } catch (VerbsException e) {
                throw new AssertionError(e);
            }
        };
        queue.close();
        fake.duringDestroy = () -> {};
        assertThat(fake.journal).containsExactly("acknowledge COMPLETION_QUEUE_ERROR of 1", "destroy queue 0");
        assertThat(taken).hasSize(1);
        assertThat(taken.getFirst().type()).isEqualTo(AsyncEventType.PORT_ERROR);
        taken.getFirst().close();
    }

    @Test
    void eventAfterAFailedDestroy_isPassedOverAndCloseGoesOn() throws VerbsException {
        CompletionQueue queue = device.createCompletionQueue(1, null);
        fake.failNextDestroy = 16;
        assertThatThrownBy(queue::close).isInstanceOf(VerbsException.class);
        happens(AsyncEventType.COMPLETION_QUEUE_ERROR, 1);
        assertThat(device.takeAsyncEvent()).isNull();
        queue.close();
        assertThat(fake.journal).containsExactly("acknowledge COMPLETION_QUEUE_ERROR of 1", "destroy queue 0");
    }

    @Test
    void reusedAddress_namesTheSuccessor() throws VerbsException {
        CompletionQueue former = device.createCompletionQueue(1, null);
        List<CompletionQueue> successors = new ArrayList<>();
        fake.duringDestroy = () -> {
            // The native object is gone, its owner has not noticed yet, and another gets its address.
            fake.nextElement = 1;
            try {
                successors.add(device.createCompletionQueue(1, null));
            } catch (VerbsException e) {
                throw new AssertionError(e);
            }
        };
        former.close();
        fake.duringDestroy = () -> {};
        happens(AsyncEventType.COMPLETION_QUEUE_ERROR, 1);
        try (AsyncEvent event = device.takeAsyncEvent()) {
            assertThat(event.completionQueue()).isSameAs(successors.getFirst());
        }
    }

    @Test
    void eventOfSomebodyElsesObject_isAcknowledgedAtOnceAndToldWithoutIt() throws VerbsException {
        happens(AsyncEventType.QUEUE_PAIR_FATAL, 77);
        AsyncEvent event = device.takeAsyncEvent();
        assertThat(fake.journal).containsExactly("acknowledge QUEUE_PAIR_FATAL of 77");
        assertThat(event.type()).isEqualTo(AsyncEventType.QUEUE_PAIR_FATAL);
        assertThat(event.queuePair()).isNull();
        assertThat(OpenHandles.describe()).doesNotContain("AsyncEvent");
        event.close();
        assertThat(fake.journal).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void everyType_isToldAndClosedWithTheDevice(AsyncEventType type) throws VerbsException {
        boolean object = type.subject().isObject();
        fake.asyncEvents.add(object ? TakenAsyncEvent.ofObject(type, 5) : new TakenAsyncEvent(type.value(), 0, 3));
        AsyncEvent event = device.takeAsyncEvent();
        assertThat(event.type()).isEqualTo(type);
        assertThat(event.portNumber()).isEqualTo(object ? 0 : 3);
        assertThat(event.toString()).contains(type.name());
        device.close();
        event.close();
        assertThat(fake.journal).endsWith("destroy context").hasSize(2);
    }

    @Test
    void unknownType_tellsItsValue() throws VerbsException {
        fake.asyncEvents.add(new TakenAsyncEvent(99, 0, 1));
        try (AsyncEvent event = device.takeAsyncEvent()) {
            assertThat(event.type()).isEqualTo(AsyncEventType.UNKNOWN);
            assertThat(event.value()).isEqualTo(99);
            assertThat(event).hasToString("AsyncEvent[UNKNOWN 99, port 1]");
        }
    }

    @Test
    void describe_withoutALibraryIsTheNameInC() {
        RdmaEngine engine = VerbsAccess.get().newEngine(fake);
        assertThat(engine.describe(AsyncEventType.PORT_ERROR)).isEqualTo("IBV_EVENT_PORT_ERR");
        assertThat(engine.describe(AsyncEventType.UNKNOWN)).isEqualTo("unknown");
        assertThat(engine.describe(WorkCompletionStatus.FLUSHED)).isEqualTo("IBV_WC_WR_FLUSH_ERR");
        assertThat(engine.describe(WorkCompletionStatus.UNKNOWN)).isEqualTo("unknown");
    }

    @Test
    void closedDevice_hasNoEvents() throws VerbsException {
        device.close();
        assertThatThrownBy(device::takeAsyncEvent)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this DeviceContext is closed");
        assertThatThrownBy(device::asyncFileDescriptor).isInstanceOf(IllegalStateException.class);
    }
}
