package io.rdmanio.policy;

import java.net.SocketException;
import java.util.Locale;

/**
 * The value of the system property {@code io.rdmanio.policy}. Stateless; thread-safe.
 */
public final class TransportPolicy {
    private static final String PROPERTY = "io.rdmanio.policy";

    private TransportPolicy() {}

    /**
     * Finds out whether RDMA may be used, the only transport so far.
     *
     * @throws SocketException if the property asks for a transport that does not exist yet, or is no policy at all
     */
    public static void requireRdma() throws SocketException {
        String value = System.getProperty(PROPERTY, "auto").toLowerCase(Locale.ROOT);
        switch (value) {
            case "auto", "rdma" -> {}
            case "soft", "kernel" ->
                throw new SocketException(
                        PROPERTY + "=" + value + ": this transport is not there yet; use auto or rdma");
            default ->
                throw new SocketException(
                        PROPERTY + "=" + value + " is no policy; those are auto, rdma, soft and kernel");
        }
    }
}
