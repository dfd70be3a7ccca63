package io.rdmanio.verbs.soft;

import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.Poll;
import io.rdmanio.linux.ReceivedMessage;
import io.rdmanio.linux.UnixSocket;
import io.rdmanio.linux.UnixSocket.Receipt;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A process that says what the test wants it to say. */
final class RawPeer implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 10_000;
    static final long TOKEN = 0x1234;
    static final long SLAB_BYTES = 1 << 20;

    private final UnixSocket socket;
    private final MemorySegment room = Arena.ofAuto().allocate(ControlMessages.MAX_BYTES);
    private final ReceivedMessage receipt = new ReceivedMessage();

    RawPeer(UnixSocket socket) {
        this.socket = socket;
    }

    /** Connects to a host. */
    static RawPeer of(SoftHost host) throws IOException {
        return new RawPeer(UnixSocket.connect(Rendezvous.processName(host.userId(), host.token())));
    }

    /** Accepts what a host has connected. */
    static RawPeer accept(UnixSocket listener) throws IOException {
        awaitReadable(listener);
        return new RawPeer(listener.accept());
    }

    private static void awaitReadable(UnixSocket socket) throws IOException {
        if (Poll.awaitReadable(socket.fileDescriptor(), -1, TIMEOUT_MILLIS) == 0) {
            throw new AssertionError("nothing has come");
        }
    }

    /** Goes through the handshake as the end that connected, until it is to join. */
    RawPeer greeted() throws IOException, ProtocolException {
        return greeted(TOKEN);
    }

    /** The same with a token of one's choice. */
    RawPeer greeted(long token) throws IOException, ProtocolException {
        send(new ControlMessage.Hello(ControlMessage.VERSION, token, false));
        if (!(receive() instanceof ControlMessage.Hello)) {
            throw new AssertionError("no hello");
        }
        return this;
    }

    /** Goes through the whole handshake as the end that connected. */
    RawPeer joined() throws IOException, ProtocolException {
        return joined(TOKEN);
    }

    /** The same with a token of one's choice. */
    RawPeer joined(long token) throws IOException, ProtocolException {
        return greeted(token).joinGreeted();
    }

    /** Goes through what is left of the handshake. */
    RawPeer joinGreeted() throws IOException, ProtocolException {
        ControlMessage answer = sendJoin().receive();
        if (!(answer instanceof ControlMessage.Join)) {
            throw new AssertionError(String.valueOf(answer));
        }
        answer.discard();
        return this;
    }

    RawPeer sendJoin() throws IOException {
        try (MemoryFile slab = slab(SLAB_BYTES, OwnSlabs.SEALS);
                EpochPage epochs = new EpochPage()) {
            return send(new ControlMessage.Join(SLAB_BYTES, slab.fileDescriptor(), epochs.fileDescriptor()));
        }
    }

    static ControlMessage.Hello hello() {
        return new ControlMessage.Hello(ControlMessage.VERSION, TOKEN, false);
    }

    static MemoryFile slab(long bytes, int seals) throws IOException {
        MemoryFile slab = MemoryFile.create("rdmanio-test", bytes);
        slab.addSeals(seals);
        return slab;
    }

    RawPeer send(ControlMessage message) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocateDirect(ControlMessages.MAX_BYTES);
        int[] descriptors = new int[ControlMessages.MAX_DESCRIPTORS];
        int count = ControlMessages.encode(message, bytes, descriptors);
        return send(MemorySegment.ofBuffer(bytes.flip()), Arrays.copyOf(descriptors, count));
    }

    RawPeer send(byte[] bytes, int... descriptors) throws IOException {
        return send(Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, bytes), descriptors);
    }

    private RawPeer send(MemorySegment bytes, int... descriptors) throws IOException {
        if (!socket.send(bytes, descriptors)) {
            throw new AssertionError("no room");
        }
        return this;
    }

    /** The next message; null when the other end is closed. */
    ControlMessage receive() throws IOException, ProtocolException {
        boolean again = true;
        while (true) {
            awaitReadable(socket);
            Receipt result = socket.receive(room, receipt);
            if (result == Receipt.MESSAGE) {
                int[] descriptors = new int[receipt.descriptorCount()];
                for (int i = 0; i < descriptors.length; i++) {
                    descriptors[i] = receipt.takeDescriptor(i);
                }
                return ControlMessages.decode(
                        room.asSlice(0, receipt.byteCount()).asByteBuffer(), descriptors, descriptors.length);
            }
            if (result == Receipt.END && !again) {
                return null;
            }
            // A reset is reported before what was sent before it.
            again = result != Receipt.END;
        }
    }

    /** Reads until the other end is closed. */
    void awaitEnd() throws IOException, ProtocolException {
        ControlMessage message = receive();
        while (message != null) {
            message.discard();
            message = receive();
        }
    }

    @Override
    public void close() {
        receipt.closeDescriptors();
        socket.close();
    }
}
