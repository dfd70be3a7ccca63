package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The comparison of speed with C in short, with a generous limit: that our verbs are nowhere slow and allocate nothing.
 * {@code lab/verbs-speed.sh} measures.
 */
@Tag("rdma")
class VerbsSpeedTest {
    private static final Duration COMPILER_PATIENCE = Duration.ofSeconds(60);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String LIMIT_PERCENT = "150";
    // The guest's programs are processes of the host. Where the host has put one on a busy processor, it stays slow.
    private static final int ATTEMPTS = 3;

    @RegisterExtension
    final Guest guest = new Guest();

    @Timeout(value = 7, unit = TimeUnit.MINUTES)
    @ParameterizedTest
    @MethodSource("io.rdmanio.lab.Device#selected")
    void verbsInJava_asFastAsInC(Device device) throws Exception {
        assumeTrue(device == Device.ROCE, "speed is compared on RoCE");
        String program = compile();
        int status = 1;
        String table = "";
        for (int i = 0; i < ATTEMPTS && status != 0; i++) {
            Peer comparison =
                    guest.verbs("SpeedComparison", "-x", program, "-a", device.address(), "-q", "-l", LIMIT_PERCENT);
            status = comparison.awaitExit(PATIENCE);
            table = comparison.output();
            System.out.println(table);
            assertThat(table).doesNotContain("Java allocated");
        }
        assertThat(status).as(table).isZero();
    }

    private String compile() throws Exception {
        assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/gcc"))
                        && Files.exists(Path.of("/usr/include/infiniband/verbs.h"))
                        && Files.exists(Path.of("/usr/include/rdma/rdma_cma.h")),
                "no C compiler or headers; apt-get install gcc libc6-dev libibverbs-dev librdmacm-dev");
        String program = guest.folder("c").resolve("verbs_speed").toString();
        String source = Lab.HOME.resolve("c/verbs_speed.c").toString();
        guest.command(Map.of(), "gcc", "-O2", "-o", program, source, "-lrdmacm", "-libverbs")
                .awaitSuccess(COMPILER_PATIENCE);
        return program;
    }
}
