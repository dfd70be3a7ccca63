package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.ChildProcess;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A user who may not open the connection manager's device node: the test takes that right away, and runs a JVM as nobody. */
@Tag("rdma")
@Needs(Feature.DEVICE_NODES)
@ExtendWith(LeakCheck.class)
class PermissionTest {
    private static final Path NODE = Path.of("/dev/infiniband/rdma_cm");

    @TempDir
    Path directory;

    private Set<PosixFilePermission> permissions;

    /** What the other JVM runs. */
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

    @BeforeEach
    void takeTheRightAway() throws IOException {
        permissions = Files.getPosixFilePermissions(NODE);
        Files.setPosixFilePermissions(NODE, PosixFilePermissions.fromString("rw-------"));
    }

    @AfterEach
    void giveTheRightBack() throws IOException {
        Files.setPosixFilePermissions(NODE, permissions);
    }

    @Test
    void eventChannel_withoutRightToTheNodeSaysSo() throws Exception {
        // The user nobody may not be able to read where this was built.
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (Files.isDirectory(Path.of(entry, "io", "rdmanio", "verbs"))) {
                ChildProcess.succeed("cp", "-r", entry + "/.", directory.toString());
            }
        }
        List<String> command = new ArrayList<>(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        command.add(ChildProcess.java());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of("-cp", directory.toString(), Probe.class.getName()));
        String output = ChildProcess.run(command).output();
        assertThat(output.lines().toList())
                .satisfiesExactly(
                        reason -> assertThat(reason)
                                .startsWith(
                                        "This process may not read and write the device node /dev/infiniband/rdma_cm"),
                        exception -> assertThat(exception)
                                .startsWith("rdma_create_event_channel: ")
                                .contains(
                                        "This process may not read and write the device node /dev/infiniband/rdma_cm"));
    }
}
