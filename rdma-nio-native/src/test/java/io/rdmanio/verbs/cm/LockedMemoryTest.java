package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.ChildProcess;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A process that may not lock much memory. Root may lock any amount, so another JVM gives that right up. */
@Tag("rdma")
@Needs(Feature.LOCKED_MEMORY)
@ExtendWith(LeakCheck.class)
class LockedMemoryTest {
    private static final int LIMIT_BYTES = 1 << 20;
    private static final int WANTED_BYTES = 2 << 20;

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    /** What the other JVM runs. */
    static final class Probe {
        private Probe() {}

        public static void main(String[] args) throws VerbsException {
            try (EventChannel channel = EventChannel.open(TestDevice.engine());
                    CommunicationId id = channel.createId(PortSpace.TCP)) {
                id.bind(TestDevice.address(0));
                try (ProtectionDomain domain = id.device().allocateProtectionDomain();
                        Arena arena = Arena.ofConfined()) {
                    domain.registerMemory(arena.allocate(WANTED_BYTES), AccessFlags.LOCAL_WRITE);
                    System.out.println("registered");
                } catch (VerbsException e) {
                    System.out.println(e.getMessage());
                }
            }
        }
    }

    @Test
    void registerMemory_withoutAnyRightToLockNamesTheLimit() throws Exception {
        assertThat(register(0))
                .startsWith("ibv_reg_mr(length=2097152, access=0x1): "
                        + (TestDevice.has(Feature.LOCK_PERMISSION)
                                ? "not permitted (EPERM, 1)."
                                : "out of memory (ENOMEM, 12)."))
                .contains("RLIMIT_MEMLOCK is 0 bytes", "ulimit -l")
                .doesNotContain("/dev/infiniband");
    }

    @Test
    void registerMemory_beyondTheLimitNamesLimitWantAndCure() throws Exception {
        assertThat(register(LIMIT_BYTES))
                .startsWith(
                        "ibv_reg_mr(length=2097152, access=0x1): out of memory (ENOMEM, 12). 2097152 bytes are wanted.")
                .contains("RLIMIT_MEMLOCK is 1048576 bytes", "ulimit -l");
    }

    /** What a JVM that may lock so much says. */
    private static String register(int limitBytes) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                "prlimit", "--memlock=" + limitBytes, "setpriv", "--inh-caps=-ipc_lock", "--bounding-set=-ipc_lock"));
        command.add(ChildProcess.java());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        command.add("-Dio.rdmanio.test.address="
                + TestDevice.address(0).getAddress().getHostAddress());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Probe.class.getName()));
        return ChildProcess.run(command).output();
    }
}
