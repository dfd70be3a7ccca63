package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The ports of the port space of connections, given out by the rules of the kernel's rdma_cm (rdma_bind_addr(3),
 * rdma_listen(3)): which addresses are in each other's way, within this process by its own table, and between processes
 * by names ({@link PortNames}). A conflict with a wildcard is EADDRNOTAVAIL, with the same address EADDRINUSE.
 *
 * <p>A port that is not asked for comes from a block that this process has taken ({@link PortBlocks}), so an id that
 * only connects costs no descriptor. In return a process may bind such a port of another process by its number.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code lock} guards everything; the names are read under
 * it, from a file of the system's that never blocks.
 */
final class Ports {
    private static final int ATTEMPTS = 4;

    /** A port that can't be had. */
    static final class Conflict extends Exception {
        private static final long serialVersionUID = 1L;

        /** Why. */
        private final int errno;

        Conflict(int errno, String message) {
            super(message);
            this.errno = errno;
        }

        int errno() {
            return errno;
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final PortNames.Directory directory;
    private final PortBlocks blocks;
    private final Map<Integer, List<PortBinding>> owners = new HashMap<>();
    // Tells names of this process apart.
    private final String process;
    private int lastShared;

    /**
     * Begins with nothing bound.
     *
     * @param directory where names are taken
     * @param process a word that no other process has
     */
    Ports(PortNames.Directory directory, String process) {
        this(directory, process, new PortBlocks(directory));
    }

    Ports(PortNames.Directory directory, String process, PortBlocks blocks) {
        this.directory = directory;
        this.process = process;
        this.blocks = blocks;
    }

    /**
     * Binds an address to be found at.
     *
     * @param address normalized
     * @param port the port; 0 for a free one
     * @param reuse whether others may bind it who allow it too
     * @param familyOnly whether an IPv6 wildcard leaves IPv4 alone
     * @return the binding, to be given back
     * @throws Conflict when somebody else has it
     * @throws IOException when a name can't be taken
     */
    PortBinding bind(InetAddress address, int port, boolean reuse, boolean familyOnly) throws Conflict, IOException {
        lock.lock();
        try {
            if (port != 0) {
                PortBinding binding = new PortBinding(address, port, reuse, familyOnly);
                takeNames(binding, reuse);
                own(binding);
                return binding;
            }
            for (int attempt = 0; ; attempt++) {
                PortBinding binding = new PortBinding(address, automatic(), reuse, familyOnly);
                try {
                    takeNames(binding, reuse);
                    binding.fromBlock();
                    own(binding);
                    return binding;
                } catch (Conflict | IOException e) {
                    blocks.giveBack(binding.port);
                    // Somebody has bound this one by its number.
                    if (!(e instanceof Conflict) || attempt == ATTEMPTS) {
                        throw e;
                    }
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private int automatic() throws Conflict, IOException {
        int port = blocks.take(candidate -> !owners.containsKey(candidate));
        if (port == 0) {
            throw noneLeft();
        }
        return port;
    }

    private static Conflict noneLeft() {
        return new Conflict(Errno.EADDRNOTAVAIL, "All ports that are given out without being asked for are in use.");
    }

    /**
     * Binds a free port to connect from.
     *
     * @param source normalized, or a wildcard
     * @param destination where to
     * @return the binding, to be given back
     * @throws Conflict when there is none
     * @throws IOException when no block of ports can be taken
     */
    PortBinding bindToConnect(InetAddress source, InetSocketAddress destination) throws Conflict, IOException {
        lock.lock();
        try {
            int port = blocks.take(candidate -> !owners.containsKey(candidate));
            if (port == 0) {
                // As the kernel does: several ids connect from one port, to different destinations.
                port = blocks.share(candidate -> isUnique(candidate, source, destination));
            }
            if (port == 0) {
                throw noneLeft();
            }
            PortBinding binding = new PortBinding(source, port, false, false);
            binding.destination(destination);
            binding.fromBlock();
            own(binding);
            return binding;
        } finally {
            lock.unlock();
        }
    }

    private boolean isUnique(int port, InetAddress source, InetSocketAddress destination) {
        for (PortBinding other : owners.getOrDefault(port, List.of())) {
            boolean elsewhere = other.destination() != null
                    && (other.destination().getPort() != destination.getPort()
                            || !LocalAddresses.areSame(other.destination().getAddress(), destination.getAddress()));
            boolean otherSource = !source.isAnyLocalAddress()
                    && !other.address().isAnyLocalAddress()
                    && !LocalAddresses.areSame(source, other.address());
            if (!elsewhere && !otherSource) {
                return false;
            }
        }
        return true;
    }

    /**
     * Makes a binding a listener's, whom nobody shares the address with.
     *
     * @param binding the binding
     * @throws Conflict when somebody does
     * @throws IOException when a name can't be taken
     */
    void listen(PortBinding binding) throws Conflict, IOException {
        lock.lock();
        try {
            if (binding.isReused()) {
                takeNames(binding, false);
            }
            binding.listening(true);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets others who allow it too bind the same address from now on, unless a listener has it.
     *
     * @param binding the binding
     * @throws IOException when a name can't be taken
     */
    void allowReuse(PortBinding binding) throws IOException {
        lock.lock();
        try {
            if (!binding.isListening() && !binding.isReused() && !binding.isUnnamed()) {
                Runnable giveBack = directory.take(sharedName(binding));
                binding.giveNamesBack();
                binding.keep(giveBack);
            }
            binding.allowReuse();
        } finally {
            lock.unlock();
        }
    }

    private String sharedName(PortBinding binding) {
        return PortNames.shared(binding.address(), binding.port, binding.familyOnly, process + "-" + ++lastShared);
    }

    /**
     * Tells which addresses a binding is for, once it is known.
     *
     * @param binding the binding
     * @param source the local address, normalized
     * @param destination where its id connects to
     */
    void connects(PortBinding binding, InetAddress source, InetSocketAddress destination) {
        lock.lock();
        try {
            binding.address(source);
            binding.destination(destination);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Gives a binding back.
     *
     * @param binding the binding, once
     */
    void release(PortBinding binding) {
        lock.lock();
        try {
            List<PortBinding> others = owners.get(binding.port);
            others.remove(binding);
            if (others.isEmpty()) {
                owners.remove(binding.port);
            }
            binding.giveNamesBack();
            if (binding.isAutomatic()) {
                blocks.giveBack(binding.port);
            }
        } finally {
            lock.unlock();
        }
    }

    private void own(PortBinding binding) {
        owners.computeIfAbsent(binding.port, port -> new ArrayList<>()).add(binding);
    }

    /** Takes what a binding needs, or nothing. */
    private void takeNames(PortBinding binding, boolean reuse) throws Conflict, IOException {
        for (PortBinding other : owners.getOrDefault(binding.port, List.of())) {
            if (other != binding) {
                checkAgainst(binding, reuse, other);
            }
        }
        String name =
                reuse ? sharedName(binding) : PortNames.exclusive(binding.address(), binding.port, binding.familyOnly);
        Runnable giveBack = directory.take(name);
        if (giveBack == null) {
            throw sameAddress(binding);
        }
        try {
            // After the name is taken, so that of two processes at least one sees the other.
            for (String other : directory.others()) {
                PortNames.Taken taken = PortNames.Taken.parse(other);
                if (taken != null && taken.port() == binding.port) {
                    checkAgainst(binding, reuse, taken);
                }
            }
        } catch (Conflict e) {
            giveBack.run();
            throw e;
        }
        binding.keep(giveBack);
    }

    private static void checkAgainst(PortBinding binding, boolean reuse, PortBinding other) throws Conflict {
        if (!other.isListening() && reuse && other.isReused()) {
            return;
        }
        boolean sameFamily = LocalAddresses.isIpv4(binding.address()) == LocalAddresses.isIpv4(other.address());
        if (binding.familyOnly && other.familyOnly && !sameFamily) {
            return;
        }
        if (binding.address().isAnyLocalAddress() || other.address().isAnyLocalAddress()) {
            throw wildcard(binding);
        }
        if (LocalAddresses.areSame(binding.address(), other.address())) {
            throw sameAddress(binding);
        }
    }

    private static void checkAgainst(PortBinding binding, boolean reuse, PortNames.Taken other) throws Conflict {
        if (reuse && other.reuse()) {
            return;
        }
        boolean sameFamily = LocalAddresses.isIpv4(binding.address()) == other.isIpv4();
        if (binding.familyOnly && other.isFamilyOnly() && !sameFamily) {
            return;
        }
        if (binding.address().isAnyLocalAddress() || other.isWildcard()) {
            throw wildcard(binding);
        }
        if (LocalAddresses.text(binding.address()).equals(other.address())) {
            throw sameAddress(binding);
        }
    }

    private static Conflict sameAddress(PortBinding binding) {
        return new Conflict(
                Errno.EADDRINUSE,
                "Another id has bound " + LocalAddresses.text(binding.address()) + " port " + binding.port
                        + ", in this process or in another of this user.");
    }

    private static Conflict wildcard(PortBinding binding) {
        return new Conflict(
                Errno.EADDRNOTAVAIL,
                "Another id has bound port " + binding.port + " and one of the two for all addresses, in this process"
                        + " or in another of this user.");
    }
}
