package io.rdmanio.lab.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;

/** A command line as getopt(3) reads it, with each option in a word of its own. Immutable. */
final class CommandLine {
    private final Map<Character, String> values = new HashMap<>();
    private final String usage;

    /** Reads the options that the string lists, those with a value followed by a colon. */
    CommandLine(String[] args, String options, String usage) {
        this.usage = usage;
        for (int i = 0; i < args.length; i++) {
            int at = args[i].length() == 2 && args[i].charAt(0) == '-' ? options.indexOf(args[i].charAt(1)) : -1;
            if (at < 0 || args[i].charAt(1) == ':') {
                throw refused(args[i]);
            }
            String value = "";
            if (options.startsWith(":", at + 1)) {
                if (i + 1 == args.length) {
                    throw refused(args[i] + " without a value");
                }
                value = args[++i];
            }
            values.put(options.charAt(at), value);
        }
    }

    IllegalArgumentException refused(String what) {
        return new IllegalArgumentException(what + "; usage: " + usage);
    }

    boolean has(char option) {
        return values.containsKey(option);
    }

    String text(char option) {
        if (!has(option)) {
            throw refused("-" + option + " is missing");
        }
        return values.get(option);
    }

    int number(char option, int otherwise, int least, int most) {
        if (!has(option)) {
            return otherwise;
        }
        int value = Integer.parseInt(values.get(option));
        if (value < least || value > most) {
            throw refused("-" + option + " " + value + " is not " + least + " to " + most);
        }
        return value;
    }

    /** The address that the option gives, with a port; a wildcard without the option. */
    InetSocketAddress address(char option, int port) throws UnknownHostException {
        return has(option)
                ? new InetSocketAddress(InetAddress.getByName(values.get(option)), port)
                : new InetSocketAddress(port);
    }
}
