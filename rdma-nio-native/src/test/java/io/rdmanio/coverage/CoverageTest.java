package io.rdmanio.coverage;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.coverage.Operations.Operation;
import io.rdmanio.coverage.TestedBy.Where;
import io.rdmanio.verbs.ffm.CallTable;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Every function has a Java operation and tests, and docs/verbs-coverage.md says which. To write the page anew:
 * {@code mvn -pl rdma-nio-native test -Dtest=CoverageTest -Dtest.jvm.args=-Dio.rdmanio.coverage=write}.
 */
class CoverageTest {
    private static final Path PAGE = Path.of("..", "docs", "verbs-coverage.md");
    private static final Path SOURCES = Path.of("src", "main", "java");
    private static final Set<String> WAYS = Set.of("exported", "ops", "verbs_context");
    private static final int SHOWN = 3;
    private static final String OLD = "old: ";

    /** A function, how C reaches it, and why the lab can't, if it can't. */
    private record Function(String name, String reach) {
        /** The function that does the work. */
        String current() {
            return reach.startsWith(OLD) ? reach.substring(OLD.length()) : name;
        }
    }

    private static final Map<String, List<Function>> SECTIONS = new LinkedHashMap<>();
    private static final Map<String, String> REASONS = new LinkedHashMap<>();
    // By section and situation: the tests, as Class#method.
    private static final Map<String, Map<String, List<String>>> SITUATIONS = new LinkedHashMap<>();
    private static Map<String, List<Operation>> operations;
    private static TestedBy tests;

    @BeforeAll
    static void readEverything() throws IOException {
        List<Function> section = new ArrayList<>();
        for (String line : lines("functions.txt")) {
            if (line.startsWith("[")) {
                section = new ArrayList<>();
                SECTIONS.put(line.substring(1, line.length() - 1), section);
            } else {
                String[] words = line.split(" +", 2);
                section.add(new Function(words[0], words[1]));
            }
        }
        for (String line : lines("untestable.txt")) {
            String[] words = line.split(" +", 2);
            REASONS.put(words[0], words[1]);
        }
        Map<String, List<String>> situations = new LinkedHashMap<>();
        for (String line : lines("situations.txt")) {
            if (line.startsWith("[")) {
                situations = new LinkedHashMap<>();
                SITUATIONS.put(line.substring(1, line.length() - 1), situations);
            } else {
                String[] words = line.split(" \\| ", 2);
                situations.put(words[0], List.of(words[1].split(", ", -1)));
            }
        }
        operations = Operations.of(SOURCES);
        tests = new TestedBy(operations.values().stream().flatMap(List::stream).toList());
    }

    private static List<String> lines(String resource) throws IOException {
        try (BufferedReader reader = new BufferedReader(
                new InputStreamReader(CoverageTest.class.getResourceAsStream(resource), StandardCharsets.UTF_8))) {
            return reader.lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList();
        }
    }

    private static List<Function> functions() {
        return SECTIONS.values().stream().flatMap(List::stream).toList();
    }

    private static List<Operation> operationsOf(Function function) {
        return operations.getOrDefault(function.current(), List.of()).stream()
                .distinct()
                .sorted()
                .toList();
    }

    @Test
    void everyFunction_hasAJavaOperationThatNamesItsManualPage() {
        assertThat(functions())
                .filteredOn(function -> operationsOf(function).isEmpty())
                .extracting(Function::name)
                .isEmpty();
    }

    @Test
    void everyFunction_isTestedInTheLabOrSaysWhyNot() {
        assertThat(functions())
                .filteredOn(function -> labTests(function).isEmpty() && !REASONS.containsKey(function.current()))
                .extracting(Function::name)
                .as("functions with neither a lab test nor a reason")
                .isEmpty();
        assertThat(functions()).extracting(Function::current).containsAll(REASONS.keySet());
    }

    @Test
    void everyFunction_isTestedSomewhere() {
        assertThat(functions())
                .filteredOn(function -> labTests(function).isEmpty()
                        && names(function, Where.PLAIN).isEmpty())
                .extracting(Function::name)
                .isEmpty();
    }

