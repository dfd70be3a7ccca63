package io.rdmanio.stream;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether and how the peer of an idle connection is asked for a sign of life.
 *
 * @param enabled whether it is
 * @param idleSeconds how long nothing came before the first probe
 * @param intervalSeconds how long a probe may go unanswered before that is counted, and counted again
 * @param count how often that is counted before the connection is reset
 */
public record KeepAlive(boolean enabled, int idleSeconds, int intervalSeconds, int count) {
    private static final int IDLE_SECONDS = 7200;
    private static final int INTERVAL_SECONDS = 75;
    private static final int COUNT = 9;

    /** Off, with the times that this host's TCP has. */
    public static KeepAlive standard() {
        return Standard.INSTANCE;
    }

    private static final class Standard {
        static final KeepAlive INSTANCE = new KeepAlive(
                false,
                setting("tcp_keepalive_time", IDLE_SECONDS),
                setting("tcp_keepalive_intvl", INTERVAL_SECONDS),
                setting("tcp_keepalive_probes", COUNT));
    }

    private static int setting(String name, int standard) {
        // in one read, for the kernel gives nothing to a second one
        try (BufferedReader reader = Files.newBufferedReader(Path.of("/proc/sys/net/ipv4", name))) {
            return Integer.parseInt(reader.readLine().strip());
        } catch (IOException e) {
            return standard; // /proc may be hidden; Linux's own standard is as good
        }
    }
}
