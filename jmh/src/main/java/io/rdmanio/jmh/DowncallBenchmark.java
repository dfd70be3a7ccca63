package io.rdmanio.jmh;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.NativeFunction;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What does a call into C cost that saves errno and does next to nothing, beside a Java call that is not inlined? */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class DowncallBenchmark {
    private static final NativeFunction ABS = Downcall.libc("abs");

    private int value = -7;

    @Benchmark
    public int callSavingErrno() {
        try (CallFrame frame = CallFrame.enter()) {
            return (int) Downcall.call(ABS, frame, value);
        }
    }

    @Benchmark
    public int javaBaseline() {
        return abs(value);
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static int abs(int value) {
        return Math.abs(value);
    }
}
