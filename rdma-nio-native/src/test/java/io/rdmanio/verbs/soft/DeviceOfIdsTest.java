package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.soft.SoftSide.Options;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What was made on the device of an id lives as long as its owner wants, and then nothing of the device is left. */
@ExtendWith(LeakCheck.class)
@Timeout(60)
class DeviceOfIdsTest {
    private static final int LENGTH = 1000;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** The device as an id has it; the id and its channel are open until closed. */
    private static final class Opened implements AutoCloseable {
        final EventChannel events = EventChannel.open(RdmaEngine.soft());
        final CommunicationId id = events.createId(PortSpace.TCP);
        final DeviceContext device;

        Opened() throws VerbsException {
            id.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            device = id.device();
        }

        @Override
        public void close() throws VerbsException {
            id.close();
            events.close();
        }
    }

    private static void assertTransfers(SoftSide from, SoftSide to) throws Exception {
        from.fill(0, LENGTH, 7);
        to.postReceive(1, LENGTH, LENGTH);
        to.receives.requestNotification(false);
        from.pair.postSend(from.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, LENGTH));
        assertThat(Poll.awaitReadable(to.channel.fileDescriptor(), -1, 10_000)).isEqualTo(1);
        assertThat(to.channel.takeEvent()).isSameAs(to.receives);
        assertThat(to.awaitReceive().lengthBytes()).isEqualTo(LENGTH);
        assertThat(to.bytes(LENGTH, LENGTH)).isEqualTo(from.bytes(0, LENGTH));
        assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        for (int opcode : new int[] {SendOpcode.WRITE, SendOpcode.READ}) {
            from.pair.postSend(from.toPeer(to, opcode, SendFlags.SIGNALED, 0, LENGTH, 2 * LENGTH));
            assertThat(from.awaitSend().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
        assertThat(to.bytes(2 * LENGTH, LENGTH)).isEqualTo(from.bytes(0, LENGTH));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void lastChannelClosed_leavesWhatIsOpen(boolean foreign) throws Exception {
        Map<String, Integer> before = Possessions.now();
        Options options = foreign ? Options.DEFAULT.withForeignMemory() : Options.DEFAULT;
        Opened opened = new Opened();
        DeviceContext device = opened.device;
        SoftSide left = new SoftSide(device, options);
        SoftSide right = new SoftSide(device, options.withSharedReceives());
        left.connect(right);
        right.connect(left);
        assertTransfers(left, right);
        opened.close();

        assertTransfers(left, right);
        // The device answers, too, and makes what belongs to a domain that is open.
        assertThat(device.attributes().maxQueuePairs()).isPositive();
        try (SoftSide third = new SoftSide(device, options);
                SoftSide fourth = new SoftSide(device, options)) {
            third.connect(fourth);
            fourth.connect(third);
            assertTransfers(third, fourth);
        }
        right.postReceive(1, 0, LENGTH);
        right.postReceive(2, 0, LENGTH);
        right.shared.setLimit(2);
        left.pair.postSend(left.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, LENGTH));
        assertThat(right.awaitReceive().lengthBytes()).isEqualTo(LENGTH);
        try (AsyncEvent event = device.awaitAsyncEvent(10_000)) {
            assertThat(event.type()).isEqualTo(AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED);
            assertThat(event.sharedReceiveQueue()).isSameAs(right.shared);
        }

        // Whoever opens it again meanwhile has the same.
        try (Opened again = new Opened()) {
            assertThat(again.device).isSameAs(device);
            assertTransfers(left, right);
        }
        left.close();
        assertThat(device.attributes().maxQueuePairs()).isPositive();
        right.close();
        assertThat(Possessions.settled(before, PATIENCE_NANOS)).isEqualTo(before);
    }

    @Test
    void nothingOpen_saysSo() throws VerbsException {
        Opened opened = new Opened();
        opened.close();
        assertThatThrownBy(opened.device::allocateProtectionDomain)
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }
}
