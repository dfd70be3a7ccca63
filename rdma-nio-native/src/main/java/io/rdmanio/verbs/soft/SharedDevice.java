package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The device as the connection manager has it open: one context and one protection domain for all ids of the process, as
 * librdmacm has, from the first event channel or id to the last of them and of the domains that were made on it.
 *
 * <p>Thread safety: all methods may be called by any thread. The present device and its uses are guarded by the lock, under
 * which nothing waits but for a former host to end.
 */
final class SharedDevice implements ConnectionDevice {
    private static final ReentrantLock LOCK = new ReentrantLock();
    // Guarded by LOCK; read without it as well.
    private static volatile SharedDevice present;
    private int uses;
    // End of what LOCK guards.

    private final SoftContext context;
    private final SoftProtectionDomain domain;

    private SharedDevice(SoftContext context) {
        this.context = context;
        this.domain = SoftProtectionDomain.lent(context.host().keys(), context);
    }

    /** What is done with a device that is in use meanwhile. */
    interface Task<T> {
        /**
         * Does it.
         *
         * @param device the device
         * @return what came of it
         * @throws VerbsException when it fails
         */
        T apply(SharedDevice device) throws VerbsException;
    }

    /**
     * Opens the device, unless it is, for a task that counts its own use of it if it makes something that stays.
     *
     * @param function for whom, for the exception
     * @param task the task
     * @param <T> what it makes
     * @return what it made
     * @throws VerbsException when the device can't be opened, or the task fails
     */
    static <T> T use(String function, Task<T> task) throws VerbsException {
        SharedDevice device = acquire(function);
        try {
            return task.apply(device);
        } finally {
            device.release();
        }
    }

    private static SharedDevice acquire(String function) throws VerbsException {
        LOCK.lock();
        try {
            if (present == null) {
                present = new SharedDevice(openContext(function));
            }
            present.uses++;
            return present;
        } finally {
            LOCK.unlock();
        }
    }

    /**
     * Opens a context of its own.
     *
     * @param function for whom, for the exception
     * @return the context, to be destroyed by the caller
     * @throws VerbsException when a descriptor or memory is missing
     */
    static SoftContext openContext(String function) throws VerbsException {
        SoftHost host;
        try {
            host = SoftHost.acquire();
        } catch (IOException e) {
            throw Failures.of(function, SoftContext.NAME, e);
        }
        try {
            return new SoftContext(host);
        } catch (VerbsException e) {
            host.release();
            throw e;
        }
    }

    /**
     * The context of the ids.
     *
     * @param function for whom, for the exception
     * @return the context; it may be closed at any time, when the last id and the last domain are
     * @throws VerbsException when neither has the device open
     */
    static ContextHandle presentContext(String function) throws VerbsException {
        SharedDevice device = present;
        if (device == null) {
            throw nothingOpen(function);
        }
        return device.context;
    }

    private static VerbsException nothingOpen(String function) {
        return new VerbsException(
                function,
                SoftContext.NAME,
                Errno.ENODEV,
                "Nothing of the connection manager is open any more, nor a protection domain of its device.");
    }

    /**
     * Makes a domain that has the device open as an id has: what belongs to it works on, and its events can be taken, when
     * the last id is gone.
     *
     * @param function for whom, for the exception
     * @return the domain
     * @throws VerbsException when nothing has the device open
     */
    static ProtectionDomainHandle allocateProtectionDomain(String function) throws VerbsException {
        SharedDevice device;
        LOCK.lock();
        try {
            device = present;
            if (device == null) {
                throw nothingOpen(function);
            }
            device.uses++;
        } finally {
            LOCK.unlock();
        }
        return new SoftProtectionDomain(device.context.host().keys(), device.context, device::release);
    }

    @Override
    public void retain() {
        LOCK.lock();
        try {
            if (uses == 0) {
                throw new IllegalStateException("the device is closed");
            }
            uses++;
        } finally {
            LOCK.unlock();
        }
    }

    @Override
    public void release() {
        LOCK.lock();
        try {
            uses--;
            if (uses > 0) {
                return;
            }
            present = null;
        } finally {
            LOCK.unlock();
        }
        // And with it its use of the host.
        context.destroy();
    }

    @Override
    public ConnectionManager connections() {
        return context.host().connections();
    }

    @Override
    public ContextHandle context() {
        return SharedContext.INSTANCE;
    }

    @Override
    public ProtectionDomainHandle domain() {
        return domain;
    }

    @Override
    public int maxReads() {
        return QueuePairSettings.MAX_READ_ATOMICS;
    }

    @Override
    public NewQueuePair createQueuePair(ProtectionDomainHandle owner, QueuePairRequest request) throws VerbsException {
        QueuePairHandle handle = owner.createQueuePair(request);
        try {
            handle.modify(IdAttributes.initialized(null));
            return new NewQueuePair(handle, (SoftQueuePair) handle);
        } catch (VerbsException e) {
            handle.destroy();
            throw e;
        }
    }

    @Override
    public SharedReceiveQueueHandle createSharedReceiveQueue(
            ProtectionDomainHandle owner, SharedReceiveQueueAttributes wanted) throws VerbsException {
        return owner.createSharedReceiveQueue(wanted);
    }
}
