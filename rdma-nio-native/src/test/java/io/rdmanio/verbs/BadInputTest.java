package io.rdmanio.verbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.cm.TestDevice;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Work requests that a driver would crash on, and this JVM with it, if they reached it. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class BadInputTest {
    private static final long CHOSEN = 0x5_0000_0000L;

    private HandMade side;

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    @BeforeEach
    void open() throws VerbsException {
        side = new HandMade(QueuePairType.RELIABLE_CONNECTED);
        if (TestDevice.has(Feature.OWN_CONNECTIONS)) {
            side.connect(side.pair.number());
        }
    }

    @AfterEach
    void close() throws VerbsException {
        side.close();
    }

    private SendWorkRequest inline(int... lengths) {
        side.prepare(SendOpcode.SEND, SendFlags.INLINE, 0, 0).sgeCount(lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            side.send.sge(i, side.memory.address(), lengths[i], 0);
        }
        return side.send;
    }

    @Test
    void inlineDataBeyondTwoGibibytes_isRefused() {
        // A negative sum of signed lengths, and a small one of unsigned lengths, pass for less than the limit.
        for (SendWorkRequest request : new SendWorkRequest[] {inline(-1), inline(1 << 31, (1 << 31) + 16)}) {
            assertThatThrownBy(() -> side.pair.postSend(request))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("more than any queue takes");
        }
        assertThatThrownBy(
                        () -> side.pair.postSend(inline(side.pair.capabilities().maxInlineBytes() + 4096)))
                .isInstanceOf(PostException.class);
    }

    @Test
    void inlineDataWithoutAddress_isRefused() {
        assertThatThrownBy(() -> side.pair.postSend(inline(0).sge(0, 0, 8, 0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("memory of this process");
    }

    @Test
    @Needs(Feature.CHOSEN_ADDRESSES)
    void inlineDataOfARegionUnderAnotherAddress_isRefused() throws VerbsException {
        MemorySegment memory = side.memory.asSlice(0, 4096);
        try (MemoryRegion region = side.domain.registerMemory(memory, CHOSEN, AccessFlags.LOCAL_WRITE)) {
            assertThatThrownBy(() -> side.pair.postSend(inline(0).sge(0, region, 0, 8)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("memory of this process");
            // Without the flag the device knows the address; with it, that of the memory is right.
            side.pair.postSend(side.send.flags(0));
            side.pair.postSend(inline(0).sge(0, memory.address(), 8, 0));
        }
    }

    @Test
    void opcodeOfNoOperation_isRefused() {
        for (int opcode : new int[] {-1, 11, 1_000_000_000, Integer.MIN_VALUE}) {
            assertThatThrownBy(() -> side.prepare(opcode, 0, 0, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("opcode " + opcode + " is none of SendOpcode");
        }
    }
}
