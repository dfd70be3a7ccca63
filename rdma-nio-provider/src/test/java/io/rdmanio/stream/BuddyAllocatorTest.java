package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BuddyAllocatorTest {
    private static final int SLAB = 64 << 10;

    private record Piece(int offset, int length) {}

    @Test
    void pieceBytes_isTheNextPowerOfTwo() {
        assertThat(BuddyAllocator.pieceBytes(1)).isEqualTo(64);
        assertThat(BuddyAllocator.pieceBytes(64)).isEqualTo(64);
        assertThat(BuddyAllocator.pieceBytes(65)).isEqualTo(128);
        assertThat(BuddyAllocator.pieceBytes(4096)).isEqualTo(4096);
        assertThat(BuddyAllocator.pieceBytes(4097)).isEqualTo(8192);
        assertThat(BuddyAllocator.pieceBytes(1 << 30)).isEqualTo(1 << 30);
        for (int bad : new int[] {0, -1, (1 << 30) + 1}) {
            assertThatThrownBy(() -> BuddyAllocator.pieceBytes(bad)).isInstanceOf(IllegalArgumentException.class);
        }
        for (int bad : new int[] {0, 32, 96, 65535}) {
            assertThatThrownBy(() -> new BuddyAllocator(bad)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void allocate_packsShortPiecesTogether() {
        BuddyAllocator slab = new BuddyAllocator(SLAB);
        assertThat(slab.allocate(4096)).isZero();
        assertThat(slab.allocate(64)).isEqualTo(4096);
        assertThat(slab.allocate(64)).isEqualTo(4096 + 64);
        assertThat(slab.allocate(4096)).isEqualTo(8192);
        assertThat(slab.allocate(SLAB / 2)).isEqualTo(SLAB / 2);
        assertThat(slab.allocate(SLAB / 2)).isEqualTo(BuddyAllocator.FULL);
        slab.free(4096, 64);
        assertThat(slab.allocate(64)).isEqualTo(4096);
    }

    @Test
    void free_ofWhatIsFree_isRefused() {
        BuddyAllocator slab = new BuddyAllocator(SLAB);
        int first = slab.allocate(4096);
        int second = slab.allocate(4096);
        slab.free(first, 4096);
        assertThatThrownBy(() -> slab.free(first, 4096)).isInstanceOf(IllegalStateException.class);
        slab.free(second, 4096);
        assertThat(slab.isUnused()).isTrue();
        assertThatThrownBy(() -> slab.free(second, 4096)).isInstanceOf(IllegalStateException.class);
    }

    /** Whatever is taken and given back in whatever order: pieces never overlap, and all come together again. */
    @Test
    void pieces_neverOverlapAndBecomeOneAgain() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        BuddyAllocator slab = new BuddyAllocator(SLAB);
        List<Piece> taken = new ArrayList<>();
        BitSet bytes = new BitSet();
        int refusals = 0;
        for (int step = 0; step < 100_000; step++) {
            if (random.nextInt(100) < (step / 1000 % 2 == 0 ? 60 : 40)) {
                int length = BuddyAllocator.pieceBytes(1 + random.nextInt(1 << (6 + random.nextInt(9))));
                int offset = slab.allocate(length);
                if (offset == BuddyAllocator.FULL) {
                    refusals++;
                    continue;
                }
                assertThat(offset % length).as("seed %d", seed).isZero();
                assertThat(bytes.nextSetBit(offset))
                        .as("seed %d", seed)
                        .satisfiesAnyOf(
                                next -> assertThat(next).isNegative(),
                                next -> assertThat(next).isGreaterThanOrEqualTo(offset + length));
                bytes.set(offset, offset + length);
                taken.add(new Piece(offset, length));
            } else if (!taken.isEmpty()) {
                Piece piece = taken.remove(random.nextInt(taken.size()));
                slab.free(piece.offset, piece.length);
                bytes.clear(piece.offset, piece.offset + piece.length);
            }
            assertThat(slab.isUnused()).as("seed %d", seed).isEqualTo(taken.isEmpty());
        }
        assertThat(refusals).isPositive();
        for (Piece piece : taken) {
            slab.free(piece.offset, piece.length);
        }
        assertThat(slab.allocate(SLAB)).isZero();
    }
}
