package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.AddressHandleHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;

/**
 * An address handle ({@code struct ibv_ah}): where a datagram goes. Made by
 * {@link ProtectionDomain#createAddressHandle(AddressHandleAttributes)} or from the completion of a datagram that came
 * from there, and used by {@link SendWorkRequest#datagram}. Thread-safe; any number of requests may use it at once.
 */
public final class AddressHandle implements AutoCloseable {
    final Lifecycle life;
    private final ProtectionDomain domain;
    private final long pointer;

    AddressHandle(ProtectionDomain domain, AddressHandleHandle handle) {
        this.domain = domain;
        this.pointer = handle.pointer();
        this.life = new Lifecycle(HandleKind.ADDRESS_HANDLE, handle::destroy, domain.life);
    }

    /**
     * The protection domain that it belongs to, as do the queue pairs that may use it.
     *
     * @return the domain
     */
    public ProtectionDomain domain() {
        return domain;
    }

    /** What work requests carry. */
    long pointer() {
        return pointer;
    }

    /**
     * Destroys the handle (ibv_destroy_ah(3)). Datagrams that use it should have completed before. Idempotent; waits for
     * calls in progress, posts with this handle among them; makes a system call.
     *
     * @throws VerbsException when it fails
     */
    @Override
    public void close() throws VerbsException {
        life.close();
    }
}
