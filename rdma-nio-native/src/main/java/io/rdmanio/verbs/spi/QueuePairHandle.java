package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.MemorySegment;

/** An engine's queue pair. */
public interface QueuePairHandle {
    /**
     * The queue pair's number.
     *
     * @return qp_num
     */
    int number();

    /**
     * The sizes that were granted.
     *
     * @return the sizes
     */
    QueuePairCapabilities capabilities();

    /**
     * Posts a list of send work requests. Allocates nothing.
     *
     * @param first the first, laid out as {@link SendWorkRequestLayout} says
     * @return 0, or an error number
     */
    int postSend(MemorySegment first);

    /**
     * Posts a list of receive work requests. Allocates nothing.
     *
     * @param first the first, laid out as {@link ReceiveWorkRequestLayout} says
     * @return 0, or an error number
     */
    int postReceive(MemorySegment first);

    /**
     * Sets how long a peer waits after it found no receive posted.
     *
     * @param code the time as coded in ibv_modify_qp(3), 0 to 31
     * @throws VerbsException when it fails
     */
    void setMinRnrTimer(int code) throws VerbsException;

    /**
     * Changes the state and nothing else.
     *
     * @param state the new state
     * @throws VerbsException when it fails
     */
    void setState(QueuePairState state) throws VerbsException;

    /**
     * Queries the state.
     *
     * @return the state
     * @throws VerbsException when it fails
     */
    QueuePairState queryState() throws VerbsException;

    /**
     * What asynchronous events carry for it.
     *
     * @return a number that no other handle of the context has while this one is alive; 0 when there are no such events
     */
    default long asyncElement() {
        return 0;
    }

    /**
     * Destroys it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
