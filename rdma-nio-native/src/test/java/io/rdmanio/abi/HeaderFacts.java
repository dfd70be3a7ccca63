package io.rdmanio.abi;

import io.rdmanio.verbs.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/** Asks the C compiler what constant expressions are worth under the installed headers. */
public final class HeaderFacts {
    private static final String INSTALL = "apt-get install gcc libc6-dev libibverbs-dev librdmacm-dev";

    private HeaderFacts() {}

    /**
     * Compiles and runs a small program that prints the expressions. Without compiler or headers the test that asks is
     * skipped, but on CI it fails.
     */
    public static Map<String, Long> evaluate(List<String> headers, Collection<String> expressions, Path directory)
            throws IOException, InterruptedException {
        Path source = Files.writeString(directory.resolve("facts.c"), program(headers, expressions));
        Path program = directory.resolve("facts");
        ChildProcess compiler;
        try {
            compiler =
                    ChildProcess.run(List.of("gcc", "-Wall", "-Werror", "-o", program.toString(), source.toString()));
        } catch (IOException e) {
            skip("there is no gcc");
            throw e;
        }
        if (compiler.output().contains("fatal error") && compiler.output().contains("No such file")) {
            skip("headers are missing: " + compiler.output().lines().findFirst().orElse(""));
        }
        Assertions.assertEquals(0, compiler.status(), compiler.output());
        Map<String, Long> values = new LinkedHashMap<>();
        for (String line :
                ChildProcess.run(List.of(program.toString())).output().lines().toList()) {
            int tab = line.indexOf('\t');
            values.put(line.substring(0, tab), Long.valueOf(line.substring(tab + 1)));
        }
        return values;
    }

    private static void skip(String reason) {
        String message = reason + "; " + INSTALL;
        if ("true".equals(System.getenv("CI"))) {
            Assertions.fail("CI must check the headers, but " + message);
        }
        Assumptions.abort(message);
    }

    private static String program(List<String> headers, Collection<String> expressions) {
        StringBuilder text = new StringBuilder("#define _GNU_SOURCE\n#include <stddef.h>\n#include <stdio.h>\n");
        headers.forEach(header -> text.append("#include <").append(header).append(">\n"));
        text.append("int main(void) {\n");
        for (String expression : expressions) {
            text.append("    printf(\"%s\\t%lld\\n\", \"").append(expression).append("\", (long long) (");
            text.append(expression).append("));\n");
        }
        return text.append("    return 0;\n}\n").toString();
    }

    /** What differs, a sentence each. */
    public static List<String> differences(Map<String, Long> ours, Map<String, Long> theirs) {
        List<String> differences = new ArrayList<>();
        ours.forEach((expression, value) -> {
            if (!value.equals(theirs.get(expression))) {
                differences.add(expression + " is " + theirs.get(expression) + " in C and " + value + " here");
            }
        });
        return differences;
    }
}
