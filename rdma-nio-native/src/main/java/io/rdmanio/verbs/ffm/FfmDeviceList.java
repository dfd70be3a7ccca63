package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.DeviceListHandle;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** The array that rdma_get_devices(3) returns. */
final class FfmDeviceList implements DeviceListHandle {
    private final long list;
    private final List<ContextHandle> devices;

    private FfmDeviceList(long list, List<ContextHandle> devices) {
        this.list = list;
        this.devices = devices;
    }

    static FfmDeviceList open(FfmEngine engine) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long list = Downcall.call(Imports.RDMA_GET_DEVICES.get(), frame, frame.argumentsAddress());
            Status.checkPointer(list, frame, Imports.RDMA_GET_DEVICES, "");
            int count = frame.arguments().get(ValueLayout.JAVA_INT, 0);
            MemorySegment contexts = Pointers.array(list, count);
            List<ContextHandle> devices = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                devices.add(engine.borrowed(contexts.getAtIndex(ValueLayout.JAVA_LONG, i)));
            }
            return new FfmDeviceList(list, List.copyOf(devices));
        }
    }

    @Override
    public List<ContextHandle> devices() {
        return devices;
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            Downcall.call(Imports.RDMA_FREE_DEVICES.get(), frame, list);
        }
    }
}
