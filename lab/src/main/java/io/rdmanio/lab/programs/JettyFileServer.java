package io.rdmanio.lab.programs;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ResourceHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.resource.ResourceFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * A file server on Jetty's ServerConnector: GET serves the files of a directory, PUT and POST store one and answer with
 * the SHA-256 of what was stored. It stops on GET /stop, or when its standard input ends.
 */
public final class JettyFileServer {
    private JettyFileServer() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args, 3, "JettyFileServer HOST PORT DIRECTORY");
        Path directory = Path.of(options.operand(2)).toRealPath();

        QueuedThreadPool threads = new QueuedThreadPool(16, 4);
        Server server = new Server(threads);
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost(options.operand(0));
        connector.setPort(options.address(0).getPort());
        connector.setIdleTimeout(60_000);
        server.addConnector(connector);

        ResourceHandler files = new ResourceHandler();
        files.setBaseResource(ResourceFactory.of(server).newResource(directory));
        files.setDirAllowed(false);
        server.setHandler(new Handler.Sequence(new StoreHandler(directory), files));

        server.start();
        StopOnInputEnd.run(server::stop);
        System.out.println("READY " + connector.getLocalPort());
        server.join();
    }

    /** Stores uploads, in blocking calls; leaves reading to the next handler. */
    private static final class StoreHandler extends Handler.Abstract {
        private final Path directory;

        StoreHandler(Path directory) {
            this.directory = directory;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            String name = Request.getPathInContext(request).substring(1);
            switch (request.getMethod()) {
                case "PUT", "POST" -> store(request, response, callback, name);
                case "GET" -> {
                    if (!name.equals("stop")) {
                        return false;
                    }
                    Content.Sink.write(response, true, "stopping\n", callback);
                    Thread.ofPlatform().start(this::stopServer);
                }
                default -> Response.writeError(request, response, callback, 405);
            }
            return true;
        }

        private void store(Request request, Response response, Callback callback, String name) throws Exception {
            if (!name.matches("[A-Za-z0-9_][A-Za-z0-9._-]*")) {
                Response.writeError(request, response, callback, 400);
                return;
            }
            Path part = directory.resolve("." + name + ".part");
            Sha256 sha = new Sha256();
            try (InputStream body = sha.digesting(Content.Source.asInputStream(request))) {
                Files.copy(body, part, StandardCopyOption.REPLACE_EXISTING);
            }
            Files.move(part, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
            response.setStatus(201);
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/plain");
            Content.Sink.write(response, true, sha.hex(), callback);
        }

        private void stopServer() {
            try {
                getServer().stop();
            } catch (Exception e) {
                throw new IllegalStateException("the server does not stop", e);
            }
        }
    }
}
