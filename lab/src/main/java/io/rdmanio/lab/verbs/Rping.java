package io.rdmanio.lab.verbs;

import java.io.IOException;

/**
 * rdma-core's rping in Java, as client and server, with rping's options. Unlike rping, the server also checks the data,
 * if told to verify, and takes port 0 for a free one, which it prints.
 */
public final class Rping {
    private static final String USAGE =
            "Rping -s [-P] [-a ADDRESS] [-p PORT] [-S SIZE] [-v] [-V] | Rping -c -a ADDRESS [-p PORT] [-C COUNT] [-S"
                    + " SIZE] [-v] [-V]";
    private static final int DEFAULT_PORT = 7174;
    private static final int DEFAULT_BYTES = 100;

    private Rping() {}

    /**
     * What the command line says.
     *
     * @param count how many exchanges
     * @param sizeBytes the size of a message; in the server, the largest that it takes
     * @param verify whether the data is checked
     * @param verbose whether the data is printed
     * @param persistent whether the server serves one client after the other
     */
    record Options(int count, int sizeBytes, boolean verify, boolean verbose, boolean persistent) {}

    public static void main(String[] args) throws IOException, InterruptedException {
        CommandLine line = new CommandLine(args, "scPa:p:C:S:vV", USAGE);
        if (line.has('s') == line.has('c')) {
            throw line.refused("-s or -c is wanted");
        }
        Options options = new Options(
                line.number('C', Integer.MAX_VALUE, 0, Integer.MAX_VALUE),
                line.number('S', DEFAULT_BYTES, PingData.MIN_BYTES, PingData.MAX_BYTES),
                line.has('V'),
                line.has('v'),
                line.has('P'));
        int port = line.number('p', DEFAULT_PORT, 0, 65_535);
        if (line.has('s')) {
            new PingServer(options).run(line.address('a', port));
        } else {
            line.text('a');
            new PingClient(options).run(line.address('a', port));
        }
    }
}
