package io.rdmanio.verbs.soft;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * What an id holds of the port space: an address with a port, and the names that keep it from other processes. Made and
 * given back by {@link Ports}, whose lock guards the fields that change.
 */
final class PortBinding {
    final int port;
    /** Whether a wildcard of IPv6 leaves IPv4 alone; always for IPv4. */
    final boolean familyOnly;

    private InetAddress address;
    private InetSocketAddress destination;
    private boolean reuse;
    private boolean listening;
    private boolean automatic;
    // How to give each name back.
    private final List<Runnable> names = new ArrayList<>();

    PortBinding(InetAddress address, int port, boolean reuse, boolean familyOnly) {
        this.address = address;
        this.port = port;
        this.reuse = reuse;
        this.familyOnly = familyOnly || LocalAddresses.isIpv4(address);
    }

    InetAddress address() {
        return address;
    }

    void address(InetAddress newAddress) {
        address = newAddress;
    }

    /** Where its id connects to; null when it does not. */
    InetSocketAddress destination() {
        return destination;
    }

    void destination(InetSocketAddress newDestination) {
        destination = newDestination;
    }

    boolean isListening() {
        return listening;
    }

    void listening(boolean nowListening) {
        listening = nowListening;
    }

    /** Whether its port is from a block of this process. */
    boolean isAutomatic() {
        return automatic;
    }

    void fromBlock() {
        automatic = true;
    }

    /** Whether others may bind it too who allow the same. */
    boolean isReused() {
        return reuse;
    }

    void allowReuse() {
        reuse = true;
    }

    /** Whether other processes don't know of it. */
    boolean isUnnamed() {
        return names.isEmpty();
    }

    void keep(Runnable name) {
        names.add(name);
    }

    void giveNamesBack() {
        names.forEach(Runnable::run);
        names.clear();
    }

    /** Whether requests to an address come to this one, if it listens. */
    boolean isReachedBy(InetAddress wanted) {
        if (!address.isAnyLocalAddress()) {
            return LocalAddresses.areSame(address, wanted);
        }
        return LocalAddresses.isIpv4(address) == LocalAddresses.isIpv4(wanted)
                || (LocalAddresses.isIpv4(wanted) && !familyOnly);
    }
}
