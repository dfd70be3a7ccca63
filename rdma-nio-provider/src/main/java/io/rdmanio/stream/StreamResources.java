package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionChannel;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.CommunicationId;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * What one stream holds of its device: memory, completion channel and queue, queue pair, and all receives posted.
 *
 * <p>Its memory is borrowed of what all connections with the same peer share: the receive buffer and the table of halves, which
 * the peer writes, and everything else, which it may not. Creating and closing block in the kernel for a while. Not
 * thread-safe: created by one worker, used under the connection's lock, closed by one worker after the last user has left.
 */
final class StreamResources implements AutoCloseable {
    /** Receives beyond the credits, for control messages, which cost no credit. */
    static final int EXTRA_RECEIVES = SendWindow.CONTROL_SLOTS;

    private static final int SEND_SGES = 2;

    /**
     * How deep queues are where sends complete as they are posted: deeper ones would only hold more that nobody has read. The
     * software device's ring has as many entries, so that no message must wait for one.
     */
    private static final int ENTRIES_AT_ONCE = 64;

    private static final int ENTRIES_BYTES = SendWindow.CONTROL_SLOTS * TargetTable.ENTRY_BYTES;

    final StreamConfiguration configuration;
    final boolean messagesAsSend;
    final CommunicationId id;
    /** Null when completions are told by a group of completion queues. */
    final CompletionChannel completionChannel;

    final CompletionQueue completionQueue;
    final QueuePair queuePair;

    /** What all blocks are borrowed of. */
    final BorrowedMemory memory;

    /** The half of the receive buffer that the peer is told of when it connects, and the one that it is told of next. */
    final MemoryBlock firstHalf;

    final MemoryBlock secondHalf;

    /** Where the peer writes its offers. */
    final MemoryBlock offers;

    /** What is sent inline, entries of the peer's table, and what messages are received in over iWARP. */
    final MemoryBlock local;

    /** Whether payload goes straight from the program's buffers to the peer's memory; there is no send buffer then. */
    final boolean sendsFromBuffers;

    /** The send buffer as it is at first, null if there is none. */
    final MemoryBlock firstSend;

    final MemorySegment table;
    final MemorySegment entries;
    final MemorySegment inlineMemory;
    final MemorySegment messageSlots;
    final ByteBuffer inlineBuffer;

    private final ResourceStack owned = new ResourceStack();
    private final ReceiveWorkRequest receive;

