package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.soft.SoftSide.Options;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Queues move between groups, whose owners sleep whenever they can, while messages come: none may be slept through. */
@ExtendWith(LeakCheck.class)
@Timeout(120)
class CompletionQueueGroupRaceTest {
    private static final int QUEUES = 4;
    private static final int GROUPS = 3;
    private static final int MESSAGES_OF_A_ROUND = 40;
    /** How often an owner looks in vain before it sleeps: hardly, or so often that it comes to look into the rings itself. */
    private static final int[] PATIENCES = {1, 200, 20_000};
    /** More than after which a queue pair is looked at no longer. */
    private static final int POLLS_IN_VAIN = 2_500;

    private static final int MOST_MOVES = 40;
    private static final int DEPTH = 32;
    private static final long RACE_NANOS = TimeUnit.SECONDS.toNanos(4);
    /** A message that is not told of by then is not. */
    private static final long SLEPT_THROUGH_NANOS = TimeUnit.SECONDS.toNanos(20);

    private static final int SLEEP_MILLIS = 60_000;

    private final long seed = System.nanoTime();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<Flow> flows = new ArrayList<>();
    private final List<CompletionQueueGroup> groups = new ArrayList<>();
    private SoftDevice leftDevice;
    private SoftDevice rightDevice;
    private volatile boolean ended;
    private final AtomicBoolean watched = new AtomicBoolean();

    /** Messages of one sender to one queue. */
    private static final class Flow implements AutoCloseable {
        final SoftSide sender;
        final SoftSide receiver;
        /** Who polls: whoever was told, and another may be told after a move. */
        final ReentrantLock polling = new ReentrantLock();

        final AtomicInteger received = new AtomicInteger();
        private final WorkCompletions completions = new WorkCompletions(DEPTH);
        int sent;

        Flow(SoftSide[] sides) throws VerbsException {
            sender = sides[0];
            receiver = sides[1];
            for (int i = 0; i < DEPTH; i++) {
                receiver.postReceive(i, 0, Long.BYTES);
            }
        }

        /** As many as there are receives; the completions of sends are polled, and wake nobody. */
        void send(boolean byWrite) throws VerbsException {
            // A write is done without the receiver, and stays in the ring until the receiver polls.
            sender.pair.postSend(
                    byWrite
                            ? sender.toPeer(receiver, SendOpcode.WRITE_WITH_IMM, SendFlags.SIGNALED, 0, Long.BYTES, 0)
                            : sender.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, Long.BYTES));
            sender.awaitSend();
            sent++;
        }

        void poll() throws VerbsException {
            polling.lock();
            try {
                int count = receiver.receives.poll(completions);
                for (int i = 0; i < count; i++) {
                    assertThat(completions.succeeded(i)).isTrue();
                    receiver.postReceive(i, 0, Long.BYTES);
                }
                received.addAndGet(count);
            } finally {
                polling.unlock();
            }
        }

        boolean isWatched() {
            return receiver.device
                    .host
                    .queuePairs()
                    .find(receiver.pair.number())
                    .inbound()
                    .isWatched();
        }

