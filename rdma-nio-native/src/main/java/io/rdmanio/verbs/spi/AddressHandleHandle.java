package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;

/** An engine's address handle. */
public interface AddressHandleHandle {
    /**
     * What stands for it in a send work request.
     *
     * @return the value of {@code wr.ud.ah}; not 0
     */
    long pointer();

    /**
     * Destroys it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
