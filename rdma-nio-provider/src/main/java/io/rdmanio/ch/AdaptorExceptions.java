package io.rdmanio.ch;

import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;

/** Turns the exceptions of channels into those of sockets. Stateless; thread-safe. */
final class AdaptorExceptions {
    private AdaptorExceptions() {}

    /** An I/O operation of a channel, called by its adaptor. */
    interface Operation<T> {
        T run() throws IOException;
    }

    /** Runs an I/O operation: its IOExceptions pass, its runtime exceptions become those of a socket where known. */
    static <T> T io(Operation<T> operation) throws IOException {
        try {
            return operation.run();
        } catch (RuntimeException e) {
            throw known(e);
        }
    }

    /** Runs an option operation: every failure that a socket knows becomes a SocketException. */
    static <T> T option(Operation<T> operation) throws SocketException {
        try {
            return operation.run();
        } catch (SocketException e) {
            throw e;
        } catch (ClosedChannelException e) {
            throw caused("Socket is closed", e);
        } catch (IOException e) {
            throw caused(e.getMessage(), e);
        } catch (RuntimeException e) {
            throw known(e);
        }
    }

    private static SocketException known(RuntimeException e) throws SocketException {
        String text = switch (e) {
            case NotYetConnectedException _ -> "Socket is not connected";
            case AlreadyBoundException _ -> "Already bound";
            case AlreadyConnectedException _ -> "Already connected";
            case NotYetBoundException _ -> "Socket is not bound yet";
            case UnsupportedAddressTypeException _ -> "Unsupported address type";
            case UnresolvedAddressException _ -> "Unresolved address";
            default -> throw e;
        };
        return caused(text, e);
    }

    private static SocketException caused(String text, Exception cause) {
        SocketException exception = new SocketException(text);
        exception.initCause(cause);
        return exception;
    }
}
