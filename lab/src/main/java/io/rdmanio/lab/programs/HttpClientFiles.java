package io.rdmanio.lab.programs;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A client on java.net.http over HTTP/1.1 for the file servers beside it. Runs the workload of small requests and one
 * large body; or, told a directory of files, uploads each of them, downloads it again and compares the SHA-256. Fails at
 * the first byte that is not right.
 */
public final class HttpClientFiles {
    private static final String USAGE =
            "HttpClientFiles HOST PORT [--files=DIRECTORY --to=DIRECTORY] [--stop] " + HttpWorkload.USAGE;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();
    private final URI server;

    private HttpClientFiles(URI server) {
        this.server = server;
    }

    public static void main(String[] args) throws Exception {
        String[] known = {"files", "to", "stop"};
        known = Stream.concat(Arrays.stream(known), Arrays.stream(HttpWorkload.OPTIONS))
                .toArray(String[]::new);
        Options options = new Options(args, 2, USAGE, known);
        HttpClientFiles files =
                new HttpClientFiles(URI.create("http://" + options.operand(0) + ":" + options.operand(1) + "/"));
        try (HttpClient _ = files.client) {
            if (options.has("files")) {
                files.moveFiles(Path.of(options.text("files", "")), Path.of(options.text("to", "")));
            } else {
                new HttpWorkload(files.new BytesExchange(), options).run();
            }
            if (options.has("stop")) {
                files.send(files.request("stop").GET(), BodyHandlers.ofString());
            }
        }
    }

    private void moveFiles(Path from, Path to) throws IOException, InterruptedException {
        List<Path> files;
        try (Stream<Path> entries = Files.list(from)) {
            files = entries.filter(Files::isRegularFile).sorted().toList();
        }
        if (files.isEmpty()) {
            throw new IOException("no files in " + from);
        }
        long bytes = 0;
        long upNanos = 0;
        long downNanos = 0;
        for (Path file : files) {
            String name = file.getFileName().toString();
            String sha = Sha256.of(file);
            long start = System.nanoTime();
            String stored = send(request(name).PUT(BodyPublishers.ofFile(file)), BodyHandlers.ofString());
            long uploaded = System.nanoTime();
            Path copy = send(request(name).GET(), BodyHandlers.ofFile(to.resolve(name)));
            downNanos += System.nanoTime() - uploaded;
            upNanos += uploaded - start;
            if (!stored.strip().equals(sha) || !Sha256.of(copy).equals(sha)) {
                throw new WrongDataException(name + ": the copies are not what " + file + " is");
            }
            bytes += Files.size(file);
        }
        System.out.printf(
                "OK files=%d bytes=%d upMiBs=%.1f downMiBs=%.1f%n",
                files.size(),
                bytes,
                Percentiles.mebibytesPerSecond(bytes, upNanos),
                Percentiles.mebibytesPerSecond(bytes, downNanos));
    }

    private HttpRequest.Builder request(String name) {
        return HttpRequest.newBuilder(server.resolve(name)).timeout(PATIENCE);
    }

    private <T> T send(HttpRequest.Builder request, HttpResponse.BodyHandler<T> handler)
            throws IOException, InterruptedException {
        HttpResponse<T> response = client.send(request.build(), handler);
        if (response.statusCode() / 100 != 2) {
            throw new IOException("status " + response.statusCode() + " for " + response.uri());
        }
        return response.body();
    }

    /** The workload's requests. */
    private final class BytesExchange implements HttpWorkload.Exchange {
        @Override
        public String post(String name, byte[] body) throws IOException, InterruptedException {
            return send(request(name).POST(BodyPublishers.ofByteArray(body)), BodyHandlers.ofString());
        }

        @Override
        public byte[] get(String name) throws IOException, InterruptedException {
            return send(request(name).GET(), BodyHandlers.ofByteArray());
        }
    }
}
