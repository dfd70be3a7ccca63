package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;

/** Somebody who sleeps until a source is ready, as far as the source must know where to tell of it. */
interface Sleeper {
    /**
     * Where completions are to be told of, so that they wake the sleeper without a detour.
     *
     * @return null when only the event loop can wake it
     */
    CompletionQueueGroup group();

    /** What the group tells of. */
    Object token();
}
