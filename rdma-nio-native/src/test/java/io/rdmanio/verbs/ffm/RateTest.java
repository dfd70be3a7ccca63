package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.Rate;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What is computed here, or said in words, against the library; no device is needed. */
class RateTest {
    private static final int MAX_MULTIPLE = 1000;

    @BeforeAll
    static void needLibrary() {
        assumeTrue(Imports.IBV_RATE_TO_MULT.missing().isEmpty(), "libibverbs is not installed");
    }

    private static int ask(ImportedFunction function, int value) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            return (int) Downcall.call(function.get(), frame, value);
        }
    }

    @Test
    void multiple_isThatOfTheLibrary() throws VerbsException {
        for (Rate rate : Rate.values()) {
            assertThat(rate.multiple()).as(rate.name()).isEqualTo(ask(Imports.IBV_RATE_TO_MULT, rate.value()));
        }
    }

    @Test
    void ofMultiple_isThatOfTheLibrary() throws VerbsException {
        for (int multiple = -2; multiple <= MAX_MULTIPLE; multiple++) {
            assertThat(Rate.ofMultiple(multiple).value())
                    .as("multiple %d", multiple)
                    .isEqualTo(ask(Imports.MULT_TO_IBV_RATE, multiple));
        }
    }

    @Test
    void describe_saysWhatTheLibrarySays() {
        RdmaEngine engine = RdmaEngine.system();
        assertThat(engine.describe(AsyncEventType.PORT_ERROR)).isEqualTo("port error");
        assertThat(Arrays.stream(AsyncEventType.values()).map(engine::describe))
                .doesNotHaveDuplicates()
                .noneMatch(String::isBlank);
        assertThat(engine.describe(WorkCompletionStatus.SUCCESS)).isEqualTo("success");
        assertThat(Arrays.stream(WorkCompletionStatus.values()).map(engine::describe))
                .noneMatch(String::isBlank);
        assertThat(engine.describe(WorkCompletionStatus.UNKNOWN)).isEqualTo("unknown");
    }
}
