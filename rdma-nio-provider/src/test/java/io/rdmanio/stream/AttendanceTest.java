package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AttendanceTest {
    private static final int USES = 20_000;
    private static final int MOST_SPINS = 200;

    private final ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1);
    private final List<ScheduledFuture<?>> begun = new ArrayList<>();
    /** Looks as often as it can. */
    private final Attendance attendance = new Attendance(this::begin);

    private synchronized ScheduledFuture<?> begin(long nanos, Runnable look) {
        ScheduledFuture<?> looks = pool.scheduleWithFixedDelay(look, 1, 1, TimeUnit.NANOSECONDS);
        begun.add(looks);
        return looks;
    }

    @AfterEach
    void stop() {
        pool.shutdownNow();
    }

    private synchronized boolean rests() {
        return begun.stream().allMatch(ScheduledFuture::isCancelled);
    }

    private final class User extends Attendance.Attendee {
        private final AtomicInteger uses = new AtomicInteger();
        private final AtomicBoolean attended = new AtomicBoolean();
        private int usesSeen;

        void use() {
            uses.incrementAndGet();
            if (attended.compareAndSet(false, true)) {
                attendance.add(this);
            }
        }

        @Override
        boolean stillAttended() {
            if (sawUses()) {
                return true;
            }
            attended.set(false);
            // who used it before that has not added it
            return sawUses() && attended.compareAndSet(false, true);
        }

        private boolean sawUses() {
            int now = uses.get();
            boolean used = now != usesSeen;
            usesSeen = now;
            return used;
        }
    }

    @Test
    void user_isAskedUntilItIsUsedNoMore() {
        User user = new User();
        user.use();
        await().atMost(10, TimeUnit.SECONDS).untilFalse(user.attended);
        user.use();
        await().atMost(10, TimeUnit.SECONDS).untilFalse(user.attended);
        assertThat(user.usesSeen).isEqualTo(2);
        await().atMost(10, TimeUnit.SECONDS).until(this::rests);
    }

    @Test
    void users_thatComeBackWhileTheyAreAsked_areAskedAgain() throws InterruptedException {
        List<User> users = List.of(new User(), new User(), new User());
        List<Thread> threads = new ArrayList<>();
        for (User user : users) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < USES; i++) {
                    user.use();
                    for (int spins = ThreadLocalRandom.current().nextInt(MOST_SPINS); spins > 0; spins--) {
                        Thread.onSpinWait();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        await().atMost(10, TimeUnit.SECONDS).until(() -> users.stream().noneMatch(user -> user.attended.get()));
        assertThat(users).allSatisfy(user -> assertThat(user.usesSeen).isEqualTo(USES));
        await().atMost(10, TimeUnit.SECONDS).until(this::rests);
    }
}
