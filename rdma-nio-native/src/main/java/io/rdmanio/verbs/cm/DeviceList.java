package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.DeviceListHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.util.ArrayList;
import java.util.List;

/**
 * The devices that the connection manager has open (rdma_get_devices(3)): the same contexts that its ids are bound to,
 * so what is made from them serves the ids of all channels. Thread-safe.
 */
public final class DeviceList implements AutoCloseable {
    private final Lifecycle life;
    private final List<DeviceContext> devices;

    private DeviceList(RdmaEngine engine, DeviceListHandle handle) {
        this.life = new Lifecycle(HandleKind.DEVICE_LIST, handle::destroy);
        List<DeviceContext> contexts = new ArrayList<>();
        for (ContextHandle context : handle.devices()) {
            contexts.add(VerbsAccess.get().borrowed(engine, context));
        }
        this.devices = List.copyOf(contexts);
    }

    /**
     * Gets the list; devices that were not open are opened, and stay so (rdma_get_devices(3)). Makes system calls.
     *
     * @param engine whose connection manager
     * @return the list, to be closed by the caller
     * @throws VerbsException when there is no device ({@code ENODEV}), or one can't be opened
     */
    public static DeviceList open(RdmaEngine engine) throws VerbsException {
        return new DeviceList(engine, VerbsAccess.get().engine(engine).openDeviceList());
    }

    /**
     * The devices.
     *
     * @return their contexts, borrowed
     * @throws IllegalStateException after close
     */
    public List<DeviceContext> devices() {
        life.enter();
        try {
            return devices;
        } finally {
            life.exit();
        }
    }

    /**
     * Frees the list (rdma_free_devices(3)). The devices stay open, unless they are removed from the system; close what
     * was made from them before. Idempotent.
     *
     * @throws VerbsException when it fails
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
