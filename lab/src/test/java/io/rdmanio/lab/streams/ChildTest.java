package io.rdmanio.lab.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChildTest {
    /** A program that never answers. */
    static final class Idler {
        private Idler() {}

        /** Runs it, until its input ends. */
        public static void main(String[] arguments) throws IOException {
            var _ = System.in.read();
        }
    }

    @Test
    void await_whatIsNotAnsweredInTime_saysWhoIsLateWithWhatAndWhere() throws IOException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Idler.class.getName());
        try (Child child = new Child("idler", command)) {
            assertThatThrownBy(() -> child.await("TOOK", "exchange 64 1", 1))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("idler")
                    .hasMessageContaining("exchange 64 1")
                    .hasMessageContaining("1 s")
                    .hasMessageContaining("Idler.main");
        }
    }

    @Test
    void await_whoEndsInstead_isToldAtOnce() throws IOException {
        try (Child child = new Child("quitter", List.of("true"))) {
            assertThatThrownBy(() -> child.await("TOOK", "exchange 64 1", 50))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("the quitter failed at 'exchange 64 1': it ended");
        }
    }

    @Test
    void await_returnsWhatFollowsTheWord() throws IOException {
        try (Child child = new Child("parrot", List.of("cat"))) {
            child.begin("TOOK 1 2 3");
            assertThat(child.await("TOOK", "repeat", 20)).isEqualTo("1 2 3");
        }
    }

    @Test
    void close_ofWhoFails_throws() throws IOException {
        Child child = new Child("failure", List.of("false"));
        assertThatThrownBy(child::close).isInstanceOf(IOException.class).hasMessageContaining("status 1");
    }

    @Test
    void stacksOfProgram_leavesTheThreadsOfTheJvmAndIdleOnesOut() {
        String dump = """
            1234:
            Full thread dump

            "main" #3 prio=5
               at A.a(A.java:1)

            "C2 CompilerThread0" #9 daemon
               at B.b

            "rdma-nio-events" #20
               at C.c

            "rdma-nio-work-0" #21
               at java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1015)

            "rdma-nio-work-1" #22
               at D.d

            "rdmanio-soft-progress" #18
               at E.e
            """;
        assertThat(Child.stacksOfProgram(dump))
                .contains("A.a(A.java:1)", "C.c", "D.d", "E.e")
                .doesNotContain("CompilerThread", "Full thread dump", "work-0");
    }
}
