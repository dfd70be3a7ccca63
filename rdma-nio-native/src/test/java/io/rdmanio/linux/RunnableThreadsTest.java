package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the kernel says of how many threads want to run. */
class RunnableThreadsTest {
    private static int parse(String text) {
        try (Arena arena = Arena.ofConfined()) {
            byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
            // More memory than text: what follows is of no concern.
            MemorySegment memory = arena.allocate(128).fill((byte) '9');
            memory.asByteBuffer().put(bytes);
            return RunnableThreads.parse(memory, bytes.length);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0.20 0.18 0.12 1/80 11206, 1",
        "12.06 8.71 9.39 17/1204 4194303, 17",
        "0.00 0.00 0.00 0/1 1, 0",
        "3 2 1 305/99999 1, 305"
    })
    void parse_findsTheNumberBehindThreeAverages(String text, int threads) {
        assertThat(parse(text + "\n")).isEqualTo(threads);
    }

    @ParameterizedTest
    @CsvSource({"''", "0.20", "0.20 0.18 0.12", "0.20 0.18 0.12 4"})
    void textThatEndsTooSoon_tellsOfNone(String text) {
        assertThat(parse(text)).isZero();
    }

    @Test
    void count_includesTheCaller() {
        assertThat(RunnableThreads.count()).isPositive();
    }
}
