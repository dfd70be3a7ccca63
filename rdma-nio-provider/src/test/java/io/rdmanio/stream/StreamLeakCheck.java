package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rdmanio.policy.TransportPolicy;
import io.rdmanio.verbs.OpenHandles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Ends every test with a look for what it left behind: native handles, descriptors, connections. Closed connections are
 * destroyed in the background, so it waits, with a bound, for the counts from before. What all connections share and
 * stays, the first connection makes: a test class that uses this makes one beforehand.
 */
public final class StreamLeakCheck implements BeforeEachCallback, AfterEachCallback {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(StreamLeakCheck.class);

    private record Count(int connections, String handles, long descriptors) {}

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        context.getStore(NAMESPACE).put("count", count());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        Count before = context.getStore(NAMESPACE).get("count", Count.class);
        await().atMost(30, TimeUnit.SECONDS)
                .untilAsserted(() ->
                        assertThat(count()).as("what is open after the test").isEqualTo(before));
    }

    /** Waits until closed connections are destroyed. */
    public static void awaitQuiet() throws IOException {
        StreamRuntime runtime = StreamRuntime.over(TransportPolicy.engine());
        await().atMost(30, TimeUnit.SECONDS).until(() -> runtime.connectionCount() == 0);
    }

    private static Count count() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            long descriptors = open.filter(StreamLeakCheck::isOurs).count() - Waiter.idleEventFds();
            return new Count(
                    StreamRuntime.over(TransportPolicy.engine()).connectionCount(),
                    OpenHandles.describe(),
                    descriptors);
        }
    }

    /** Files of the class path come and go with class loading, and an engine may keep memory for later; these do not. */
    private static boolean isOurs(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith("anon_inode:")
                    || target.startsWith("socket:")
                    || target.startsWith("/dev/infiniband");
        } catch (IOException e) {
            return false; // the descriptor of the directory itself, closed by now
        }
    }
}
