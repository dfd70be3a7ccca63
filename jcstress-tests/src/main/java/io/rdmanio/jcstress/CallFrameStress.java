package io.rdmanio.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.rdmanio.linux.CallFrame;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** The pool of {@link CallFrame}s: a frame that is taken belongs to one thread until it is given back. */
@JCStressTest
@Outcome(
        id = "1, 2",
        expect = ACCEPTABLE,
        desc = "Each had a frame of its own, or the second took the frame after the first gave it back.")
@Outcome(
        expect = FORBIDDEN,
        desc = "Both held one frame: the second took it while the first was writing its arguments there.")
@State
public class CallFrameStress {
    // Opaque, so that what is read back is what the memory holds and not what the compiler remembers.
    private static final VarHandle ARGUMENT = ValueLayout.JAVA_INT.varHandle();

    @Actor
    public void first(II_Result result) {
        result.r1 = writeAndReadBack(1);
    }

    @Actor
    public void second(II_Result result) {
        result.r2 = writeAndReadBack(2);
    }

    private static int writeAndReadBack(int value) {
        try (CallFrame frame = CallFrame.enter()) {
            ARGUMENT.setOpaque(frame.arguments(), 0L, value);
            return (int) ARGUMENT.getOpaque(frame.arguments(), 0L);
        }
    }
}
