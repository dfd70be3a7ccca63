package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryWindow;
import io.rdmanio.verbs.MemoryWindowType;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.ReregisterFlags;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.MemoryWindowHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.SendWorkRequestLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Binding windows, as a queue pair executes it, and what peers learn of them. */
@Timeout(30)
@ExtendWith(LeakCheck.class)
class SoftMemoryWindowTest {
    private static final int PAGE = 4096;
    private static final int QUEUE_PAIR = MemoryEnd.QUEUE_PAIR;
    private static final int BINDABLE = AccessFlags.LOCAL_WRITE | AccessFlags.MEMORY_WINDOW_BIND;

    private MemoryEnd owner;
    private MemoryEnd user;
    private final Arena arena = Arena.ofShared();
    private MemorySegment memory;
    private MemoryRegionHandle region;

    @BeforeEach
    void open() throws IOException, ProtocolException {
        MemoryEnd[] ends = MemoryEnd.connect();
        owner = ends[0];
        user = ends[1];
        memory = arena.allocate(PAGE, PAGE);
        region = owner.domain.registerMemory(memory, BINDABLE);
    }

    @AfterEach
    void close() throws VerbsException {
        region.destroy();
        user.close();
        owner.close();
        arena.close();
    }

    private SoftMemoryWindow.Bind bind(MemoryWindowHandle window, long offset, long length, int access) {
        return new SoftMemoryWindow.Bind(
                window.reference(),
                MemoryWindow.nextRemoteKey(window.remoteKey()),
                region.reference(),
                memory.address() + offset,
                length,
                access);
    }

    private boolean execute(MemoryWindowHandle window, SoftMemoryWindow.Bind bind) {
        boolean done = SoftMemoryWindow.bind(owner.domain, QUEUE_PAIR, bind);
        if (done) {
            window.setRemoteKey(bind.newKey());
        }
        return done;
    }

    private RemoteKey lookUp(MemoryWindowHandle window) {
        return user.lookUp(window.remoteKey(), owner.domain.number());
    }

    @Test
    void boundWindow_isReachedThroughItsOwner() throws VerbsException {
        for (MemoryWindowType type : new MemoryWindowType[] {MemoryWindowType.TYPE_1, MemoryWindowType.TYPE_2}) {
            MemoryWindowHandle window = owner.domain.allocateMemoryWindow(type);
            assertThat(lookUp(window)).isSameAs(RemoteKey.REFUSED);
            assertThat(execute(window, bind(window, 512, 256, AccessFlags.REMOTE_WRITE)))
                    .isTrue();
            RemoteKey key = lookUp(window);
            assertThat(key.memory()).isNull();
            assertThat(key.contains(memory.address() + 512, 256)).isTrue();
            assertThat(key.contains(memory.address() + 511, 1)).isFalse();
            Key own = owner.keys.remote(window.remoteKey());
            assertThat(own.queuePair).isEqualTo(type == MemoryWindowType.TYPE_2 ? QUEUE_PAIR : 0);
            assertThat(own.permits(AccessFlags.REMOTE_WRITE)).isTrue();
            assertThat(own.permits(AccessFlags.REMOTE_READ)).isFalse();
            assertThat(own.memory().address() + own.offset(memory.address() + 600))
                    .isEqualTo(memory.address() + 600);
            assertThat(owner.keys.local(window.remoteKey()))
                    .as("a local request can't use it")
                    .isNull();
            window.destroy();
            assertThat(lookUp(window)).isSameAs(RemoteKey.REFUSED);
        }
    }

    @Test
    void bindOfType1_replacesTheFormer() throws VerbsException {
        MemoryWindowHandle window = owner.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        execute(window, bind(window, 0, 8, AccessFlags.REMOTE_READ));
        int before = window.remoteKey();
        execute(window, bind(window, 8, 8, AccessFlags.REMOTE_READ));
        assertThat(owner.keys.remote(before)).isNull();
        assertThat(user.lookUp(before, owner.domain.number())).isSameAs(RemoteKey.REFUSED);
        assertThat(lookUp(window).address).isEqualTo(memory.address() + 8);
        assertThat(execute(window, bind(window, 0, 0, 0))).as("unbinding").isTrue();
        assertThat(owner.keys.remote(window.remoteKey())).isNull();
        window.destroy();
    }

