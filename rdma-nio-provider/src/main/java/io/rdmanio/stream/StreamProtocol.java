package io.rdmanio.stream;

import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.WorkCompletions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.ProtocolException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The rsocket protocol of one connected stream: polls completions, handles the peer's messages, gives credits, posts
 * payload and control messages.
 *
 * <p>Never blocks. Not thread-safe: guarded by the connection's lock, except that the one reader copies from
 * what is {@link #readableBytes readable} and the one writer into {@link #sendBuffer()} outside it, in the ranges they were given.
 */
final class StreamProtocol implements AutoCloseable {
    /** Completions taken from the queue at once. */
    private static final int POLL_BATCH = 32;

    private static final int MAX_QUEUES_AT_ONCE = 4;

    private final StreamResources resources;
    private final MessagePoster poster;
    private final SendWindow window;
    /** Null when payload goes straight from the program's buffers. */
    private final SendBuffer sendBuffer;

    private final ReceiveWindow arrived;
    private final TargetTable target;
    private final PeerParameters peer;
    private final boolean swapEntries;
    private final int inlineBytes;
    private final WorkCompletions completions = new WorkCompletions(POLL_BATCH);
    private int offeredEntry = 1;

    /** Over iWARP the side that was connected to must not send before the first message of the other (RFC 5044). */
    private boolean mayPost;

    private int entrySlot;
    private long uses;

    // begin: signs of life, looked for when the connection is to be kept alive
    private boolean listensForLife;
    private long heardNanos;
    private boolean probeUnanswered;
    // end

    // begin: how far each direction has ended
    private boolean inputEnded;
    private boolean inputDiscarded;
    private boolean copying;
    /** Receives came back unused: the queue pair brings nothing any more. */
    private boolean flushed;

    /** The peer has ended both directions, or the connection has ended. */
    private boolean peerDisconnected;

    /** Each side has ended its output, by SHUTDOWN messages that crossed: nothing more is owed. */
    private boolean bothShut;

    private boolean outputShut;
    private boolean shutdownPending;
    private boolean disconnectPending;
    private boolean disconnectSent;
    private IOException failure;
    // end

    /**
     * Takes up the protocol on an established connection.
     *
     * @param passive whether the peer made the connection
     */
    StreamProtocol(StreamResources resources, PeerParameters peer, boolean passive) {
        this.mayPost = !passive || !resources.messagesAsSend;
        StreamConfiguration sizes = resources.configuration;
        this.resources = resources;
        this.peer = peer;
        this.poster = MessagePoster.over(resources);
        this.window = new SendWindow(sizes.sendQueueEntries(), poster.entriesPerPayload(), sizes.firstSendBytes());
        this.sendBuffer = resources.sendsFromBuffers
                ? null
                : new SendBuffer(window, resources.memory, resources.firstSend, sizes.sendBufferBytes());
        this.arrived = new ReceiveWindow(
                sizes.receiveCredits(),
                resources.firstHalf,
                resources.secondHalf,
                new HalfLength(sizes.firstHalfBytes(), sizes.longestHalfBytes()),
                System::nanoTime);
        this.target = new TargetTable(resources.table, peer.half());
        this.swapEntries = peer.bigEndian() != (ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN);
        this.inlineBytes =
                Math.min(sizes.inlineBytes(), resources.queuePair.capabilities().maxInlineBytes());
        window.limit(peer.credits());
    }

    /** What we tell the peer of ourselves. */
    static PeerParameters parametersOf(StreamResources resources) {
        return new PeerParameters(
                ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN,
                resources.configuration.receiveCredits(),
                resources.offers.address(),
                resources.offers.remoteKey(),
                PeerParameters.TABLE_ENTRIES,
                new PeerParameters.BufferHalf(
                        resources.firstHalf.address(),
                        resources.firstHalf.remoteKey(),
                        resources.configuration.firstHalfBytes()));
    }

    // -- completions --

    /**
     * Takes all completions there are, handles them, and tells the peer what it should hear of.
     *
     * @return whether there were any
     */
    boolean process() {
        boolean failedBefore = failure != null;
        int total = 0;
        try {
            int count;
            do {
                count = resources.completionQueue.poll(completions);
                total += count;
                for (int i = 0; i < count; i++) {
                    handle(i);
                }
                requireMeasure(total);
            } while (count == POLL_BATCH);
            if (flushed) {
                ended(); // only now: a completion behind the first flushed one may know the reason
            }
            if (sendBuffer != null && failure == null && !peerGone()) {
                sendBuffer.growIfDue();
            }
            postControl();
        } catch (VerbsException | ProtocolException e) {
            fail(e);
        } catch (RuntimeException e) {
            // a fault of ours in one stream must not reach the selector or the thread that serves them all
            fail(new IOException("The stream's state is broken: " + this, e));
        }
        if (total > 0 && listensForLife) {
            heardNanos = System.nanoTime();
        }
        return total > 0 || (failure != null && !failedBefore);
    }

    /** No honest peer fills the queue several times over while we look at it: credits are given only afterwards. */
    private void requireMeasure(int total) throws ProtocolException {
        if (total > MAX_QUEUES_AT_ONCE * resources.depthEntries()) {
            throw new ProtocolException("The peer floods the stream with control messages");
        }
    }

    private void handle(int i) throws VerbsException, ProtocolException {
        long id = completions.workRequestId(i);
        boolean succeeded = completions.succeeded(i);
        if (id == MessagePoster.SEND_ID || id == MessagePoster.PROBE_ID) {
            if (succeeded) {
                window.completed();
                probeUnanswered &= id != MessagePoster.PROBE_ID;
            } else if (peerGone() || disconnectSent) {
                peerDisconnected = true;
            } else if (isFlushed(i)) {
                // a peer that has said all and gone leaves what we still had to send; its last words may be behind this
                flushed = true;
            } else {
                fail(reset(completions.status(i)));
            }
        } else if (succeeded) {
            handleMessage(poster.message(completions, i));
            mayPost = true;
            if (!peerDisconnected) {
                resources.postReceive((int) id);
            }
        } else if (isFlushed(i)) {
            // the queue pair is in ERROR; nothing else may ever tell, as when the peer wrote where it must not
            flushed = true;
        } else if (!peerGone()) {
            fail(reset(completions.status(i)));
        }
    }

    private boolean isFlushed(int i) {
        return completions.status(i) == WorkCompletionStatus.FLUSHED.value();
    }

    private void handleMessage(int message) throws ProtocolException {
        int value = StreamMessage.value(message);
        switch (StreamMessage.operation(message)) {
            case StreamMessage.DATA -> {
                arrived.arrived(value);
                discard();
            }
            case StreamMessage.SGL -> {
                target.offered();
                window.limit(value);
            }
            case StreamMessage.CTRL -> handleControl(value);
            case StreamMessage.IOMAP_SGL -> arrived.tookOne();
            case StreamMessage.WRITE -> {}
            default ->
                throw new ProtocolException("The peer sent a message of operation " + StreamMessage.operation(message));
        }
    }

    private void handleControl(int value) {
        switch (value) {
            case StreamMessage.CTRL_DISCONNECT -> {
                inputEnded = true;
                peerDisconnected = true;
            }
            case StreamMessage.CTRL_SHUTDOWN -> {
                inputEnded = true;
                bothShut = outputShut;
            }
            default -> {
                // CTRL_KEEPALIVE says nothing; the C peer ignores values it does not know, and so do we
            }
        }
    }

    private void postControl() throws VerbsException {
        if (failure != null || peerDisconnected || disconnectSent || !mayPost) {
            return;
        }
        while (!inputEnded && arrived.updateDue() && postUpdate()) {
            // one half per message
        }
        if (disconnectPending) {
            if (window.controlAvailable(1)) {
                poster.postBare(StreamMessage.of(StreamMessage.CTRL, StreamMessage.CTRL_DISCONNECT), true);
                window.controlPosted(1, true);
                disconnectSent = true;
            }
        } else if (shutdownPending && window.controlAvailable(1)) {
            poster.postBare(StreamMessage.of(StreamMessage.CTRL, StreamMessage.CTRL_SHUTDOWN), true);
            window.controlPosted(1, true);
            shutdownPending = false;
        }
    }

    private boolean postUpdate() throws VerbsException {
        boolean halfDue = arrived.halfDue();
        int slots = halfDue ? poster.entriesPerPayload() : 1;
        if (!window.controlAvailable(slots)) {
            return false;
        }
        MemoryBlock granted = halfDue ? resources.memory.exchange(arrived.takeSpare(), arrived.nextHalfBytes()) : null;
        if (granted != null) {
            postGrant(granted, slots);
        } else if (arrived.creditsDue()) {
            boolean signalled = window.mustSignalControl(1);
            poster.postBare(StreamMessage.of(StreamMessage.SGL, arrived.limit()), signalled);
            window.controlPosted(1, signalled);
        } else {
            return false; // no memory for the half that is due: it is asked for again when something happens
        }
        arrived.toldLimit();
        return true;
    }

    /** Tells the peer of a half, and of all credits. */
    private void postGrant(MemoryBlock granted, int slots) throws VerbsException {
        MemorySegment entries = resources.entries;
        long entry = (long) entrySlot * TargetTable.ENTRY_BYTES;
        entrySlot = (entrySlot + 1) % SendWindow.CONTROL_SLOTS;
        int lengthBytes = arrived.grant(granted);
        TargetTable.encodeEntry(entries, entry, granted.address(), granted.remoteKey(), lengthBytes, swapEntries);
        boolean signalled = window.mustSignalControl(slots);
        poster.payload()
                .sgeCount(1)
                .sge(0, entries.address() + entry, TargetTable.ENTRY_BYTES, resources.local.localKey())
                .remote(peer.tableAddress() + (long) offeredEntry * TargetTable.ENTRY_BYTES, peer.tableKey());
        offeredEntry ^= 1;
        poster.postPayload(
                StreamMessage.of(StreamMessage.SGL, arrived.limit()),
                TargetTable.ENTRY_BYTES <= inlineBytes,
                signalled);
        window.controlPosted(slots, signalled);
    }

    // -- keeping alive --

    /** Takes note of the time when something comes, from now on. */
    void listenForLife() {
        listensForLife = true;
        heardNanos = System.nanoTime();
    }

    /** How long nothing has come: neither a message nor the acknowledgement of one of ours. */
    long silentNanos() {
        return System.nanoTime() - heardNanos;
    }

    /** Whether a probe is under way, or a control message for whose acknowledgement others wait. */
    boolean awaitsAnswer() {
        return probeUnanswered || !window.controlAvailable(1);
    }

    /** Has the peer's device give a sign of life, unless one is awaited already. */
    void probe() {
        if (awaitsAnswer() || !mayPost || disconnectSent) {
            return;
        }
        try {
            poster.postProbe();
            window.controlPosted(1, true);
            probeUnanswered = true;
        } catch (VerbsException e) {
            fail(e);
        }
    }

    // -- reading: the one reader --

    int readable() {
        return arrived.available();
    }

    /** Bytes that can be read of the half that is read first, 0, or one behind it. */
    int readableBytes(int half) {
        return arrived.readableBytes(half);
    }

    /** The buffer that a half with any bytes lies in, for absolute access: others use it too. */
    ByteBuffer readBuffer(int half) {
        return arrived.block(half).slabBuffer();
    }

    /** Where in its buffer the bytes of a half begin that can be read. */
    int readOffset(int half) {
        return arrived.readOffset(half);
    }

    /** The reader is going to copy; what it copies stays where it is until it says {@link #consumed}. */
    void beginCopy() {
        uses++;
        copying = true;
    }

    /** Accounts for bytes that the reader has copied out, and gives credits when they are due. */
    void consumed(int bytes) {
        copying = false;
        arrived.consumed(bytes);
        giveSurplusBack();
        discard();
        giveCredits();
    }

    /** What has arrived and what arrives from now on is thrown away, so that the peer is not held up. */
    void discardInput() {
        inputDiscarded = true;
        discard();
        giveCredits();
    }

    private void discard() {
        if (inputDiscarded && !copying) {
            arrived.consumed(arrived.available());
            giveSurplusBack();
        }
    }

    /** More was granted than now, when the peer was ahead of the reader. */
    private void giveSurplusBack() {
        MemoryBlock surplus;
        while ((surplus = arrived.takeSurplus()) != null) {
            resources.memory.giveBack(surplus);
        }
    }

    private void giveCredits() {
        if (arrived.updateDue()) {
            try {
                postControl();
            } catch (VerbsException e) {
                fail(e);
            }
        }
    }

    /** Whether something may still arrive that the peer must not be kept waiting with. */
    boolean receives() {
        return !inputEnded && !peerGone() && failure == null;
    }

    /** Whether nothing will ever arrive behind what is readable. */
    boolean inputEnded() {
        return inputEnded;
    }

    // -- writing: the one writer --

    /** Whether a write would make progress. */
    boolean canSend() {
        return mayPost && target.length() != 0 && window.canSend() && (sendBuffer == null || sendBuffer.isOpen());
    }

    /**
     * How much of a write goes into the next message.
     *
     * @param remaining bytes the writer has
     * @param atMost bound of this message
     * @return 0 if nothing can be sent now
     */
    int nextLength(int remaining, int atMost) {
        boolean canSend = canSend();
        if (sendBuffer != null) {
            sendBuffer.writerWants(canSend);
        }
        if (!canSend) {
            return 0;
        }
        return Math.min(Math.min(remaining, atMost), Math.min(window.freeBytes(), target.length()));
    }

    boolean fitsInline(int length) {
        return length <= inlineBytes;
    }

    ByteBuffer inlineBuffer() {
        return resources.inlineBuffer;
    }

    ByteBuffer sendBuffer() {
        return sendBuffer.bytes();
    }

    /** There may be memory that was asked for in vain. */
    void memoryGrown() {
        if (sendBuffer != null) {
            sendBuffer.memoryGrown();
        }
    }

    /** Offset in the send buffer where the next payload goes; it may wrap to the front. */
    int sendOffset() {
        return window.head();
    }

    /** Whether payload goes straight from the program's buffers; there is no send buffer then. */
    boolean sendsFromBuffers() {
        return sendBuffer == null;
    }

    /**
     * Posts a message with payload that lies in a buffer of the program's, which is the program's again when this returns.
     *
     * @throws IOException if the queue pair refuses; the stream has failed then
     * @throws IllegalStateException if the buffer's memory has been freed; nothing has been sent then
     * @throws IndexOutOfBoundsException if the program has shortened the buffer meanwhile; nothing has been sent then
     */
    void postData(ByteBuffer data, int position, int length) throws IOException {
        uses++;
        poster.payload().remote(target.address(), target.key());
        boolean signalled = window.mustSignalData(0);
        try {
            poster.postPayload(StreamMessage.of(StreamMessage.DATA, length), signalled, data, position, length);
        } catch (VerbsException e) {
            throw refused(e);
        }
        target.advance(length);
        window.dataPosted(0, signalled);
    }

    /**
     * Posts a message with payload that the writer has put into the inline area or, from {@link #sendOffset()} on, into
     * the send buffer.
     *
     * @throws IOException if the queue pair refuses; the stream has failed then
     */
    void postData(int length, boolean inline) throws IOException {
        uses++;
        sendBuffer.copied();
        SendWorkRequest request = poster.payload();
        int held = inline ? 0 : length;
        if (inline) {
            request.sgeCount(1).sge(0, resources.inlineMemory.address(), length, resources.local.localKey());
        } else {
            int key = sendBuffer.localKey();
            long buffer = sendBuffer.address();
            int first = Math.min(length, sendBuffer.bytes().capacity() - window.head());
            request.sgeCount(first == length ? 1 : 2).sge(0, buffer + window.head(), first, key);
            if (first < length) {
                request.sge(1, buffer, length - first, key);
            }
        }
        request.remote(target.address(), target.key());
        boolean signalled = window.mustSignalData(held);
        try {
            poster.postPayload(StreamMessage.of(StreamMessage.DATA, length), inline, signalled);
        } catch (VerbsException e) {
            throw refused(e);
        }
        target.advance(length);
        window.dataPosted(held, signalled);
    }

    private SocketException refused(VerbsException e) {
        fail(e);
        return StreamConnection.broken(e);
    }

    // -- ends --

    /** Ends our output: SHUTDOWN, or DISCONNECT if the peer's has ended too. */
    void shutdownOutput() {
        if (outputShut) {
            return;
        }
        outputShut = true;
        if (inputEnded) {
            disconnectPending = true;
        } else {
            shutdownPending = true;
        }
        process();
    }

    /** Ends both directions: everything written is delivered, then DISCONNECT. */
    void disconnect() {
        boolean owed = !bothShut || shutdownPending;
        outputShut = true;
        disconnectPending |= owed;
        process();
    }

    /** Whether the peer must send before we may; until it has, it knows of one half of our buffer only. */
    boolean awaitsFirstMessage() {
        return !mayPost;
    }

    /** Whether an end of ours waits for a slot to be posted in. */
    boolean controlPending() {
        return shutdownPending || (disconnectPending && !disconnectSent);
    }

    /** Whether the DISCONNECT and all before it have been delivered, or never can be. */
    boolean drained() {
        boolean endSent = disconnectSent || (bothShut && !shutdownPending && !disconnectPending);
        return failure != null || peerDisconnected || (endSent && window.signalledAllCompleted());
    }

    boolean outputShut() {
        return outputShut;
    }

    /** Messages sent and reads begun. */
    long useCount() {
        return uses;
    }

    /** Whether the queue pair is of no more use, so that the peer should hear of the end too. */
    boolean broken() {
        return failure != null || flushed;
    }

    /** Whether the peer reads no more. */
    boolean peerGone() {
        return peerDisconnected || bothShut;
    }

    /**
     * The communication manager or the queue pair says that the connection has ended; call after the last completions were
     * taken.
     */
    void ended() {
        if (inputEnded || disconnectSent) {
            peerDisconnected = true;
        } else {
            fail(new SocketException("Connection reset"));
        }
    }

    /** Breaks the stream; the first reason stays. */
    void fail(IOException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    IOException failure() {
        return failure;
    }

    private static SocketException reset(int status) {
        SocketException reset = new SocketException("Connection reset");
        reset.initCause(new IOException("work completion status " + WorkCompletionStatus.of(status)));
        return reset;
    }

    @Override
    public void close() {
        completions.close();
        poster.close();
    }

    @Override
    public String toString() {
        return window + " " + arrived + " target=" + target.length()
                + (inputEnded ? " inputEnded" : "")
                + (peerGone() ? " peerGone" : "")
                + (outputShut ? " outputShut" : "")
                + (disconnectSent ? " disconnectSent" : "")
                + (failure != null ? " failure=" + failure : "");
    }
}
