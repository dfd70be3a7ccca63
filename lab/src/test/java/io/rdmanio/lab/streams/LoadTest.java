package io.rdmanio.lab.streams;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LoadTest {
    @Test
    void processors_areThoseOfTheKernelsList() {
        assertThat(Load.processors("0")).containsExactly(0);
        assertThat(Load.processors("0-1")).containsExactly(0, 1);
        assertThat(Load.processors("0,2-4,7")).containsExactly(0, 2, 3, 4, 7);
    }
}
