package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.rdmanio.linux.Errno;
import io.rdmanio.policy.TransportPolicy;
import io.rdmanio.verbs.OpenHandles;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationId;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What connections share by whom they are with, on a device. */
@Tag("rdma")
class StreamMemoryTest {
    private static final int HALF = 4096;

    private static final long LIMIT = 16 << 20;

    private MemoryBudget budget;
    private StreamMemory memory;
    private CommunicationId id;
    private String handlesBefore;

    @BeforeEach
    void open() throws IOException {
        StreamRuntime runtime = StreamRuntime.over(TransportPolicy.engine());
        StreamLeakCheck.awaitQuiet();
        await().atMost(30, TimeUnit.SECONDS).untilAsserted(() -> {
            runtime.memory().freeUnused(0);
            assertThat(OpenHandles.describe()).doesNotContain("ProtectionDomain");
        });
        budget = new MemoryBudget(LIMIT, "a test's");
        memory = new StreamMemory(runtime, budget);
        handlesBefore = OpenHandles.describe();
        id = runtime.createId(this);
        id.bind(new InetSocketAddress(System.getProperty("io.rdmanio.test.address"), 0));
    }

    @AfterEach
    void close() throws IOException {
        id.close();
        // a worker may still make room, and a domain is not unused until it is through
        await().atMost(30, TimeUnit.SECONDS).untilAsserted(() -> {
            memory.freeUnused(0);
            assertThat(OpenHandles.describe()).isEqualTo(handlesBefore);
        });
        assertThat(budget.lentBytes()).isZero();
        assertThat(budget.registeredBytes()).isZero();
    }

    private BorrowedMemory connection(Object peer) throws VerbsException {
        return new BorrowedMemory(memory, memory.enter(id, peer));
    }

    @Test
    void connectionsWithOnePeer_shareADomainAndASlab() throws VerbsException {
        try (BorrowedMemory first = connection("peer");
                BorrowedMemory second = connection("peer")) {
            assertThat(first.protectionDomain()).isSameAs(second.protectionDomain());
            MemoryBlock one = first.exposed(HALF);
            MemoryBlock other = second.exposed(HALF);
            assertThat(one.slab).isSameAs(other.slab);
            assertThat(Math.abs(one.address() - other.address())).isGreaterThanOrEqualTo(HALF);
            assertThat(one.memory().address()).isEqualTo(one.address());
        }
    }

    /** What a peer may write and what it may not are never in one region, for rights are a region's. */
    @Test
    void localMemory_isNotExposed() throws VerbsException {
        try (BorrowedMemory connection = connection("peer")) {
            assertThat(connection.exposed(HALF).slab).isNotSameAs(connection.local(HALF).slab);
        }
    }

    @Test
    void memoryOfAPeer_isLentToNoOther() throws VerbsException {
        Set<Object> slabsOfOne = new HashSet<>();
        try (BorrowedMemory one = connection("one")) {
            for (int i = 0; i < 100; i++) {
                slabsOfOne.add(one.exposed(HALF).slab);
            }
        }
        try (BorrowedMemory one = connection("one");
                BorrowedMemory other = connection("other");
                BorrowedMemory unknown = connection(null);
                BorrowedMemory alsoUnknown = connection(null)) {
            assertThat(new HashSet<>(List.of(
                            one.protectionDomain(),
                            other.protectionDomain(),
                            unknown.protectionDomain(),
                            alsoUnknown.protectionDomain())))
                    .hasSize(4);
            assertThat(slabsOfOne).contains(one.exposed(HALF).slab);
            for (int i = 0; i < 200; i++) {
                assertThat(slabsOfOne).doesNotContain(other.exposed(HALF).slab, unknown.exposed(HALF).slab);
            }
        }
    }

    /** Connecting again right after closing costs no registration; being away for a while gives all back. */
    @Test
    void memory_isKeptForAWhile() throws VerbsException {
        connection("peer").close();
        String open;
        try (BorrowedMemory again = connection("peer")) {
            MemoryBlock block = again.exposed(HALF);
            open = OpenHandles.describe();
            assertThat(block.offset).isZero();
        }
        for (int i = 0; i < 10; i++) {
            try (BorrowedMemory again = connection("peer")) {
                assertThat(again.exposed(HALF).offset).isZero();
                assertThat(OpenHandles.describe()).isEqualTo(open);
            }
        }
        assertThat(memory.freeUnused(TimeUnit.MINUTES.toNanos(1))).isTrue();
        assertThat(OpenHandles.describe()).isEqualTo(open);
        assertThat(memory.freeUnused(0)).isFalse();
        assertThat(OpenHandles.describe()).isNotEqualTo(open);
    }

    @Test
    void slabs_thatACrowdNeeded_areFreedThoughSomebodyStays() throws VerbsException {
        try (BorrowedMemory stays = connection("peer")) {
            stays.exposed(HALF);
            String few = OpenHandles.describe();
            try (BorrowedMemory crowd = connection("peer")) {
                for (int i = 0; i < 1000; i++) {
                    crowd.exposed(HALF);
                }
                assertThat(OpenHandles.describe()).isNotEqualTo(few);
                assertThat(memory.freeUnused(0)).isFalse();
                assertThat(OpenHandles.describe()).isNotEqualTo(few);
            }
            assertThat(memory.freeUnused(0)).isFalse();
            assertThat(OpenHandles.describe()).isEqualTo(few);
        }
    }

