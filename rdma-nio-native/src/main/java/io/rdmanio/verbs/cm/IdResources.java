package io.rdmanio.verbs.cm;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.CompletionChannel;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.XrcDomain;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.VerbsAccess;
import io.rdmanio.verbs.spi.Waiting;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a communication id has on its device: the library's domain, its queue pair and shared receive queue, and completion queues of its own for
 * a queue pair that was given none. All methods are called from inside the life of the id.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code making} guards the fields, and lets one creation
 * follow another: the library looks whether there is a queue pair without a lock.
 */
final class IdResources {
    /** A completion queue with a channel for it alone. */
    record OwnQueue(CompletionChannel channel, CompletionQueue queue) {
        /** Waits for a slice. Returns false when there was no time left. */
        boolean awaitEvent(long deadlineNanos) throws IOException {
            Lifecycle life = VerbsAccess.get().life(channel);
            life.enter();
            try {
                boolean waited = Waiting.slice(channel.fileDescriptor(), deadlineNanos);
                if (waited) {
                    channel.takeEvent();
                }
                return waited;
            } finally {
                life.exit();
            }
        }

        void close() throws VerbsException {
            channel.close();
        }
    }

    private final CommunicationId id;
    private final ReentrantLock making = new ReentrantLock();
    private ProtectionDomain lent;
    private ProtectionDomain domain;
    private QueuePair queuePair;
    private SharedReceiveQueue sharedReceiveQueue;
    // Where the receives of the queue pair come from; null for its own queue.
    private SharedReceiveQueue receives;
    private OwnQueue sendQueue;
    private OwnQueue receiveQueue;

    IdResources(CommunicationId id) {
        this.id = id;
    }

    ProtectionDomain protectionDomain() {
        making.lock();
        try {
            if (lent == null) {
                ProtectionDomainHandle handle = id.handle().protectionDomain();
                if (handle == null) {
                    return null;
                }
                lent = VerbsAccess.get().lentDomain(id.device(), handle, id.life());
            }
            return lent;
        } finally {
            making.unlock();
        }
    }

    /**
     * The library's domain is read in any case: the library forgets it in favour of the one that a queue pair is made in,
     * and still has that one when it is long deallocated.
     */
    private ProtectionDomain domainOrLent(ProtectionDomain domainOrNull) {
        ProtectionDomain library = protectionDomain();
        return domainOrNull == null ? library : domainOrNull;
    }

    QueuePair createQueuePair(ProtectionDomain domainOrNull, QueuePairInitAttributes attributes) throws VerbsException {
        making.lock();
        try {
            ProtectionDomain used = domainOrLent(domainOrNull);
            if (used == null) {
                throw noDevice("rdma_create_qp");
            }
            if (queuePair != null && !VerbsAccess.get().life(queuePair).isClosed()) {
                throw new VerbsException("rdma_create_qp", "", Errno.EINVAL, "The id has a queue pair.");
            }
            closeOwnQueues();
            try {
                QueuePairInitAttributes completed = withOwnQueues(attributes);
                queuePair = VerbsAccess.get().newQueuePair(id.handle()::createQueuePair, used, completed, id.life());
                receives = completed.sharedReceiveQueue();
            } catch (Throwable failure) {
                closeOwnQueues();
                throw failure;
            }
            domain = used;
            adoptMemberships();
            return queuePair;
        } finally {
            making.unlock();
        }
    }

    static VerbsException noDevice(String function) {
        return new VerbsException(
                function,
                "",
                Errno.EINVAL,
                "The id has no device yet: the address must be resolved, or bound to one of a device.");
    }

