package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.VerbsAccess;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** How events of completion queues are counted, and who closes whom. Tokens count from 1. */
@ExtendWith(LeakCheck.class)
class CompletionChannelTest {
    private final FakeEngine fake = new FakeEngine();
    private OpenDeviceContext device;
    private CompletionChannel channel;

    @BeforeEach
    void open() throws VerbsException {
        device = VerbsAccess.get().newEngine(fake).open("fake0");
        channel = device.createCompletionChannel();
    }

    @Test
    void event_isCountedAndPaidWhenTheQueueIsClosed() throws VerbsException {
        CompletionQueue first = device.createCompletionQueue(1, channel);
        CompletionQueue second = device.createCompletionQueue(1, channel);
        fake.completionEvents.add(2L);
        fake.completionEvents.add(1L);
        fake.completionEvents.add(2L);
        assertThat(channel.takeEvent()).isSameAs(second);
        assertThat(channel.takeEvent()).isSameAs(first);
        assertThat(channel.takeEvent()).isSameAs(second);
        assertThat(channel.takeEvent()).isNull();
        assertThat(fake.journal).isEmpty();
        device.close();
        assertThat(fake.journal)
                .containsExactly(
                        "acknowledge queue 2 x2",
                        "destroy queue 2",
                        "acknowledge queue 1 x1",
                        "destroy queue 1",
                        "destroy channel",
                        "destroy context");
    }

    @Test
    void events_areAcknowledgedInBatchesAndOnDemand() throws VerbsException {
        CompletionQueue queue = device.createCompletionQueue(1, channel);
        for (int i = 0; i < 33; i++) {
            fake.completionEvents.add(1L);
            assertThat(channel.takeEvent()).isSameAs(queue);
        }
        assertThat(fake.journal).containsExactly("acknowledge queue 1 x32");
        queue.acknowledgeEvents();
        queue.acknowledgeEvents();
        assertThat(fake.journal).containsExactly("acknowledge queue 1 x32", "acknowledge queue 1 x1");
        device.close();
    }

    @Test
    void closedQueue_leavesItsPlaceToAnother() throws VerbsException {
        device.createCompletionQueue(1, channel).close();
        CompletionQueue successor = device.createCompletionQueue(1, channel);
        fake.completionEvents.add(1L);
        assertThat(channel.takeEvent()).isSameAs(successor);
        device.close();
    }

    @Test
    void failedDestroyOfAQueue_keepsItsParentsOpen() throws VerbsException {
        CompletionQueue queue = device.createCompletionQueue(1, channel);
        fake.failNextDestroy = 16;
        assertThatThrownBy(device::close).isInstanceOf(VerbsException.class).hasMessageContaining("queue 1");
        assertThat(fake.journal).isEmpty();
        device.close();
        queue.close();
        assertThat(fake.journal).containsExactly("destroy queue 1", "destroy channel", "destroy context");
    }

    @Test
    void channelOfAnotherDevice_isRefused() throws VerbsException {
        try (OpenDeviceContext other = VerbsAccess.get().newEngine(fake).open("fake0")) {
            assertThatThrownBy(() -> other.createCompletionQueue(1, channel))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> other.createCompletionQueue(0, null)).isInstanceOf(IllegalArgumentException.class);
        }
        device.close();
        assertThatThrownBy(() -> device.createCompletionQueue(1, channel)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> device.createCompletionQueue(1, null)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void queueWithoutChannel_hasNoEvents() throws VerbsException {
        CompletionQueue queue = device.createCompletionQueue(1, null);
        queue.acknowledgeEvents();
        try (WorkCompletions completions = new WorkCompletions(1)) {
            assertThat(queue.poll(completions)).isZero();
            queue.close();
            assertThatThrownBy(() -> queue.poll(completions))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this CompletionQueue is closed");
        }
        device.close();
    }
}
