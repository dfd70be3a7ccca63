package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.CompletionChannel;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.XrcDomain;
import java.lang.invoke.MethodHandles;

/**
 * What the package of the connection manager, and tests that put an engine of their own behind the objects, need of the
 * package of verbs and may not be public there. Thread-safe.
 */
public abstract class VerbsAccess {
    private static volatile VerbsAccess instance;

    /** For the one implementation. */
    protected VerbsAccess() {}

    /** Creates a queue pair from the handles that the objects stand for. */
    @FunctionalInterface
    public interface QueuePairMaker {
        /**
         * Creates it.
         *
         * @param domain its domain
         * @param request what it shall be made of
         * @return the queue pair
         * @throws VerbsException when it fails
         */
        QueuePairHandle make(ProtectionDomainHandle domain, QueuePairRequest request) throws VerbsException;
    }

    /** Creates a shared receive queue from the handles that the objects stand for. */
    @FunctionalInterface
    public interface SharedReceiveQueueMaker {
        /**
         * Creates it.
         *
         * @param domain its domain
         * @param wanted its sizes
         * @param xrcDomain its domain of extended reliable connections, or null
         * @param queue queue of its receive completions, or null
         * @return the queue
         * @throws VerbsException when it fails
         */
        SharedReceiveQueueHandle make(
                ProtectionDomainHandle domain,
                SharedReceiveQueueAttributes wanted,
                XrcDomainHandle xrcDomain,
                CompletionQueueHandle queue)
                throws VerbsException;
    }

    /**
     * The implementation.
     *
     * @return the access
     */
    public static VerbsAccess get() {
        VerbsAccess access = instance;
        if (access == null) {
            try {
                MethodHandles.lookup().ensureInitialized(RdmaEngine.class);
            } catch (IllegalAccessException e) {
                throw new AssertionError(e);
            }
            access = instance;
        }
        return access;
    }

    /**
     * Called by the implementation when its class is initialized.
     *
     * @param access the access
     */
    public static void set(VerbsAccess access) {
        instance = access;
    }

    /**
     * Puts an engine behind an object.
     *
     * @param engine the engine
     * @return the object
     */
    public abstract RdmaEngine newEngine(VerbsEngine engine);

    /**
     * The engine behind an object.
     *
     * @param engine the object
     * @return the engine
     */
    public abstract VerbsEngine engine(RdmaEngine engine);

    /**
     * The object of a context that an engine lent.
     *
     * @param engine the engine's object
     * @param handle the context
     * @return the one object for it
     */
    public abstract DeviceContext borrowed(RdmaEngine engine, ContextHandle handle);

    /**
     * Creates a queue pair that an id owns. The caller must be inside the id's lifecycle.
     *
     * @param maker who creates it
     * @param domain its domain
     * @param attributes what it shall be made of
     * @param id the id's life
     * @return the queue pair
     * @throws VerbsException when the maker fails
     */
    public abstract QueuePair newQueuePair(
            QueuePairMaker maker, ProtectionDomain domain, QueuePairInitAttributes attributes, Lifecycle id)
            throws VerbsException;

    /**
     * A domain that the connection manager made, as an object that lives no longer than an id. The caller must be inside
     * the id's lifecycle.
     *
     * @param device its device
     * @param handle the domain, whose destroy does nothing
     * @param id the id's life
     * @return the domain
     */
    public abstract ProtectionDomain lentDomain(DeviceContext device, ProtectionDomainHandle handle, Lifecycle id);

    /**
     * Creates a shared receive queue that an id owns. The caller must be inside the id's lifecycle.
     *
     * @param maker who creates it
     * @param domain its domain
     * @param wanted its sizes
     * @param xrcDomain its domain of extended reliable connections, or null
     * @param queue queue of its receive completions; null without such a domain
     * @param id the id's life
     * @return the queue
     * @throws VerbsException when the maker fails
     */
    public abstract SharedReceiveQueue newSharedReceiveQueue(
            SharedReceiveQueueMaker maker,
            ProtectionDomain domain,
            SharedReceiveQueueAttributes wanted,
            XrcDomain xrcDomain,
            CompletionQueue queue,
            Lifecycle id)
            throws VerbsException;

    /**
     * The life of a shared receive queue.
     *
     * @param queue the queue
     * @return its life
     */
    public abstract Lifecycle life(SharedReceiveQueue queue);

    /**
     * The life of a queue pair.
     *
     * @param queuePair the queue pair
     * @return its life
     */
    public abstract Lifecycle life(QueuePair queuePair);

    /**
     * The life of a completion channel.
     *
     * @param channel the channel
     * @return its life
     */
    public abstract Lifecycle life(CompletionChannel channel);
}