    /** The driver reads both queues of any type but the extended ones without a look whether they are there. */
    private QueuePairInitAttributes withOwnQueues(QueuePairInitAttributes wanted) throws VerbsException {
        QueuePairInitAttributes attributes = wanted;
        if (attributes.sharedReceiveQueue() == null
                && sharedReceiveQueue != null
                && !VerbsAccess.get().life(sharedReceiveQueue).isClosed()
                && attributes.type() != QueuePairType.XRC_RECEIVE
                && attributes.type() != QueuePairType.XRC_SEND) {
            attributes = attributes.withSharedReceiveQueue(sharedReceiveQueue);
        }
        DeviceContext device = id.device();
        if (attributes.sendQueue() == null && attributes.type() != QueuePairType.XRC_RECEIVE) {
            sendQueue = newQueue(device, attributes.capabilities().maxSendWorkRequests());
            attributes = attributes.withSendQueue(sendQueue.queue());
        }
        if (attributes.receiveQueue() == null
                && attributes.type() != QueuePairType.XRC_RECEIVE
                && attributes.type() != QueuePairType.XRC_SEND) {
            SharedReceiveQueue shared = attributes.sharedReceiveQueue();
            int receives =
                    shared == null ? attributes.capabilities().maxReceiveWorkRequests() : shared.maxWorkRequests();
            receiveQueue = newQueue(device, receives);
            attributes = attributes.withReceiveQueue(receiveQueue.queue());
        }
        return attributes;
    }

    SharedReceiveQueue createSharedReceiveQueue(
            ProtectionDomain domainOrNull,
            SharedReceiveQueueAttributes wanted,
            XrcDomain xrcDomain,
            CompletionQueue queue)
            throws VerbsException {
        making.lock();
        try {
            ProtectionDomain used = domainOrLent(domainOrNull);
            if (used == null) {
                throw noDevice(xrcDomain == null ? "rdma_create_srq" : "rdma_create_srq_ex");
            }
            sharedReceiveQueue = VerbsAccess.get()
                    .newSharedReceiveQueue(
                            id.handle()::createSharedReceiveQueue, used, wanted, xrcDomain, queue, id.life());
            return sharedReceiveQueue;
        } finally {
            making.unlock();
        }
    }

    private OwnQueue newQueue(DeviceContext device, int depthEntries) throws VerbsException {
        CompletionChannel channel = device.createCompletionChannel();
        try {
            CompletionQueue queue = device.createCompletionQueue(Math.max(depthEntries, 1), channel);
            VerbsAccess.get().life(channel).addParent(id.life());
            return new OwnQueue(channel, queue);
        } catch (Throwable failure) {
            channel.close();
            throw failure;
        }
    }

    private void closeOwnQueues() throws VerbsException {
        if (sendQueue != null) {
            sendQueue.close();
            sendQueue = null;
        }
        if (receiveQueue != null) {
            receiveQueue.close();
            receiveQueue = null;
        }
    }

    /** A group that is joined is left before the queue pair goes: one that is attached can't be destroyed. */
    private void adoptMemberships() {
        Lifecycle pair = VerbsAccess.get().life(queuePair);
        for (MulticastMembership membership : id.memberships().all()) {
            membership.addParent(pair);
        }
    }

    /** The life of the queue pair that there is; null when there is none. */
    Lifecycle queuePairLife() {
        making.lock();
        try {
            Lifecycle life = queuePair == null ? null : VerbsAccess.get().life(queuePair);
            return life == null || life.isClosed() ? null : life;
        } finally {
            making.unlock();
        }
    }

    /**
     * Begins a call for which the library uses the queue pair: it is not destroyed before the caller leaves its life. When
     * it is being destroyed, waits for that.
     *
     * @return the life that was entered; null when there is no queue pair any more
     */
    Lifecycle enterQueuePair() throws VerbsException {
        QueuePair pair = queuePair();
        if (pair == null) {
            return null;
        }
        Lifecycle life = VerbsAccess.get().life(pair);
        if (life.tryEnter()) {
            return life;
        }
        life.close();
        return null;
    }

    /** The queue pair that was made last; null before. */
    QueuePair queuePair() {
        making.lock();
        try {
            return queuePair;
        } finally {
            making.unlock();
        }
    }

    /** Where that queue pair takes its receives from; null for a receive queue of its own. */
    SharedReceiveQueue receives() {
        making.lock();
        try {
            return receives;
        } finally {
            making.unlock();
        }
    }

    /** The domain of the queue pair that was made last, or else the lent one; null without a device. */
    ProtectionDomain domain() {
        making.lock();
        try {
            return domain == null ? protectionDomain() : domain;
        } finally {
            making.unlock();
        }
    }

    OwnQueue sendQueue() {
        making.lock();
        try {
            return sendQueue;
        } finally {
            making.unlock();
        }
    }

    OwnQueue receiveQueue() {
        making.lock();
        try {
            return receiveQueue;
        } finally {
            making.unlock();
        }
    }
}
