package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.EventFd;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.Poll;
import io.rdmanio.linux.ReceivedMessage;
import io.rdmanio.linux.RevocableMappings;
import io.rdmanio.linux.SystemCallException;
import io.rdmanio.linux.UnixSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One end of a pair, as far as memory is concerned: keys, imports and exports over a real socket, with a thread that
 * handles messages and can be held up. What breaks the protocol ends the pair, as in a process pair.
 */
final class MemoryEnd implements AutoCloseable {
    /** The number of the one queue pair, which belongs to {@link #domain}. */
    static final int QUEUE_PAIR = 5;

    private static final AtomicInteger NAMES = new AtomicInteger();

    final KeyTable keys = new KeyTable();
    final SoftProtectionDomain domain = new SoftProtectionDomain(keys, null);
    final SoftProtectionDomain otherDomain = new SoftProtectionDomain(keys, null);
    final UnixSocket socket;
    final AtomicInteger sentCount = new AtomicInteger();
    /** Held while a message is handled: whoever holds it holds up the thread. */
    final ReentrantLock handling = new ReentrantLock();

    final Exports exports = new Exports(keys, number -> number == QUEUE_PAIR ? domain : null, this::send);
    volatile Imports imports;
    final CompletableFuture<Exception> end = new CompletableFuture<>();
    private final EventFd stop = new EventFd();
    /** The send claim of the one queue pair: whoever uses memory of the other end's has it. */
    final Claim using = new Claim();

    private final RevocableMappings mappings = new RevocableMappings();
    private volatile boolean hungUp;
    private final Thread progress = new Thread(this::run, "memory-end");

    private MemoryEnd(UnixSocket socket) throws IOException {
        this.socket = socket;
    }

    /** Two ends of one pair. */
    static MemoryEnd[] connect() throws IOException, ProtocolException {
        UnixSocket[] sockets = sockets();
        MemoryEnd[] ends = {new MemoryEnd(sockets[0]), new MemoryEnd(sockets[1])};
        for (int i = 0; i < 2; i++) {
            ends[i].begin(ends[1 - i].keys.epochs().fileDescriptor());
        }
        return ends;
    }

    /** One end, with a bare socket at the other for somebody hostile. */
    static MemoryEnd connect(UnixSocket[] sockets, int epochsDescriptor) throws IOException, ProtocolException {
        MemoryEnd end = new MemoryEnd(sockets[0]);
        end.begin(epochsDescriptor);
        return end;
    }

    static UnixSocket[] sockets() throws IOException {
        String name = "rdmanio-test/memory/" + ProcessHandle.current().pid() + "/" + NAMES.incrementAndGet();
        try (UnixSocket listener = UnixSocket.listen(name, 1)) {
            UnixSocket client = UnixSocket.connect(name);
            return new UnixSocket[] {client, listener.accept()};
        }
    }

    private void begin(int peerEpochsDescriptor) throws IOException, ProtocolException {
        // Over a socket and back, so that this has a descriptor of its own.
        UnixSocket[] sockets = sockets();
        ReceivedMessage message = new ReceivedMessage();
        try (UnixSocket from = sockets[0];
                UnixSocket to = sockets[1];
                Arena arena = Arena.ofConfined()) {
            MemorySegment letter = arena.allocate(1);
            from.send(letter, peerEpochsDescriptor);
            to.receive(letter, message);
        }
        try (MemoryFile file = MemoryFile.fromDescriptor(message.takeDescriptor(0))) {
            imports = new Imports(EpochPage.map(file, mappings), this::send, _ -> quiesce());
        }
        progress.setDaemon(true);
        progress.start();
    }

    private void quiesce() {
        using.acquire();
        using.release();
    }

    void send(ControlMessage message) {
        sentCount.incrementAndGet();
        send(socket, message);
    }

    /** Sends what anybody might send. */
    static void send(UnixSocket socket, ControlMessage message) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(ControlMessages.MAX_BYTES);
            ByteBuffer bytes = memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            int[] descriptors = new int[ControlMessages.MAX_DESCRIPTORS];
            int count = ControlMessages.encode(message, bytes, descriptors);
            socket.send(memory.asSlice(0, bytes.position()), Arrays.copyOf(descriptors, count));
        } catch (SystemCallException e) {
            // The peer is gone: the thread sees that too.
            assertThat(e.errno()).isIn(Errno.EPIPE, Errno.ECONNRESET);
        }
    }

    private void run() {
        ReceivedMessage message = new ReceivedMessage();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment room = arena.allocate(ControlMessages.MAX_BYTES);
            while (true) {
                int ready = Poll.awaitReadable(socket.fileDescriptor(), stop.fileDescriptor(), -1);
                if ((ready & 2) != 0) {
                    break;
                }
                handling.lock();
                try {
                    if (hungUp) {
                        break;
                    }
                    UnixSocket.Receipt receipt = socket.receive(room, message);
                    if (receipt == UnixSocket.Receipt.END) {
                        break;
                    }
                    if (receipt == UnixSocket.Receipt.MESSAGE) {
                        handle(room, message);
                    }
                } finally {
                    handling.unlock();
                }
            }
            end.complete(null);
        } catch (IOException | ProtocolException | RuntimeException e) {
            end.complete(e);
        } finally {
            message.closeDescriptors();
            imports.peerDied();
            exports.peerDied();
        }
    }

    private void handle(MemorySegment room, ReceivedMessage message) throws ProtocolException {
        int[] descriptors = new int[ControlMessages.MAX_DESCRIPTORS];
        int count = Math.min(message.descriptorCount(), descriptors.length);
        for (int i = 0; i < count; i++) {
            descriptors[i] = message.takeDescriptor(i);
        }
        ByteBuffer bytes = room.asSlice(0, message.byteCount()).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        switch (ControlMessages.decode(bytes, descriptors, count)) {
            case ControlMessage.Resolve m -> exports.received(m);
            case ControlMessage.Revoked m -> exports.received(m);
            case ControlMessage.Export m -> imports.received(m);
            case ControlMessage.Foreign m -> imports.received(m);
            case ControlMessage.Invalid m -> imports.received(m);
            case ControlMessage.Revoke m -> imports.received(m);
            case ControlMessage other -> throw new ProtocolException(other.toString());
        }
    }

    /** What a key of the peer stands for, asked for as often as need be. */
    RemoteKey lookUp(int remoteKey, int peerDomain) {
        return lookUp(remoteKey, QUEUE_PAIR, peerDomain);
    }

    /** The same for any queue pair of the peer. */
    RemoteKey lookUp(int remoteKey, int peerQueuePair, int peerDomain) {
        for (int i = 0; i < 100; i++) {
            RemoteKey key = imports.find(remoteKey, peerQueuePair, peerDomain);
            if (key != null) {
                return key;
            }
            CompletableFuture<Void> known = new CompletableFuture<>();
            imports.resolve(remoteKey, peerQueuePair, peerDomain, () -> known.complete(null));
            known.orTimeout(10, TimeUnit.SECONDS).join();
        }
        throw new AssertionError("the answer is never good");
    }

    /** Closes the socket as a process that is killed does, though the thread may be held up. */
    void hangUp() {
        hungUp = true;
        socket.close();
    }

    /** Ends the thread. */
    void endNow() {
        stop.signal();
        end.orTimeout(10, TimeUnit.SECONDS).exceptionally(e -> null).join();
        try {
            progress.join(10_000);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertThat(progress.isAlive()).isFalse();
    }

    @Override
    public void close() {
        endNow();
        socket.close();
        stop.close();
        mappings.revoke();
        keys.close();
    }
}
