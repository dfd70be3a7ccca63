package io.rdmanio.stream;

import java.io.IOException;
import java.util.ArrayDeque;

/**
 * Things to be closed, latest first, all of them whatever one of them says. Not thread-safe.
 */
final class ResourceStack implements AutoCloseable {
    private final ArrayDeque<AutoCloseable> resources = new ArrayDeque<>();

    /** Adds what is to be closed before all that was added before; null is ignored. */
    <T extends AutoCloseable> T add(T resource) {
        if (resource != null) {
            resources.push(resource);
        }
        return resource;
    }

    /** Hands everything over to another stack; closing this one closes nothing then. */
    void moveTo(ResourceStack other) {
        while (!resources.isEmpty()) {
            other.resources.push(resources.pollLast());
        }
    }

    /**
     * Closes everything.
     *
     * @throws IOException the first failure, the others suppressed in it
     */
    @Override
    public void close() throws IOException {
        IOException first = null;
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                if (first == null) {
                    first = e instanceof IOException io ? io : new IOException(e);
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
