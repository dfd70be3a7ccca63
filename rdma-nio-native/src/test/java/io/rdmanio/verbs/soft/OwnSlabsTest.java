package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.RevocableMappings;
import io.rdmanio.verbs.LeakCheck;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Areas of slabs, and what the peer makes of them. */
@Timeout(30)
class OwnSlabsTest {
    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    private final RevocableMappings mappings = new RevocableMappings();
    private final List<ControlMessage.Slab> announced = new ArrayList<>();
    private OwnSlabs slabs;

    @BeforeEach
    void open() throws IOException {
        slabs = new OwnSlabs(mappings);
    }

    @AfterEach
    void close() {
        slabs.close();
        mappings.revoke();
    }

    private Place allocate(long bytes) throws IOException {
        return slabs.allocate(bytes, announced::add);
    }

    @Test
    void areas_neverOverlapAndAreZeroed() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Place> places = new ArrayList<>();
        for (int round = 0; round < 3_000; round++) {
            if (random.nextInt(5) < 2 && !places.isEmpty()) {
                slabs.free(places.remove(random.nextInt(places.size())));
                continue;
            }
            Place place = allocate(1 + random.nextInt(100_000));
            assertThat(place.offset() % PeerSlabs.ALIGNMENT).isZero();
            assertThat(place.memory()
                            .mismatch(Arena.ofAuto().allocate(place.memory().byteSize())))
                    .as("seed %d", seed)
                    .isEqualTo(-1);
            place.memory().fill((byte) 1);
            for (Place other : places) {
                assertThat(place.memory().asOverlappingSlice(other.memory()))
                        .as("seed %d", seed)
                        .isEmpty();
            }
            assertThat(place.memory().asOverlappingSlice(slabs.header())).isEmpty();
            places.add(place);
            if (places.size() > 60) {
                places.forEach(slabs::free);
                places.clear();
            }
        }
    }

    @Test
    void freedAreas_growTogetherAgain() throws IOException {
        List<Place> places = new ArrayList<>();
        while (announced.isEmpty()) {
            places.add(allocate(40_000));
        }
        places.forEach(slabs::free);
        assertThat(allocate(900_000).slab()).isZero();
        assertThat(announced).hasSize(1);
    }

    @Test
    void slabWithoutAreas_givesItsMemoryBackAndIsUsedAgain() throws IOException {
        List<Place> places = new ArrayList<>();
        while (announced.isEmpty()) {
            places.add(allocate(100_000));
        }
        Place second = places.removeLast();
        assertThat(second.slab()).isEqualTo(1);
        long withIt = residentSharedBytes();
        Place large = allocate(1_500_000);
        assertThat(large.slab()).isEqualTo(1);
        large.memory().fill((byte) 1);
        assertThat(residentSharedBytes()).isGreaterThanOrEqualTo(withIt + 1_500_000);
        slabs.free(large);
        assertThat(residentSharedBytes()).as("with an area in use").isGreaterThanOrEqualTo(withIt + 1_500_000);
        slabs.free(second);
        assertThat(residentSharedBytes()).as("with none").isLessThanOrEqualTo(withIt);
        Place again = allocate(1_500_000);
        assertThat(again.slab()).isEqualTo(1);
        assertThat(again.memory().get(ValueLayout.JAVA_BYTE, 0)).isZero();
        assertThat(announced).hasSize(1);
    }

    private static long residentSharedBytes() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("RssShmem:"))
                    .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                    .sum();
        }
    }

    @Test
    void areaLargerThanAnySlab_hasOneOfItsOwn() throws IOException {
        Place place = allocate(OwnSlabs.MAX_SLAB_BYTES + 1);
        assertThat(place.slab()).isEqualTo(1);
        assertThat(announced).singleElement().satisfies(slab -> {
            assertThat(slab.index()).isEqualTo(1);
            assertThat(slab.slabBytes()).isGreaterThan(OwnSlabs.MAX_SLAB_BYTES);
        });
    }

    @Test
    void slabsOfOnePeer_areLimited() throws IOException {
        OwnSlabs small = new OwnSlabs(mappings, 1 << 20);
        Place last = null;
        for (int i = 0; i < OwnSlabs.MAX_SLABS; i++) {
            last = small.allocate(900_000, announced::add);
        }
        assertThat(announced).hasSize(OwnSlabs.MAX_SLABS - 1);
        assertThatThrownBy(() -> small.allocate(900_000, announced::add))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("64");
        small.free(last);
        assertThat(small.allocate(900_000, announced::add)).isNotNull();
        small.close();
    }

    @Test
    void allocate_afterCloseOpensNothing() throws IOException {
        // Closed before the memory goes, when a pair dies.
        slabs.close();
        assertThatThrownBy(() -> allocate(2 << 20)).isInstanceOf(IllegalStateException.class);
        assertThat(announced).isEmpty();
    }

    @Test
    void retiredArea_isReleasedOnceAndByItsOwnPlace() throws IOException, ProtocolException {
        Place place = allocate(500_000);
        slabs.retire(place, () -> {});
        assertThat(slabs.retiredCount()).isEqualTo(1);
        assertThatThrownBy(() -> slabs.release(0, place.offset() + 64)).isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> slabs.release(1, place.offset())).isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> slabs.retire(place, () -> {})).isInstanceOf(IllegalStateException.class);
        slabs.release(0, place.offset());
        assertThatThrownBy(() -> slabs.release(0, place.offset())).isInstanceOf(ProtocolException.class);
        assertThatThrownBy(() -> slabs.free(place)).isInstanceOf(IllegalStateException.class);
        assertThat(slabs.retiredCount()).isZero();
        assertThat(allocate(500_000).offset()).isEqualTo(place.offset());
    }

    @Test
    void whoWaitsForARetiredArea_hearsOnceOfItsReleaseOrOfTheEnd() throws IOException, ProtocolException {
        AtomicInteger heard = new AtomicInteger();
        Place released = allocate(64);
        slabs.retire(released, heard::incrementAndGet);
        slabs.retire(allocate(64), () -> heard.addAndGet(10));
        assertThat(heard).hasValue(0);
        slabs.release(released.slab(), released.offset());
        assertThat(heard).hasValue(1);
        Place late = allocate(64);
        slabs.close();
        assertThat(heard).hasValue(11);
        slabs.retire(late, () -> heard.addAndGet(100));
        assertThat(heard).hasValue(111);
    }

    @Test
    void area_ofThePeer_liesInItsSlabBehindTheHeader() throws IOException, ProtocolException {
        PeerSlabs peers = new PeerSlabs(mappings);
        MemoryFile first = slabs.first();
        long size = first.sizeBytes();
        peers.add(0, size, PairHeader.BYTES, FileDescriptors.duplicate(first.fileDescriptor()));
        long begin = (PairHeader.BYTES + PeerSlabs.ALIGNMENT - 1) / PeerSlabs.ALIGNMENT * PeerSlabs.ALIGNMENT;
        assertThat(peers.area(0, begin, size - begin).byteSize()).isEqualTo(size - begin);
        refuses(peers, 0, begin, size - begin + 1);
        refuses(peers, 0, 0, 64);
        refuses(peers, 0, begin + 1, 64);
        refuses(peers, 0, begin, 0);
        refuses(peers, 0, begin, -1);
        refuses(peers, 0, begin, Long.MAX_VALUE);
        refuses(peers, 0, -64, 64);
        refuses(peers, 0, size, 64);
        refuses(peers, 0, Long.MAX_VALUE - 63, 64);
        refuses(peers, 1, begin, 64);
        refuses(peers, -1, begin, 64);
    }

    private static void refuses(PeerSlabs peers, int slab, long offset, long bytes) {
        assertThatThrownBy(() -> peers.area(slab, offset, bytes))
                .as("%d+%d+%d", slab, offset, bytes)
                .isInstanceOf(ProtocolException.class);
    }
}