    @Test
    void windowOfType2_isBoundAgainOnlyAfterItsInvalidation() throws VerbsException {
        MemoryWindowHandle window = owner.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        assertThat(execute(window, bind(window, 0, 8, AccessFlags.REMOTE_READ))).isTrue();
        assertThat(execute(window, bind(window, 8, 8, AccessFlags.REMOTE_READ))).isFalse();
        int key = window.remoteKey();
        assertThat(SoftMemoryWindow.invalidate(owner.domain, QUEUE_PAIR + 1, key))
                .as("by another queue pair")
                .isFalse();
        assertThat(SoftMemoryWindow.invalidate(owner.otherDomain, QUEUE_PAIR, key))
                .isFalse();
        assertThat(SoftMemoryWindow.invalidate(owner.domain, QUEUE_PAIR, key ^ 1))
                .isFalse();
        assertThat(SoftMemoryWindow.invalidate(owner.domain, QUEUE_PAIR, key)).isTrue();
        assertThat(owner.keys.remote(key)).isNull();
        assertThat(SoftMemoryWindow.invalidate(owner.domain, QUEUE_PAIR, key)).isFalse();
        assertThat(execute(window, bind(window, 8, 8, AccessFlags.REMOTE_READ))).isTrue();
        window.destroy();
    }

    @Test
    void keysOfRegionsAndOfType1_canNotBeInvalidated() throws VerbsException {
        MemoryWindowHandle window = owner.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        execute(window, bind(window, 0, 8, AccessFlags.REMOTE_READ));
        assertThat(SoftMemoryWindow.invalidate(owner.domain, QUEUE_PAIR, window.remoteKey()))
                .isFalse();
        assertThat(SoftMemoryWindow.invalidate(owner.domain, QUEUE_PAIR, region.remoteKey()))
                .isFalse();
        assertThat(SoftMemoryWindow.invalidate(owner.domain, 0, window.remoteKey()))
                .isFalse();
        window.destroy();
    }

    @Test
    void bind_refusesWhatDoesNotFit() throws VerbsException {
        MemoryWindowHandle window = owner.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        MemoryWindowHandle other = owner.otherDomain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        assertThat(execute(window, bind(window, 1, PAGE, 0)))
                .as("beyond the end")
                .isFalse();
        assertThat(execute(window, bind(window, -1, 8, 0))).isFalse();
        assertThat(execute(window, bind(window, 0, -8, 0))).isFalse();
        assertThat(execute(window, bind(window, 0, Long.MAX_VALUE, 0))).isFalse();
        assertThat(execute(window, bind(window, 0, 0, 0))).as("empty").isFalse();
        assertThat(execute(window, bind(window, 0, 8, AccessFlags.LOCAL_WRITE))).isFalse();
        assertThat(execute(other, bind(other, 0, 8, 0))).as("another domain").isFalse();
        SoftMemoryWindow.Bind good = bind(window, 0, 8, AccessFlags.REMOTE_READ);
        assertThat(execute(window, new SoftMemoryWindow.Bind(0, good.newKey(), good.region(), good.address(), 8, 0)))
                .isFalse();
        assertThat(execute(window, new SoftMemoryWindow.Bind(good.window(), good.newKey(), 0, good.address(), 8, 0)))
                .isFalse();
        assertThat(execute(
                        window,
                        new SoftMemoryWindow.Bind(
                                good.window(), good.newKey() ^ 0x100, good.region(), good.address(), 8, 0)))
                .as("the key of another window")
                .isFalse();
        assertThat(execute(
                        window,
                        new SoftMemoryWindow.Bind(
                                good.window(), window.remoteKey(), good.region(), good.address(), 8, 0)))
                .as("the present key")
                .isFalse();
        window.destroy();
        other.destroy();
        assertThat(execute(window, good)).as("closed").isFalse();
    }

    @Test
    void bind_needsTheRightsOfTheRegion() throws VerbsException {
        MemoryWindowHandle window = owner.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        int bindOnly = AccessFlags.MEMORY_WINDOW_BIND;
        for (int access : new int[] {AccessFlags.LOCAL_WRITE, BINDABLE | AccessFlags.ZERO_BASED, bindOnly}) {
            region.reregister(ReregisterFlags.ACCESS, null, (MemorySegment) null, access);
            assertThat(execute(window, bind(window, 0, 8, AccessFlags.REMOTE_WRITE)))
                    .isFalse();
        }
        assertThat(execute(window, bind(window, 0, 8, AccessFlags.REMOTE_READ))).isTrue();
        window.destroy();
    }

