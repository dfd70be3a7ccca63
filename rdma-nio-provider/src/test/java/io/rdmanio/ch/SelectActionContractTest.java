package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Selections with an action. */
abstract class SelectActionContractTest extends ChannelContract {
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
    void rule13_action_isCalledAndTheSelectedSetLeftAlone() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ);
            writeAll(pair.client(), pattern(1, 1));
            List<SelectionKey> seen = new ArrayList<>();
            assertThat(selector.select(seen::add, LONG_MILLIS)).isOne();
            assertThat(selector.select(seen::add)).isOne();
            assertThat(selector.selectNow(seen::add)).isOne();
            assertThat(seen).containsExactly(key, key, key);
            assertThat(selector.selectedKeys()).isEmpty();
        }
    }

    @Test
    void rule13_action_seesTheReadySetOfThisSelectionAlone() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            SelectionKey key = pair.server().register(selector, READ | WRITE);
            writeAll(pair.client(), pattern(1, 1));
            selectUntil(selector, key, READ | WRITE);
            assertThat(pair.server().read(ByteBuffer.allocate(10))).isOne();
            List<Integer> ready = new ArrayList<>();
            assertThat(selector.selectNow(found -> ready.add(found.readyOps()))).isOne();
            assertThat(ready).as("replaced, though the key is selected").containsExactly(WRITE);
            assertThat(selector.selectedKeys()).containsExactly(key);
        }
    }

    @Test
    void rule13_action_thatSelectsAgain_isRefused() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            pair.server().register(selector, WRITE);
            assertThatThrownBy(() -> selector.select(ready -> {
                        try {
                            selector.selectNow();
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    }))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(selector.selectNow()).isOne();
        }
    }

    @Test
    void rule13_action_thatThrows_endsTheSelectionAndNothingElse() throws IOException {
        try (Pair one = connectNonBlocking();
                Pair two = connectNonBlocking()) {
            one.server().register(selector, WRITE);
            two.server().register(selector, WRITE);
            IllegalArgumentException thrown = new IllegalArgumentException("thrown by the action");
            AtomicInteger calls = new AtomicInteger();
            assertThatThrownBy(() -> selector.select(ready -> {
                        calls.incrementAndGet();
                        throw thrown;
                    }))
                    .isSameAs(thrown);
            assertThat(calls).hasValue(1);
            assertThat(selector.selectNow(ready -> calls.incrementAndGet())).isEqualTo(2);
            assertThat(calls).hasValue(3);
        }
    }

    @Test
    void rule13_action_thatClosesTheSelector_endsTheSelection() throws IOException {
        try (Pair one = connectNonBlocking();
                Pair two = connectNonBlocking()) {
            one.server().register(selector, WRITE);
            two.server().register(selector, WRITE);
            AtomicInteger calls = new AtomicInteger();
            assertThatThrownBy(() -> selector.select(ready -> {
                        calls.incrementAndGet();
                        try {
                            selector.close();
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    }))
                    .isInstanceOf(ClosedSelectorException.class);
            assertThat(calls).hasValue(1);
            assertThat(one.server().isRegistered()).isFalse();
        }
    }

    @Test
    void rule13_action_thatCancelsAndCloses_isHarmless() throws IOException {
        try (Pair one = connectNonBlocking();
                Pair two = connectNonBlocking()) {
            List<SelectionKey> keys =
                    List.of(one.server().register(selector, WRITE), two.server().register(selector, WRITE));
            AtomicInteger calls = new AtomicInteger();
            int count = selector.select(ready -> {
                calls.incrementAndGet();
                try {
                    ready.channel().close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                keys.forEach(SelectionKey::cancel);
            });
            assertThat(count).isEqualTo(calls.get()).isBetween(1, 2);
            assertThat(selector.selectNow()).isZero();
            assertThat(selector.keys()).isEmpty();
        }
    }

    @Test
    void rule13_interest_removedByAnAction_isNotDeliveredAnyMore() throws IOException {
        try (Pair one = connectNonBlocking();
                Pair two = connectNonBlocking()) {
            List<SelectionKey> keys =
                    List.of(one.server().register(selector, READ), two.server().register(selector, READ));
            writeAll(one.client(), pattern(1, 1));
            writeAll(two.client(), pattern(1, 1));
            for (SelectionKey key : keys) {
                selectUntil(selector, key, READ);
            }
            List<SelectionKey> seen = new ArrayList<>();
            int count = selector.selectNow(ready -> {
                seen.add(ready);
                keys.forEach(key -> key.interestOps(key.equals(ready) ? READ : 0));
            });
            assertThat(seen).hasSize(1);
            assertThat(count).isOne();
        }
    }

    @Test
    void rule13_action_isNotCalledWhenNothingIsReady() throws IOException {
        try (Pair pair = connectNonBlocking()) {
            pair.server().register(selector, READ);
            List<SelectionKey> seen = new ArrayList<>();
            assertThat(selector.select(seen::add, SHORT_MILLIS)).isZero();
            selector.wakeup();
            assertThat(selector.select(seen::add)).isZero();
            assertThat(seen).isEmpty();
        }
    }
}
