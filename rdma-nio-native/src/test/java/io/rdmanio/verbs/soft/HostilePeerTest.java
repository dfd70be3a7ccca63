package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Hostile peers against a JVM of its own ({@link HostileProgram}), so that a crash is a failed test, with the seed.
 * {@code -Dio.rdmanio.test.hostile=10000} for more than a few, {@code -Dio.rdmanio.test.seed} to repeat.
 */
class HostilePeerTest {
    private static final int SEEDS = Integer.getInteger("io.rdmanio.test.hostile", 200);
    private static final int SEEDS_PER_PROCESS = 500;
    private static final long FIRST_SEED = Long.getLong("io.rdmanio.test.seed", System.nanoTime());
    private static final Path CRASH_REPORTS = Path.of("target", "hostile");

    @Test
    @Timeout(3600)
    void hostilePeers_costNobodyButThemselves() throws Exception {
        Files.createDirectories(CRASH_REPORTS);
        System.out.println(SEEDS + " hostile peers from seed " + FIRST_SEED);
        for (int done = 0; done < SEEDS; done += SEEDS_PER_PROCESS) {
            ChildProcess victim = ChildProcess.run(List.of(
                    ChildProcess.java(),
                    "-XX:+UseSerialGC",
                    "-Xmx256m",
                    "-XX:ErrorFile=" + CRASH_REPORTS.resolve("hs_err_%p.log"),
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    HostileProgram.class.getName(),
                    Long.toString(FIRST_SEED + done),
                    Integer.toString(Math.min(SEEDS_PER_PROCESS, SEEDS - done))));
            assertThat(victim.status())
                    .as("seeds from %d: %s", FIRST_SEED + done, tail(victim.output()))
                    .isZero();
        }
    }

    private static String tail(String output) {
        return output.substring(Math.max(0, output.length() - 20_000));
    }
}
