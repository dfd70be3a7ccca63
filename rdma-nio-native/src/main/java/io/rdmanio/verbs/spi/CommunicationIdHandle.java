package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.ConnectionParameters;
import java.net.InetSocketAddress;

/** An engine's communication id. */
public interface CommunicationIdHandle {
    /**
     * Sets what events for this id carry. Called once, for an id that came with an event.
     *
     * @param token the token; not 0
     */
    void setToken(long token);

    /**
     * Begins to resolve an address.
     *
     * @param source the local address, or null
     * @param destination the peer's address
     * @param timeoutMillis how long it may take
     * @throws VerbsException when it fails at once
     */
    void resolveAddress(InetSocketAddress source, InetSocketAddress destination, int timeoutMillis)
            throws VerbsException;

    /**
     * Begins to resolve the route.
     *
     * @param timeoutMillis how long it may take
     * @throws VerbsException when it fails at once
     */
    void resolveRoute(int timeoutMillis) throws VerbsException;

    /**
     * Binds to a local address.
     *
     * @param address the address
     * @throws VerbsException when it fails
     */
    void bind(InetSocketAddress address) throws VerbsException;

    /**
     * Listens.
     *
     * @param backlog how many requests may wait
     * @throws VerbsException when it fails
     */
    void listen(int backlog) throws VerbsException;

    /**
     * Begins to connect.
     *
     * @param parameters how
     * @param privateData what goes along
     * @throws VerbsException when it fails at once
     */
    void connect(ConnectionParameters parameters, byte[] privateData) throws VerbsException;

    /**
     * Accepts the request that this id came with.
     *
     * @param parameters how
     * @param privateData what goes along
     * @throws VerbsException when it fails
     */
    void accept(ConnectionParameters parameters, byte[] privateData) throws VerbsException;

    /**
     * Rejects the request that this id came with.
     *
     * @param privateData what goes along
     * @throws VerbsException when it fails
     */
    void reject(byte[] privateData) throws VerbsException;

    /**
     * Disconnects.
     *
     * @throws VerbsException when it fails
     */
    void disconnect() throws VerbsException;

    /**
     * Sets an option.
     *
     * @param option which
     * @param value its value
     * @throws VerbsException when it fails
     */
    void setOption(IdOption option, int value) throws VerbsException;

    /**
     * Creates the queue pair of this id.
     *
     * @param domain its domain
     * @param request what it shall be made of
     * @return the queue pair
     * @throws VerbsException when it fails
     */
    QueuePairHandle createQueuePair(ProtectionDomainHandle domain, QueuePairRequest request) throws VerbsException;

    /**
     * The device this id is bound to.
     *
     * @return the device, null before it is bound
     */
    ContextHandle device();

    /**
     * The port this id is bound to.
     *
     * @return the port, from 1; 0 before it is bound
     */
    int portNumber();

    /**
     * The local address.
     *
     * @return the address, null when it is not set or no IP address
     */
    InetSocketAddress localAddress();

    /**
     * The peer's address.
     *
     * @return the address, null when it is not set or no IP address
     */
    InetSocketAddress remoteAddress();

    /**
     * Destroys it; waits until all its events are acknowledged.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;
}
