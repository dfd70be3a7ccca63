package io.rdmanio.lab.verbs;

import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.AccessFlags;
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
import java.io.IOException;
import java.lang.foreign.Arena;

/**
 * One end of a connection whose speed is measured: messages of 64 bytes, all sends signaled, one receive posted, waiting
 * by polling or by events. {@code struct end} of {@code lab/c/verbs_speed.c} is the same in C. For one thread.
 */
final class SpeedEnd implements AutoCloseable {
    private static final int DEPTH = 8;
    private static final int MESSAGE_BYTES = 64;
    private static final int PATIENCE_MILLIS = 60_000;
    private static final long RECEIVE = 1;
    private static final long SEND = 2;

    private final CommunicationId id;
    private final boolean byEvents;
    private final int watchedDescriptor;
    private final Arena arena = Arena.ofShared();
    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final MemoryRegion region;
    private final SendWorkRequest send = new SendWorkRequest(arena, 1);
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest(arena, 1);
    private final WorkCompletions completions = new WorkCompletions(arena, 1);
    private int received;
    private int sending;
    private boolean over;

    /**
     * Prepares an end, with a receive posted.
     *
     * @param id with a device
     * @param byEvents whether it waits by events; else it polls
     * @param watchedDescriptor of the connection manager's events, any of which ends the connection; -1 for none
     */
    SpeedEnd(CommunicationId id, boolean byEvents, int watchedDescriptor) throws VerbsException {
        this.id = id;
        this.byEvents = byEvents;
        this.watchedDescriptor = watchedDescriptor;
        DeviceContext device = id.device();
        domain = device.allocateProtectionDomain();
        channel = device.createCompletionChannel();
        queue = device.createCompletionQueue(2 * DEPTH, channel);
        pair = id.createQueuePair(
                domain,
                QueuePairInitAttributes.of(
                                QueuePairType.RELIABLE_CONNECTED, new QueuePairCapabilities(DEPTH, DEPTH, 1, 1, 0))
                        .withCompletionQueue(queue));
        region = domain.registerMemory(arena.allocate(2 * MESSAGE_BYTES, 4096), AccessFlags.LOCAL_WRITE);
        send.opcode(SendOpcode.SEND)
                .flags(SendFlags.SIGNALED)
                .sgeCount(1)
                .sge(0, region.address(), MESSAGE_BYTES, region.localKey());
        receive.workRequestId(RECEIVE)
                .sgeCount(1)
                .sge(0, region.address() + MESSAGE_BYTES, MESSAGE_BYTES, region.localKey());
        pair.postReceive(receive);
    }

    /** Whether an event of the connection manager came. */
    boolean isOver() {
        return over;
    }

    private void awaitCompletion() throws IOException {
        while (queue.poll(completions) == 0) {
            if (!byEvents) {
                continue;
            }
            queue.requestNotification(false);
            if (queue.poll(completions) > 0) {
                return;
            }
            int ready = Poll.awaitReadable(channel.fileDescriptor(), watchedDescriptor, PATIENCE_MILLIS);
            if ((ready & 1) != 0) {
                channel.takeEvent();
            } else if (ready != 0) {
                over = true;
                return;
            } else {
                throw new IOException("nothing came");
            }
        }
    }

    private void next() throws IOException {
        awaitCompletion();
        if (over) {
            return;
        }
        if (!completions.succeeded(0)) {
            throw new IOException("work ended with " + WorkCompletionStatus.of(completions.status(0)));
        }
        if (completions.workRequestId(0) == RECEIVE) {
            received++;
        } else {
            sending--;
        }
    }

    void sendMessage() throws IOException {
        while (sending == DEPTH) {
            next();
        }
        pair.postSend(send.workRequestId(SEND).sge(0, region.address(), MESSAGE_BYTES, region.localKey()));
        sending++;
    }

    void receiveMessage() throws IOException {
        while (received == 0 && !over) {
            next();
        }
        if (!over) {
            received--;
            pair.postReceive(receive);
        }
    }

    /**
     * Round trips: with two ends in this thread both halves of each, else the half of this process. It stands here since
     * the JVM, when it first compiles a method of a class for good, allocates all string constants of that class.
     */
    static void ping(SpeedEnd client, SpeedEnd server, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            client.sendMessage();
            if (server != null) {
                server.receiveMessage();
                server.sendMessage();
            }
            client.receiveMessage();
        }
    }

    /** Takes the completions of all sends. */
    void drain() throws IOException {
        while (sending > 0) {
            next();
        }
    }

    /** Polls the queue, which has nothing. */
    void pollEmpty(int count) throws IOException {
        int found = 0;
        for (int i = 0; i < count; i++) {
            found += queue.poll(completions);
        }
        if (found != 0) {
            throw new IOException("a completion in an empty queue");
        }
    }

    void disconnect() throws VerbsException {
        id.disconnect();
    }

    @Override
    public void close() throws VerbsException {
        id.close();
        queue.close();
        channel.close();
        domain.close();
        send.close();
        receive.close();
        completions.close();
        arena.close();
    }
}
