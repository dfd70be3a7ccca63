package io.rdmanio.verbs.soft;

import java.util.HashMap;
import java.util.Map;

/**
 * How many descriptors of this process others make it open: a quarter of what it may have, and half of that for any one
 * process, so that nobody takes those that the program and the other peers need.
 *
 * <p>Thread safety: all methods may be called by any thread; guarded by this.
 */
final class DescriptorShares {
    private static final int OF_ALL = 4;
    private static final int OF_A_PROCESS = 2;

    private final long most;
    // Guarded by this.
    private final Map<Integer, Long> taken = new HashMap<>();
    private long takenByAll;
    // End of what this guards.

    /**
     * Begins with nothing taken.
     *
     * @param descriptorLimit how many descriptors the process may have
     */
    DescriptorShares(long descriptorLimit) {
        most = descriptorLimit / OF_ALL;
    }

    /**
     * Takes a descriptor of a process's share.
     *
     * @param processId the process
     * @return whether there was one; {@link #giveBack} it then
     */
    synchronized boolean take(int processId) {
        long before = taken.getOrDefault(processId, 0L);
        if (before >= most / OF_A_PROCESS || takenByAll >= most) {
            return false;
        }
        taken.put(processId, before + 1);
        takenByAll++;
        return true;
    }

    /**
     * Gives back what was taken.
     *
     * @param processId the process
     */
    synchronized void giveBack(int processId) {
        taken.computeIfPresent(processId, (_, count) -> count == 1 ? null : count - 1);
        takenByAll--;
    }
}
