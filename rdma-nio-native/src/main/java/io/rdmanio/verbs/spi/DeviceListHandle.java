package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;
import java.util.List;

/** An engine's list of the devices that its connection manager has open. */
public interface DeviceListHandle {
    /**
     * The devices.
     *
     * @return their contexts, which are not destroyed
     */
    List<ContextHandle> devices();

    /**
     * Frees the list.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
