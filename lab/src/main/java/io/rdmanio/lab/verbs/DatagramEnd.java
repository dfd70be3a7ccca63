package io.rdmanio.lab.verbs;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.AddressHandle;
import io.rdmanio.verbs.CompletionChannel;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.DatagramParameters;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A queue pair for unreliable datagrams, with room for a number of messages of one size each way. As udaddy and mckey do,
 * a message carries the number of its sender's queue pair as immediate data; its bytes count upwards from its own number.
 * For one thread.
 */
final class DatagramEnd implements AutoCloseable {
    /** What stands before a datagram in the receive buffer. */
    private static final int HEADER_BYTES = 40;

    private final int count;
    private final int sizeBytes;
    private final int port;
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final MemoryRegion region;
    private final SendWorkRequest send = new SendWorkRequest(arena, 1);
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest(arena, 1);
    private final WorkCompletions completions = new WorkCompletions(arena, 1);
    private AddressHandle sender;
    private int senderNumber;

    /**
     * Prepares the queue pair, for an id with a device; it is destroyed with the id.
     *
     * @param count how many messages each way
     * @param sizeBytes the size of a message
     */
    DatagramEnd(CommunicationId id, int count, int sizeBytes) throws VerbsException {
        this.count = count;
        this.sizeBytes = sizeBytes;
        DeviceContext device = id.device();
        port = id.portNumber();
        domain = device.allocateProtectionDomain();
        channel = device.createCompletionChannel();
        queue = device.createCompletionQueue(2 * count, channel);
        pair = id.createQueuePair(
                domain,
                QueuePairInitAttributes.of(
                                QueuePairType.UNRELIABLE_DATAGRAM, new QueuePairCapabilities(count, count, 1, 1, 0))
                        .withCompletionQueue(queue));
        memory = arena.allocate((long) count * (slotBytes() + sizeBytes), 4096);
        region = domain.registerMemory(memory, AccessFlags.LOCAL_WRITE);
    }

    private int slotBytes() {
        return HEADER_BYTES + sizeBytes;
    }

    int number() {
        return pair.number();
    }

    /** Posts the receives of all messages. */
    void postReceives() throws VerbsException {
        for (int i = 0; i < count; i++) {
            pair.postReceive(receive.workRequestId(i)
                    .sgeCount(1)
                    .sge(0, region.address() + (long) i * slotBytes(), slotBytes(), region.localKey()));
        }
    }

    /** The way to a peer that an event told of; the caller closes it. */
    AddressHandle wayTo(DatagramParameters peer) throws VerbsException {
        return domain.createAddressHandle(peer.addressHandleAttributes());
    }

    /** The way to whom the first message came from; closed with this end. */
    AddressHandle wayBack() {
        return sender;
    }

    /** The number of the queue pair that the first message came from, as its immediate data tells. */
    int senderNumber() {
        return senderNumber;
    }

    /** Sends all messages, and waits until they are sent. */
    void sendAll(AddressHandle way, int remoteNumber, int remoteQueueKey) throws IOException {
        send.opcode(SendOpcode.SEND_WITH_IMM)
                .flags(SendFlags.SIGNALED)
                .immediateData(pair.number())
                .datagram(way, remoteNumber, remoteQueueKey)
                .sgeCount(1);
        for (int i = 0; i < count; i++) {
            long offset = (long) count * slotBytes() + (long) i * sizeBytes;
            for (int j = 0; j < sizeBytes; j++) {
                memory.set(ValueLayout.JAVA_BYTE, offset + j, (byte) (i + j));
            }
            pair.postSend(send.workRequestId(i).sge(0, region.address() + offset, sizeBytes, region.localKey()));
        }
        for (int i = 0; i < count; i++) {
            awaitCompletion();
        }
    }

    /**
     * Waits for all messages, and checks what is told of each.
     *
     * @param answer whether there shall be a way back. There is none from a message to a group: its header names the
     *     group as the destination, and the source of an answer would have to be one of this port's own addresses
     * @param verify whether their bytes are checked too
     */
    void receiveAll(boolean answer, boolean verify) throws IOException {
        for (int i = 0; i < count; i++) {
            awaitCompletion();
            long slot = completions.workRequestId(0) * slotBytes();
            if (completions.lengthBytes(0) != slotBytes()) {
                throw new IOException("a datagram of " + (completions.lengthBytes(0) - HEADER_BYTES)
                        + " bytes instead of " + sizeBytes);
            }
            if (!completions.hasImmediate(0) || completions.immediateData(0) != completions.sourceQueuePairNumber(0)) {
                throw new IOException("the immediate data is not the sender's queue pair");
            }
            if (i == 0) {
                senderNumber = completions.immediateData(0);
            } else if (completions.immediateData(0) != senderNumber) {
                throw new IOException("a datagram of another sender");
            }
            if (i == 0 && answer) {
                sender = domain.createAddressHandle(port, completions, 0, memory.asSlice(slot, HEADER_BYTES));
            }
            if (verify) {
                verify(i, memory.asSlice(slot + HEADER_BYTES, sizeBytes));
            }
        }
    }

    private static void verify(int number, MemorySegment message) throws IOException {
        for (int j = 0; j < message.byteSize(); j++) {
            if (message.get(ValueLayout.JAVA_BYTE, j) != (byte) (number + j)) {
                throw new IOException("wrong data: byte " + j + " of datagram " + number + " is "
                        + message.get(ValueLayout.JAVA_BYTE, j));
            }
        }
    }

    private void awaitCompletion() throws IOException {
        while (queue.poll(completions) == 0) {
            queue.requestNotification(false);
            if (queue.poll(completions) > 0) {
                break;
            }
            if (channel.awaitEvent(Waiting.PATIENCE_MILLIS) == null) {
                throw new IOException("no completion within " + Waiting.PATIENCE_MILLIS + " ms");
            }
        }
        if (!completions.succeeded(0)) {
            throw new IOException("work ended with " + WorkCompletionStatus.of(completions.status(0)));
        }
    }

    @Override
    public void close() throws VerbsException {
        pair.close();
        queue.close();
        channel.close();
        domain.close();
        send.close();
        receive.close();
        completions.close();
        arena.close();
    }
}
