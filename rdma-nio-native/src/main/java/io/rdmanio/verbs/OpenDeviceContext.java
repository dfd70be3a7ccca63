package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;

/** A device context that the program opened and must close. Thread-safe. */
public final class OpenDeviceContext extends DeviceContext implements AutoCloseable {
    OpenDeviceContext(ContextHandle handle) {
        this(handle, new AsyncEvents(handle));
    }

    private OpenDeviceContext(ContextHandle handle, AsyncEvents events) {
        super(
                handle,
                new Lifecycle(HandleKind.DEVICE_CONTEXT, () -> {
                    events.settleDevice();
                    handle.destroy();
                }),
                events);
    }

    /**
     * Closes the device (ibv_close_device(3)) after everything made from it; asynchronous
     * events that were taken and not closed are acknowledged first. Idempotent; waits for calls in progress.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
