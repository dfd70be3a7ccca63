package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import io.rdmanio.verbs.spi.ListenerHandle;
import io.rdmanio.verbs.spi.ListenerHandle.TakenRequest;
import io.rdmanio.verbs.spi.VerbsAccess;
import io.rdmanio.verbs.spi.Waiting;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A communication id that listens without an event channel of the program's (rdma_create_ep(3) with an address to listen
 * at), and from which requests to connect are taken as endpoints (rdma_get_request(3)).
 *
 * <p>Thread safety: all methods may be called by any thread; {@code taking} lets one thread at a time into the library,
 * which keeps an event between two calls.
 */
public final class ListeningEndpoint implements AutoCloseable {
    private final RdmaEngine engine;
    private final ListenerHandle handle;
    private final ProtectionDomain domain;
    private final QueuePairInitAttributes attributes;
    private final Lifecycle life;
    private final ReentrantLock taking = new ReentrantLock();

    private ListeningEndpoint(
            RdmaEngine engine, ListenerHandle handle, ProtectionDomain domain, QueuePairInitAttributes attributes) {
        this.engine = engine;
        this.handle = handle;
        this.domain = domain;
        this.attributes = attributes;
        this.life = new Lifecycle(HandleKind.LISTENING_ENDPOINT, handle.id()::destroy);
    }

    /**
     * Creates an endpoint bound to an address (rdma_create_ep(3)). Makes system calls.
     *
     * @param engine whose connection manager
     * @param address where, as {@link AddressInfo#lookUp} found it with {@link AddressInfoFlags#PASSIVE}
     * @param domainOrNull protection domain of the queue pairs of those that connect, on the device they come in by; null
     *     for the library's own
     * @param attributesOrNull what these queue pairs shall be made of, of the address's type; null for none. Without
     *     completion queues each gets some of its own
     * @return the endpoint, to be closed by the caller
     * @throws VerbsException when the address is in use ({@code EADDRINUSE}), or no RDMA device has it ({@code ENODEV},
     *     {@code EADDRNOTAVAIL})
     * @throws IllegalArgumentException when the address is one to connect to, or leaves type or port space open, or the
     *     attributes are of another type
     */
    public static ListeningEndpoint create(
            RdmaEngine engine,
            AddressInfo address,
            ProtectionDomain domainOrNull,
            QueuePairInitAttributes attributesOrNull)
            throws VerbsException {
        ConnectionEndpoint.checkAddress(address, true, attributesOrNull);
        ListenerHandle handle = VerbsAccess.get().engine(engine).createListener(address);
        return new ListeningEndpoint(engine, handle, domainOrNull, attributesOrNull);
    }

    /**
     * Listens (rdma_listen(3)).
     *
     * @param backlog how many requests may wait
     * @throws VerbsException when it fails; on iWARP also when a TCP socket has the port ({@code EADDRINUSE})
     * @throws IllegalStateException after close
     */
    public void listen(int backlog) throws VerbsException {
        life.enter();
        try {
            handle.id().listen(backlog);
        } finally {
            life.exit();
        }
    }

    /**
     * The local address (rdma_get_local_addr(3)).
     *
     * @return the address; null when it is no IP address
     * @throws IllegalStateException after close
     */
    public InetSocketAddress localAddress() {
        life.enter();
        try {
            return handle.id().localAddress();
        } finally {
            life.exit();
        }
    }

    /**
     * Waits for a request to connect (rdma_get_request(3)) and gives it an event channel of its own and, when this
     * endpoint has attributes for it, a queue pair, so that receives can be posted before it is accepted.
     *
     * @param timeoutMillis how long to wait; 0 only looks
     * @return the endpoint, to be accepted or rejected, and closed by the caller; null when the time is over
     * @throws VerbsException when something else than a request came ({@code EINVAL}, as when the device is removed), or
     *     the queue pair can't be made, whereupon the request is rejected
     * @throws IOException when waiting fails
     * @throws IllegalStateException after close, also while waiting
     */
    public ConnectionEndpoint getRequest(int timeoutMillis) throws IOException {
        long deadlineNanos = Waiting.deadlineNanos(timeoutMillis);
        while (true) {
            life.enter();
            try {
                TakenRequest request = take();
                if (request != null) {
                    return ConnectionEndpoint.of(engine, request.id(), request, domain, attributes);
                }
                if (!Waiting.slice(handle.fileDescriptor(), deadlineNanos)) {
                    return null;
                }
            } finally {
                life.exit();
            }
        }
    }

    private TakenRequest take() throws VerbsException {
        taking.lock();
        try {
            return handle.takeRequest();
        } finally {
            taking.unlock();
        }
    }

    /**
     * Destroys the endpoint (rdma_destroy_ep(3)); requests that were not taken are rejected. Those that were taken live
     * on. Whoever waits in {@link #getRequest} gets an IllegalStateException. Idempotent.
     *
     * @throws VerbsException when it can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }

    /**
     * The address.
     *
     * @return for messages
     */
    @Override
    public String toString() {
        if (!life.tryEnter()) {
            return "ListeningEndpoint[closed]";
        }
        try {
            return "ListeningEndpoint[" + handle.id().localAddress() + "]";
        } finally {
            life.exit();
        }
    }
}
