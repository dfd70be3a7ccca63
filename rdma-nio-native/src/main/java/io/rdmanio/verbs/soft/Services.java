package io.rdmanio.verbs.soft;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The numbers of ports by their names (services(5)). Stateless; thread-safe; reads a file for each name. */
final class Services {
    private static final Path FILE = Path.of("/etc/services");
    private static final int MAX_PORT = 0xFFFF;

    private Services() {}

    /**
     * Finds a port.
     *
     * @param service its number or a name
     * @param protocol tcp or udp
     * @return the port; -1 when there is none
     */
    static int port(String service, String protocol) {
        if (service.chars().allMatch(character -> character >= '0' && character <= '9')) {
            return number(service);
        }
        try {
            // Latin-1 takes any bytes that comments may have.
            for (String line : Files.readAllLines(FILE, StandardCharsets.ISO_8859_1)) {
                int comment = line.indexOf('#');
                String entry = comment < 0 ? line : line.substring(0, comment);
                List<String> words = Arrays.asList(entry.strip().split("\\s+", -1));
                if (words.size() > 1 && words.get(1).endsWith("/" + protocol) && isNamed(words, service)) {
                    return number(words.get(1).substring(0, words.get(1).indexOf('/')));
                }
            }
        } catch (IOException e) {
            return -1;
        }
        return -1;
    }

    private static boolean isNamed(List<String> words, String service) {
        return words.getFirst().equals(service)
                || words.subList(2, words.size()).contains(service);
    }

    private static int number(String text) {
        try {
            int port = Integer.parseInt(text);
            return port > MAX_PORT ? -1 : port;
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
