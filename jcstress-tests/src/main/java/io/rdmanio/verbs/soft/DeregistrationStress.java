package io.rdmanio.verbs.soft;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** {@link KeyTable}: memory is the program's again when its region is deregistered, whoever was reaching for it. */
public final class DeregistrationStress {
    private static final KeyTable KEYS;
    private static final MemorySegment MEMORY = Arena.global().allocate(8);

    static {
        try {
            KEYS = new KeyTable();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private DeregistrationStress() {}

    /** A queue pair's claim, in a domain of its own, with a region that the test ends. */
    public abstract static class Registered {
        private final ReentrantLock claim = new ReentrantLock();
        private final MemoryRegionHandle region;
        final int key;
        // Plain, as the program's memory is.
        int freed;

        Registered() {
            SoftProtectionDomain domain = new SoftProtectionDomain(KEYS, null);
            domain.join(this::quiesce);
            try {
                region = domain.registerMemory(MEMORY, 0);
            } catch (VerbsException e) {
                throw new UncheckedIOException(e);
            }
            key = region.localKey();
        }

        /** As a queue pair does: whoever has had the claim since has seen that the key is gone. */
        private void quiesce() {
            claim.lock();
            try {
                assert claim.isHeldByCurrentThread();
            } finally {
                claim.unlock();
            }
        }

        /** What an access by the key finds: 0 no key, 1 memory, 2 memory that was freed. */
        int access() {
            claim.lock();
            try {
                if (KEYS.local(key) == null) {
                    return 0;
                }
                return freed == 0 ? 1 : 2;
            } finally {
                claim.unlock();
            }
        }

        void deregister() {
            try {
                region.destroy();
            } catch (VerbsException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A queue pair reaches for memory while its region is deregistered and the memory freed. r1: what it found. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "The key was gone before the access looked for it.")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The access found the key; the deregistration waited for it.")
    @Outcome(id = "2", expect = FORBIDDEN, desc = "The access found the key, and the memory was freed under it.")
    @State
    public static class AccessAgainstDeregistration extends Registered {
        @Actor
        public void access(I_Result result) {
            result.r1 = access();
        }

        @Actor
        public void free() {
            deregister();
            freed = 1;
        }
    }

    /**
     * The slot is given to another region as soon as it is free. r1: what the access by the former key found; r2: whether
     * the former key is good at the end.
     */
    @JCStressTest
    @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "The key was gone before the access looked for it.")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The access found the key; the deregistration waited for it.")
    @Outcome(expect = FORBIDDEN, desc = "A key that is over leads to memory.")
    @State
    public static class AccessAgainstChange extends Registered {
        @Actor
        public void access(II_Result result) {
            result.r1 = access();
        }

        @Actor
        public void change() {
            deregister();
            freed = 1;
            try {
                new SoftProtectionDomain(KEYS, null).registerMemory(MEMORY, 0).destroy();
            } catch (VerbsException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Arbiter
        public void look(II_Result result) {
            result.r2 = KEYS.local(key) == null ? 0 : 1;
        }
    }
}
