package io.rdmanio.verbs.soft;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.rdmanio.verbs.AccessFlags;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * {@link RemoteKey}: the memory of a key that ends is unmapped when nobody is in the middle of an access by it, and nobody
 * begins one afterwards, though the peer's epoch says nothing.
 */
public final class RevocationStress {
    // Of a peer that never advances an epoch.
    private static final MemorySegment EPOCHS = Arena.ofAuto().allocate(EpochPage.BYTES, Long.BYTES);
    private static final ControlMessage.Export EXPORT =
            new ControlMessage.Export(1 << 16, 0, 0, Long.BYTES, AccessFlags.REMOTE_WRITE, 0, 0);

    private RevocationStress() {}

    /** A queue pair writes by a key that the progress thread ends. r1: what the write found. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "The key had ended before the access.")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The access found the key, and its end waited for it.")
    @Outcome(id = "2", expect = FORBIDDEN, desc = "The access found the key, and the memory was unmapped under it.")
    @State
    @SuppressWarnings("MustBeClosedChecker") // The key closes it.
    public static class AccessAgainstEnd {
        private final Arena arena = Arena.ofShared();
        private final Claim claim = new Claim();
        private final RemoteKey key = new RemoteKey(EXPORT, 1, EPOCHS, arena.allocate(Long.BYTES), arena);
        // Plain, as what follows an answer to the peer is.
        private int unmapped;

        @Actor
        public void access(I_Result result) {
            claim.acquire();
            try {
                if (key.isCurrent()) {
                    SharedWords.setLong(key.memory(), 0, 1);
                    result.r1 = unmapped == 0 ? 1 : 2;
                }
            } catch (IllegalStateException e) {
                result.r1 = 2;
            } finally {
                claim.release();
            }
        }

        @Actor
        public void end() {
            key.unmap(_ -> quiesce());
            unmapped = 1;
        }

        private void quiesce() {
            claim.acquire();
            claim.release();
        }
    }
}
