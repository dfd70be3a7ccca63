package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.rdmanio.stream.StreamLeakCheck;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeEach;

/** What the contract suites share: the transport they run over, and what they do with it. */
abstract class ChannelContract {
    static final int READ = SelectionKey.OP_READ;
    static final int WRITE = SelectionKey.OP_WRITE;
    static final int CONNECT = SelectionKey.OP_CONNECT;
    static final int ACCEPT = SelectionKey.OP_ACCEPT;

    /** Long enough for what must happen, and never waited out by a test that passes. */
    static final long LONG_MILLIS = 20_000;

    /** Short, and waited out by tests of what must not happen. */
    static final long SHORT_MILLIS = 300;

    private static final long FILL_IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

    /** How long a thread must have been seen waiting, at every look, to count as blocked. */
    private static final long BLOCKED_MILLIS = 100;

    static {
        StreamLeakCheck.lookAtOnceAndOften();
    }

    private Transport transport;

    @BeforeEach
    final void over(Transport tested) {
        transport = tested;
    }

    final Transport transport() {
        return transport;
    }

    final boolean differs(Difference difference) throws IOException {
        return transport.differs(difference);
    }

    final SelectorProvider provider() {
        return transport.provider();
    }

    final InetAddress address() throws IOException {
        return transport.address();
    }

    final InetSocketAddress anyPort() throws IOException {
        return new InetSocketAddress(address(), 0);
    }

    final ServerSocketChannel listen() throws IOException {
        return provider().openServerSocketChannel().bind(anyPort());
    }

    /** Two ends of one connection. */
    record Pair(SocketChannel client, SocketChannel server) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            try (client) {
                server.close();
            }
        }
    }

    /** A connection whose ends are both blocking. */
    final Pair connect() throws IOException {
        try (ServerSocketChannel listener = listen()) {
            SocketChannel client = provider().openSocketChannel();
            client.connect(listener.getLocalAddress());
            return new Pair(client, listener.accept());
        }
    }

    final Pair connectNonBlocking() throws IOException {
        Pair pair = connect();
        pair.client().configureBlocking(false);
        pair.server().configureBlocking(false);
        return pair;
    }

    /** Closes a channel that the end of a block closes once more. */
    static void closeNow(Channel channel) throws IOException {
        channel.close();
    }

    /** A port of the address at which nobody listens. */
    final InetSocketAddress nobody() throws IOException {
        try (ServerSocketChannel listener = listen()) {
            return (InetSocketAddress) listener.getLocalAddress();
        }
    }

    // -- bytes --

    static ByteBuffer pattern(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    static void writeAll(SocketChannel channel, ByteBuffer source) throws IOException {
        while (source.hasRemaining()) {
            channel.write(source);
        }
    }

    /** Reads until the buffer is full or the stream ends; flips it. */
    static ByteBuffer readAll(SocketChannel channel, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        int count = 0;
        while (target.hasRemaining() && count >= 0) {
            count = channel.read(target);
        }
        return target.flip();
    }

    /** Writes, in non-blocking mode, until nothing has gone for a while. Returns what was written. */
    static long fill(SocketChannel channel) throws IOException {
        ByteBuffer source = ByteBuffer.allocateDirect(1 << 20);
        long written = 0;
        long idleSince = System.nanoTime();
        while (System.nanoTime() - idleSince < FILL_IDLE_NANOS) {
            int count = channel.write(source.clear());
            if (count > 0) {
                written += count;
                idleSince = System.nanoTime();
            } else {
                LockSupport.parkNanos(1_000_000);
            }
        }
        return written;
    }

    // -- selections --

    /** Selects until a key is ready for all of some operations. */
    static void selectUntil(Selector selector, SelectionKey key, int ops) {
        await().atMost(LONG_MILLIS, TimeUnit.MILLISECONDS).pollInSameThread().until(() -> {
            selector.select(100);
            return (key.readyOps() & ops) == ops;
        });
    }

    // -- threads --

    interface Action {
        void run() throws Exception;
    }

    static Thread start(String name, Action action) {
        return Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                action.run();
            } catch (Exception e) {
                throw new IllegalStateException(name, e);
            }
        });
    }

    /** Something that another thread does, and how it ended. */
    record Doing<T>(Thread thread, CompletableFuture<T> result) {
        T get() throws Exception {
            return result.get(LONG_MILLIS, TimeUnit.MILLISECONDS);
        }

        boolean isDone() {
            return result.isDone();
        }

        /** How it failed. */
        AbstractThrowableAssert<?, ? extends Throwable> failed() {
            return assertThatThrownBy(this::get)
                    .isInstanceOf(ExecutionException.class)
                    .cause();
        }

        /** Waits until the thread waits, and sees that it goes on doing so for a while. */
        Doing<T> blocked() {
            awaitBlocked(thread);
            assertThat(result).isNotDone();
            return this;
        }
    }

    private static <T> Runnable telling(CompletableFuture<T> result, Callable<T> action) {
        return () -> {
            try {
                result.complete(action.call());
            } catch (Throwable e) { // told to whoever asks for the result
                result.completeExceptionally(e);
            }
        };
    }

    static <T> Doing<T> doing(Callable<T> action) {
        CompletableFuture<T> result = new CompletableFuture<>();
        return new Doing<>(Thread.ofPlatform().daemon().name("doing").start(telling(result, action)), result);
    }

    static <T> Doing<T> doingVirtually(Callable<T> action) {
        CompletableFuture<T> result = new CompletableFuture<>();
        return new Doing<>(Thread.ofVirtual().name("doing").start(telling(result, action)), result);
    }

    /** Waits until a thread stays for a while where threads wait: parked, or in a native call. */
    static void awaitBlocked(Thread thread) {
        await().during(BLOCKED_MILLIS, TimeUnit.MILLISECONDS)
                .atMost(LONG_MILLIS, TimeUnit.MILLISECONDS)
                .until(() -> waits(thread));
    }

    private static boolean waits(Thread thread) {
        if (thread.isVirtual() || thread.getState() == Thread.State.BLOCKED) {
            return thread.getState() != Thread.State.NEW && thread.getState() != Thread.State.RUNNABLE;
        }
        StackTraceElement[] stack = thread.getStackTrace();
        return stack.length > 0
                && (stack[0].isNativeMethod() // as the JDK's own channels block, and parked threads
                        || Arrays.stream(stack)
                                .limit(8)
                                .anyMatch(frame -> frame.getClassName().equals("io.rdmanio.linux.Poll")
                                        || frame.getClassName().equals("io.rdmanio.linux.Epoll")));
    }

    /** Blocks a thread, ends that by an action, and tells how the thread failed. */
    static AbstractThrowableAssert<?, ? extends Throwable> assertEnds(Action blocking, Action end) throws Exception {
        Doing<Void> doing = doing(() -> {
            blocking.run();
            return null;
        });
        awaitBlocked(doing.thread());
        end.run();
        return doing.failed();
    }
}
