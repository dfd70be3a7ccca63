package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.rdmanio.policy.TransportPolicy;
import io.rdmanio.verbs.OpenHandles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Ends every test with a look for what it left behind: native handles, descriptors, mappings of shared memory, connections.
 * Closed connections are destroyed in the background, so it waits, with a bound, for the counts from before. What all
 * connections share and stays, the first connection makes: a test class that uses this makes one beforehand.
 */
public final class StreamLeakCheck implements BeforeEachCallback, AfterEachCallback {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(StreamLeakCheck.class);

    /** What memory of the software device is called in /proc. */
    private static final String MEMORY = "/memfd:";

    private static final Duration POLL_INTERVAL = Duration.ofMillis(10);

    static {
        lookAtOnceAndOften();
    }

    /**
     * Awaitility looks first after 100 ms and then every 100 ms, as long as all the rest of most tests: what they wait for is there
     * already, or a few milliseconds away.
     */
    public static void lookAtOnceAndOften() {
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Awaitility.setDefaultPollInterval(POLL_INTERVAL);
    }

    private record Count(
            int connections, long registeredBytes, String handles, SortedMap<String, Integer> possessions) {}

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

    /** Bytes registered for streams. */
    public static long registeredBytes() throws IOException {
        return StreamRuntime.over(TransportPolicy.engine()).memory().budget().registeredBytes();
    }

    private static Count count() throws IOException {
        StreamRuntime runtime = StreamRuntime.over(TransportPolicy.engine());
        runtime.waitGroups().closeIdle();
        runtime.memory().freeUnused(0);
        SortedMap<String, Integer> possessions = new TreeMap<>();
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            open.map(StreamLeakCheck::target)
                    .filter(StreamLeakCheck::isOurs)
                    .forEach(kind -> possessions.merge(kind, 1, Integer::sum));
        }
        possessions.merge("anon_inode:[eventfd]", -DescriptorWaiter.idleEventFds(), Integer::sum);
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            maps.filter(line -> line.contains(MEMORY))
                    .map(line -> line.substring(line.indexOf(MEMORY)))
                    .filter(StreamLeakCheck::isOurs)
                    .forEach(kind -> possessions.merge("mapping of " + kind, 1, Integer::sum));
        }
        return new Count(
                runtime.connectionCount(),
                runtime.memory().budget().registeredBytes(),
                OpenHandles.describe(),
                possessions);
    }

    /** What a descriptor refers to, without the number that tells it from its like. */
    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().replaceFirst(":\\[\\d+]$", "");
        } catch (IOException e) {
            return ""; // the descriptor of the directory itself, closed by now
        }
    }

    /**
     * Files of the class path come and go with class loading, and a pair of processes keeps the slabs that its largest crowd
     * of connections needed; these do not.
     */
    private static boolean isOurs(String target) {
        return target.startsWith("anon_inode:")
                || target.equals("socket")
                || target.equals("pipe")
                || target.startsWith("/dev/infiniband")
                || (target.startsWith(MEMORY) && !target.startsWith(MEMORY + "rdmanio-slab"));
    }
}
