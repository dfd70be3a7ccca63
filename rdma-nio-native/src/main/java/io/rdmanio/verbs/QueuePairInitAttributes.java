package io.rdmanio.verbs;

import java.util.Objects;

/**
 * How a queue pair is made ({@code struct ibv_qp_init_attr}, ibv_create_qp(3)). Immutable: the with-methods return
 * another.
 */
public final class QueuePairInitAttributes {
    private final QueuePairType type;
    private final QueuePairCapabilities capabilities;
    private final CompletionQueue sendQueue;
    private final CompletionQueue receiveQueue;
    private final boolean signalAll;
    private final SharedReceiveQueue sharedReceiveQueue;
    private final XrcDomain xrcDomain;

    private QueuePairInitAttributes(
            QueuePairType type,
            QueuePairCapabilities capabilities,
            CompletionQueue sendQueue,
            CompletionQueue receiveQueue,
            boolean signalAll,
            SharedReceiveQueue sharedReceiveQueue,
            XrcDomain xrcDomain) {
        this.type = Objects.requireNonNull(type, "type");
        this.capabilities = Objects.requireNonNull(capabilities, "capabilities");
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
        this.signalAll = signalAll;
        this.sharedReceiveQueue = sharedReceiveQueue;
        this.xrcDomain = xrcDomain;
    }

    /** Refuses what drivers would follow a null pointer for, or can't mean. */
    void requireComplete() {
        boolean receivesOnly = type == QueuePairType.XRC_RECEIVE;
        if (sendQueue == null && !receivesOnly) {
            throw new IllegalArgumentException(type + " needs a queue of send completions");
        }
        if (receiveQueue == null && type != QueuePairType.XRC_SEND && !receivesOnly) {
            throw new IllegalArgumentException(type + " needs a queue of receive completions");
        }
        if ((xrcDomain != null) != receivesOnly) {
            throw new IllegalArgumentException(
                    receivesOnly ? type + " needs an XRC domain" : "only XRC_RECEIVE belongs to an XRC domain");
        }
        if (type == QueuePairType.UNKNOWN) {
            throw new IllegalArgumentException("UNKNOWN is no type to create");
        }
    }

    /**
     * Begins with type and sizes: without completion queues, only requests that ask for it being signaled.
     *
     * @param type the transport service
     * @param wanted the sizes
     * @return the attributes
     * @throws NullPointerException when one is null
     */
    public static QueuePairInitAttributes of(QueuePairType type, QueuePairCapabilities wanted) {
        return new QueuePairInitAttributes(type, wanted, null, null, false, null, null);
    }

    /**
     * One queue for all completions.
     *
     * @param queue the queue
     * @return other attributes
     */
    public QueuePairInitAttributes withCompletionQueue(CompletionQueue queue) {
        return new QueuePairInitAttributes(type, capabilities, queue, queue, signalAll, sharedReceiveQueue, xrcDomain);
    }

    /**
     * The queue of send completions.
     *
     * @param queue the queue; null for a type that sends nothing
     * @return other attributes
     */
    public QueuePairInitAttributes withSendQueue(CompletionQueue queue) {
        return new QueuePairInitAttributes(
                type, capabilities, queue, receiveQueue, signalAll, sharedReceiveQueue, xrcDomain);
    }

    /**
     * The queue of receive completions.
     *
     * @param queue the queue; null for a type that receives nothing
     * @return other attributes
     */
    public QueuePairInitAttributes withReceiveQueue(CompletionQueue queue) {
        return new QueuePairInitAttributes(
                type, capabilities, sendQueue, queue, signalAll, sharedReceiveQueue, xrcDomain);
    }

    /**
     * Whether every send request generates a completion.
     *
     * @param all true for all; false for those with {@link SendFlags#SIGNALED} and those that fail
     * @return other attributes
     */
    public QueuePairInitAttributes withSignalAll(boolean all) {
        return new QueuePairInitAttributes(
                type, capabilities, sendQueue, receiveQueue, all, sharedReceiveQueue, xrcDomain);
    }

    /**
     * Where receives are taken from, instead of a receive queue of its own.
     *
     * @param queue the queue; null for one of its own
     * @return other attributes
     */
    public QueuePairInitAttributes withSharedReceiveQueue(SharedReceiveQueue queue) {
        return new QueuePairInitAttributes(type, capabilities, sendQueue, receiveQueue, signalAll, queue, xrcDomain);
    }

    /**
     * The domain of extended reliable connections, for the type XRC_RECEIVE.
     *
     * @param domain the domain, or null
     * @return other attributes
     */
    public QueuePairInitAttributes withXrcDomain(XrcDomain domain) {
        return new QueuePairInitAttributes(
                type, capabilities, sendQueue, receiveQueue, signalAll, sharedReceiveQueue, domain);
    }

    /**
     * Other sizes.
     *
     * @param sizes the sizes
     * @return other attributes
     * @throws NullPointerException when they are null
     */
    public QueuePairInitAttributes withCapabilities(QueuePairCapabilities sizes) {
        return new QueuePairInitAttributes(
                type, sizes, sendQueue, receiveQueue, signalAll, sharedReceiveQueue, xrcDomain);
    }

    /**
     * The transport service.
     *
     * @return qp_type
     */
    public QueuePairType type() {
        return type;
    }

    /**
     * The sizes: wanted, or granted when the queue pair tells them.
     *
     * @return cap
     */
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    /**
     * The queue of send completions.
     *
     * @return send_cq, or null
     */
    public CompletionQueue sendQueue() {
        return sendQueue;
    }

    /**
     * The queue of receive completions.
     *
     * @return recv_cq, or null
     */
    public CompletionQueue receiveQueue() {
        return receiveQueue;
    }

    /**
     * Whether every send request generates a completion.
     *
     * @return sq_sig_all
     */
    public boolean signalAll() {
        return signalAll;
    }

    /**
     * Where receives are taken from.
     *
     * @return srq, or null when it has a receive queue of its own
     */
    public SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /**
     * The domain of extended reliable connections.
     *
     * @return xrcd, or null
     */
    public XrcDomain xrcDomain() {
        return xrcDomain;
    }

    /**
     * For messages.
     *
     * @return type, sizes and signaling
     */
    @Override
    public String toString() {
        return type + ", " + capabilities + (signalAll ? ", signalAll" : "")
                + (sharedReceiveQueue == null ? "" : ", sharedReceiveQueue") + (xrcDomain == null ? "" : ", xrcDomain");
    }
}