        @Override
        public void close() throws VerbsException {
            sender.close();
            receiver.close();
            completions.close();
        }
    }

    @BeforeEach
    void open() throws IOException {
        leftDevice = new SoftDevice();
        rightDevice = new SoftDevice();
        for (int i = 0; i < QUEUES; i++) {
            flows.add(new Flow(SoftSide.connected(
                    leftDevice, rightDevice, Options.DEFAULT.withoutChannel().withDepth(DEPTH))));
        }
        for (int i = 0; i < GROUPS; i++) {
            groups.add(CompletionQueueGroup.open(RdmaEngine.soft()));
        }
    }

    @AfterEach
    void close() throws VerbsException {
        for (CompletionQueueGroup group : groups) {
            group.close();
        }
        for (Flow flow : flows) {
            flow.close();
        }
        leftDevice.close();
        rightDevice.close();
    }

    private interface Action {
        void run() throws Exception;
    }

    private Thread start(Action action) {
        return Thread.ofPlatform().start(() -> {
            try {
                action.run();
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        });
    }

    /** A group's owner: takes and polls, and sleeps when there is nothing for as long as it has patience. */
    private void own(CompletionQueueGroup group, Random random) throws IOException {
        Object[] told = new Object[2];
        int patience = 0;
        while (!ended) {
            int count = group.take(told);
            for (int i = 0; i < count; i++) {
                Flow flow = (Flow) told[i];
                flow.poll();
                if (flow.isWatched()) {
                    watched.set(true);
                }
            }
            if (count == 0 && --patience < 0) {
                patience = random.nextInt(PATIENCES[random.nextInt(PATIENCES.length)]);
                sleep(group);
            }
        }
    }

    private void sleep(CompletionQueueGroup group) throws IOException {
        if (group.prepareToSleep()) {
            if (!ended && Poll.awaitReadable(group.fileDescriptor(), -1, SLEEP_MILLIS) == 0) {
                throw new AssertionError("nothing came");
            }
            group.awake();
            group.drain();
        }
    }

    private void race(Action moving) throws Exception {
        List<Thread> owners = new ArrayList<>();
        for (CompletionQueueGroup group : groups) {
            Random random = new Random(seed + owners.size());
            owners.add(start(() -> own(group, random)));
        }
        try {
            for (Flow flow : flows) {
                groups.getFirst().add(flow.receiver.receives, flow);
            }
            Random kinds = new Random(seed);
            long end = System.nanoTime() + RACE_NANOS;
            while (System.nanoTime() < end && failure.get() == null) {
                Thread mover = start(moving);
                for (int i = 0; i < MESSAGES_OF_A_ROUND; i++) {
                    for (Flow flow : flows) {
                        flow.send(kinds.nextBoolean());
                    }
                }
                mover.join();
                awaitAll();
            }
        } finally {
            ended = true;
            groups.forEach(CompletionQueueGroup::signal);
            for (Thread owner : owners) {
                owner.join(TimeUnit.SECONDS.toMillis(30));
            }
        }
        assertThat(failure.get()).as("seed %d", seed).isNull();
        assertThat(owners).noneMatch(Thread::isAlive);
        assertThat(watched).as("some queue was watched").isTrue();
    }

    /** Nobody moves any more, so that nothing but what was told of brings the owners to poll. */
    private void awaitAll() {
        long deadline = System.nanoTime() + SLEPT_THROUGH_NANOS;
        for (Flow flow : flows) {
            while (flow.received.get() != flow.sent && failure.get() == null) {
                assertThat(System.nanoTime() - deadline)
                        .as("seed %d: %d of %d messages were received", seed, flow.received.get(), flow.sent)
                        .isNegative();
                LockSupport.parkNanos(20_000);
            }
        }
    }

    @Test
    void queuesThatMove_areToldOfEveryMessage() throws Exception {
        Random random = new Random(seed);
        race(() -> {
            for (int i = random.nextInt(MOST_MOVES); i > 0; i--) {
                Flow flow = flows.get(random.nextInt(QUEUES));
                groups.get(random.nextInt(GROUPS)).add(flow.receiver.receives, flow);
                pause(random);
            }
        });
    }

    @Test
    void queuesThatLeaveAndComeBack_areToldOfEveryMessage() throws Exception {
        Random random = new Random(seed);
        race(() -> {
            for (int i = random.nextInt(MOST_MOVES); i > 0; i--) {
                Flow flow = flows.get(random.nextInt(QUEUES));
                for (CompletionQueueGroup group : groups) {
                    group.remove(flow.receiver.receives);
                }
                pause(random);
                groups.get(random.nextInt(GROUPS)).add(flow.receiver.receives, flow);
            }
        });
    }

    @Test
    void queuesWhoseGroupIsClosed_areToldOfEveryMessage() throws Exception {
        Random random = new Random(seed);
        race(() -> {
            for (int i = random.nextInt(MOST_MOVES); i > 0; i--) {
                Flow flow = flows.get(random.nextInt(QUEUES));
                CompletionQueueGroup target = groups.get(random.nextInt(GROUPS));
                try (CompletionQueueGroup brief = CompletionQueueGroup.open(RdmaEngine.soft())) {
                    brief.add(flow.receiver.receives, flow);
                    pause(random);
                }
                target.add(flow.receiver.receives, flow);
            }
        });
    }

    @Test
    void queuesThatOthersPollInVain_areToldOfEveryMessage() throws Exception {
        Random random = new Random(seed);
        race(() -> {
            Flow flow = flows.get(random.nextInt(QUEUES));
            for (int i = 0; i < POLLS_IN_VAIN; i++) {
                flow.poll();
            }
            pause(random);
        });
    }

    private static void pause(Random random) {
        if (random.nextBoolean()) {
            LockSupport.parkNanos(random.nextInt(50_000));
        }
    }
}
