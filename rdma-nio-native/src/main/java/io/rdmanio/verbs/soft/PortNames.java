package io.rdmanio.verbs.soft;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * The names by which processes know of each other's ports in the port space of connections, after the prefix of their
 * user:
 *
 * <pre>
 * tcp/FAMILY/ADDRESS/PORT               who may listen there, bound for nobody else
 * tcp/FAMILY/ADDRESS/PORT/reuse/NUMBER  one of those who have bound it, each with RDMA_OPTION_ID_REUSEADDR
 * tcp/block/NUMBER                      the process that gives these ports to its ids by itself
 * </pre>
 *
 * FAMILY is {@code 4}, {@code 6}, or {@code 6only} for one that leaves IPv4 alone. Stateless; thread-safe.
 */
final class PortNames {
    static final String SPACE = "tcp/";
    private static final String REUSE = "reuse";
    private static final String FAMILY_4 = "4";
    private static final String FAMILY_6 = "6";
    private static final String FAMILY_6_ONLY = "6only";
    private static final String WILDCARD_4 = "0.0.0.0";
    private static final String WILDCARD_6 = "0:0:0:0:0:0:0:0";
    private static final int PLAIN_PARTS = 4;
    private static final int REUSE_PARTS = 6;

    private PortNames() {}

    /** The names there are, of this process and of others. */
    interface Directory {
        /**
         * Takes a name, at which others then find this process.
         *
         * @param name without the user's prefix
         * @return how to give it back; null when somebody has it
         * @throws IOException when it fails otherwise
         */
        Runnable take(String name) throws IOException;

        /**
         * Lists the names that other processes of this user have taken.
         *
         * @return the names that begin with {@link #SPACE}, without the user's prefix
         */
        List<String> others();
    }

    /** What a name of another process says. */
    record Taken(String family, String address, int port, boolean reuse) {
        /** Returns null for a name of another kind. */
        static Taken parse(String name) {
            String[] parts = name.split("/", -1);
            boolean plain = parts.length == PLAIN_PARTS;
            boolean shared = parts.length == REUSE_PARTS && parts[PLAIN_PARTS].equals(REUSE);
            if (!plain && !shared) {
                return null;
            }
            try {
                return new Taken(parts[1], parts[2], Integer.parseInt(parts[PLAIN_PARTS - 1]), shared);
            } catch (NumberFormatException e) {
                // Anybody can take any name.
                return null;
            }
        }

        boolean isIpv4() {
            return family.equals(FAMILY_4);
        }

        boolean isFamilyOnly() {
            return !family.equals(FAMILY_6);
        }

        boolean isWildcard() {
            return address.equals(WILDCARD_4) || address.equals(WILDCARD_6);
        }
    }

    static String exclusive(InetAddress address, int port, boolean familyOnly) {
        String family = LocalAddresses.isIpv4(address) ? FAMILY_4 : familyOnly ? FAMILY_6_ONLY : FAMILY_6;
        return SPACE + family + "/" + LocalAddresses.text(address) + "/" + port;
    }

    static String shared(InetAddress address, int port, boolean familyOnly, String number) {
        return exclusive(address, port, familyOnly) + "/" + REUSE + "/" + number;
    }

    static String block(int number) {
        return SPACE + "block/" + number;
    }

    /** Where a listener that an address leads to may be found, in this order. */
    static List<String> candidates(InetAddress destination, int port) {
        List<String> names = new ArrayList<>();
        if (LocalAddresses.isIpv4(destination)) {
            names.add(exclusive(destination, port, true));
            names.add(SPACE + FAMILY_4 + "/" + WILDCARD_4 + "/" + port);
        } else {
            names.add(exclusive(destination, port, false));
            names.add(exclusive(destination, port, true));
            names.add(SPACE + FAMILY_6_ONLY + "/" + WILDCARD_6 + "/" + port);
        }
        names.add(SPACE + FAMILY_6 + "/" + WILDCARD_6 + "/" + port);
        return names;
    }
}
