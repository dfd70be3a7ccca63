package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.soft.SoftSide.Options;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many queue pairs that complete in one queue, which is polled for less than they have. */
@ExtendWith(LeakCheck.class)
@Timeout(60)
class PollingFairnessTest {
    // More than a completion queue looks at without being told.
    private static final int COUNT = 18;
    private static final int TARGET = 300_000;

    private SoftDevice leftDevice;
    private SoftDevice rightDevice;
    private final List<SoftSide> lefts = new ArrayList<>();
    private final List<SoftSide> rights = new ArrayList<>();

    @BeforeEach
    void open() throws Exception {
        leftDevice = new SoftDevice();
        rightDevice = new SoftDevice();
        SoftSide first = new SoftSide(rightDevice, Options.DEFAULT.withDepth(COUNT * SoftSide.DEPTH));
        for (int i = 0; i < COUNT; i++) {
            SoftSide left = new SoftSide(leftDevice, Options.DEFAULT);
            SoftSide right = i == 0 ? first : new SoftSide(rightDevice, Options.DEFAULT, first.receives);
            left.connect(right);
            right.connect(left);
            lefts.add(left);
            rights.add(right);
        }
    }

    @AfterEach
    void close() throws VerbsException {
        for (SoftSide side : lefts) {
            side.close();
        }
        for (SoftSide side : rights.reversed()) {
            side.close();
        }
        leftDevice.close();
        rightDevice.close();
    }

    private void send(int index) throws VerbsException {
        rights.get(index).postReceive(index, TARGET, 10);
        lefts.get(index).pair.postSend(lefts.get(index).prepare(SendOpcode.SEND, 0, 0, 10));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 15, 16, 17})
    void messageOfOne_isNotHeldUpByThoseOfAllTheOthers(int quiet) throws VerbsException {
        SoftSide first = rights.getFirst();
        for (int i = 0; i < COUNT; i++) {
            send(i);
        }
        first.await(first.receives, COUNT);
        for (int i = 0; i < COUNT; i++) {
            for (int j = 0; j < (i == quiet ? 1 : SoftSide.DEPTH); j++) {
                send(i);
            }
        }
        List<Long> taken = new ArrayList<>();
        try (WorkCompletions one = new WorkCompletions(1)) {
            for (int i = 0; i < 3 * COUNT; i++) {
                assertThat(first.receives.poll(one)).isEqualTo(1);
                taken.add(one.workRequestId(0));
            }
        }
        assertThat(taken).contains((long) quiet);
        first.await(first.receives, (COUNT - 1) * SoftSide.DEPTH + 1 - taken.size());
    }
}
