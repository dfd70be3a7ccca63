package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.MemoryWindow;
import io.rdmanio.verbs.MemoryWindowType;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionFlags;
import io.rdmanio.verbs.WorkCompletionOpcode;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.cm.Endpoint.Completion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Memory windows: the server binds, and the client writes through them. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
@Needs(Feature.MEMORY_WINDOWS)
class MemoryWindowTest {
    private static final int PAGE = 4096;
    private static final int BEGIN = 512;
    private static final int LENGTH = 256;
    private static final long BIND_ID = 5;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(PAGE, PAGE);
    private ConnectedPair pair;
    private MemoryRegion region;

    @BeforeEach
    void connect() throws IOException {
        pair = new ConnectedPair();
        assumeTrue(pair.server.id.device().attributes().maxMemoryWindows() > 0, "the device has no memory windows");
        region = pair.server.domain.registerMemory(memory, AccessFlags.LOCAL_WRITE | AccessFlags.MEMORY_WINDOW_BIND);
    }

    @AfterEach
    void disconnect() throws VerbsException {
        if (region != null) {
            region.close();
        }
        pair.close();
        arena.close();
    }

    private MemoryWindow allocate(MemoryWindowType type) throws VerbsException {
        return pair.server.domain.allocateMemoryWindow(type);
    }

    private static void assertBound(Completion completion) {
        assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(completion.workRequestId()).isEqualTo(BIND_ID);
        assertThat(completion.opcode()).isEqualTo(WorkCompletionOpcode.BIND_MEMORY_WINDOW);
    }

    private void bindByRequest(MemoryWindow window) throws IOException {
        int key = window.nextRemoteKey();
        try (SendWorkRequest request = new SendWorkRequest(0)) {
            request.workRequestId(BIND_ID)
                    .flags(SendFlags.SIGNALED)
                    .bindMemoryWindow(window, key, region, region.address() + BEGIN, LENGTH, AccessFlags.REMOTE_WRITE);
            pair.server.pair.postSend(request);
        }
        assertBound(pair.server.awaitCompletion());
        window.setRemoteKey(key);
        assertThat(window.remoteKey()).isEqualTo(key);
    }

    private void bindByMethod(MemoryWindow window) throws IOException {
        int before = window.remoteKey();
        window.bind(
                pair.server.pair,
                BIND_ID,
                SendFlags.SIGNALED,
                region,
                region.address() + BEGIN,
                LENGTH,
                AccessFlags.REMOTE_WRITE);
        assertThat(window.remoteKey()).isNotEqualTo(before);
        assertBound(pair.server.awaitCompletion());
    }

