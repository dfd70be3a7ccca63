package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Registering, cancelling, and the keys in between. */
abstract class RegisterContractTest extends ChannelContract {
    private Selector selector;

    @BeforeEach
    void openSelector() throws IOException {
        selector = provider().openSelector();
    }

    @AfterEach
    void closeSelector() throws IOException {
        selector.close();
    }

    @Test
    void rule04_register_whileASelectionWaits_doesNotWait() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            Doing<Integer> selecting = doing(() -> selector.select()).blocked();
            Doing<SelectionKey> registering = doing(() -> pair.server().register(selector, WRITE));
            SelectionKey key = registering.get();
            assertThat(key.isValid()).isTrue();
            selector.wakeup();
            selecting.get();
            assertThat(selector.select(LONG_MILLIS)).isBetween(0, 1);
            assertThat(selector.selectedKeys()).containsExactly(key);
        }
    }

    @Test
    void rule05_register_checksOperationsThenOpennessThenMode() throws IOException {
        try (Pair pair = connect()) {
            assertThatThrownBy(() -> pair.client().register(selector, ACCEPT))
                    .as("before the blocking mode")
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.client().register(selector, READ))
                    .isInstanceOf(IllegalBlockingModeException.class);
            pair.client().close();
            assertThatThrownBy(() -> pair.client().register(selector, ACCEPT))
                    .as("before it is seen to be closed")
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.client().register(selector, READ))
                    .as("before the blocking mode")
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void rule05_register_again_changesTheKey() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.client().register(selector, READ, "one");
            assertThat(pair.client().register(selector, WRITE, "two")).isSameAs(key);
            assertThat(key.attachment()).isEqualTo("two");
            assertThat(key.interestOps()).isEqualTo(WRITE);
            assertThat(pair.client().keyFor(selector)).isSameAs(key);
            assertThat(key.channel()).isSameAs(pair.client());
            assertThat(key.selector()).isSameAs(selector);
            assertThat(selector.keys()).containsExactly(key);
        }
    }

    @Test
    void rule05_register_withACancelledKey_throwsAfterTheAttachmentWasReplaced() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.client().register(selector, READ, "one");
            key.cancel();
            assertThatThrownBy(() -> pair.client().register(selector, READ, "two"))
                    .isInstanceOf(CancelledKeyException.class);
            assertThat(key.attachment()).isEqualTo("two");
        }
    }

    @Test
    void rule06_register_racingWithTheSelectorsClose_leavesNoKeyBehind() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            for (int round = 0; round < 200; round++) {
                Selector closing = provider().openSelector();
                Doing<Void> closer = doing(() -> {
                    closing.close();
                    return null;
                });
                try {
                    SelectionKey key = pair.client().register(closing, READ);
                    closer.get();
                    assertThat(key.isValid()).isFalse();
                } catch (ClosedSelectorException e) {
                    closer.get();
                }
                assertThat(pair.client().isRegistered()).as("round %d", round).isFalse();
            }
            assertThat(pair.client().register(selector, WRITE).isValid()).isTrue();
            assertThat(selector.select(LONG_MILLIS)).isOne();
        }
    }

    /** A key that another thread finds in the selector's set and cancels while it is being made is returned cancelled. */
    @Test
    void rule06_register_racingWithCancelBySomebodyWhoSeesTheKey_isHarmless() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            AtomicBoolean done = new AtomicBoolean();
            Doing<Void> canceller = doing(() -> {
                while (!done.get()) {
                    selector.keys().forEach(SelectionKey::cancel);
                    selector.selectNow();
                }
                return null;
            });
            for (int round = 0; round < 500; round++) {
                try {
                    pair.client().register(selector, WRITE);
                } catch (CancelledKeyException e) {
                    assertThat(selector.isOpen()).isTrue(); // cancelled, and not flushed yet
                }
            }
            done.set(true);
            canceller.get();
            selector.selectNow();
            assertThat(pair.client().register(selector, WRITE).isValid()).isTrue();
        }
    }

    @Test
    void rule06_register_withAClosedSelector_isRefused() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            selector.close();
            assertThatThrownBy(() -> pair.client().register(selector, READ))
                    .isInstanceOf(ClosedSelectorException.class);
            assertThat(pair.client().isRegistered()).isFalse();
            pair.client().configureBlocking(true);
        }
    }

    @Test
    void rule07_cancel_isIdempotentAndMakesTheKeyInvalidAtOnce() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            key.cancel();
            key.cancel();
            assertThat(key.isValid()).isFalse();
            assertThat(selector.keys()).as("until the next selection").containsExactly(key);
            assertThat(pair.server().keyFor(selector)).isSameAs(key);
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
            assertThat(pair.server().isRegistered()).isFalse();
            assertThat(pair.server().keyFor(selector)).isNull();
            key.cancel();
            assertThat(pair.server().register(selector, READ)).isNotSameAs(key);
        }
    }

    @Test
    void rule07_cancel_whileASelectionWaits_neitherWaitsNorWakes() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            Doing<Integer> selecting = doing(() -> selector.select()).blocked();
            Doing<Void> cancelling = doing(() -> {
                key.cancel();
                return null;
            });
            cancelling.get();
            selecting.blocked();
            writeAll(pair.client(), pattern(1, 1));
            selector.wakeup();
            assertThat(selecting.get()).as("a cancelled key isn't selected").isZero();
            assertThat(selector.keys()).isEmpty();
        }
    }

    @Test
    void rule09_key_onceCancelled_answersToNothingButItsAttachment() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            key.cancel();
            assertThatThrownBy(key::interestOps).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(() -> key.interestOps(READ)).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(() -> key.interestOpsOr(READ)).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(() -> key.interestOpsAnd(READ)).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(key::readyOps).isInstanceOf(CancelledKeyException.class);
            assertThatThrownBy(key::isReadable).isInstanceOf(CancelledKeyException.class);
            assertThat(key.attach("kept")).isNull();
            assertThat(key.attachment()).isEqualTo("kept");
            assertThat(key.channel()).isSameAs(pair.server());
            assertThat(key.selector()).isSameAs(selector);
        }
    }

    @Test
    void rule09_interest_isCheckedAndChangesWithTheNextSelection() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, 0);
            writeAll(pair.client(), pattern(1, 1));
            assertThat(selector.select(SHORT_MILLIS)).isZero();
            assertThatThrownBy(() -> key.interestOps(ACCEPT)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> key.interestOpsOr(ACCEPT)).isInstanceOf(IllegalArgumentException.class);
            assertThat(key.interestOps()).isZero();
            assertThat(key.interestOpsOr(READ)).isZero();
            assertThat(selector.select(LONG_MILLIS)).isOne();
            assertThat(key.interestOpsAnd(~READ)).isEqualTo(READ);
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isZero();
            assertThat(key.interestOps(READ)).isSameAs(key);
            assertThat(selector.select(LONG_MILLIS)).isOne();
        }
    }

    @Test
    void rule09_interest_changedWhileASelectionWaits_doesNotWakeIt() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, 0);
            writeAll(pair.client(), pattern(1, 1));
            Doing<Integer> selecting = doing(() -> selector.select()).blocked();
            key.interestOps(READ | WRITE);
            selecting.blocked();
            selector.wakeup();
            assertThat(selecting.get()).isZero();
            assertThat(selector.select(LONG_MILLIS)).isOne();
        }
    }

    @Test
    void rule09_interest_changedByManyThreads_losesNoChange() throws Exception {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, 0);
            int[] ops = {READ, WRITE, CONNECT};
            List<Doing<Void>> changers = new ArrayList<>();
            for (int op : ops) {
                changers.add(doing(() -> {
                    for (int i = 0; i < 2000; i++) {
                        assertThat(key.interestOpsOr(op) & op).isZero();
                        assertThat(key.interestOpsAnd(~op) & op).isEqualTo(op);
                    }
                    key.interestOpsOr(op);
                    return null;
                }));
            }
            for (Doing<Void> changer : changers) {
                changer.get();
            }
            assertThat(key.interestOps()).isEqualTo(READ | WRITE | CONNECT);
        }
    }
}