    /** What the table says of a function's reach is what the engine does. */
    @Test
    void everyFunction_isCalledTheWayTheTableSays() {
        for (Function function : functions()) {
            if (!WAYS.contains(function.reach)) {
                continue;
            }
            assertThat(CallTable.reach(function.name)).as(function.name).contains(function.reach);
        }
    }

    @Test
    void everySituation_isThatOfATest() {
        assertThat(tests.names())
                .containsAll(SITUATIONS.values().stream()
                        .flatMap(situations -> situations.values().stream())
                        .flatMap(List::stream)
                        .toList());
    }

    @Test
    void page_saysWhatTheSourcesSay() throws IOException {
        String page = page();
        if ("write".equals(System.getProperty("io.rdmanio.coverage"))) {
            Files.writeString(PAGE, page);
        }
        assertThat(Files.readString(PAGE))
                .as("docs/verbs-coverage.md; the class says how to write it anew")
                .isEqualTo(page);
    }

    private static List<String> names(Function function, Where where) {
        return tests.classesThatCall(operationsOf(function), where);
    }

    private static List<String> labTests(Function function) {
        List<String> all = new ArrayList<>(names(function, Where.BOTH_DEVICES));
        all.addAll(names(function, Where.ONE_DEVICE));
        return all;
    }

    private static String page() {
        StringBuilder page = new StringBuilder("""
            # Coverage of the verbs and of the connection manager

            Generated by `CoverageTest` from the sources and checked by it in every build: the Java operation is the public method
            whose javadoc names the function's manual page, and a test counts for a function if it calls that operation, itself or
            by the tests' helpers. Of many test classes, the three that are about the least else are named.

            How C reaches a function: *exported* is a symbol of the library; *ops* goes through the driver's functions in `ibv_context`;
            *verbs_context* through those of the struct that lies before it, if it is there and large enough; *header-only* has
            nothing behind it but other functions; *in parts* is exported, but done here by the functions that it consists of.
            Tests in the lab run on the real Linux RDMA stack: rxe is its software RoCE device, siw its software iWARP device. *Plain* tests run in every build: on soft, the software device of this project, or with an engine
            or a driver of their own behind the objects. What the devices do otherwise than each other:
            [device-differences.md](device-differences.md).
            """);
        SECTIONS.forEach((section, functions) -> {
            page.append("\n## ").append(section).append("\n");
            page.append(
                    "| Function | Class | Java operation | Lab: rxe and siw | Lab: one of them | Plain: soft | Plain:"
                            + " injected |\n");
            page.append("|---|---|---|---|---|---|---|\n");
            for (Function function : functions) {
                page.append("| `").append(function.name).append("` | ");
                page.append(function.reach.startsWith(OLD) ? "now `" + function.current() + "`" : function.reach);
                page.append(" | ")
                        .append(cell(operationsOf(function).stream()
                                .map(operation -> "`" + operation.display() + "`")
                                .toList()));
                page.append(" | ").append(onBothDevices(function));
                page.append(" | ").append(shortCell(names(function, Where.ONE_DEVICE)));
                page.append(" | ").append(shortCell(names(function, Where.SOFT)));
                page.append(" | ")
                        .append(shortCell(names(function, Where.PLAIN)))
                        .append(" |\n");
            }
        });
        SITUATIONS.forEach((section, situations) -> {
            page.append("\n## ").append(section).append("\n| Situation | Tests |\n|---|---|\n");
            situations.forEach((situation, names) -> page.append("| ")
                    .append(situation)
                    .append(" | ")
                    .append(cell(names.stream().map(name -> "`" + name + "`").toList()))
                    .append(" |\n"));
        });
        return page.toString();
    }

    private static String onBothDevices(Function function) {
        String tests = shortCell(names(function, Where.BOTH_DEVICES));
        String reason = REASONS.get(function.current());
        if (reason == null) {
            return tests;
        }
        return "not testable here: " + reason + (tests.isEmpty() ? "" : " (the refusal: " + tests + ")");
    }

    /** The first few, which are those that are about little else. */
    private static String shortCell(List<String> names) {
        return names.size() <= SHOWN ? cell(names) : cell(names.subList(0, SHOWN)) + ", …";
    }

    private static String cell(Iterable<String> names) {
        return String.join(", ", names);
    }
}
