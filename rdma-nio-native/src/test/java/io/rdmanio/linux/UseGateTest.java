package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class UseGateTest {
    @Test
    void shutGate_letsNobodyInAndTellsTheLastOneOut() {
        UseGate gate = new UseGate();
        assertThat(gate.tryEnter()).isTrue();
        assertThat(gate.tryEnter()).isTrue();
        assertThat(gate.isShut()).isFalse();
        assertThat(gate.shut()).isTrue();
        assertThat(gate.shut()).isFalse();
        assertThat(gate.tryEnter()).isFalse();
        assertThat(gate.isIdle()).isFalse();
        assertThat(gate.exit()).isFalse();
        assertThat(gate.exit()).isTrue();
        assertThat(gate.isIdle()).isTrue();
    }

    @Test
    void openGate_hasNoLastOne() {
        UseGate gate = new UseGate();
        assertThat(gate.tryEnter()).isTrue();
        assertThat(gate.exit()).isFalse();
        assertThat(gate.isIdle()).isFalse();
    }

    @Test
    void awaitIdle_waitsForCallsInProgress() throws InterruptedException {
        UseGate gate = new UseGate();
        gate.tryEnter();
        gate.shut();
        AtomicBoolean left = new AtomicBoolean();
        CountDownLatch started = new CountDownLatch(1);
        Thread worker = Thread.ofPlatform().start(() -> {
            started.countDown();
            try {
                TimeUnit.MILLISECONDS.sleep(20);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            left.set(true);
            gate.exit();
        });
        started.await();
        gate.awaitIdle();
        assertThat(left).isTrue();
        worker.join();
    }
}
