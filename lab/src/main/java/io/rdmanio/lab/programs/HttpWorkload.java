package io.rdmanio.lab.programs;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * What both HTTP clients do over one kept-alive connection: small requests of mixed sizes, each a POST or the GET of
 * what an earlier POST stored, and one large body each way. Every body is verified. One thread.
 */
final class HttpWorkload {
    static final String[] OPTIONS = {"requests", "max-size", "body", "seed"};
    static final String USAGE = "[--requests=N] [--max-size=N] [--body=N] [--seed=N]";

    /** One exchange at a time with the server. */
    interface Exchange {
        /** Sends the body and returns the text that came back. */
        String post(String name, byte[] body) throws Exception;

        /** Returns the body of the file. */
        byte[] get(String name) throws Exception;
    }

    private final Exchange exchange;
    private final int requests;
    private final int maxSize;
    private final int bodySize;
    private final long seed;

    HttpWorkload(Exchange exchange, Options options) {
        this.exchange = exchange;
        requests = options.count("requests", 1_000);
        maxSize = options.count("max-size", 64 << 10);
        bodySize = options.count("body", 32 << 20);
        seed = options.number("seed", 1);
    }

    /** Runs all of it and prints one line of figures. */
    void run() throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        long[] nanos = new long[requests];
        long bytes = 0;
        int posts = 0;
        String name = null;
        byte[] stored = null;
        long start = System.nanoTime();
        for (int i = 0; i < requests; i++) {
            // The first is a POST; from then on a coin decides, so that both follow both.
            boolean post = stored == null || random.nextBoolean();
            if (post) {
                name = "small-" + i;
                stored = new byte[mixedSize(random)];
                random.nextBytes(stored);
                posts++;
            }
            long before = System.nanoTime();
            if (post) {
                post(name, stored);
            } else {
                get(name, stored);
            }
            nanos[i] = System.nanoTime() - before;
            bytes += stored.length;
        }
        double smallSeconds = (System.nanoTime() - start) / 1e9;

        byte[] large = new Pattern(seed).bytes(bodySize);
        long beforeUpload = System.nanoTime();
        post("large", large);
        long beforeDownload = System.nanoTime();
        get("large", large);
        long end = System.nanoTime();
        Arrays.sort(nanos);
        System.out.printf(
                "OK requests=%d posts=%d bytes=%d seconds=%.2f p50us=%d p99us=%d body=%d upMiBs=%.1f downMiBs=%.1f%n",
                requests,
                posts,
                bytes,
                smallSeconds,
                Percentiles.at(nanos, 0.50) / 1_000,
                Percentiles.at(nanos, 0.99) / 1_000,
                bodySize,
                Percentiles.mebibytesPerSecond(bodySize, beforeDownload - beforeUpload),
                Percentiles.mebibytesPerSecond(bodySize, end - beforeDownload));
    }

    /** Between 1 and the maximum, every power of two as likely as every other. */
    private int mixedSize(SplittableRandom random) {
        int bits = 32 - Integer.numberOfLeadingZeros(maxSize);
        return Math.min(maxSize, random.nextInt(1, 1 << random.nextInt(1, bits + 1)));
    }

    private void post(String name, byte[] body) throws Exception {
        String answer = exchange.post(name, body).strip();
        if (!answer.equals(Sha256.of(body))) {
            throw new WrongDataException("the server stored " + name + " with SHA-256 " + answer);
        }
    }

    private void get(String name, byte[] expected) throws Exception {
        byte[] body = exchange.get(name);
        if (!Sha256.of(body).equals(Sha256.of(expected))) {
            throw new WrongDataException(
                    name + " came back with " + body.length + " bytes of SHA-256 " + Sha256.of(body));
        }
    }
}
