package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.WorkCompletionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Which functions of a driver the engine finds, and that it calls none that is not there. */
class FakeDriverTest {
    static List<Field.U64> functions() {
        return List.of(
                VerbsContext.QUERY_PORT,
                VerbsContext.QUERY_DEVICE_EX,
                VerbsContext.OPEN_QP,
                VerbsContext.CREATE_QP_EX,
                VerbsContext.GET_SRQ_NUM,
                VerbsContext.CREATE_SRQ_EX,
                VerbsContext.OPEN_XRCD,
                VerbsContext.CLOSE_XRCD);
    }

    @Test
    void context_isThatOfTheDriver() {
        try (FakeDriver driver = new FakeDriver()) {
            FfmContext context = driver.context();
            assertThat(context.name()).isEqualTo(FakeDriver.NAME);
            assertThat(context.transport()).isEqualTo(TransportType.IB);
            assertThat(context.isStillCurrent()).isTrue();
            assertThat(driver.calls()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("functions")
    void function_isFoundWithItsArgumentsAndErrno(Field.U64 field) {
        try (FakeDriver driver = new FakeDriver()) {
            driver.on(field, 2, arguments -> FakeDriver.fail(Errno.EBUSY) + arguments[0] + 1);
            NativeFunction function = driver.context().verbsContextOperation(field);
            assertThat(function).isNotNull();
            try (CallFrame frame = CallFrame.enter()) {
                assertThat(Downcall.call(function, frame, 41, -1)).isEqualTo(42);
                assertThat(frame.errno()).isEqualTo(Errno.EBUSY);
            }
            assertThat(driver.calls()).containsExactly(new FakeDriver.Call(field.nativeName(), List.of(41L, -1L)));
        }
    }

    @ParameterizedTest
    @MethodSource("functions")
    void function_isNotLookedForWhereItIsNot(Field.U64 field) {
        try (FakeDriver driver = new FakeDriver()) {
            assertThat(driver.context().verbsContextOperation(field))
                    .as("null entry")
                    .isNull();
            driver.on(field, 2, arguments -> 0);
            assertThat(driver.without(field).context().verbsContextOperation(field))
                    .as("shorter struct")
                    .isNull();
        }
        try (FakeDriver driver = new FakeDriver()) {
            driver.on(field, 2, arguments -> 0).oldKind();
            assertThat(driver.context().verbsContextOperation(field))
                    .as("older kind")
                    .isNull();
        }
    }

    @Test
    void exceptionInAFunction_isReportedAtTheEnd() throws VerbsException {
        FakeDriver driver = new FakeDriver();
        driver.on(VerbsContext.OPEN_XRCD, 2, arguments -> {
            throw new IllegalStateException("planted");
        });
        NativeFunction function = driver.context().verbsContextOperation(VerbsContext.OPEN_XRCD);
        try (CallFrame frame = CallFrame.enter()) {
            assertThat(Downcall.call(function, frame, 0, 0)).isEqualTo(-1);
        }
        assertThatThrownBy(driver::close).isInstanceOf(AssertionError.class).hasRootCauseMessage("planted");
    }

    @Test
    void emptyTableOfOperations_isAnsweredAndNotCalled() {
        try (FakeDriver driver = new FakeDriver();
                Arena arena = Arena.ofConfined()) {
            FfmContext context = driver.context();
            FfmCompletionQueue queue =
                    new FfmCompletionQueue(context, driver.object(IbvCq.STRUCT).address());
            assertThat(queue.poll(1, arena.allocate(WorkCompletionLayout.SIZE))).isEqualTo(-Errno.EOPNOTSUPP);
            assertThat(queue.requestNotification(false)).isEqualTo(Errno.EOPNOTSUPP);
        }
    }

    @Test
    void resize_passesTheDepthAndReadsWhatWasGranted() throws VerbsException {
        FakeDriver.assumeLibrary();
        try (FakeDriver driver = new FakeDriver()) {
            MemorySegment struct = driver.object(IbvCq.STRUCT);
            IbvCq.CQE.set(struct, 15);
            FfmCompletionQueue queue = new FfmCompletionQueue(driver.context(), struct.address());
            assertThat(queue.depthEntries()).isEqualTo(15);
            driver.library(arguments -> {
                assertThat(arguments[0]).isEqualTo(struct.address());
                assertThat((int) arguments[1]).isEqualTo(100);
                IbvCq.CQE.set(struct, 127);
                return 0;
            });
            queue.resize(100);
            assertThat(queue.depthEntries()).isEqualTo(127);
            driver.library(arguments -> Errno.EINVAL);
            assertThatThrownBy(() -> queue.resize(1))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_resize_cq(entries=1)")
                    .hasMessageContaining("EINVAL");
        }
    }
}
