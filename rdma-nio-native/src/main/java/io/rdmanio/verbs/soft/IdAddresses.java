package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.soft.IdState.Input;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * The addresses of an id: which it may have, and what it holds of the port space. System calls that look for addresses
 * and names are made without the manager's lock.
 *
 * <p>Thread safety: all methods may be called by any thread. The lock of the {@link ConnectionManager} guards the fields.
 */
final class IdAddresses {
    private static final String NO_DEVICE =
            "The id has no device yet: the address must be resolved, or bound to one of this host, or a listener"
                    + " accept.";

    private final ConnectionManager manager;
    private final SoftConnection connection;
    private final PortSpace space;
    private boolean reuse;
    private boolean familyOnly;

    IdAddresses(ConnectionManager manager, SoftConnection connection, PortSpace space) {
        this.manager = manager;
        this.connection = connection;
        this.space = space;
    }

    static VerbsException invalid(String function, String arguments, String explanation) {
        return new VerbsException(function, arguments, Errno.EINVAL, explanation);
    }

    boolean hasDevice() {
        return manager.get(() ->
                connection.source() != null && !connection.source().getAddress().isAnyLocalAddress());
    }

    void requireDevice(String function) throws VerbsException {
        if (!hasDevice()) {
            throw invalid(function, "", NO_DEVICE);
        }
    }

    private void require(Input operation, String function, String explanation) throws VerbsException {
        if (space != PortSpace.TCP) {
            throw new VerbsException(
                    function,
                    "portSpace=" + space,
                    Errno.EOPNOTSUPP,
                    "The software device has reliable connections only, those of the port space TCP.");
        }
        manager.call(() -> {
            if (connection.refuses(operation)) {
                throw invalid(function, "state=" + connection.state(), explanation);
            }
        });
    }

    /** Takes something of the port space. */
    private interface Taking {
        PortBinding take() throws Ports.Conflict, IOException;
    }

    private static PortBinding take(String function, String arguments, Taking taking) throws VerbsException {
        try {
            return taking.take();
        } catch (Ports.Conflict e) {
            throw new VerbsException(function, arguments, e.errno(), e.getMessage());
        } catch (IOException e) {
            throw Failures.of(function, arguments, e);
        }
    }

    private static InetAddress usable(String function, InetSocketAddress address) throws VerbsException {
        InetAddress usable = LocalAddresses.normalized(address.getAddress());
        if (LocalAddresses.lacksScope(usable)) {
            throw invalid(function, address.toString(), "A link-local address needs the scope of its interface.");
        }
        return usable;
    }

    private static InetAddress usableSource(String function, InetSocketAddress address) throws VerbsException {
        InetAddress source = usable(function, address);
        if (!source.isAnyLocalAddress() && !LocalAddresses.isLocal(source)) {
            throw new VerbsException(
                    function, address.toString(), Errno.EADDRNOTAVAIL, "No interface of this host has that address.");
        }
        return source;
    }

    void bind(InetSocketAddress address) throws VerbsException {
        String function = "rdma_bind_addr";
        require(Input.BIND, function, "The id is bound already.");
        InetAddress source = usableSource(function, address);
        PortBinding binding = take(function, address.toString(), () -> bind(source, address.getPort()));
        manager.run(() -> connection.bind(binding));
    }

    private PortBinding bind(InetAddress source, int port) throws Ports.Conflict, IOException {
        return manager.ports().bind(source, port, manager.get(() -> reuse), manager.get(() -> familyOnly));
    }

    void resolve(InetSocketAddress wantedSource, InetSocketAddress wantedDestination) throws VerbsException {
        String function = "rdma_resolve_addr";
        String arguments = "source=" + wantedSource + ", destination=" + wantedDestination;
        require(Input.RESOLVE_ADDRESS, function, "The id has resolved an address, or listens.");
        InetAddress named = usable(function, wantedDestination);
        InetAddress address = named.isAnyLocalAddress() ? LocalAddresses.loopbackOf(named) : named;
        if (!LocalAddresses.isLocal(address)) {
            throw new VerbsException(
                    function,
                    arguments,
                    Errno.ENETUNREACH,
                    "The software device reaches the addresses of this host only.");
        }
        InetSocketAddress destination = new InetSocketAddress(address, wantedDestination.getPort());
        PortBinding bound = manager.get(connection::binding);
        InetAddress given = bound != null
                ? bound.address()
                : wantedSource == null ? LocalAddresses.wildcardOf(address) : usableSource(function, wantedSource);
        if (LocalAddresses.isIpv4(given) != LocalAddresses.isIpv4(address)) {
            throw invalid(function, arguments, "Source and destination are of different families.");
        }
        InetAddress source = given.isAnyLocalAddress() ? LocalAddresses.sourceFor(address) : given;
        int port = wantedSource == null ? 0 : wantedSource.getPort();
        PortBinding binding = bound != null
                ? bound
                : take(
                        function,
                        arguments,
                        () -> port == 0 ? manager.ports().bindToConnect(source, destination) : bind(source, port));
        manager.ports().connects(binding, source, destination);
        manager.run(() -> connection.resolveAddress(binding, destination));
    }

    void listen(int backlog) throws VerbsException {
        String function = "rdma_listen";
        require(Input.LISTEN, function, "The id listens already, or it is a connection's.");
        if (manager.get(connection::binding) == null) {
            bind(new InetSocketAddress(LocalAddresses.wildcard4(), 0));
        }
        PortBinding binding = manager.get(connection::binding);
        take(function, "address=" + manager.get(connection::source) + ", backlog=" + backlog, () -> {
            manager.ports().listen(binding);
            return binding;
        });
        manager.run(() -> manager.listen(connection, backlog));
    }

    void setReuse(boolean wanted) throws VerbsException {
        PortBinding binding = manager.get(connection::binding);
        if (!wanted && binding != null) {
            throw tooLate("RDMA_OPTION_ID_REUSEADDR");
        }
        if (binding != null) {
            take("rdma_set_option", "RDMA_OPTION_ID_REUSEADDR", () -> {
                manager.ports().allowReuse(binding);
                return binding;
            });
        }
        manager.run(() -> reuse = wanted);
    }

    void setFamilyOnly(boolean wanted) throws VerbsException {
        if (manager.get(connection::binding) != null) {
            throw tooLate("RDMA_OPTION_ID_AFONLY");
        }
        manager.run(() -> familyOnly = wanted);
    }

    private static VerbsException tooLate(String option) {
        return invalid("rdma_set_option", option, "The id is bound already.");
    }

    /** When the id is destroyed. */
    void release() {
        PortBinding binding = manager.get(connection::binding);
        if (binding != null) {
            manager.ports().release(binding);
        }
    }
}
