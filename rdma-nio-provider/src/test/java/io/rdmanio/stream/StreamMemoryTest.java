package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

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
        memory = new StreamMemory(runtime);
        handlesBefore = OpenHandles.describe();
        id = runtime.createId(this);
        id.bind(new InetSocketAddress(System.getProperty("io.rdmanio.test.address"), 0));
    }

    @AfterEach
    void close() throws IOException {
        id.close();
        assertThat(memory.freeUnused(0)).isFalse();
        await().atMost(30, TimeUnit.SECONDS)
                .untilAsserted(() -> assertThat(OpenHandles.describe()).isEqualTo(handlesBefore));
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
}
