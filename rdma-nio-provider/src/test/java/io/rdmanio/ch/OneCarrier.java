package io.rdmanio.ch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A program for a JVM whose virtual threads have one carrier: blocks a hundred of them in select, read, accept and connect, and
 * has one more do something and end what they wait for.
 */
final class OneCarrier {
    private static final int OF_EACH = 25;
    private static final int BLOCKED = 4 * OF_EACH;
    private static final long DEADLINE_SECONDS = 50;

    private final InetSocketAddress anyPort;
    private final CountDownLatch entered = new CountDownLatch(BLOCKED);
    private final CountDownLatch ended = new CountDownLatch(BLOCKED);
    private final AtomicInteger returned = new AtomicInteger();
    private final List<Thread> blocked = new ArrayList<>();

    private OneCarrier(String address) {
        anyPort = new InetSocketAddress(address, 0);
    }

    /**
     * Runs it.
     *
     * @param arguments the address to use
     */
    public static void main(String[] arguments) throws Exception {
        new OneCarrier(arguments[0]).run();
    }

    private void block(Callable<?> operation) {
        blocked.add(Thread.ofVirtual().start(() -> {
            entered.countDown();
            try {
                operation.call();
                returned.incrementAndGet();
            } catch (AsynchronousCloseException e) {
                returned.incrementAndGet(); // how a connect is ended here
            } catch (Exception e) {
                e.printStackTrace(System.out);
            }
            ended.countDown();
        }));
    }

    private void run() throws Exception {
        ServerSocketChannel listener = ServerSocketChannel.open().bind(anyPort, 2 * OF_EACH);
        ServerSocketChannel crowded = ServerSocketChannel.open().bind(anyPort, 1);
        List<SocketChannel> crowd = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            SocketChannel one = SocketChannel.open();
            one.configureBlocking(false);
            one.connect(crowded.getLocalAddress());
            crowd.add(one);
        }
        awaitOne(crowd);
        List<Selector> selectors = new ArrayList<>();
        List<SocketChannel> clients = new ArrayList<>();
        List<SocketChannel> connecting = new ArrayList<>();
        for (int i = 0; i < OF_EACH; i++) {
            Selector selector = Selector.open();
            selectors.add(selector);
            block(selector::select);
            SocketChannel client = SocketChannel.open(listener.getLocalAddress());
            clients.add(client);
            SocketChannel server = listener.accept();
            block(() -> server.read(ByteBuffer.allocate(1)));
            SocketChannel connects = SocketChannel.open();
            connecting.add(connects);
            block(() -> connects.connect(crowded.getLocalAddress()));
        }
        for (int i = 0; i < OF_EACH; i++) {
            block(listener::accept);
        }
        Thread oneMore = Thread.ofVirtual().start(() -> endThem(listener, selectors, clients, connecting));
        boolean ran = oneMore.join(Duration.ofSeconds(DEADLINE_SECONDS));
        boolean all = ended.await(DEADLINE_SECONDS, TimeUnit.SECONDS);
        if (!ran || !all) {
            blocked.stream().filter(Thread::isAlive).forEach(thread -> System.out.println(thread.getState()));
        }
        System.out.println((BLOCKED - entered.getCount()) + " were blocked, " + (ran ? 1 : 0) + " ran, "
                + returned.get() + " ended");
        System.exit(ran && all ? 0 : 1);
    }

    /** Waits until one of them is connected, so that the others have to wait. */
    private static void awaitOne(List<SocketChannel> crowd) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
        while (System.nanoTime() < deadline) {
            for (SocketChannel one : crowd) {
                if (one.finishConnect()) {
                    return;
                }
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
        throw new IllegalStateException("nobody could connect");
    }

    private void endThem(
            ServerSocketChannel listener,
            List<Selector> selectors,
            List<SocketChannel> clients,
            List<SocketChannel> connecting) {
        try {
            entered.await();
            TimeUnit.MILLISECONDS.sleep(500);
            if (ended.getCount() != BLOCKED) {
                throw new IllegalStateException(ended.getCount() + " are blocked");
            }
            selectors.forEach(Selector::wakeup);
            for (SocketChannel client : clients) {
                client.write(ByteBuffer.wrap(new byte[] {1}));
            }
            for (SocketChannel connects : connecting) {
                connects.close();
            }
            for (int i = 0; i < OF_EACH; i++) {
                clients.add(SocketChannel.open(listener.getLocalAddress()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