    private StreamResources(
            CommunicationId id,
            StreamConfiguration configuration,
            boolean ownChannel,
            BorrowedMemory memory,
            ResourceStack undo)
            throws IOException {
        this.id = id;
        this.configuration = configuration;
        this.messagesAsSend = messagesAsSend(id.device());
        this.sendsFromBuffers = id.device().postsBuffers();

        this.memory = memory;
        this.firstHalf = memory.exposed(configuration.firstHalfBytes());
        this.secondHalf = memory.exposed(configuration.firstHalfBytes());
        this.offers = memory.exposed(TargetTable.LENGTH_BYTES);
        this.table = offers.memory();
        table.fill((byte) 0);

        int receives = configuration.receiveCredits() + EXTRA_RECEIVES;
        int slotBytes = slotBytes(id.device(), configuration);
        int inlineAreaBytes = inlineAreaBytes(id.device(), configuration);
        this.local = memory.local(ENTRIES_BYTES + slotBytes + inlineAreaBytes);
        MemorySegment localMemory = local.memory();
        this.entries = localMemory.asSlice(0, ENTRIES_BYTES);
        this.messageSlots = localMemory.asSlice(ENTRIES_BYTES, slotBytes);
        this.inlineMemory = localMemory.asSlice(ENTRIES_BYTES + slotBytes, inlineAreaBytes);
        this.inlineBuffer = inlineMemory.asByteBuffer();
        this.firstSend = sendsFromBuffers ? null : memory.local(configuration.firstSendBytes());

        this.completionChannel = ownChannel ? undo.add(id.device().createCompletionChannel()) : null;
        this.completionQueue = undo.add(id.device().createCompletionQueue(depthEntries(), completionChannel));
        QueuePairCapabilities wanted = new QueuePairCapabilities(
                configuration.sendQueueEntries(),
                receives,
                SEND_SGES,
                1,
                sendsFromBuffers ? StreamWriter.LONGEST_MESSAGE_BYTES : configuration.inlineBytes());
        this.queuePair = undo.add(id.createQueuePair(
                memory.protectionDomain(),
                QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTED, wanted)
                        .withCompletionQueue(completionQueue)));
        memory.leaveTo(queuePair);
        this.receive = undo.add(new ReceiveWorkRequest(1));
        if (messagesAsSend) {
            for (int slot = 0; slot < receives; slot++) {
                postReceive(slot);
            }
        } else {
            queuePair.postEmptyReceives(receives);
        }
    }

    /**
     * Makes everything a stream needs on the device that an id is bound to, and posts the whole receive queue.
     *
     * @param ownChannel whether it has a completion channel of its own
     * @param memory of all streams
     * @param identity of the peer, as {@link StreamMemory#enter} has it
     * @throws IOException if the device or a limit of the process refuses; nothing is left behind then
     */
    static StreamResources create(
            CommunicationId id,
            StreamConfiguration configuration,
            boolean ownChannel,
            StreamMemory memory,
            Object identity)
            throws IOException {
        StreamConfiguration bounded = configuration.boundedBy(
                id.device().postsBuffers()
                        ? ENTRIES_AT_ONCE
                        : id.device().attributes().maxQueuePairWorkRequests());
        try (ResourceStack undo = new ResourceStack()) {
            BorrowedMemory borrowed = undo.add(new BorrowedMemory(memory, memory.enter(id, identity)));
            StreamResources resources = new StreamResources(id, bounded, ownChannel, borrowed, undo);
            undo.moveTo(resources.owned);
            return resources;
        }
    }

    /** How many bytes a stream borrows when it begins; a device with shorter queues than usual needs fewer. */
    static long bytesToBegin(DeviceContext device, StreamConfiguration configuration) {
        return 2L * BuddyAllocator.pieceBytes(configuration.firstHalfBytes())
                + BuddyAllocator.pieceBytes(TargetTable.LENGTH_BYTES)
                + BuddyAllocator.pieceBytes(
                        ENTRIES_BYTES + slotBytes(device, configuration) + inlineAreaBytes(device, configuration))
                + (device.postsBuffers() ? 0 : BuddyAllocator.pieceBytes(configuration.firstSendBytes()));
    }

    private static boolean messagesAsSend(DeviceContext device) {
        return device.transport() == TransportType.IWARP;
    }

    private static int slotBytes(DeviceContext device, StreamConfiguration configuration) {
        int receives = configuration.receiveCredits() + EXTRA_RECEIVES;
        return messagesAsSend(device) ? receives * StreamMessage.LENGTH_BYTES : 0;
    }

    private static int inlineAreaBytes(DeviceContext device, StreamConfiguration configuration) {
        return device.postsBuffers() ? 0 : configuration.inlineBytes() + StreamMessage.LENGTH_BYTES;
    }

    /** Completions that can be outstanding. */
    int depthEntries() {
        return configuration.sendQueueEntries() + configuration.receiveCredits() + EXTRA_RECEIVES;
    }

    /** Posts the receive with this number again; its message has been taken. */
    void postReceive(int slot) throws VerbsException {
        receive.workRequestId(slot);
        if (messagesAsSend) {
            receive.sgeCount(1);
            receive.sge(
                    0,
                    messageSlots.address() + (long) slot * StreamMessage.LENGTH_BYTES,
                    StreamMessage.LENGTH_BYTES,
                    local.localKey());
        } else {
            receive.sgeCount(0);
        }
        queuePair.postReceive(receive);
    }

    /** Destroys everything, children first. Blocks in the kernel; nothing may use the memory any more. */
    @Override
    public void close() throws IOException {
        owned.close();
    }
}
