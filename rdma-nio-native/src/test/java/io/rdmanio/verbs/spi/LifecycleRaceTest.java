package io.rdmanio.verbs.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.ExtendWith;

/** Users, creators of children and closers at the same moment. */
@ExtendWith(LeakCheck.class)
class LifecycleRaceTest {
    private static final int REPETITIONS = 200;

    @RepeatedTest(REPETITIONS)
    void parentAndChildrenClosedAtOnce_areEachDestroyedOnceAndInOrder() throws Exception {
        AtomicInteger liveChildren = new AtomicInteger();
        AtomicInteger parentDestroyed = new AtomicInteger();
        AtomicBoolean usedAfterDestroy = new AtomicBoolean();
        Lifecycle parent = new Lifecycle(HandleKind.PROTECTION_DOMAIN, () -> {
            assertThat(liveChildren.get()).isZero();
            parentDestroyed.incrementAndGet();
        });
        CyclicBarrier start = new CyclicBarrier(4);
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            tasks.add(() -> {
                start.await();
                parent.close();
                assertThat(parentDestroyed).hasValue(1);
                return null;
            });
            tasks.add(() -> {
                start.await();
                try {
                    while (true) {
                        useOnce(parent, liveChildren, parentDestroyed, usedAfterDestroy);
                    }
                } catch (IllegalStateException e) {
                    return null;
                }
            });
        }
        try (ExecutorService executor = Executors.newFixedThreadPool(tasks.size())) {
            for (Future<Void> result : executor.invokeAll(tasks)) {
                result.get();
            }
        }
        assertThat(usedAfterDestroy).isFalse();
        assertThat(liveChildren).hasValue(0);
    }

    private static void useOnce(
            Lifecycle parent, AtomicInteger liveChildren, AtomicInteger parentDestroyed, AtomicBoolean usedAfterDestroy)
            throws VerbsException {
        Lifecycle child;
        parent.enter();
        try {
            if (parentDestroyed.get() != 0) {
                usedAfterDestroy.set(true);
            }
            liveChildren.incrementAndGet();
            child = new Lifecycle(HandleKind.MEMORY_REGION, liveChildren::decrementAndGet, parent);
        } finally {
            parent.exit();
        }
        child.close();
    }
}
