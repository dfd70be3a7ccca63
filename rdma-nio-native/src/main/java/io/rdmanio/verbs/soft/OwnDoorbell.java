package io.rdmanio.verbs.soft;

import io.rdmanio.linux.SystemCallException;
import io.rdmanio.linux.WakePipe;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A descriptor of this process that becomes readable when it is rung, by this process or by the peers of its queue pairs.
 * A peer is told of it when one of its queue pairs is first to ring it.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class OwnDoorbell {
    private final WakePipe pipe;
    // The process pairs whose peers can ring.
    private final Set<ProcessPair> told = ConcurrentHashMap.newKeySet();

    /**
     * Opens one that nobody has rung.
     *
     * @throws SystemCallException when no descriptor is left
     */
    OwnDoorbell() throws SystemCallException {
        pipe = new WakePipe();
    }

    /** The descriptor to be waited for. */
    int fileDescriptor() {
        return pipe.fileDescriptor();
    }

    /**
     * Opens a way to ring, to be sent to another process.
     *
     * @return a descriptor of its own, to be closed by the caller once it is sent
     * @throws SystemCallException when no descriptor is left
     */
    int openOtherEnd() throws SystemCallException {
        return pipe.openOtherEnd();
    }

    /**
     * The number by which the peer of a process pair knows this doorbell; it is told when it doesn't.
     *
     * @param pair the pair
     * @return the number
     * @throws IOException when no number or descriptor is left
     */
    int indexFor(ProcessPair pair) throws IOException {
        told.removeIf(ProcessPair::isDead);
        told.add(pair);
        return pair.doorbellIndexOf(this);
    }

    /** Makes the descriptor readable. */
    void ring() {
        pipe.signal();
    }

    /** Makes the descriptor unreadable until it is rung again. */
    void drain() {
        pipe.drain();
    }

    /** Closes the descriptor; peers are told. */
    void close() {
        told.forEach(pair -> pair.forgetDoorbell(this));
        pipe.close();
    }
}
