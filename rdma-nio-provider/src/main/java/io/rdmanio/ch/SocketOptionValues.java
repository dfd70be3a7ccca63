package io.rdmanio.ch;

import io.rdmanio.stream.StreamConfiguration;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The socket options of one channel: which there are, their values, and what is a value. Not thread-safe: guarded by the
 * channel's state lock.
 */
final class SocketOptionValues {
    private static final int MAX_LINGER_SECONDS = 65_535;
    private static final int MAX_BYTE = 255;

    private final Map<SocketOption<?>, Object> values = new HashMap<>();

    private SocketOptionValues() {}

    static SocketOptionValues ofSocket() {
        SocketOptionValues options = new SocketOptionValues();
        options.values.put(StandardSocketOptions.SO_SNDBUF, 0);
        options.values.put(StandardSocketOptions.SO_RCVBUF, 0);
        options.values.put(StandardSocketOptions.SO_KEEPALIVE, false);
        options.values.put(StandardSocketOptions.SO_REUSEADDR, false);
        options.values.put(StandardSocketOptions.SO_LINGER, -1);
        options.values.put(StandardSocketOptions.TCP_NODELAY, false);
        options.values.put(StandardSocketOptions.IP_TOS, 0);
        return options;
    }

    static SocketOptionValues ofServerSocket() {
        SocketOptionValues options = new SocketOptionValues();
        options.values.put(StandardSocketOptions.SO_RCVBUF, 0);
        options.values.put(StandardSocketOptions.SO_REUSEADDR, true);
        return options;
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
    private static Object inRange(SocketOption<?> name, Object value) {
        if (!(value instanceof Integer number)) {
            return value;
        }
        if (name.equals(StandardSocketOptions.SO_LINGER)) {
            return Math.clamp(number, -1, MAX_LINGER_SECONDS);
        }
        if (number < 0) {
            throw new IllegalArgumentException(name.name() + ": " + number + " is negative");
        }
        if (name.equals(StandardSocketOptions.IP_TOS) && number > MAX_BYTE) {
            throw new IllegalArgumentException(name.name() + ": " + number + " is more than " + MAX_BYTE);
        }
        return value;
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
     */
    void put(SocketOption<?> name, Object value) {
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
