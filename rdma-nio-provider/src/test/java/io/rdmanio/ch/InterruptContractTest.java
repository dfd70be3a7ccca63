package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** What an interrupt does to a thread in a channel, and to the channel. */
abstract class InterruptContractTest extends ChannelContract {
    /** A blocking operation. */
    private record Blocking(String name, SelectableChannel channel, Callable<?> operation) {}

    /** Every operation that blocks, blocked for as long as one likes. */
    private List<Blocking> blockingOperations(
            Pair reading, Pair scattering, Pair writing, Crowd crowd, ServerSocketChannel listener) throws IOException {
        writing.client().configureBlocking(false);
        fill(writing.client());
        writing.client().configureBlocking(true);
        SocketChannel connecting = provider().openSocketChannel();
        SocketChannel finishing = provider().openSocketChannel();
        finishing.configureBlocking(false);
        finishing.connect(crowd.address());
        finishing.configureBlocking(true);
        ByteBuffer target = ByteBuffer.allocate(1);
        return List.of(
                new Blocking("read", reading.client(), () -> reading.client().read(target)),
                new Blocking(
                        "scatter",
                        scattering.client(),
                        () -> scattering.client().read(new ByteBuffer[] {target})),
                new Blocking("write", writing.client(), () -> writing.client().write(pattern(1, 1))),
                new Blocking("connect", connecting, () -> connecting.connect(crowd.address())),
                new Blocking("finishConnect", finishing, finishing::finishConnect),
                new Blocking("accept", listener, listener::accept));
    }

    /** What an operation threw in a thread, and whether the thread's interrupt status was set then. */
    private record Ended(Exception exception, boolean interrupted) {}

    private static Ended endOf(Callable<?> operation) {
        try {
            Object result = operation.call();
            return new Ended(new IllegalStateException("returned " + result), Thread.interrupted());
        } catch (Exception e) {
            return new Ended(e, Thread.interrupted());
        }
    }

    private static void assertClosedByInterrupt(Blocking blocking, Ended ended) {
        assertThat(ended.exception()).as(blocking.name()).isExactlyInstanceOf(ClosedByInterruptException.class);
        assertThat(ended.interrupted())
                .as("%s: interrupt status", blocking.name())
                .isTrue();
        assertThat(blocking.channel().isOpen()).as(blocking.name()).isFalse();
    }

    /** Begins an operation, and sees to it that its thread is interrupted. */
    private interface Interruption {
        Doing<Ended> begin(Blocking blocking) throws Exception;
    }

    private void assertEachIsClosed(Interruption interruption) throws Exception {
        try (Pair reading = connect();
                Pair scattering = connect();
                Pair writing = connect();
                Crowd crowd = new Crowd(this);
                ServerSocketChannel listener = listen()) {
            for (Blocking blocking : blockingOperations(reading, scattering, writing, crowd, listener)) {
                assertClosedByInterrupt(blocking, interruption.begin(blocking).get());
            }
        }
    }

    private static Doing<Ended> interrupted(Doing<Ended> blocked) {
        blocked.thread().interrupt();
        return blocked;
    }

    @Test
    void rule23_interrupt_ofABlockedThread_closesTheChannel() throws Exception {
        assertEachIsClosed(
                blocking -> interrupted(doing(() -> endOf(blocking.operation())).blocked()));
    }

    @Test
    void rule23_interrupt_ofABlockedVirtualThread_closesTheChannel() throws Exception {
        assertEachIsClosed(blocking ->
                interrupted(doingVirtually(() -> endOf(blocking.operation())).blocked()));
    }

    @Test
    void rule23_interrupt_thatIsPending_closesTheChannelAtEntry() throws Exception {
        assertEachIsClosed(blocking -> doing(() -> {
            Thread.currentThread().interrupt();
            return endOf(blocking.operation());
        }));
    }

    @Test
    void rule23_interrupt_isSeenByThePeerAsTheEnd() throws Exception {
        try (Pair pair = connect()) {
            Doing<Integer> reader =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            reader.thread().interrupt();
            assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(-1);
            reader.failed().isExactlyInstanceOf(ClosedByInterruptException.class);
        }
    }

    /** The others who are blocked in the channel are told that it was closed, not that they were interrupted. */
    @Test
    void rule23_interrupt_ofOneThread_endsTheOtherByAsynchronousClose() throws Exception {
        try (Pair pair = connect()) {
            pair.client().configureBlocking(false);
            fill(pair.client());
            pair.client().configureBlocking(true);
            Doing<Integer> reader =
                    doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked();
            Doing<Ended> writer =
                    doing(() -> endOf(() -> pair.client().write(pattern(1, 1)))).blocked();
            reader.thread().interrupt();
            reader.failed().isExactlyInstanceOf(ClosedByInterruptException.class);
            assertThat(writer.get().exception()).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThat(writer.get().interrupted()).isFalse();
        }
    }

    @Test
    void rule24_interruptedThread_mayDoEverythingInNonBlockingMode() throws Exception {
        try (ServerSocketChannel listener = listen();
                Pair pair = connectNonBlocking();
                SocketChannel client = provider().openSocketChannel()) {
            listener.configureBlocking(false);
            client.configureBlocking(false);
            Doing<Void> doing = doing(() -> {
                Thread.currentThread().interrupt();
                assertThat(pair.client().read(ByteBuffer.allocate(1))).isZero();
                assertThat(pair.client().read(new ByteBuffer[] {ByteBuffer.allocate(1)}))
                        .isZero();
                assertThat(pair.client().write(pattern(1, 1))).isOne();
                assertThat(pair.client().write(new ByteBuffer[] {pattern(1, 1)}))
                        .isOne();
                assertThat(listener.accept()).isNull();
                client.connect(listener.getLocalAddress());
                while (!client.finishConnect()) {
                    Thread.onSpinWait();
                }
                assertThat(Thread.currentThread().isInterrupted()).isTrue();
                return null;
            });
            doing.get();
            assertThat(List.of(pair.client(), listener, client)).allMatch(SelectableChannel::isOpen);
        }
    }

    /** The interrupting thread closes the channel, whose read lock the interrupted one holds. */
    @Test
    void rule25_interrupt_doesNotWaitForTheInterrupted() throws Exception {
        try (Pair pair = connect()) {
            List<Doing<Integer>> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                readers.add(
                        doing(() -> pair.client().read(ByteBuffer.allocate(1))).blocked());
            }
            Doing<Void> interrupter = doing(() -> {
                readers.getFirst().thread().interrupt();
                return null;
            });
            interrupter.get();
            readers.getFirst().failed().isExactlyInstanceOf(ClosedByInterruptException.class);
            for (Doing<Integer> reader : readers.subList(1, readers.size())) {
                reader.failed().isInstanceOf(ClosedChannelException.class);
            }
        }
    }
}
