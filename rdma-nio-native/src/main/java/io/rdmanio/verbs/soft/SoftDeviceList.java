package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.DeviceListHandle;
import java.util.List;

/** The one device that there is. Thread-safe. */
final class SoftDeviceList implements DeviceListHandle {
    private final ConnectionDevice device;

    SoftDeviceList(ConnectionDevice device) {
        this.device = device;
        device.retain();
    }

    @Override
    public List<ContextHandle> devices() {
        return List.of(device.context());
    }

    @Override
    public void destroy() {
        device.release();
    }
}
