package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.AddressInfo;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.ListenerHandle;

/** Ids that are made from an address (rdma_create_ep(3)), without an event channel of the program's. Stateless. */
final class SoftEndpoints {
    private static final String FUNCTION = "rdma_create_ep";

    private SoftEndpoints() {}

    /**
     * Creates an id to connect with. Does not block.
     *
     * @param device the device
     * @param address where to
     * @return the id, its route resolved, its events of that taken
     * @throws VerbsException when the address leads nowhere
     */
    static CommunicationIdHandle connecting(ConnectionDevice device, AddressInfo address) throws VerbsException {
        if (address.destination() == null) {
            throw IdAddresses.invalid(FUNCTION, describe(address), "There is no IP address to connect to.");
        }
        SoftEventChannel channel = SoftEventChannel.hidden(device);
        SoftCommunicationId id = channel.createId(address.portSpace());
        id.ownChannel();
        id.connectData(address.connectData());
        try {
            id.resolveAddress(address.source(), address.destination(), 0);
            id.resolveRoute(0);
        } catch (VerbsException e) {
            id.destroy();
            throw Failures.within(FUNCTION, describe(address), e);
        }
        channel.forgetEvents();
        return id;
    }

    /**
     * Creates an id to listen with.
     *
     * @param device the device
     * @param address where
     * @return the listener, bound
     * @throws VerbsException when the address can't be bound, or no descriptor is left
     */
    static ListenerHandle listening(ConnectionDevice device, AddressInfo address) throws VerbsException {
        if (address.source() == null) {
            throw IdAddresses.invalid(FUNCTION, describe(address), "There is no IP address to listen at.");
        }
        SoftEventChannel channel = SoftEventChannel.open(device, FUNCTION);
        SoftCommunicationId id = channel.createId(address.portSpace());
        id.ownChannel();
        try {
            id.bind(address.source());
        } catch (VerbsException e) {
            id.destroy();
            throw Failures.within(FUNCTION, describe(address), e);
        }
        return new SoftListener(id, channel);
    }

    private static String describe(AddressInfo address) {
        return "source=" + address.source() + ", destination=" + address.destination() + ", portSpace="
                + address.portSpace();
    }
}
