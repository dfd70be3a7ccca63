package io.rdmanio.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.QueuePairCapabilities;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an engine does without that has no better way. */
class QueuePairHandleTest {
    /** A queue pair that keeps the numbers of the receives that are posted to it. */
    private static final class Receives implements QueuePairHandle {
        final List<Long> ids = new ArrayList<>();
        int answer;

        @Override
        public int postReceive(MemorySegment first) {
            long address = first.address();
            while (address != 0) {
                MemorySegment request = MemorySegment.ofAddress(address).reinterpret(ReceiveWorkRequestLayout.SIZE);
                assertThat(ReceiveWorkRequestLayout.SGE_COUNT.get(request)).isZero();
                ids.add(ReceiveWorkRequestLayout.WORK_REQUEST_ID.get(request));
                address = ReceiveWorkRequestLayout.NEXT.get(request);
            }
            // As a driver does that says which one it refused.
            first.set(ValueLayout.JAVA_LONG, ReceiveWorkRequestLayout.FAILED_OFFSET, -1);
            return answer;
        }

        @Override
        public int postSend(MemorySegment first) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int number() {
            return 1;
        }

        @Override
        public QueuePairCapabilities capabilities() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void destroy() {}
    }

    @Test
    void postEmptyReceives_isOneListByDefault() {
        Receives queuePair = new Receives();
        assertThat(queuePair.postEmptyReceives(1)).isZero();
        assertThat(queuePair.ids).containsExactly(0L);
        queuePair.ids.clear();
        queuePair.answer = Errno.ENOMEM;
        assertThat(queuePair.postEmptyReceives(4)).isEqualTo(Errno.ENOMEM);
        assertThat(queuePair.ids).containsExactly(0L, 1L, 2L, 3L);
    }
}
