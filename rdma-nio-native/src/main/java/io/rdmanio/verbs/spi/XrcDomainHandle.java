package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;

/** An engine's domain of extended reliable connections. */
public interface XrcDomainHandle {
    /**
     * Closes it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
