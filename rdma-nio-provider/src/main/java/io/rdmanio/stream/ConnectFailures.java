package io.rdmanio.stream;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationEventType;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.SocketException;

/**
 * Turns what an engine's communication manager says of a failed connection into the exceptions of java.net. Whom a device
 * reaches, and what to do when it doesn't, is another thing for each engine. Immutable.
 */
final class ConnectFailures {
    /** Reject reason of the InfiniBand communication manager: no such service, that is, nobody listens. */
    private static final int REJECT_INVALID_SERVICE = 8;

    /** Reject reason: the application, or its full backlog, refused. */
    private static final int REJECT_CONSUMER = 28;

    private static final String SOFTWARE_REACH =
            ": the software device, which this process uses, reaches this host only"
                    + " (with -Dio.rdmanio.policy=rdma, the exception says what an RDMA device lacks here)";

    private final boolean software;

    /** Of the connections over an engine. */
    ConnectFailures(RdmaEngine engine) {
        software = engine.name().equals(RdmaEngine.soft().name());
    }

    /**
     * @param status as in the event: a negative errno, or for REJECTED the transport's reason
     */
    IOException of(CommunicationEventType type, int status, InetSocketAddress peer) {
        return switch (type) {
            case REJECTED -> rejected(status, peer);
            case DEVICE_REMOVAL -> deviceRemoved("on the way to " + peer);
            case DISCONNECTED -> new SocketException("Connection reset");
            default -> status < 0 ? ofErrno(-status, type.toString(), peer) : timedOut(type.toString(), peer);
        };
    }

    /** The device was removed that stood at the place. */
    SocketException deviceRemoved(String place) {
        return new SocketException((software ? "The software device " : "The RDMA device ") + place + " was removed");
    }

    private IOException rejected(int status, InetSocketAddress peer) {
        return switch (status) {
            case REJECT_INVALID_SERVICE -> nobodyListens(peer);
            case REJECT_CONSUMER, 0 -> new ConnectException("Connection refused: " + peer);
            // iWARP says so of a peer that refuses in its reply
            case -Errno.ECONNRESET -> new ConnectException("Connection refused: " + peer);
            default ->
                status < 0
                        ? ofErrno(-status, "REJECTED", peer)
                        : new ConnectException("Connection refused: " + peer + " (reject reason " + status + ")");
        };
    }

    private IOException nobodyListens(InetSocketAddress peer) {
        return new ConnectException("Connection refused: " + peer
                + (software ? " (no process of this user listens there on the software device)" : ""));
    }

    static IOException timedOut(String stage, InetSocketAddress peer) {
        return new ConnectException("Connection timed out: " + peer + " (" + stage + ")");
    }

    /** From a call that failed at once. What verbs says of limits and permissions is kept. */
    IOException of(VerbsException failure, InetSocketAddress peer) {
        IOException known = isNetwork(failure.errno())
                ? ofErrno(failure.errno(), failure.operation(), peer)
                : new SocketException(failure.getMessage());
        known.initCause(failure);
        return known;
    }

    /** From a bind or listen that failed. */
    IOException ofBind(VerbsException failure, InetSocketAddress local) {
        IOException known = switch (failure.errno()) {
            case Errno.EADDRINUSE -> new BindException("Address already in use: " + local);
            case Errno.EADDRNOTAVAIL -> new BindException("Cannot assign requested address: " + local);
            case Errno.ENODEV ->
                software
                        ? new SocketException(failure.getMessage())
                        : new BindException("No RDMA device has the address " + local
                                + " (rdma link shows the interfaces that have a device)");
            case Errno.EACCES, Errno.EPERM -> new BindException("Permission denied: " + local);
            default -> new SocketException(failure.getMessage());
        };
        known.initCause(failure);
        return known;
    }

    /** Whether a failure says that this host or process lacks something, and not what the peer did. */
    static boolean isOurs(VerbsException failure) {
        return switch (failure.errno()) {
            case Errno.ENOMEM, Errno.ENOBUFS, Errno.EMFILE, Errno.ENFILE, Errno.EACCES, Errno.EPERM -> true;
            default -> false;
        };
    }

    /** The same failure, told to another caller: of the same type, with that caller's stack. */
    static IOException again(IOException failure) {
        IOException copy = switch (failure) {
            case BindException e -> new BindException(e.getMessage());
            case ConnectException e -> new ConnectException(e.getMessage());
            case NoRouteToHostException e -> new NoRouteToHostException(e.getMessage());
            default -> new SocketException(failure.getMessage());
        };
        copy.initCause(failure);
        return copy;
    }

    private static boolean isNetwork(int errno) {
        return switch (errno) {
            case Errno.ECONNREFUSED,
                    Errno.ECONNRESET,
                    Errno.ETIMEDOUT,
                    Errno.EHOSTUNREACH,
                    Errno.ENETUNREACH,
                    Errno.ENODEV,
                    Errno.EADDRINUSE,
                    Errno.EADDRNOTAVAIL -> true;
            default -> false;
        };
    }

    private IOException ofErrno(int errno, String stage, InetSocketAddress peer) {
        return switch (errno) {
            case Errno.ECONNREFUSED -> new ConnectException("Connection refused: " + peer);
            case Errno.ECONNRESET -> new SocketException("Connection reset: " + peer);
            case Errno.ETIMEDOUT -> timedOut(stage, peer);
            case Errno.EHOSTUNREACH, Errno.ENETUNREACH ->
                new NoRouteToHostException("No route to host: " + peer + (software ? SOFTWARE_REACH : ""));
            case Errno.ENODEV ->
                software
                        ? failed(errno, stage, peer)
                        : new NoRouteToHostException("No RDMA device reaches " + peer
                                + ": its route leads over an interface without one (rdma link shows those that"
                                + " have one)");
            case Errno.EADDRINUSE, Errno.EADDRNOTAVAIL ->
                new BindException(Errno.describe(errno) + ": on the way to " + peer);
            default -> failed(errno, stage, peer);
        };
    }

    private static SocketException failed(int errno, String stage, InetSocketAddress peer) {
        return new SocketException("Connecting to " + peer + " failed: " + Errno.name(errno) + " "
                + Errno.describe(errno) + " (" + stage + ")");
    }
}
