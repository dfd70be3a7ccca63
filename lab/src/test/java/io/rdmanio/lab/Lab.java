package io.rdmanio.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How this run of the lab's tests starts its programs. */
final class Lab {
    /** The provider that the programs run on; another one than ours only while the lab itself is developed. */
    static final String PROVIDER = System.getProperty("io.rdmanio.lab.provider", "io.rdmanio.RdmaSelectorProvider");

    /**
     * Whether the programs are to run over RDMA, and that is to be proved. False in one case alone: somebody chose a
     * provider of the JDK and said {@code -Dio.rdmanio.lab.proof=off}.
     */
    static final boolean RDMA = decide();

    /** The folder of the lab: where {@code python} and {@code target} are. */
    static final Path HOME = Path.of(System.getProperty("io.rdmanio.lab.home", "."))
            .toAbsolutePath()
            .normalize();

    /**
     * Against the guest's slowness, where a system call and a first touch of a page cost many times what they cost elsewhere:
     * one compiler, no statistics for jstat, few fresh pages for new objects, and the archive of classes where it can be
     * mapped as it is.
     */
    private static final List<String> SMALL_JVM = List.of(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-Xmn4m",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:ArchiveRelocationMode=0",
            "-XX:SharedArchiveFile=" + HOME.resolve("target/programs.jsa"));

    private static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";
    private static final String VERBS = "io.rdmanio.lab.verbs.";

    private Lab() {}

    private static boolean decide() {
        boolean off = System.getProperty("io.rdmanio.lab.proof", "on").equals("off");
        boolean ofTheJdk = PROVIDER.startsWith("sun.nio.ch.");
        if (off != ofTheJdk) {
            throw new IllegalStateException(
                    "io.rdmanio.lab.proof=off goes with a provider of the JDK, and with no other; not with "
                            + PROVIDER);
        }
        return !off;
    }

    /** The command that runs one of the programs: class path and provider, and flags against the guest's slowness. */
    static List<String> java(List<String> jvmFlags, String program, String... args) throws IOException {
        List<String> flags = new ArrayList<>(SMALL_JVM);
        flags.add("-Djava.nio.channels.spi.SelectorProvider=" + PROVIDER);
        flags.addAll(jvmFlags);
        return jvm(flags, "io.rdmanio.lab.programs." + program, args);
    }

    /** The command that runs one of the programs that use verbs. */
    static List<String> verbs(String program, String... args) throws IOException {
        List<String> flags = new ArrayList<>(SMALL_JVM);
        flags.add(NATIVE_ACCESS);
        return jvm(flags, VERBS + program, args);
    }

    private static List<String> jvm(List<String> flags, String main, String... args) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(List.of(
                "-cp",
                Files.readString(HOME.resolve("target/programs.classpath")).strip()));
        command.add(main);
        command.addAll(List.of(args));
        return command;
    }
}
