package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;
import java.net.InetSocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A communication id ({@code struct rdma_cm_id}): what a socket is to TCP. Its methods make system calls; those that
 * begin something return at once, and an event in its {@link EventChannel} tells how it ended. On iWARP
 * {@link #connect} may block for seconds.
 *
 * <p>Thread safety: all methods may be called by any thread; their order is the caller's business.
 * {@code unacknowledged} and {@code token} are guarded by the event channel, {@code channel} is changed under the locks
 * of both channels and in a move of {@code stay}, which calls by which the library uses the native channel exclude.
 */
public final class CommunicationId extends DeviceBoundId implements AutoCloseable {
    private static final int MAX_PRIVATE_DATA_BYTES = 255;

    final Set<CommunicationEvent> unacknowledged = new HashSet<>();
    private final CommunicationIdHandle handle;
    private final Lifecycle life;
    private final IdOptions options;
    private final IdResources resources;
    private final Memberships memberships = new Memberships(this);
    private final ChannelStay stay = new ChannelStay();
    private volatile EventChannel channel;
    private long token;
    private volatile Object attachment;

    CommunicationId(EventChannel channel, CommunicationIdHandle handle, long token) {
        this.channel = channel;
        this.token = token;
        this.handle = handle;
        this.life = new Lifecycle(HandleKind.COMMUNICATION_ID, this::destroy, channel.life());
        this.options = new IdOptions(this);
        this.resources = new IdResources(this);
    }

    private void destroy() throws VerbsException {
        channel.forget(this);
        handle.destroy();
    }

    @Override
    CommunicationIdHandle handle() {
        return handle;
    }

    @Override
    Lifecycle life() {
        return life;
    }

    @Override
    IdResources resources() {
        return resources;
    }

    @Override
    Memberships memberships() {
        return memberships;
    }

    /** Under the channel's lock. */
    long token() {
        return token;
    }

    /** Under the locks of both channels. */
    void movedTo(EventChannel newChannel, long newToken) {
        channel = newChannel;
        token = newToken;
    }

    /** A call on the native id. */
    private interface Call {
        void run() throws VerbsException;
    }

    private void inside(Call call) throws VerbsException {
        enterAndStay();
        try {
            call.run();
        } finally {
            exit();
        }
    }

    /** A call for which the library uses the queue pair, if there is one. */
    private void insideWithQueuePair(Call call) throws VerbsException {
        inside(() -> {
            Lifecycle queuePair = resources.enterQueuePair();
            try {
                call.run();
            } finally {
                if (queuePair != null) {
                    queuePair.exit();
                }
            }
        });
    }

    @Override
    ChannelStay stay() {
        return stay;
    }

    /**
     * Attaches an object of the caller.
     *
     * @param object the object, or null
     */
    public void attach(Object object) {
        attachment = object;
    }

    /**
     * The attached object.
     *
     * @return the object, or null
     */
    public Object attachment() {
        return attachment;
    }

    @Override
    public EventChannel channel() {
        return channel;
    }

    /**
     * The options, to be set.
     *
     * @return the options, always the same
     */
    public IdOptions options() {
        return options;
    }

    /**
     * Moves this id to another event channel (rdma_migrate_id(3)), which from now on gets its events, those that wait in
     * the old channel too, and closes it when it is closed itself. Events that were taken and not closed are acknowledged
     * first (they can still be read), so this does not wait for them as the C function does; it waits until calls in
     * progress on the id have returned, a connect on iWARP too. A listener is moved before peers
     * connect: Linux loses requests that wait in the old channel, and their peers give up after their own timeout.
     *
     * @param target where to, of the same engine; nothing is done when the id is there already
     * @throws VerbsException when it fails; the id stays where it was
     * @throws IllegalArgumentException when the channel is of another engine
     * @throws IllegalStateException after close of the id or of a channel
     */
    public void migrate(EventChannel target) throws VerbsException {
        Objects.requireNonNull(target, "target");
        life.enter();
        stay.beginMove();
        try {
            EventChannel source = channel;
            if (source.engine() != target.engine()) {
                throw new IllegalArgumentException("the event channel belongs to another engine");
            }
            if (source != target) {
                source.life().enter();
                try {
                    target.life().enter();
                    try {
                        source.moveTo(target, this);
                    } finally {
                        target.life().exit();
                    }
                } finally {
                    source.life().exit();
                }
            }
        } finally {
            stay.endMove();
            life.exit();
        }
    }

    /**
     * Resolves a destination and the route to it before it returns, where that takes no waiting: over the software device, which
     * knows both. Neither ADDRESS_RESOLVED nor ROUTE_RESOLVED follows.
     *
     * @param destination the peer's address; an IPv4-mapped one is taken as IPv4
     * @return whether both are resolved; if not, nothing was done, and {@link #resolveAddress} is the way
     * @throws VerbsException when it fails: there is no way to it ({@code ENETUNREACH}), or it is bound elsewhere
     * @throws UnresolvedAddressException when the address is not resolved
     * @throws IllegalStateException after close
     */
    public boolean resolveAtOnce(InetSocketAddress destination) throws VerbsException {
        checkResolved(destination);
        enterAndStay();
        try {
            return handle.resolveAtOnce(destination);
        } finally {
            exit();
        }
    }

    /**
     * Begins to resolve a destination and binds the id to a device (rdma_resolve_addr(3)); ends with ADDRESS_RESOLVED
     * or ADDRESS_ERROR.
     *
     * @param sourceOrNull the local address; null to choose by the route
     * @param destination the peer's address; an IPv4-mapped one is taken as IPv4
     * @param timeoutMillis how long it may take
     * @throws VerbsException when it fails at once: no RDMA device has a route ({@code ENODEV}, {@code ENETUNREACH}),
     *     or it is bound elsewhere
     * @throws UnresolvedAddressException when an address is not resolved
     * @throws IllegalArgumentException when the time is negative
     * @throws IllegalStateException after close
     */
    public void resolveAddress(InetSocketAddress sourceOrNull, InetSocketAddress destination, int timeoutMillis)
            throws VerbsException {
        checkResolvedOrNull(sourceOrNull);
        checkResolved(destination);
        checkTimeout(timeoutMillis);
        inside(() -> handle.resolveAddress(sourceOrNull, destination, timeoutMillis));
    }

    /**
     * Begins to resolve the route (rdma_resolve_route(3)); ends with ROUTE_RESOLVED or ROUTE_ERROR.
     *
     * @param timeoutMillis how long it may take
     * @throws VerbsException when it fails at once, as before the address is resolved ({@code EINVAL})
     * @throws IllegalArgumentException when the time is negative
     * @throws IllegalStateException after close
     */
    public void resolveRoute(int timeoutMillis) throws VerbsException {
        checkTimeout(timeoutMillis);
        inside(() -> handle.resolveRoute(timeoutMillis));
    }

    /**
     * Binds to a local address (rdma_bind_addr(3)): a specific one binds the id to its device too. Port 0 takes a free
     * one.
     *
     * @param address the address; an IPv4-mapped one is taken as IPv4
     * @throws VerbsException when it is in use ({@code EADDRINUSE}), or no RDMA device has it ({@code EADDRNOTAVAIL},
     *     {@code ENODEV})
     * @throws UnresolvedAddressException when the address is not resolved
     * @throws IllegalStateException after close
     */
    public void bind(InetSocketAddress address) throws VerbsException {
        checkResolved(address);
        inside(() -> handle.bind(address));
    }

    /** Linux takes a negative one for ever. */
    private static void checkTimeout(int timeoutMillis) {
        if (timeoutMillis < 0) {
            throw new IllegalArgumentException("timeoutMillis " + timeoutMillis + " is negative");
        }
    }

    static void checkResolvedOrNull(InetSocketAddress address) {
        if (address != null) {
            checkResolved(address);
        }
    }

    private static void checkResolved(InetSocketAddress address) {
        if (address.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
    }

    /**
     * Listens (rdma_listen(3)); peers that want to connect cause CONNECT_REQUEST.
     *
     * @param backlog how many requests may wait
     * @throws VerbsException when it fails; on iWARP also when a TCP socket has the port ({@code EADDRINUSE})
     * @throws IllegalStateException after close
     */
    public void listen(int backlog) throws VerbsException {
        inside(() -> handle.listen(backlog));
    }

    /**
     * Finds out which process is at the other end, where the device tells processes apart, so that memory that is to be
     * exposed to it can be chosen by that. Over the software device, whose processes have a GID each: of an id whose route is
     * resolved, the process that listens at the destination, and from then on connect asks no other; of an id that came with
     * a request, the process that asked. The libraries know of addresses only. Does not block.
     *
     * @param timeoutMillis how long it may take
     * @param whenKnown told once, by any thread, perhaps before this returns: the GID, or null when nobody was found, or
     *     the device does not tell. Must not block
     * @throws VerbsException when the route is not resolved ({@code EINVAL}); nothing is told then
     * @throws IllegalArgumentException when the time is negative
     * @throws IllegalStateException after close
     */
    public void findPeer(int timeoutMillis, Consumer<Gid> whenKnown) throws VerbsException {
        Objects.requireNonNull(whenKnown, "whenKnown");
        checkTimeout(timeoutMillis);
        inside(() -> handle.findPeer(timeoutMillis, whenKnown));
    }

    /**
     * Begins to connect (rdma_connect(3)); ends with ESTABLISHED, REJECTED, UNREACHABLE or CONNECT_ERROR. On iWARP it
     * blocks while TCP connects, seconds when nobody answers.
     *
     * @param parameters how
     * @param privateData what the peer shall read in its CONNECT_REQUEST; null or empty for none. At most 56 bytes in
     *     the TCP port space of InfiniBand and RoCE
     * @throws VerbsException when it fails at once: the route is not resolved, the id has no queue pair, or too much
     *     private data ({@code EINVAL}); nobody listens, on iWARP ({@code ECONNREFUSED})
     * @throws IllegalArgumentException when there are more than 255 bytes of private data
     * @throws IllegalStateException after close
     */
    public void connect(ConnectionParameters parameters, byte[] privateData) throws VerbsException {
        Objects.requireNonNull(parameters, "parameters");
        byte[] data = checkPrivateData(privateData);
        insideWithQueuePair(() -> handle.connect(parameters, data));
    }

    /**
     * Accepts a request to connect, on the id that came with it (rdma_accept(3)); ends with ESTABLISHED, or another
     * event when the peer is gone.
     *
     * @param parameters how; its responder resources and initiator depth no more than was asked for
     * @param privateData what the peer shall read in its ESTABLISHED; null or empty for none. At most 196 bytes on
     *     InfiniBand and RoCE
     * @throws VerbsException when it fails
     * @throws IllegalArgumentException when there are more than 255 bytes of private data
     * @throws IllegalStateException after close
     */
    public void accept(ConnectionParameters parameters, byte[] privateData) throws VerbsException {
        Objects.requireNonNull(parameters, "parameters");
        byte[] data = checkPrivateData(privateData);
        insideWithQueuePair(() -> handle.accept(parameters, data));
    }

    /**
     * Rejects a request to connect, on the id that came with it (rdma_reject(3)). The id must be closed all the same.
     *
     * @param privateData what the peer shall read in its REJECTED; null or empty for none. At most 148 bytes on
     *     InfiniBand and RoCE
     * @throws VerbsException when it fails
     * @throws IllegalArgumentException when there are more than 255 bytes of private data
     * @throws IllegalStateException after close
     */
    public void reject(byte[] privateData) throws VerbsException {
        byte[] data = checkPrivateData(privateData);
        inside(() -> handle.reject(data));
    }

    private static byte[] checkPrivateData(byte[] privateData) {
        if (privateData == null) {
            return new byte[0];
        }
        if (privateData.length > MAX_PRIVATE_DATA_BYTES) {
            throw new IllegalArgumentException(
                    "private data of " + privateData.length + " bytes is more than " + MAX_PRIVATE_DATA_BYTES);
        }
        return privateData;
    }

    /**
     * Disconnects (rdma_disconnect(3)): the queue pair goes to ERROR, on iWARP after what was sent; ends with
     * DISCONNECTED on both sides.
     *
     * @throws VerbsException when the id is not connected ({@code EINVAL}; the peer may have disconnected before)
     * @throws IllegalStateException after close
     */
    public void disconnect() throws VerbsException {
        insideWithQueuePair(handle::disconnect);
    }

    /**
     * Completes a connection of an id without a queue pair of its own, after CONNECT_RESPONSE (rdma_establish(3)):
     * causes ESTABLISHED at the peer. The program brings its queue pair to READY_TO_SEND before. Not on iWARP, where the
     * kernel does that step.
     *
     * @throws VerbsException when the id has a queue pair, or there was no CONNECT_RESPONSE ({@code EINVAL})
     * @throws IllegalStateException after close
     */
    public void establish() throws VerbsException {
        inside(handle::establish);
    }

    /**
     * Tells the connection manager of an asynchronous event of the queue pair (rdma_notify(3)): data came before the
     * peer's last message of connecting, so the connection stands.
     *
     * @param type the event; the kernel knows COMMUNICATION_ESTABLISHED
     * @throws VerbsException when it is another event, or the id is not waiting for that message ({@code EINVAL})
     * @throws IllegalStateException after close
     */
    public void notify(AsyncEventType type) throws VerbsException {
        Objects.requireNonNull(type, "type");
        inside(() -> handle.notify(type.value()));
    }

    /**
     * Destroys the id (rdma_destroy_id(3)) after its queue pair; a connection ends with DISCONNECTED at the peer, and a
     * request that was neither accepted nor rejected is rejected. Events of this id that were taken and not closed are
     * acknowledged first. Idempotent. Blocks until calls in progress on the id have returned, a connect on iWARP too.
     *
     * @throws VerbsException when something can't be destroyed
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
