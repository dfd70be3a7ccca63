package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.PostException;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.soft.SoftSide.Options;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Posting and polling while the queue pair, or what it shares with its peer, comes to its end. */
@ExtendWith(LeakCheck.class)
@Timeout(120)
class SoftQueuePairRaceTest {
    private static final int ROUNDS = 15;
    private static final int DEPTH = 64;
    private static final int[] OPCODES = {SendOpcode.WRITE, SendOpcode.WRITE_WITH_IMM, SendOpcode.SEND};
    private static final long END_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** How it ends. */
    enum End {
        ERROR {
            @Override
            void come(SoftSide left, SoftSide right) throws VerbsException {
                left.pair.toError();
            }
        },
        PEER_ERROR {
            @Override
            void come(SoftSide left, SoftSide right) throws VerbsException {
                right.pair.toError();
            }
        },
        PEER_CLOSED {
            @Override
            void come(SoftSide left, SoftSide right) throws VerbsException {
                right.pair.close();
            }
        },
        PEER_DEATH {
            @Override
            void come(SoftSide left, SoftSide right) {
                right.device.host.queuePairs().find(right.pair.number()).fault(new ViolationException("a test"));
            }
        };

        abstract void come(SoftSide left, SoftSide right) throws VerbsException;
    }

    private SoftDevice leftDevice;
    private SoftDevice rightDevice;

    @BeforeEach
    void open() throws Exception {
        leftDevice = new SoftDevice();
        rightDevice = new SoftDevice();
    }

    @AfterEach
    void close() throws VerbsException {
        leftDevice.close();
        rightDevice.close();
    }

    /** Counts what is posted, and polls it back. */
    private static final class Traffic {
        final CyclicBarrier begin = new CyclicBarrier(4);
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        volatile boolean ended;
        volatile int sendsPosted;
        volatile int receivesPosted;
    }

    private interface Action {
        void run() throws Exception;
    }

    private static Thread start(Traffic traffic, Action action) {
        return Thread.ofPlatform().start(() -> {
            try {
                traffic.begin.await();
                action.run();
            } catch (Throwable e) {
                traffic.failure.compareAndSet(null, e);
            }
        });
    }

    private static void postSends(Traffic traffic, SoftSide from, SoftSide to) throws VerbsException {
        int posted = 0;
        try (SendWorkRequest request = new SendWorkRequest(1)) {
            for (int i = 0; !traffic.ended; i++) {
                request.workRequestId(posted)
                        .opcode(OPCODES[i % OPCODES.length])
                        .flags(SendFlags.SIGNALED)
                        .sgeCount(1)
                        .sge(0, from.region, 0, i % 5 * 1000)
                        .remote(to.region.address(), to.region.remoteKey());
                try {
                    from.pair.postSend(request);
                    posted++;
                } catch (PostException full) {
                    LockSupport.parkNanos(1);
                }
            }
        }
        traffic.sendsPosted = posted;
    }

    private static void postReceives(Traffic traffic, SoftSide side, Taker taker) throws VerbsException {
        int posted = 0;
        try (ReceiveWorkRequest request = new ReceiveWorkRequest(1)) {
            while (!traffic.ended) {
                // In error every receive completes at once, and the completion queue holds four times the depth.
                if (posted - taker.taken > DEPTH) {
                    LockSupport.parkNanos(1);
                    continue;
                }
                try {
                    side.pair.postReceive(
                            request.workRequestId(posted).sgeCount(1).sge(0, side.region, 8192, 4000));
                    posted++;
                } catch (PostException full) {
                    LockSupport.parkNanos(1);
                }
            }
        }
        traffic.receivesPosted = posted;
    }

    /** Polls a queue until nothing comes any more; each completion must be the next one. */
    private static final class Taker {
        private final CompletionQueue queue;
        private final WorkCompletions completions = new WorkCompletions(DEPTH);
        volatile long taken;

        Taker(CompletionQueue queue) {
            this.queue = queue;
        }

        // Only the thread that polls changes the count.
        @SuppressWarnings("NonAtomicVolatileUpdate")
        void poll() throws VerbsException {
            int count = queue.poll(completions);
            for (int i = 0; i < count; i++) {
                assertThat(completions.workRequestId(i)).isEqualTo(taken + i);
            }
            taken += count;
        }

        void awaitAll(int posted) throws VerbsException {
            long deadline = System.nanoTime() + END_NANOS;
            while (taken < posted && System.nanoTime() < deadline) {
                poll();
                LockSupport.parkNanos(1000);
            }
            assertThat(taken).isEqualTo(posted);
            completions.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void everythingThatIsPosted_completesOnceWhateverEnds(End end) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            SoftSide[] sides = SoftSide.connected(leftDevice, rightDevice, Options.DEFAULT.withDepth(DEPTH));
            SoftSide left = sides[0];
            SoftSide right = sides[1];
            Traffic traffic = new Traffic();
            Taker sends = new Taker(left.sends);
            Taker receives = new Taker(left.receives);
            Thread[] threads = {
                start(traffic, () -> postSends(traffic, left, right)),
                start(traffic, () -> postReceives(traffic, left, receives)),
                start(traffic, () -> {
                    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);
                    for (int i = 0; System.nanoTime() < until; i++) {
                        try {
                            right.postReceive(i, 8192, 4000);
                        } catch (PostException full) {
                            right.receives.poll(right.completions);
                        }
                    }
                    end.come(left, right);
                })
            };
            traffic.begin.await();
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(40);
            while (System.nanoTime() < until) {
                sends.poll();
                receives.poll();
            }
            threads[2].join();
            left.pair.toError();
            traffic.ended = true;
            threads[0].join();
            threads[1].join();
            assertThat(traffic.failure.get()).isNull();
            sends.awaitAll(traffic.sendsPosted);
            receives.awaitAll(traffic.receivesPosted);
            left.close();
            right.close();
        }
    }

    @Test
    void ownClose_refusesEveryLaterPostAsOneToSomethingClosed() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            SoftSide[] sides = SoftSide.connected(leftDevice, rightDevice, Options.DEFAULT.withDepth(DEPTH));
            try (SoftSide left = sides[0];
                    SoftSide right = sides[1];
                    SendWorkRequest send = new SendWorkRequest(1);
                    ReceiveWorkRequest receive = new ReceiveWorkRequest(1)) {
                send.opcode(SendOpcode.WRITE)
                        .sgeCount(1)
                        .sge(0, left.region, 0, 64)
                        .remote(right.region.address(), right.region.remoteKey());
                receive.sgeCount(1).sge(0, left.region, 8192, 4000);
                CyclicBarrier begin = new CyclicBarrier(3);
                try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                    Future<RuntimeException> sender = threads.submit(() -> {
                        begin.await();
                        return postUntilRefused(() -> left.pair.postSend(send));
                    });
                    Future<RuntimeException> receiver = threads.submit(() -> {
                        begin.await();
                        return postUntilRefused(() -> left.pair.postReceive(receive));
                    });
                    begin.await();
                    LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(50L * round));
                    left.pair.close();
                    assertThat(sender.get(10, TimeUnit.SECONDS)).hasMessage("this QueuePair is closed");
                    assertThat(receiver.get(10, TimeUnit.SECONDS)).hasMessage("this QueuePair is closed");
                }
            }
        }
    }

    private static RuntimeException postUntilRefused(Action post) throws Exception {
        while (true) {
            try {
                post.run();
            } catch (IllegalStateException closed) {
                return closed;
            } catch (PostException full) {
                assertThat(full.errno()).isEqualTo(Errno.ENOMEM);
            }
        }
    }
}
