package io.rdmanio.policy;

import java.util.Locale;

/**
 * The value of the system property {@code io.rdmanio.policy}. Immutable; thread-safe.
 */
public enum TransportPolicy {
    /** The best transport that reaches the peer; RDMA is the only one there is so far. */
    AUTO,
    /** RDMA or nothing. */
    RDMA;

    private static final String PROPERTY = "io.rdmanio.policy";

    /**
     * Reads the property.
     *
     * @throws UnsupportedOperationException if it asks for a transport that does not exist yet
     * @throws IllegalArgumentException if it is no policy at all
     */
    public static TransportPolicy current() {
        String value = System.getProperty(PROPERTY, "auto").toLowerCase(Locale.ROOT);
        return switch (value) {
            case "auto" -> AUTO;
            case "rdma" -> RDMA;
            case "soft", "kernel" ->
                throw new UnsupportedOperationException(
                        PROPERTY + "=" + value + ": this transport is not there yet; use auto or rdma");
            default ->
                throw new IllegalArgumentException(
                        PROPERTY + "=" + value + " is no policy; those are auto, rdma, soft and kernel");
        };
    }
}