    @Test
    void boundWindow_keepsItsRegionAsItIs() throws VerbsException {
        MemoryWindowHandle window = owner.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        execute(window, bind(window, 0, 8, AccessFlags.REMOTE_READ));
        assertThatThrownBy(region::destroy).isInstanceOfSatisfying(VerbsException.class, e -> {
            assertThat(e.operation()).isEqualTo("ibv_dereg_mr");
            assertThat(e.errorName()).isEqualTo("EBUSY");
            assertThat(e).hasMessageContaining("window is still bound");
        });
        assertThat(region.reregister(ReregisterFlags.ACCESS, null, (MemorySegment) null, 0)
                        .errno())
                .isEqualTo(16);
        assertThat(lookUp(window).permits(AccessFlags.REMOTE_READ)).isTrue();
        window.destroy();
    }

    @Test
    void zeroBasedWindow_beginsWithAddress0() throws VerbsException {
        int access = AccessFlags.REMOTE_READ | AccessFlags.ZERO_BASED;
        MemoryWindowHandle first = owner.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        assertThat(execute(first, bind(first, 512, 8, access))).isFalse();
        MemoryWindowHandle second = owner.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2);
        assertThat(execute(second, bind(second, 512, 8, access))).isTrue();
        assertThat(lookUp(second).contains(0, 8)).isTrue();
        assertThat(owner.keys.remote(second.remoteKey()).memory().address()).isEqualTo(memory.address() + 512);
        first.destroy();
        second.destroy();
    }

    @Test
    void bindByMethod_postsARequestAndChangesTheKeyUnlessItFails() throws VerbsException {
        MemoryWindowHandle window = owner.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
        int before = window.remoteKey();
        Posts posts = new Posts();
        posts.errno = 12;
        assertThatThrownBy(() -> window.bind(posts, 9, SendFlags.SIGNALED, region, 7, 8, AccessFlags.REMOTE_READ))
                .isInstanceOfSatisfying(VerbsException.class, e -> {
                    assertThat(e.operation()).isEqualTo("ibv_bind_mw");
                    assertThat(e.errorName()).isEqualTo("ENOMEM");
                });
        assertThat(window.remoteKey()).isEqualTo(before);
        posts.errno = 0;
        window.bind(posts, 9, SendFlags.SIGNALED, region, 7, 8, AccessFlags.REMOTE_READ);
        assertThat(window.remoteKey()).isEqualTo(MemoryWindow.nextRemoteKey(before));
        assertThat(posts.last)
                .isEqualTo(new SoftMemoryWindow.Bind(
                        window.reference(), window.remoteKey(), region.reference(), 7, 8, AccessFlags.REMOTE_READ));
        window.destroy();
    }

    /** A queue pair that remembers what was posted. */
    private static final class Posts implements QueuePairHandle {
        private int errno;
        private SoftMemoryWindow.Bind last;

        @Override
        public int number() {
            return QUEUE_PAIR;
        }

        @Override
        public QueuePairCapabilities capabilities() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int postSend(MemorySegment first) {
            assertThat(SendWorkRequestLayout.OPCODE.get(first)).isEqualTo(SendOpcode.BIND_MEMORY_WINDOW);
            assertThat(SendWorkRequestLayout.WORK_REQUEST_ID.get(first)).isEqualTo(9);
            assertThat(SendWorkRequestLayout.FLAGS.get(first)).isEqualTo(SendFlags.SIGNALED);
            assertThat(SendWorkRequestLayout.NEXT.get(first)).isZero();
            last = new SoftMemoryWindow.Bind(
                    SendWorkRequestLayout.BIND_WINDOW.get(first),
                    SendWorkRequestLayout.BIND_KEY.get(first),
                    SendWorkRequestLayout.BIND_REGION.get(first),
                    SendWorkRequestLayout.BIND_ADDRESS.get(first),
                    SendWorkRequestLayout.BIND_LENGTH.get(first),
                    SendWorkRequestLayout.BIND_ACCESS.get(first));
            return errno;
        }

        @Override
        public int postReceive(MemorySegment first) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void destroy() {
            throw new UnsupportedOperationException();
        }
    }
}
