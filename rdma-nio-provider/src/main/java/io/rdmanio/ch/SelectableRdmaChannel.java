package io.rdmanio.ch;

import io.rdmanio.stream.ReadinessSource;
import io.rdmanio.stream.Watch;
import java.io.IOException;

/**
 * What a selector needs of a channel. Called with the selector's lock held; takes the locks of the channel's stream only.
 */
interface SelectableRdmaChannel {
    /** Where the channel's readiness comes from; null as long as it has nothing that could become ready. */
    ReadinessSource source();

    /**
     * The operations of interest that are ready; if none is, the watch sleeps until one may be.
     *
     * @param notified whether the source's descriptor was seen readable
     */
    int readyOps(Watch watch, int interestOps, boolean notified);

    /** A key exists from now on; it is told when the channel gets a source or changes what it may be ready for. */
    void registered(SelectionKeyImpl key);

    /** A key exists no more. */
    void deregistered(SelectionKeyImpl key);

    /** Closes for good: the channel is closed and its last key gone. */
    void kill() throws IOException;
}