    @Test
    void blockGivenBackTwice_isRefused() throws VerbsException {
        BorrowedMemory connection = connection("peer");
        connection.exposed(HALF);
        connection.close();
        assertThatThrownBy(connection::close).isInstanceOf(IllegalStateException.class);
    }

    /** Threads that borrow and give back at the same time, while a third frees: nobody's block is another's. */
    @Test
    void blocks_areNeverLentTwice() throws Exception {
        long seed = System.nanoTime();
        try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
            List<Future<Object>> results = new ArrayList<>();
            for (int thread = 1; thread <= 2; thread++) {
                Random random = new Random(seed + thread);
                byte mark = (byte) thread;
                Callable<Object> task = () -> borrow(random, mark, seed);
                results.add(threads.submit(task));
            }
            results.add(threads.submit((Callable<Object>) () -> {
                for (int i = 0; i < 2000; i++) {
                    memory.freeUnused(0);
                }
                return null;
            }));
            for (Future<Object> result : results) {
                result.get(50, TimeUnit.SECONDS);
            }
        }
    }

    private Object borrow(Random random, byte mark, long seed) throws VerbsException {
        for (int round = 0; round < 300; round++) {
            try (BorrowedMemory connection = connection("peer")) {
                List<MemoryBlock> blocks = new ArrayList<>();
                for (int i = random.nextInt(20); i >= 0; i--) {
                    MemoryBlock block = connection.exposed(1 + random.nextInt(1 << (6 + random.nextInt(11))));
                    block.memory().fill(mark);
                    blocks.add(block);
                }
                for (MemoryBlock block : blocks) {
                    for (int at = 0; at < block.lengthBytes; at += 64) {
                        assertThat(block.memory().get(ValueLayout.JAVA_BYTE, at))
                                .as("seed %d", seed)
                                .isEqualTo(mark);
                    }
                }
            }
        }
        return null;
    }

    /** While a worker makes room, what there is must do; then there is more. */
    @Test
    void exchange_forALongerBlock_succeedsOnceThereIsRoom() throws Exception {
        try (BorrowedMemory connection = connection("peer")) {
            CountDownLatch grown = new CountDownLatch(1);
            connection.whenGrown(grown::countDown);
            MemoryBlock block = connection.exposed(HALF);
            assertThat(connection.exchange(block, HALF)).isSameAs(block);
            int wanted = 1 << 20;
            assertThat(connection.exchange(block, wanted)).isSameAs(block);
            assertThat(grown.await(20, TimeUnit.SECONDS)).isTrue();
            MemoryBlock longer = connection.exchange(block, wanted);
            assertThat(longer.lengthBytes).isEqualTo(wanted);
            assertThat(budget.lentBytes()).isEqualTo(wanted);
            MemoryBlock shorter = connection.exchange(longer, HALF);
            assertThat(shorter.lengthBytes).isEqualTo(HALF);
            assertThat(budget.lentBytes()).isEqualTo(HALF);
            connection.giveBack(shorter);
            assertThat(connection.exchange(null, 4 * wanted).lengthBytes)
                    .as("the longest there is, unless there is a longer one by now")
                    .isBetween(wanted, 2 * wanted);
        }
    }

    @Test
    void sendBuffer_growsWhenItWasFilledAndAllOfItHasLeft() throws Exception {
        try (BorrowedMemory connection = connection("peer")) {
            SendWindow window = new SendWindow(32, 1, HALF);
            window.limit(100);
            SendBuffer buffer = new SendBuffer(window, connection, connection.local(HALF), 6 * HALF);
            buffer.writerWants(true);
            window.dataPosted(HALF, true);
            buffer.writerWants(false);
            assertThat(buffer.isOpen())
                    .as("nothing more goes into the short one")
                    .isFalse();
            buffer.growIfDue();
            assertThat(buffer.isOpen()).as("while something is under way").isFalse();
            window.completed();
            buffer.growIfDue();
            assertThat(buffer.isOpen()).isTrue();
            assertThat(buffer.bytes().capacity()).isEqualTo(4 * HALF);
            assertThat(window.freeBytes()).isEqualTo(4 * HALF);
            assertThat(budget.lentBytes()).isEqualTo(4 * HALF);

            window.dataPosted(4 * HALF, true);
            buffer.writerWants(false);
            window.completed();
            buffer.writerWants(true);
            buffer.growIfDue();
            assertThat(buffer.bytes().capacity()).as("while somebody copies").isEqualTo(4 * HALF);
            buffer.copied();
            buffer.growIfDue();
            assertThat(buffer.bytes().capacity()).as("not a power of two").isEqualTo(6 * HALF);
            window.dataPosted(6 * HALF, true);
            buffer.writerWants(false);
            assertThat(buffer.isOpen()).as("it may not be longer").isTrue();
        }
    }

    /** A buffer that can't grow is used as it is, until there is memory. */
    @Test
    void sendBuffer_goesOnAsItIs_whileThereIsNoMemory() throws Exception {
        try (BorrowedMemory connection = connection("peer")) {
            CountDownLatch grown = new CountDownLatch(1);
            connection.whenGrown(grown::countDown);
            SendWindow window = new SendWindow(32, 1, HALF);
            window.limit(100);
            SendBuffer buffer = new SendBuffer(window, connection, connection.local(HALF), 1 << 20);
            long taken = LIMIT - budget.registeredBytes();
            assertThat(budget.tryRegister(taken)).isTrue();
            MemoryBlock rest = connection.local(32 << 10);
            window.dataPosted(HALF, true);
            buffer.writerWants(false);
            window.completed();
            buffer.growIfDue();
            assertThat(buffer.bytes().capacity()).isEqualTo(4 * HALF);
            window.dataPosted(4 * HALF, true);
            buffer.writerWants(false);
            window.completed();
            buffer.growIfDue();
            assertThat(buffer.isOpen()).isTrue();
            assertThat(buffer.bytes().capacity()).isEqualTo(4 * HALF);
            budget.deregistered(taken);
            assertThat(rest.lengthBytes).isEqualTo(32 << 10);
            assertThat(grown.await(20, TimeUnit.SECONDS)).isTrue();
            buffer.memoryGrown();
            await().atMost(20, TimeUnit.SECONDS).until(() -> {
                window.dataPosted(4 * HALF, true);
                buffer.writerWants(false);
                window.completed();
                buffer.growIfDue();
                buffer.memoryGrown();
                return buffer.bytes().capacity() == 16 * HALF;
            });
        }
    }

    @Test
    void budget_refusesGrowthBeforeConnections() throws Exception {
        try (BorrowedMemory connection = connection("peer")) {
            CountDownLatch tried = new CountDownLatch(1);
            connection.whenGrown(tried::countDown);
            MemoryBlock block = connection.exposed(HALF);
            List<MemoryBlock> blocks = new ArrayList<>();
            int wanted = (int) LIMIT / 2;
            assertThat(connection.exposed(wanted).lengthBytes).isEqualTo(wanted);
            assertThat(connection.exchange(block, wanted)).isSameAs(block);
            assertThat(tried.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(connection.exchange(block, wanted)).isSameAs(block);
            assertThatThrownBy(() -> {
                        while (true) {
                            blocks.add(connection.local(HALF));
                        }
                    })
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOBUFS))
                    .hasMessageContaining(MemoryBudget.PROPERTY)
                    .hasMessageContaining(String.valueOf(LIMIT));
            assertThat(budget.registeredBytes()).isGreaterThan(LIMIT - HALF).isLessThanOrEqualTo(LIMIT);
            assertThat(blocks).hasSizeGreaterThan(1000);
        }
    }

    @Test
    void slabs_areWholePages() throws VerbsException {
        assertThat(budget.tryRegister(LIMIT - HALF - HALF / 2)).isTrue();
        try (BorrowedMemory connection = connection("peer")) {
            assertThat(connection.exposed(1).lengthBytes).isEqualTo(BuddyAllocator.MIN_BYTES);
            assertThat(budget.registeredBytes()).isEqualTo(LIMIT - HALF / 2);
            assertThatThrownBy(() -> connection.local(1)).isInstanceOf(VerbsException.class);
            assertThat(connection.exposed(1).lengthBytes).isEqualTo(BuddyAllocator.MIN_BYTES);
        }
        budget.deregistered(LIMIT - HALF - HALF / 2);
    }

    /** What others keep for later is freed when it is needed now. */
    @Test
    void memoryKeptForOthers_isFreedWhenTheBudgetIsUsedUp() throws VerbsException {
        try (BorrowedMemory former = connection("former")) {
            former.exposed((int) LIMIT);
        }
        assertThat(budget.registeredBytes()).isEqualTo(LIMIT);
        try (BorrowedMemory next = connection("next")) {
            assertThat(next.exposed(HALF).lengthBytes).isEqualTo(HALF);
            assertThat(budget.registeredBytes()).isLessThan(LIMIT);
        }
    }

    @Test
    void promises_areKeptFromOthersUntilFulfilledOrMemoryComesBack() throws Exception {
        CountDownLatch room = new CountDownLatch(1);
        assertThat(memory.tryPromise(LIMIT - HALF, () -> {})).isTrue();
        assertThat(memory.tryPromise(2 * HALF, () -> {})).isFalse();
        memory.fulfilled(LIMIT - HALF);
        assertThat(memory.tryPromise(2 * HALF, () -> {})).isTrue();
        memory.fulfilled(2 * HALF);
        try (BorrowedMemory all = connection("peer")) {
            all.exposed((int) LIMIT);
            assertThat(memory.tryPromise(HALF, room::countDown)).isFalse();
            assertThat(room.getCount()).isOne();
        }
        assertThat(room.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(memory.tryPromise(HALF, () -> {})).isTrue();
    }
}
