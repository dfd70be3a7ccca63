package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.PostException;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.soft.SoftSide.Options;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Threads of the program that are in the middle of an access to a peer's memory, or to memory that they share with it,
 * when that is unmapped: none of them is interrupted, since whatever the thread does next (a selector, a channel) would
 * end by that.
 */
@ExtendWith(LeakCheck.class)
@Timeout(120)
class InnocentThreadsTest {
    private static final int DEPTH = 32;
    private static final int DEREGISTRATIONS = 20;
    private static final int DEATHS = 24;
    /** So large that the peer's word of the end of the key arrives in the middle of an access. */
    private static final int LARGE = 8 << 20;

    /** More threads than processors, so that some of them stand still in the middle of whatever they do. */
    private static final int CONNECTIONS = 3;

    private static final int MESSAGE = 16 * 1024;
    /** How many messages go back and forth before a pair dies. */
    private static final int BEFORE_DEATH = 5;

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final ExecutorService threads = Executors.newFixedThreadPool(2 * CONNECTIONS);
    private SoftDevice leftDevice;
    private SoftDevice rightDevice;

    @BeforeEach
    void open() throws Exception {
        leftDevice = new SoftDevice();
        rightDevice = new SoftDevice();
    }

    @AfterEach
    void close() throws Exception {
        threads.shutdown();
        assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        leftDevice.close();
        rightDevice.close();
    }

    private static void assertNoneInterrupted(int round) {
        assertThat(Thread.getAllStackTraces().keySet())
                .as("interrupted in round " + round)
                .noneMatch(Thread::isInterrupted);
    }

    /** Runs something on another thread; that fails when it leaves the thread interrupted, which the pool would hide. */
    private <T> Future<T> start(Callable<T> task) {
        return threads.submit(() -> {
            T result = task.call();
            assertThat(Thread.currentThread().isInterrupted()).as("interrupted").isFalse();
            return result;
        });
    }

