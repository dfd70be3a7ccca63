package io.rdmanio.policy;

import io.rdmanio.verbs.RdmaEngine;
import java.lang.System.Logger.Level;
import java.net.SocketException;
import java.util.Locale;
import java.util.Optional;

/**
 * The value of the system property {@code io.rdmanio.policy}: {@code rdma} demands a device, {@code soft} is the software
 * device, which reaches the processes of this user on this host, and {@code auto} is the first of these that can be used.
 *
 * <p>An engine that was usable once is not asked again, and {@code auto} stays with its first choice: what listens and what
 * connects in a process meet on the same engine. Thread-safe.
 */
public final class TransportPolicy {
    private static final System.Logger LOG = System.getLogger(TransportPolicy.class.getName());
    private static final String PROPERTY = "io.rdmanio.policy";

    private static final TransportPolicy INSTANCE = new TransportPolicy(RdmaEngine.system(), RdmaEngine.soft());

    private final Candidate rdma;
    private final Candidate soft;
    private Candidate automatic; // guarded by this

    /** An engine, and whether it was found usable. */
    private static final class Candidate {
        final RdmaEngine engine;
        private volatile boolean usable;

        Candidate(RdmaEngine engine) {
            this.engine = engine;
        }

        Optional<String> unavailableReason() {
            if (usable) {
                return Optional.empty();
            }
            Optional<String> reason = engine.unavailableReason();
            usable = reason.isEmpty();
            return reason;
        }

        RdmaEngine require(String transport) throws SocketException {
            Optional<String> reason = unavailableReason();
            if (reason.isPresent()) {
                throw new SocketException(transport + " is not available: " + reason.get());
            }
            return engine;
        }
    }

    TransportPolicy(RdmaEngine rdma, RdmaEngine soft) {
        this.rdma = new Candidate(rdma);
        this.soft = new Candidate(soft);
    }

    /**
     * The engine that the channels of this process use, as the property has it now.
     *
     * @throws SocketException if what the property asks for can't be used here, with cause and cure; if it does not exist
     *     yet, or is no policy at all
     */
    public static RdmaEngine engine() throws SocketException {
        return INSTANCE.engine(System.getProperty(PROPERTY, "auto"));
    }

    RdmaEngine engine(String policy) throws SocketException {
        return switch (policy.toLowerCase(Locale.ROOT)) {
            case "auto" -> automatic();
            case "rdma" -> rdma.require("RDMA");
            case "soft" -> soft.require("The software device");
            case "kernel" ->
                throw new SocketException(
                        PROPERTY + "=" + policy + ": this transport is not there yet; use auto, rdma or soft");
            default ->
                throw new SocketException(
                        PROPERTY + "=" + policy + " is no policy; those are auto, rdma, soft and kernel");
        };
    }

    private synchronized RdmaEngine automatic() throws SocketException {
        if (automatic == null) {
            automatic = choose();
        }
        return automatic.engine;
    }

    private Candidate choose() throws SocketException {
        Optional<String> noRdma = rdma.unavailableReason();
        if (noRdma.isEmpty()) {
            return rdma;
        }
        Optional<String> noSoft = soft.unavailableReason();
        if (noSoft.isPresent()) {
            throw new SocketException("RDMA is not available: " + noRdma.get()
                    + " The software device is not available either: " + noSoft.get());
        }
        LOG.log(Level.DEBUG, "Channels use the software device, which reaches this host only: {0}", noRdma.get());
        return soft;
    }
}
