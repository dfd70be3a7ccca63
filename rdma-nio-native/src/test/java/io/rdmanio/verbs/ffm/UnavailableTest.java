package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.ChildProcess;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.EventChannel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Hosts without libraries, symbols or devices. Each is a JVM of its own, since a library stays loaded. */
class UnavailableTest {
    /** What the other JVM runs: prints the reason and what the first call throws. */
    static final class Probe {
        private Probe() {}

        public static void main(String[] args) {
            System.out.println(RdmaEngine.system().unavailableReason().orElse("usable"));
            try (EventChannel channel = EventChannel.open(RdmaEngine.system())) {
                System.out.println("descriptor " + channel.fileDescriptor());
            } catch (VerbsException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    private static List<String> probe(String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(ChildProcess.java());
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Probe.class.getName()));
        ChildProcess process = ChildProcess.run(command);
        assertThat(process.status()).as(process.output()).isZero();
        return process.output().lines().toList();
    }

    private static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";

    @Test
    void missingVerbsLibrary_isAReason() throws Exception {
        assertThat(probe(NATIVE_ACCESS, "-Dio.rdmanio.ibverbs.library=libnosuch.so.1"))
                .first()
                .asString()
                .startsWith("The library libnosuch.so.1 can't be loaded")
                .contains("install the package libibverbs1");
    }

    @Test
    void missingConnectionManager_isAReasonAndAnException() throws Exception {
        List<String> lines = probe(NATIVE_ACCESS, "-Dio.rdmanio.rdmacm.library=libnosuch.so.1");
        Assumptions.assumeFalse(lines.getFirst().contains("libibverbs.so.1"), "libibverbs is not installed");
        assertThat(lines)
                .hasSize(2)
                .allSatisfy(line -> assertThat(line)
                        .contains("The library libnosuch.so.1 can't be loaded")
                        .contains("install the package librdmacm1"));
        assertThat(lines.getLast()).startsWith("rdma_create_event_channel: ");
    }

    @Test
    void missingSymbol_isNamedWithTheLibrary() throws Exception {
        assertThat(probe(NATIVE_ACCESS, "-Dio.rdmanio.ibverbs.library=libc.so.6"))
                .first()
                .asString()
                .isEqualTo("The library libc.so.6 has no function ibv_get_device_list; a newer rdma-core is needed for"
                        + " it.");
    }

    @Test
    void deniedNativeAccess_isAReason() throws Exception {
        assertThat(probe("--illegal-native-access=deny"))
                .first()
                .asString()
                .startsWith("This JVM denies native access to rdma-nio")
                .contains("--enable-native-access");
    }

    @Test
    void hostWithoutDevice_isExplained() throws Exception {
        Assumptions.assumeFalse(Files.exists(Path.of("/sys/class/infiniband")), "this host has RDMA devices");
        List<String> lines = probe(NATIVE_ACCESS);
        Assumptions.assumeFalse(lines.getFirst().startsWith("The library"), lines.getFirst());
        assertThat(lines.getFirst()).startsWith("There is no RDMA device").contains("rdma link add");
        assertThat(lines.getLast())
                .startsWith("rdma_create_event_channel: no such device (ENODEV, 19). There is no RDMA device (");
    }
}
