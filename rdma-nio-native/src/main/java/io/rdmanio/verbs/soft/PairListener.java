package io.rdmanio.verbs.soft;

/** Hears how the search for a pair ended: one of its methods is called, once, on the progress thread. */
interface PairListener {
    /**
     * There is a pair, either a new one or the one that these two processes had already.
     *
     * @param pair the pair, alive
     */
    void paired(ProcessPair pair);

    /**
     * There is none.
     *
     * @param errno why: ECONNREFUSED (nobody has this name), ETIMEDOUT, EACCES (another user's), EPROTONOSUPPORT (another
     *     version), EPROTO, ECONNRESET, ECANCELED (this host is closing), EMFILE and the like
     */
    void failed(int errno);
}