    private WorkCompletionStatus write(long offset, int key) throws IOException {
        pair.client.memory.set(ValueLayout.JAVA_LONG, 0, 42 + offset);
        pair.client.pair.postSend(
                pair.client.prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8).remote(region.address() + offset, key));
        return pair.client.awaitCompletion().status();
    }

    private void assertWritable(int key) throws IOException {
        assertThat(write(BEGIN, key)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(write(BEGIN + LENGTH - 8, key)).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(memory.get(ValueLayout.JAVA_LONG, BEGIN)).isEqualTo(42 + BEGIN);
        assertThat(memory.get(ValueLayout.JAVA_LONG, BEGIN + LENGTH - 8)).isEqualTo(42 + BEGIN + LENGTH - 8);
    }

    @Test
    void windowOfType1_isBoundByItsMethod() throws IOException {
        try (MemoryWindow window = allocate(MemoryWindowType.TYPE_1)) {
            bindByMethod(window);
            assertWritable(window.remoteKey());
            // Beyond the region too: see Feature.WINDOW_BOUNDS.
            assertThat(write(PAGE - 4, window.remoteKey())).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void windowOfType2_isBoundByAWorkRequest() throws IOException {
        try (MemoryWindow window = allocate(MemoryWindowType.TYPE_2)) {
            bindByRequest(window);
            assertWritable(window.remoteKey());
            assertThat(write(-8, window.remoteKey())).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    @Needs(Feature.WINDOW_BOUNDS)
    void besideTheWindow_theRegionIsNotOpen() throws IOException {
        try (MemoryWindow window = allocate(MemoryWindowType.TYPE_2)) {
            bindByRequest(window);
            assertThat(write(BEGIN + LENGTH - 4, window.remoteKey()))
                    .isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(memory.get(ValueLayout.JAVA_LONG_UNALIGNED, BEGIN + LENGTH - 4))
                    .isZero();
        }
    }

    @Test
    void regionItself_isNotOpenToPeers() throws IOException {
        try (MemoryWindow window = allocate(MemoryWindowType.TYPE_1)) {
            bindByMethod(window);
            assertThat(write(BEGIN, region.remoteKey())).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void emptyBind_closesTheWindow() throws IOException {
        try (MemoryWindow window = allocate(MemoryWindowType.TYPE_1)) {
            bindByMethod(window);
            window.bind(pair.server.pair, BIND_ID, SendFlags.SIGNALED, region, region.address(), 0, 0);
            assertBound(pair.server.awaitCompletion());
            assertThat(write(BEGIN, window.remoteKey())).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void localInvalidate_closesTheWindow() throws IOException {
        try (MemoryWindow window = allocate(MemoryWindowType.TYPE_2);
                SendWorkRequest request = new SendWorkRequest(0)) {
            bindByRequest(window);
            assertWritable(window.remoteKey());
            request.workRequestId(6)
                    .opcode(SendOpcode.LOCAL_INVALIDATE)
                    .flags(SendFlags.SIGNALED)
                    .invalidateKey(window.remoteKey());
            pair.server.pair.postSend(request);
            Completion done = pair.server.awaitCompletion();
            assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(done.opcode()).isEqualTo(WorkCompletionOpcode.LOCAL_INVALIDATE);
            assertThat(write(BEGIN, window.remoteKey())).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void sendWithInvalidate_closesTheWindowOfThePeer() throws IOException {
        try (MemoryWindow window = allocate(MemoryWindowType.TYPE_2)) {
            bindByRequest(window);
            assertWritable(window.remoteKey());
            pair.client.pair.postSend(pair.client
                    .prepare(SendOpcode.SEND_WITH_INVALIDATE, SendFlags.SIGNALED, 0, 8)
                    .invalidateKey(window.remoteKey()));
            Completion received = pair.server.awaitCompletion();
            assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
            // rxe tells the kernel's own number of the flag, which is that of another one for programs.
            assertThat(pair.server.completions.flags(0)
                            & (WorkCompletionFlags.WITH_INVALIDATE | WorkCompletionFlags.IP_CHECKSUM_OK))
                    .isNotZero();
            assertThat(pair.server.completions.invalidatedKey(0)).isEqualTo(window.remoteKey());
            assertThat(pair.client.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(write(BEGIN, window.remoteKey())).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void boundWindow_keepsItsRegionOpen() throws IOException {
        try (MemoryWindow window = allocate(MemoryWindowType.TYPE_1)) {
            bindByMethod(window);
            assertThatThrownBy(region::close).isInstanceOfSatisfying(VerbsException.class, e -> {
                assertThat(e.operation()).isEqualTo("ibv_dereg_mr");
                assertThat(e.errno()).isIn(Errno.EBUSY, Errno.EINVAL);
                assertThat(e).hasMessageContaining("window is still bound");
            });
        }
        region.close();
    }

    @Test
    void closingTheDomain_closesWindowsBeforeRegions() throws IOException {
        MemoryWindow window = allocate(MemoryWindowType.TYPE_1);
        region.close();
        region = pair.server.domain.registerMemory(memory, AccessFlags.LOCAL_WRITE | AccessFlags.MEMORY_WINDOW_BIND);
        bindByMethod(window);
        pair.server.domain.close();
        assertThatThrownBy(window::remoteKey)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this MemoryWindow is closed");
    }

    @Test
    void bind_refusesBadArguments() throws IOException {
        try (MemoryWindow first = allocate(MemoryWindowType.TYPE_1);
                MemoryWindow second = allocate(MemoryWindowType.TYPE_2);
                ProtectionDomain other = pair.server.id.device().allocateProtectionDomain();
                MemoryRegion foreign =
                        other.registerMemory(memory, AccessFlags.LOCAL_WRITE | AccessFlags.MEMORY_WINDOW_BIND);
                SendWorkRequest request = new SendWorkRequest(0)) {
            assertThatThrownBy(() -> second.bind(pair.server.pair, 0, 0, region, region.address(), 8, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> first.bind(pair.server.pair, 0, 0, foreign, foreign.address(), 8, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> first.bind(pair.server.pair, 0, 0, region, region.address(), -1, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> request.bindMemoryWindow(first, 0, region, 0, 8, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> request.bindMemoryWindow(second, 0, region, 0, -8, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> request.opcode(SendOpcode.BIND_MEMORY_WINDOW))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void bindBeyondTheRegion_fails() throws IOException {
        try (MemoryWindow window = allocate(MemoryWindowType.TYPE_1)) {
            int before = window.remoteKey();
            try {
                window.bind(pair.server.pair, BIND_ID, SendFlags.SIGNALED, region, region.address(), PAGE + 1, 0);
                // Some drivers leave it to the device, and have changed the key already.
                assertThat(pair.server.awaitCompletion().status())
                        .isEqualTo(WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR);
                window.setRemoteKey(before);
            } catch (VerbsException e) {
                assertThat(e.operation()).isEqualTo("ibv_bind_mw");
                assertThat(e.errorName()).isEqualTo("EINVAL");
            }
            assertThat(window.remoteKey()).isEqualTo(before);
        }
    }

    @Test
    void requestWithAClosedPart_isNotPosted() throws IOException {
        try (SendWorkRequest request = new SendWorkRequest(0);
                SendWorkRequest before = new SendWorkRequest(0)) {
            MemoryWindow window = allocate(MemoryWindowType.TYPE_2);
            request.bindMemoryWindow(
                    window, window.nextRemoteKey(), region, region.address(), 8, AccessFlags.REMOTE_WRITE);
            before.opcode(SendOpcode.SEND).next(request);
            region.close();
            assertThatThrownBy(() -> pair.server.pair.postSend(before))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this MemoryRegion is closed");
            window.close();
            assertThatThrownBy(() -> pair.server.pair.postSend(request))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this MemoryWindow is closed");
            // What it no longer names does not matter.
            request.opcode(SendOpcode.SEND).flags(SendFlags.SIGNALED);
            pair.server.pair.postSend(request);
            assertThat(pair.server.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    void bindToARegionWithoutTheRight_failsInItsCompletion() throws IOException {
        try (MemoryRegion plain = pair.server.domain.registerMemory(memory, AccessFlags.LOCAL_WRITE);
                MemoryWindow window = allocate(MemoryWindowType.TYPE_1)) {
            window.bind(
                    pair.server.pair,
                    BIND_ID,
                    SendFlags.SIGNALED,
                    plain,
                    plain.address(),
                    LENGTH,
                    AccessFlags.REMOTE_WRITE);
            assertThat(pair.server.awaitCompletion().status()).isEqualTo(WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR);
        }
    }
}
