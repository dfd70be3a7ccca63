package io.rdmanio.jmh;

import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
 * What does it cost to rewrite a prepared work request for the next message (number, immediate data, peer's memory, one
 * entry), beside the same seven puts into a direct ByteBuffer?
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class WorkRequestBenchmark {
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(144).order(ByteOrder.nativeOrder());
    private SendWorkRequest request;
    private long number;

    @Setup
    public void prepare() {
        request = new SendWorkRequest(1)
                .opcode(SendOpcode.WRITE_WITH_IMM)
                .flags(SendFlags.SIGNALED)
                .sgeCount(1);
    }

    @TearDown
    public void free() {
        request.close();
    }

    @Benchmark
    public SendWorkRequest ours() {
        long n = number++;
        return request.workRequestId(n)
                .immediateData((int) n)
                .remote(n << 6, 0x1234)
                .sge(0, n << 6, 64, 0x5678);
    }

    @Benchmark
    public ByteBuffer byteBufferBaseline() {
        long n = number++;
        return buffer.putLong(0, n)
                .putInt(36, Integer.reverseBytes((int) n))
                .putLong(40, n << 6)
                .putInt(48, 0x1234)
                .putLong(128, n << 6)
                .putInt(136, 64)
                .putInt(140, 0x5678);
    }
}
