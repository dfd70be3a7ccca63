package io.rdmanio.verbs.spi;

import java.util.concurrent.atomic.LongAdder;

/** The kinds of objects whose open handles are counted. Thread-safe. */
public enum HandleKind {
    /** A device context that was opened, not borrowed. */
    DEVICE_CONTEXT("DeviceContext"),
    /** A protection domain. */
    PROTECTION_DOMAIN("ProtectionDomain"),
    /** A memory region. */
    MEMORY_REGION("MemoryRegion"),
    /** A memory window. */
    MEMORY_WINDOW("MemoryWindow"),
    /** An address handle. */
    ADDRESS_HANDLE("AddressHandle"),
    /** A domain of extended reliable connections. */
    XRC_DOMAIN("XrcDomain"),
    /** A completion channel. */
    COMPLETION_CHANNEL("CompletionChannel"),
    /** A completion queue. */
    COMPLETION_QUEUE("CompletionQueue"),
    /** A group of completion queues. */
    COMPLETION_QUEUE_GROUP("CompletionQueueGroup"),
    /** A shared receive queue. */
    SHARED_RECEIVE_QUEUE("SharedReceiveQueue"),
    /** A queue pair. */
    QUEUE_PAIR("QueuePair"),
    /** An asynchronous event that is not acknowledged. */
    ASYNC_EVENT("AsyncEvent"),
    /** An event channel. */
    EVENT_CHANNEL("EventChannel"),
    /** A communication id. */
    COMMUNICATION_ID("CommunicationId"),
    /** A communication event that is not acknowledged. */
    COMMUNICATION_EVENT("CommunicationEvent"),
    /** A list of the connection manager's devices. */
    DEVICE_LIST("DeviceList"),
    /** An endpoint that connects or is connected. */
    CONNECTION_ENDPOINT("ConnectionEndpoint"),
    /** An endpoint that listens. */
    LISTENING_ENDPOINT("ListeningEndpoint"),
    /** A multicast group that an id has joined. */
    MULTICAST_MEMBERSHIP("MulticastMembership"),
    /** The memory of a send work request. */
    SEND_WORK_REQUEST("SendWorkRequest"),
    /** The memory of a receive work request. */
    RECEIVE_WORK_REQUEST("ReceiveWorkRequest"),
    /** The memory of an array of completions. */
    WORK_COMPLETIONS("WorkCompletions");

    private final String label;

    @SuppressWarnings("ImmutableEnumChecker") // The count is all that changes.
    private final LongAdder open = new LongAdder();

    HandleKind(String label) {
        this.label = label;
    }

    /**
     * The name of the class that is counted.
     *
     * @return its simple name
     */
    public String label() {
        return label;
    }

    /**
     * How many are open.
     *
     * @return the count
     */
    public long open() {
        return open.sum();
    }

    /** Counts one more. */
    public void opened() {
        open.increment();
    }

    /** Counts one less. */
    public void closed() {
        open.decrement();
    }
}
