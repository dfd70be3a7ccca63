package io.rdmanio.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.rdmanio.linux.UseGate;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** {@link UseGate}: a native resource is released once, and never under a call that is in progress. */
public final class UseGateStress {
    private static final int SHUT_OUT = 0;
    private static final int INSIDE_ALIVE = 1;
    private static final int INSIDE_RELEASED = 2;

    private UseGateStress() {}

    /** A resource that is released by whoever leaves the shut gate last. */
    private static class Resource {
        final UseGate gate = new UseGate();
        volatile int releases;

        int use() {
            if (!gate.tryEnter()) {
                return SHUT_OUT;
            }
            int seen = releases == 0 ? INSIDE_ALIVE : INSIDE_RELEASED;
            leave();
            return seen;
        }

        void close() {
            if (gate.tryEnter()) {
                gate.shut();
                leave();
            }
        }

        // Not atomic, since only one thread may get here.
        @SuppressWarnings("NonAtomicVolatileUpdate")
        private void leave() {
            if (gate.exit()) {
                releases++;
            }
        }
    }

    /** A call against a close. */
    @JCStressTest
    @Outcome(
            id = "0, 1",
            expect = ACCEPTABLE,
            desc = "The gate was shut before the call entered; the closer left last.")
    @Outcome(
            id = "1, 1",
            expect = ACCEPTABLE,
            desc = "The call entered first; whichever of the two left last released.")
    @Outcome(id = "2, .*", expect = FORBIDDEN, desc = "The closer released while the call was inside.")
    @Outcome(expect = FORBIDDEN, desc = "Nobody released, or both did.")
    @State
    public static class CallAgainstClose {
        private final Resource resource = new Resource();

        @Actor
        public void call(II_Result result) {
            result.r1 = resource.use();
        }

        @Actor
        public void close() {
            resource.close();
        }

        @Arbiter
        public void count(II_Result result) {
            result.r2 = resource.releases;
        }
    }

    /** Two closes against each other. */
    @JCStressTest
    @Outcome(
            id = "1",
            expect = ACCEPTABLE,
            desc = "One entered and shut; the other was shut out, or was inside and left last.")
    @Outcome(expect = FORBIDDEN, desc = "Nobody released, or both did.")
    @State
    public static class CloseAgainstClose {
        private final Resource resource = new Resource();

        @Actor
        public void close() {
            resource.close();
        }

        @Actor
        public void closeToo() {
            resource.close();
        }

        @Arbiter
        public void count(I_Result result) {
            result.r1 = resource.releases;
        }
    }

    /** A call against a closer that looks whether the gate is idle, as one step of waiting for that. */
    @JCStressTest
    @Outcome(
            id = "[01], 0",
            expect = ACCEPTABLE,
            desc = "The call was inside when the closer looked; it must look again.")
    @Outcome(
            id = "[01], 1",
            expect = ACCEPTABLE,
            desc = "The call was over or shut out when the closer looked; it releases.")
    @Outcome(expect = FORBIDDEN, desc = "The call was inside a gate that looked idle.")
    @State
    public static class CallAgainstIdleCheck {
        private final UseGate gate = new UseGate();
        private volatile boolean released;

        @Actor
        public void call(II_Result result) {
            if (gate.tryEnter()) {
                result.r1 = released ? INSIDE_RELEASED : INSIDE_ALIVE;
                gate.exit();
            }
        }

        @Actor
        public void close(II_Result result) {
            gate.shut();
            if (gate.isIdle()) {
                released = true;
                result.r2 = 1;
            }
        }
    }
}
