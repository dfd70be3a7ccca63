package io.rdmanio.lab.programs;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A command line of operands and of options {@code --name=value} or {@code --name}. Reading removes nothing; an option
 * that the program does not know is refused at construction. Immutable.
 */
final class Options {
    private final List<String> operands = new ArrayList<>();
    private final Map<String, String> options = new HashMap<>();

    Options(String[] args, int operandCount, String usage, String... known) {
        for (String arg : args) {
            if (!arg.startsWith("--")) {
                operands.add(arg);
                continue;
            }
            String[] parts = arg.substring(2).split("=", 2);
            if (!List.of(known).contains(parts[0])) {
                throw new IllegalArgumentException("unknown option " + arg + "; usage: " + usage);
            }
            options.put(parts[0], parts.length == 2 ? parts[1] : "");
        }
        if (operands.size() != operandCount) {
            throw new IllegalArgumentException("usage: " + usage);
        }
    }

    String operand(int index) {
        return operands.get(index);
    }

    /** The operands at the index and behind it as host and port. */
    InetSocketAddress address(int index) {
        return new InetSocketAddress(operand(index), Integer.parseInt(operand(index + 1)));
    }

    boolean has(String name) {
        return options.containsKey(name);
    }

    String text(String name, String otherwise) {
        return options.getOrDefault(name, otherwise);
    }

    long number(String name, long otherwise) {
        String value = options.get(name);
        return value == null ? otherwise : Long.parseLong(value);
    }

    int count(String name, int otherwise) {
        return Math.toIntExact(number(name, otherwise));
    }
}
