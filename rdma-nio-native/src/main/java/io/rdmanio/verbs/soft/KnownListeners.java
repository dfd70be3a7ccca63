package io.rdmanio.verbs.soft;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Who has accepted a connection at which address lately, so that the next one is asked for there without a look for the name. A
 * peer says by its {@linkplain ConnectionPeer#listenerEpoch epoch} when it has stopped listening anywhere; what it says is believed for
 * {@value #BELIEVED_MILLIS} ms, after which the kernel is asked again who has the name.
 *
 * <p>Not thread-safe: the lock of the {@link ConnectionManager} guards it.
 */
final class KnownListeners {
    static final long BELIEVED_MILLIS = 1000;

    private static final long BELIEVED_NANOS = TimeUnit.MILLISECONDS.toNanos(BELIEVED_MILLIS);
    private static final int MOST = 1024;

    private record Known(ConnectionPeer peer, int epoch, long sinceNanos) {}

    private final Map<InetSocketAddress, Known> byAddress = new HashMap<>();

    /**
     * Finds who listens.
     *
     * @param address an address to connect to
     * @param nowNanos the time
     * @return the process; null when that is to be found out
     */
    ConnectionPeer find(InetSocketAddress address, long nowNanos) {
        Known known = byAddress.get(address);
        if (known == null) {
            return null;
        }
        if (nowNanos - known.sinceNanos >= BELIEVED_NANOS
                || known.peer.isDead()
                || known.peer.listenerEpoch() != known.epoch) {
            byAddress.remove(address);
            return null;
        }
        return known.peer;
    }

    /**
     * A process that was found by its name has accepted.
     *
     * @param address where
     * @param peer the process
     * @param epoch its epoch before it was asked
     * @param foundNanos when it was found
     */
    void add(InetSocketAddress address, ConnectionPeer peer, int epoch, long foundNanos) {
        if (byAddress.size() >= MOST) {
            // Not worth more than to be found once more.
            byAddress.clear();
        }
        byAddress.put(address, new Known(peer, epoch, foundNanos));
    }

    /** Nobody listens there whom this knows. */
    void remove(InetSocketAddress address) {
        byAddress.remove(address);
    }

    int size() {
        return byAddress.size();
    }

    /** A process is gone. */
    void remove(ConnectionPeer peer) {
        byAddress.values().removeIf(known -> known.peer.equals(peer));
    }
}
