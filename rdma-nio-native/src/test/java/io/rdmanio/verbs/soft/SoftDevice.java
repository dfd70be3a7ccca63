package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AsyncEvent;
import io.rdmanio.verbs.DeviceInfo;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.EventChannelHandle;
import io.rdmanio.verbs.spi.VerbsAccess;
import io.rdmanio.verbs.spi.VerbsEngine;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A software device of a host of its own, so that two of them in one JVM are what the devices of two processes are.
 * Not thread-safe.
 */
final class SoftDevice implements AutoCloseable {
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

    final SoftHost host;
    final OpenDeviceContext context;

    SoftDevice() throws IOException {
        host = SoftHost.startAnother();
        context = open();
    }

    /** Opens the device once more. */
    OpenDeviceContext open() throws VerbsException {
        return VerbsAccess.get().newEngine(new Engine()).open(SoftContext.NAME);
    }

    /** The next asynchronous event. */
    AsyncEvent awaitAsyncEvent() throws VerbsException {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (true) {
            AsyncEvent event = context.takeAsyncEvent();
            if (event != null) {
                return event;
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError("no asynchronous event within 10 s");
            }
            LockSupport.parkNanos(100_000);
        }
    }

    @Override
    public void close() throws VerbsException {
        context.close();
        host.release();
    }

    /** The engine of this host. */
    private final class Engine implements VerbsEngine {
        @Override
        public String name() {
            return "soft";
        }

        @Override
        public Optional<String> unavailableReason() {
            return Optional.empty();
        }

        @Override
        public List<DeviceInfo> devices() {
            return List.of();
        }

        @Override
        public ContextHandle open(String deviceName) throws VerbsException {
            host.retain();
            return new SoftContext(host);
        }

        @Override
        public EventChannelHandle openEventChannel() {
            throw new UnsupportedOperationException();
        }
    }
}
