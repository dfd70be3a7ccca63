package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class CallFrameTest {
    private static final NativeFunction CLOSE = Downcall.libc("close");

    @Test
    void framesInUse_areDifferent() {
        List<CallFrame> frames = new ArrayList<>();
        Set<Long> addresses = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            CallFrame frame = CallFrame.enter();
            frames.add(frame);
            addresses.add(frame.argumentsAddress());
        }
        assertThat(addresses).hasSize(100);
        frames.forEach(CallFrame::close);
    }

    @Test
    void frame_isUsedAgain() {
        long first;
        try (CallFrame frame = CallFrame.enter()) {
            first = frame.argumentsAddress();
        }
        try (CallFrame frame = CallFrame.enter()) {
            assertThat(frame.argumentsAddress()).isEqualTo(first);
        }
    }

    @Test
    void cleared_isZeroUpToItsLength() {
        try (CallFrame frame = CallFrame.enter()) {
            frame.arguments().fill((byte) 1);
            frame.cleared(8);
            assertThat(frame.arguments().get(ValueLayout.JAVA_LONG, 0)).isZero();
            assertThat(frame.arguments().get(ValueLayout.JAVA_BYTE, 8)).isEqualTo((byte) 1);
        }
    }

    @Test
    void errno_belongsToTheCallOnManyVirtualThreads() throws Exception {
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Integer>> results = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                results.add(executor.submit(() -> {
                    try (CallFrame frame = CallFrame.enter()) {
                        Downcall.call(CLOSE, frame, -1);
                        // The thread may go on with another carrier, whose errno is another.
                        LockSupport.parkNanos(1);
                        return frame.errno();
                    }
                }));
            }
            for (Future<Integer> result : results) {
                assertThat(result.get()).isEqualTo(Errno.EBADF);
            }
        }
    }

    @Test
    void systemCalls_allocateNoMoreThanASlice() throws IOException {
        // What the JDK takes to save errno, unless the server compiler removes it; nothing of it is ours.
        long sliceBytes = 40;
        long calls = 4;
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (EventFd event = new EventFd();
                Epoll epoll = new Epoll(1)) {
            epoll.add(event.fileDescriptor(), Epoll.IN, 0);
            // The least of several rounds: until all is compiled, the JVM itself allocates for method handles.
            long bytes = Long.MAX_VALUE;
            int rounds = 20;
            int repetitions = 2_000;
            for (int round = 0; round < rounds; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < repetitions; i++) {
                    event.signal();
                    epoll.await(0);
                    Poll.awaitReadable(event.fileDescriptor(), -1, 0);
                    event.drain();
                }
                bytes = Math.min(bytes, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(bytes).isLessThanOrEqualTo(repetitions * calls * sliceBytes);
        }
    }
}
