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

    private QueuePairInitAttributes(
            QueuePairType type,
            QueuePairCapabilities capabilities,
            CompletionQueue sendQueue,
            CompletionQueue receiveQueue,
            boolean signalAll) {
        this.type = Objects.requireNonNull(type, "type");
        this.capabilities = Objects.requireNonNull(capabilities, "capabilities");
        this.sendQueue = sendQueue;
        this.receiveQueue = receiveQueue;
        this.signalAll = signalAll;
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
        return new QueuePairInitAttributes(type, wanted, null, null, false);
    }

    /**
     * One queue for all completions.
     *
     * @param queue the queue
     * @return other attributes
     */
    public QueuePairInitAttributes withCompletionQueue(CompletionQueue queue) {
        return new QueuePairInitAttributes(type, capabilities, queue, queue, signalAll);
    }

    /**
     * The queue of send completions.
     *
     * @param queue the queue; null for a type that sends nothing
     * @return other attributes
     */
    public QueuePairInitAttributes withSendQueue(CompletionQueue queue) {
        return new QueuePairInitAttributes(type, capabilities, queue, receiveQueue, signalAll);
    }

    /**
     * The queue of receive completions.
     *
     * @param queue the queue; null for a type that receives nothing
     * @return other attributes
     */
    public QueuePairInitAttributes withReceiveQueue(CompletionQueue queue) {
        return new QueuePairInitAttributes(type, capabilities, sendQueue, queue, signalAll);
    }

    /**
     * Whether every send request generates a completion.
     *
     * @param all true for all; false for those with {@link SendFlags#SIGNALED} and those that fail
     * @return other attributes
     */
    public QueuePairInitAttributes withSignalAll(boolean all) {
        return new QueuePairInitAttributes(type, capabilities, sendQueue, receiveQueue, all);
    }

    /**
     * Other sizes.
     *
     * @param sizes the sizes
     * @return other attributes
     * @throws NullPointerException when they are null
     */
    public QueuePairInitAttributes withCapabilities(QueuePairCapabilities sizes) {
        return new QueuePairInitAttributes(type, sizes, sendQueue, receiveQueue, signalAll);
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
     * For messages.
     *
     * @return type, sizes and signaling
     */
    @Override
    public String toString() {
        return type + ", " + capabilities + (signalAll ? ", signalAll" : "");
    }
}
