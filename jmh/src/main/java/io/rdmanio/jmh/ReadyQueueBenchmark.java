package io.rdmanio.jmh;

import io.rdmanio.ch.ReadyQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What does it cost to hand a ready key to the selector, beside a flag per key and a queue of java.util.concurrent? */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class ReadyQueueBenchmark {
    private static final class Key extends ReadyQueue.Node {
        final AtomicBoolean queued = new AtomicBoolean();
    }

    private final ReadyQueue queue = new ReadyQueue();
    private final ConcurrentLinkedQueue<Key> concurrentQueue = new ConcurrentLinkedQueue<>();
    private final Key key = new Key();

    @Benchmark
    public ReadyQueue.Node ours() {
        queue.offer(key);
        return queue.poll();
    }

    @Benchmark
    public ReadyQueue.Node concurrentLinkedQueueBaseline() {
        if (key.queued.compareAndSet(false, true)) {
            concurrentQueue.add(key);
        }
        Key polled = concurrentQueue.poll();
        key.queued.set(false);
        return polled;
    }
}