    private static void spin(long microseconds) {
        long until = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(microseconds);
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    @Test
    void deregistration_interruptsNobodyWhoIsUsingTheKey() throws Exception {
        int success = WorkCompletionStatus.SUCCESS.value();
        for (int round = 0; round < DEREGISTRATIONS; round++) {
            SoftSide[] sides = SoftSide.connected(leftDevice, rightDevice, Options.DEFAULT.withDepth(DEPTH));
            try (SoftSide left = sides[0];
                    SoftSide right = sides[1]) {
                MemoryRegion own = left.domain.allocateMemory(LARGE, AccessFlags.LOCAL_WRITE);
                MemoryRegion target = right.domain.allocateMemory(LARGE, SoftSide.ALL_ACCESS);
                CompletableFuture<Void> begun = new CompletableFuture<>();
                Future<Integer> user = start(() -> useUntilRefused(left, own, target, begun));
                begun.get(10, TimeUnit.SECONDS);
                spin(round * 100L);
                target.close();
                int status = user.get(10, TimeUnit.SECONDS);
                assertThat(status).isNotEqualTo(success);
                assertThat(WorkCompletionStatus.of(status)).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
                assertNoneInterrupted(round);
                own.close();
            }
        }
    }

    /** Writes, reads and adds until a request fails; says how. */
    private static int useUntilRefused(
            SoftSide side, MemoryRegion own, MemoryRegion target, CompletableFuture<Void> begun) throws VerbsException {
        int[] opcodes = {SendOpcode.WRITE, SendOpcode.READ, SendOpcode.FETCH_AND_ADD};
        try (SendWorkRequest request = new SendWorkRequest(1);
                WorkCompletions completions = new WorkCompletions(1)) {
            for (int i = 0; ; i++) {
                int opcode = opcodes[i % opcodes.length];
                request.workRequestId(i)
                        .opcode(opcode)
                        .flags(SendFlags.SIGNALED)
                        .sgeCount(1)
                        .sge(0, own, 0, opcode == SendOpcode.FETCH_AND_ADD ? Long.BYTES : LARGE);
                if (opcode == SendOpcode.FETCH_AND_ADD) {
                    request.atomic(target.address(), target.remoteKey(), 1, 0);
                } else {
                    request.remote(target.address(), target.remoteKey());
                }
                side.pair.postSend(request);
                int status = next(side.sends, completions);
                if (status != WorkCompletionStatus.SUCCESS.value()) {
                    return status;
                }
                if (i == opcodes.length) {
                    begun.complete(null);
                }
            }
        }
    }

    private static int next(CompletionQueue queue, WorkCompletions completions) throws VerbsException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (queue.poll(completions) == 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("no completion within 10 s");
            }
            Thread.onSpinWait();
        }
        return completions.status(0);
    }

    @Test
    void deathOfAPair_interruptsNeitherWhoPostsNorWhoPolls() throws Exception {
        for (int round = 0; round < DEATHS; round++) {
            List<SoftSide> sides = new ArrayList<>();
            List<Future<Integer>> flushed = new ArrayList<>();
            List<CountDownLatch> begun = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                SoftSide[] ends = SoftSide.connected(
                        leftDevice, round % 3 == 0 ? leftDevice : rightDevice, Options.DEFAULT.withDepth(DEPTH));
                sides.addAll(List.of(ends));
                CountDownLatch completed = new CountDownLatch(2 * BEFORE_DEATH);
                begun.add(completed);
                flushed.add(start(() -> sendUntilFlushed(ends[0], completed)));
                flushed.add(start(() -> receiveUntilFlushed(ends[1], completed)));
            }
            for (CountDownLatch completed : begun) {
                assertThat(completed.await(10, TimeUnit.SECONDS)).isTrue();
            }
            spin(round * 37L);
            // One of the two, if it is connected with itself, over which some only send and others only receive.
            SoftDevice dying = round % 2 == 0 || round % 3 == 0 ? leftDevice : rightDevice;
            dying.host.pairs().all().findAny().orElseThrow().kill("a test");
            for (Future<Integer> count : flushed) {
                assertThat(count.get(10, TimeUnit.SECONDS)).isPositive();
            }
            for (SoftSide side : sides) {
                side.close();
            }
            assertNoneInterrupted(round);
        }
    }

    /** Sends and takes completions until all that was posted has come back, some of it flushed; says how much was. */
    private static int sendUntilFlushed(SoftSide side, CountDownLatch completed) throws VerbsException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        int posted = 0;
        int taken = 0;
        int failed = 0;
        try (SendWorkRequest request = new SendWorkRequest(1);
                WorkCompletions completions = new WorkCompletions(DEPTH)) {
            while (failed == 0 || taken != posted) {
                if (failed == 0) {
                    request.opcode(SendOpcode.SEND).flags(SendFlags.SIGNALED).sgeCount(1);
                    try {
                        side.pair.postSend(request.sge(0, side.region, 0, MESSAGE));
                        posted++;
                    } catch (PostException full) {
                        Thread.onSpinWait();
                    }
                }
                int count = side.sends.poll(completions);
                taken += count;
                failed += failures(completions, count, completed);
                assertThat(System.nanoTime() - deadline).isNegative();
            }
        }
        return failed;
    }

    /** The same with receives. */
    private static int receiveUntilFlushed(SoftSide side, CountDownLatch completed) throws VerbsException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        int posted = 0;
        int taken = 0;
        int failed = 0;
        try (ReceiveWorkRequest request = new ReceiveWorkRequest(1);
                WorkCompletions completions = new WorkCompletions(DEPTH)) {
            while (failed == 0 || taken != posted) {
                while (failed == 0 && posted - taken < DEPTH) {
                    side.pair.postReceive(request.sgeCount(1).sge(0, side.region, MESSAGE, MESSAGE));
                    posted++;
                }
                int count = side.receives.poll(completions);
                taken += count;
                failed += failures(completions, count, completed);
                assertThat(System.nanoTime() - deadline).isNegative();
            }
        }
        return failed;
    }

    private static int failures(WorkCompletions completions, int count, CountDownLatch completed) {
        int failed = 0;
        for (int i = 0; i < count; i++) {
            if (completions.status(i) != WorkCompletionStatus.SUCCESS.value()) {
                assertThat(WorkCompletionStatus.of(completions.status(i))).isEqualTo(WorkCompletionStatus.FLUSHED);
                failed++;
            } else {
                completed.countDown();
            }
        }
        return failed;
    }
}
