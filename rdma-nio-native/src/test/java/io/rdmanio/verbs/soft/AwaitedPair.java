package io.rdmanio.verbs.soft;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The outcome of a search for a pair, to be waited for. */
final class AwaitedPair implements PairListener {
    private static final long TIMEOUT_SECONDS = 20;

    private final CompletableFuture<ProcessPair> pair = new CompletableFuture<>();
    private final CompletableFuture<Integer> errno = new CompletableFuture<>();

    /** Begins to connect to a name. */
    static AwaitedPair connect(SoftHost host, String name) {
        return connect(host, name, TIMEOUT_SECONDS * 1000);
    }

    static AwaitedPair connect(SoftHost host, String name, long timeoutMillis) {
        AwaitedPair outcome = new AwaitedPair();
        host.connectPair(name, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis), outcome);
        return outcome;
    }

    /** Begins to connect to a host. */
    static AwaitedPair connect(SoftHost host, SoftHost other) {
        return connect(host, Rendezvous.processName(other.userId(), other.token()));
    }

    @Override
    public void paired(ProcessPair found) {
        end(pair.complete(found) && !errno.isDone());
    }

    @Override
    public void failed(int reason) {
        end(errno.complete(reason) && !pair.isDone());
    }

    private static void end(boolean first) {
        if (!first) {
            throw new AssertionError("a second outcome");
        }
    }

    ProcessPair pair() {
        return get(pair);
    }

    int errno() {
        return get(errno);
    }

    private static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError("no such outcome", e);
        }
    }
}
