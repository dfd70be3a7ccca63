package io.rdmanio.jmh;

import io.rdmanio.linux.EventFd;
import io.rdmanio.linux.Poll;
import java.io.IOException;
import java.nio.channels.Selector;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What do the three system calls of a wake-up cost (write the eventfd, look whether it is readable, read it), through our downcalls and
 * through the JDK's own selector?
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class WakeupBenchmark {
    private EventFd eventFd;
    private Selector selector;

    @Setup
    public void open() throws IOException {
        eventFd = new EventFd();
        selector = Selector.open();
    }

    @TearDown
    public void close() throws IOException {
        eventFd.close();
        selector.close();
    }

    @Benchmark
    public int ours() throws IOException {
        eventFd.signal();
        int ready = Poll.awaitReadable(eventFd.fileDescriptor(), -1, 0);
        eventFd.drain();
        return ready;
    }

    @Benchmark
    public int jdkBaseline() throws IOException {
        selector.wakeup();
        return selector.selectNow();
    }
}
