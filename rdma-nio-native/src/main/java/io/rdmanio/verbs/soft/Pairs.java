package io.rdmanio.verbs.soft;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The pairs of a host, and what is about to be one: who has a pair with this process already, and which of several
 * connections with the same process is further on.
 *
 * <p>Thread safety: belongs to the progress thread, but {@link #count} and {@link #all}, which any thread may call.
 */
final class Pairs {
    /** How many pairs there are at most. */
    private static final int MAX_PAIRS = 4096;

    /** A pair and its memory take two descriptors, so that all together take a quarter. */
    private static final int DESCRIPTORS_PER_PAIR = 8;

    /** How many handshakes there are at most that others began; each takes a descriptor for some seconds at most. */
    private static final int MAX_ACCEPTED_HANDSHAKES = 1024;

    private static final int DESCRIPTORS_PER_HANDSHAKE = 2;

    /** A process has one pair; one that says it is many has no more than such a part of all. */
    private static final int PART_OF_A_PROCESS = 4;

    private final int mostPairs;
    private final int mostHandshakes;
    private final Set<ProcessPair> all = ConcurrentHashMap.newKeySet();
    private final Map<PeerId, ProcessPair> byPeer = new HashMap<>();
    private final Map<PeerId, PairHandshake> claims = new HashMap<>();
    private final Set<PairHandshake> handshakes = new HashSet<>();
    private final Set<PairAttempt> attempts = new HashSet<>();
    /** The handshakes that this process began, by the name that it connected to. */
    private final Map<String, PairHandshake> underway = new HashMap<>();

    /**
     * Begins without any.
     *
     * @param descriptorLimit how many descriptors this process may have
     */
    Pairs(long descriptorLimit) {
        mostPairs = (int) Math.min(MAX_PAIRS, descriptorLimit / DESCRIPTORS_PER_PAIR);
        mostHandshakes = (int) Math.min(MAX_ACCEPTED_HANDSHAKES, descriptorLimit / DESCRIPTORS_PER_HANDSHAKE);
    }

    /**
     * Whether no further pair that a process begins is welcome.
     *
     * @param processId the process
     */
    boolean isFull(int processId) {
        return all.size() >= mostPairs
                || all.stream()
                                .filter(pair -> pair.peer().processId() == processId)
                                .count()
                        >= mostPairs / PART_OF_A_PROCESS;
    }

    /**
     * Whether a process, or all together, must first end some of the handshakes that they have begun.
     *
     * @param processId the process
     */
    boolean areTooManyGreeting(int processId) {
        long ofAll = 0;
        long ofIt = 0;
        for (PairHandshake handshake : handshakes) {
            if (handshake.isAccepted()) {
                ofAll++;
                ofIt += handshake.peerProcessId() == processId ? 1 : 0;
            }
        }
        return ofAll >= mostHandshakes || ofIt >= mostHandshakes / PART_OF_A_PROCESS;
    }

    void add(PairAttempt attempt) {
        attempts.add(attempt);
    }

    void remove(PairAttempt attempt) {
        attempts.remove(attempt);
    }

    void add(PairHandshake handshake) {
        handshakes.add(handshake);
    }

    void remove(PairHandshake handshake) {
        handshakes.remove(handshake);
        claims.values().remove(handshake);
        underway.values().remove(handshake);
    }

    /** This process has begun a handshake with whoever listens at a name. */
    void begun(String abstractName, PairHandshake handshake) {
        underway.put(abstractName, handshake);
    }

    /**
     * Finds the handshake that this process has begun with whoever listens at a name.
     *
     * @param abstractName the name
     * @return the handshake, or null
     */
    PairHandshake underway(String abstractName) {
        return underway.get(abstractName);
    }

    /**
     * A pair has come to be.
     *
     * @param pair the pair
     * @param otherEnd whether it is the second end of a pair of this process with itself, which nobody looks for
     */
    void add(ProcessPair pair, boolean otherEnd) {
        all.add(pair);
        if (!otherEnd) {
            byPeer.put(pair.peer(), pair);
        }
    }

    void remove(ProcessPair pair) {
        all.remove(pair);
        byPeer.remove(pair.peer(), pair);
    }

    /**
     * Finds the pair with a process.
     *
     * @param peer the process
     * @return the pair, of which everything is known that the peer has sent so far; null when there is none
     */
    ProcessPair alive(PeerId peer) {
        ProcessPair pair = byPeer.get(peer);
        if (pair == null) {
            return null;
        }
        pair.catchUp();
        if (!pair.isDead()) {
            return pair;
        }
        // Somebody has killed it, and its funeral is under way: a new one must not wait for that.
        pair.killNow("dead already");
        return null;
    }

    /**
     * Finds the handshake with a process that is further on than others.
     *
     * @param peer the process
     * @return the handshake, or null
     */
    PairHandshake claimant(PeerId peer) {
        return claims.get(peer);
    }

    /** Makes a handshake the one that is further on. */
    void claim(PeerId peer, PairHandshake handshake) {
        claims.put(peer, handshake);
    }

    /** Whether there is a pair with a process, or one that will be. */
    boolean isKnown(PeerId peer) {
        PairHandshake claimant = claimant(peer);
        if (claimant != null) {
            claimant.catchUp();
        }
        return alive(peer) != null || claims.containsKey(peer);
    }

    /** How many pairs there are. */
    int count() {
        return all.size();
    }

    /** The pairs there are. */
    Stream<ProcessPair> all() {
        return all.stream();
    }

    /** Ends everything. */
    void close(int errno, String reason) {
        List.copyOf(attempts).forEach(attempt -> attempt.failed(errno));
        List.copyOf(handshakes).forEach(handshake -> handshake.drop(reason));
        List.copyOf(all).forEach(pair -> pair.killNow(reason));
    }
}
