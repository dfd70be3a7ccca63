package io.rdmanio.verbs.soft;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Things of a pair by small numbers, which the peer is told. A number is used again as late as possible: what the peer
 * still has under way for it then finds nobody, or at worst wakes somebody for nothing.
 *
 * <p>Thread safety: all methods may be called by any thread; finding takes no lock. Growing and the choice of a number are
 * guarded by this.
 *
 * @param <T> the type of the things
 */
final class SlotTable<T> {
    private static final int FIRST_SLOTS = 16;

    private final int mostSlots;
    private volatile AtomicReferenceArray<T> slots = new AtomicReferenceArray<>(FIRST_SLOTS);
    // Guarded by this.
    private int used;
    private int next;
    // End of what this guards.

    /**
     * Makes an empty table.
     *
     * @param mostSlots how large it may grow, a power of two
     */
    SlotTable(int mostSlots) {
        this.mostSlots = mostSlots;
    }

    /**
     * Adds a thing.
     *
     * @param thing the thing
     * @return its number; -1 when the table is full
     */
    synchronized int add(T thing) {
        AtomicReferenceArray<T> present = slots;
        // Half of the table stays free as long as it may grow, so that numbers rest.
        if (2 * (used + 1) > present.length() && present.length() < mostSlots) {
            present = grown(present);
            slots = present;
        }
        if (used == present.length()) {
            return -1;
        }
        while (present.get(next % present.length()) != null) {
            next++;
        }
        int slot = next % present.length();
        next = slot + 1;
        used++;
        present.set(slot, thing);
        return slot;
    }

    private static <T> AtomicReferenceArray<T> grown(AtomicReferenceArray<T> present) {
        AtomicReferenceArray<T> larger = new AtomicReferenceArray<>(2 * present.length());
        for (int i = 0; i < present.length(); i++) {
            larger.set(i, present.get(i));
        }
        return larger;
    }

    /**
     * Finds a thing.
     *
     * @param slot its number, any number at all
     * @return the thing, or null
     */
    T get(int slot) {
        AtomicReferenceArray<T> present = slots;
        return slot >= 0 && slot < present.length() ? present.get(slot) : null;
    }

    /**
     * Takes a thing out.
     *
     * @param slot its number
     * @return the thing, or null when there was none
     */
    synchronized T remove(int slot) {
        if (get(slot) == null) {
            return null;
        }
        used--;
        return slots.getAndSet(slot, null);
    }

    /**
     * How many numbers there are up to now.
     *
     * @return one more than the largest number that {@link #get} may find something for
     */
    int limit() {
        return slots.length();
    }
}
