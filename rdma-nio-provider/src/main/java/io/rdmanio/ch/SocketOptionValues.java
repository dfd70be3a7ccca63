package io.rdmanio.ch;

import io.rdmanio.stream.KeepAlive;
import io.rdmanio.stream.StreamConfiguration;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import jdk.net.ExtendedSocketOptions;

/**
 * The socket options of one channel: which there are, their values, and what is a value. Not thread-safe: guarded by the
 * channel's state lock.
 */
final class SocketOptionValues {
    private static final int MAX_LINGER_SECONDS = 65_535;
    private static final int MAX_BYTE = 255;

    /** Of the keepalive options, as the kernel has it (tcp(7)). */
    private static final int MAX_KEEP_SECONDS = 32_767;

    private static final int MAX_KEEP_COUNT = 127;

    private final Map<SocketOption<?>, Object> values = new HashMap<>();

    private SocketOptionValues() {}

    static SocketOptionValues ofSocket() {
        SocketOptionValues options = new SocketOptionValues();
        options.values.put(StandardSocketOptions.SO_SNDBUF, 0);
        options.values.put(StandardSocketOptions.SO_RCVBUF, 0);
        options.values.put(StandardSocketOptions.SO_KEEPALIVE, false);
        options.values.put(StandardSocketOptions.SO_REUSEADDR, false);
        options.values.put(StandardSocketOptions.SO_REUSEPORT, false);
        options.values.put(StandardSocketOptions.SO_LINGER, -1);
        options.values.put(StandardSocketOptions.TCP_NODELAY, false);
        options.values.put(StandardSocketOptions.IP_TOS, 0);
        options.putKeepAlive(KeepAlive.standard());
        return options;
    }

    static SocketOptionValues ofServerSocket() {
        SocketOptionValues options = new SocketOptionValues();
        options.values.put(StandardSocketOptions.SO_RCVBUF, 0);
        options.values.put(StandardSocketOptions.SO_REUSEADDR, true);
        options.putKeepAlive(KeepAlive.standard());
        return options;
    }

    /** Those of a socket that is accepted by the server socket with these. */
    SocketOptionValues inherited() {
        SocketOptionValues options = ofSocket();
        options.putKeepAlive(keepAlive());
        return options;
    }

    private void putKeepAlive(KeepAlive keepAlive) {
        values.put(ExtendedSocketOptions.TCP_KEEPIDLE, keepAlive.idleSeconds());
        values.put(ExtendedSocketOptions.TCP_KEEPINTERVAL, keepAlive.intervalSeconds());
        values.put(ExtendedSocketOptions.TCP_KEEPCOUNT, keepAlive.count());
    }

    /** How a connection with these options is kept alive. */
    KeepAlive keepAlive() {
        return new KeepAlive(
                Boolean.TRUE.equals(values.get(StandardSocketOptions.SO_KEEPALIVE)),
                number(ExtendedSocketOptions.TCP_KEEPIDLE),
                number(ExtendedSocketOptions.TCP_KEEPINTERVAL),
                number(ExtendedSocketOptions.TCP_KEEPCOUNT));
    }

    private int number(SocketOption<Integer> name) {
        return name.type().cast(values.get(name));
    }

    Set<SocketOption<?>> supported() {
        return Set.copyOf(values.keySet());
    }

    /**
     * Checks name and type, which java.nio does before it looks at the channel's state.
     *
     * @throws UnsupportedOperationException if there is no such option
     * @throws IllegalArgumentException if the value is not of the option's type
     */
    <T> void check(SocketOption<T> name, T value) {
        checkName(name);
        if (!name.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "'");
        }
    }

    /** The value to keep: clamped where the option is clamped. */
    private static Object inRange(SocketOption<?> name, Object value) throws SocketException {
        if (!(value instanceof Integer number)) {
            return value;
        }
        if (name.equals(StandardSocketOptions.SO_LINGER)) {
            return Math.clamp(number, -1, MAX_LINGER_SECONDS);
        }
        if (name.equals(ExtendedSocketOptions.TCP_KEEPCOUNT)) {
            return requireUpTo(MAX_KEEP_COUNT, name, number);
        }
        if (name.equals(ExtendedSocketOptions.TCP_KEEPIDLE) || name.equals(ExtendedSocketOptions.TCP_KEEPINTERVAL)) {
            return requireUpTo(MAX_KEEP_SECONDS, name, number);
        }
        if (number < 0) {
            throw new IllegalArgumentException(name.name() + ": " + number + " is negative");
        }
        if (name.equals(StandardSocketOptions.IP_TOS) && number > MAX_BYTE) {
            throw new IllegalArgumentException(name.name() + ": " + number + " is more than " + MAX_BYTE);
        }
        return value;
    }

    private static Integer requireUpTo(int max, SocketOption<?> name, Integer number) throws SocketException {
        if (number < 1 || number > max) {
            throw new SocketException(name.name() + ": " + number + " is not from 1 to " + max);
        }
        return number;
    }

    void checkName(SocketOption<?> name) {
        Objects.requireNonNull(name, "name");
        if (!values.containsKey(name)) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
    }

    /**
     * Sets an option.
     *
     * @throws IllegalArgumentException if the value is out of the option's range
     * @throws SocketException if it is one that the kernel would refuse, as of the keepalive options
     */
    void put(SocketOption<?> name, Object value) throws SocketException {
        values.put(name, inRange(name, value));
    }

    /**
     * The value in force.
     *
     * @param sizes those of the stream, fixed since it began to connect; null if it has not
     */
    <T> T get(SocketOption<T> name, StreamConfiguration sizes) {
        StreamConfiguration inForce = sizes == null ? configuration() : sizes;
        Object value = values.get(name);
        if (name.equals(StandardSocketOptions.SO_SNDBUF)) {
            value = inForce.sendBufferBytes();
        } else if (name.equals(StandardSocketOptions.SO_RCVBUF)) {
            value = inForce.receiveBufferBytes();
        }
        return name.type().cast(value);
    }

    /** The sizes that streams get by these options. */
    StreamConfiguration configuration() {
        StreamConfiguration standard = StreamConfiguration.DEFAULT;
        return standard.withBuffers(
                sizeOr(StandardSocketOptions.SO_SNDBUF, standard.sendBufferBytes()),
                sizeOr(StandardSocketOptions.SO_RCVBUF, standard.receiveBufferBytes()));
    }

    private int sizeOr(SocketOption<Integer> name, int standard) {
        return values.get(name) instanceof Integer size && size > 0 ? size : standard;
    }
}
