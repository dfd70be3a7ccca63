package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.AccessFlags;
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
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import io.rdmanio.verbs.WorkCompletions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Clients, each connected to a queue pair of its own, all of which take their receives from one queue. */
final class SharedReceivers implements AutoCloseable {
    static final int WANTED = 10;

    private static final int SLOT_BYTES = 64;
    private static final int SLOTS = 64;

    final EventChannel channel = EventChannel.open(TestDevice.engine());
    final CommunicationId listener;
    final DeviceContext device;
    final ProtectionDomain domain;
    final SharedReceiveQueue shared;
    final CompletionQueue completions;
    final List<Endpoint> clients = new ArrayList<>();
    final List<QueuePair> pairs = new ArrayList<>();
    private final List<CommunicationId> servers = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate((long) SLOTS * SLOT_BYTES, 4096);
    private final MemoryRegion region;
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest(1);
    private final WorkCompletions taken = new WorkCompletions(1);

    SharedReceivers(int connections) throws IOException {
        listener = TestDevice.listen(channel);
        device = listener.device();
        domain = device.allocateProtectionDomain();
        shared = domain.createSharedReceiveQueue(new SharedReceiveQueueAttributes(WANTED, 2, 0));
        completions = device.createCompletionQueue(SLOTS, null);
        region = domain.registerMemory(memory, AccessFlags.LOCAL_WRITE);
        for (int i = 0; i < connections; i++) {
            connect();
        }
    }

    private void connect() throws IOException {
        Endpoint client =
                new Endpoint(TestDevice.resolve(channel, listener.localAddress().getPort()));
        clients.add(client);
        client.id.connect(TestDevice.parameters(), null);
        try (CommunicationEvent request = TestDevice.next(channel, CommunicationEventType.CONNECT_REQUEST)) {
            CommunicationId server = request.id();
            servers.add(server);
            pairs.add(server.createQueuePair(domain, attributes()));
            server.accept(TestDevice.parameters(), null);
        }
        TestDevice.expect(channel, CommunicationEventType.ESTABLISHED);
        TestDevice.expect(channel, CommunicationEventType.ESTABLISHED);
    }

    QueuePairInitAttributes attributes() {
        return QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTED, new QueuePairCapabilities(4, 0, 1, 0, 0))
                .withCompletionQueue(completions)
                .withSharedReceiveQueue(shared);
    }

    /** A receive with this number into the slot of this number. */
    ReceiveWorkRequest prepare(ReceiveWorkRequest request, int number) {
        return request.workRequestId(number)
                .sgeCount(1)
                .sge(0, region.address() + (long) (number % SLOTS) * SLOT_BYTES, SLOT_BYTES, region.localKey());
    }

    void post(int number) throws VerbsException {
        shared.postReceive(prepare(receive, number));
    }

    /** Posts receives {@code first} to {@code last}, both included. */
    void post(int first, int last) throws VerbsException {
        for (int number = first; number <= last; number++) {
            post(number);
        }
    }

    /** Sends one byte from a client. */
    void send(int client, int value) throws IOException {
        Endpoint from = clients.get(client);
        from.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) value);
        from.pair.postSend(from.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 1));
    }

    /** Sends a byte and waits until it is received and the send complete. */
    Receipt exchange(int client, int value) throws IOException {
        send(client, value);
        Receipt receipt = awaitReceipt();
        if (clients.get(client).awaitCompletion().status() != WorkCompletionStatus.SUCCESS) {
            throw new AssertionError("the send failed");
        }
        return receipt;
    }

    /** Waits for a completion of the servers. */
    Receipt awaitReceipt() throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TestDevice.TIMEOUT_MILLIS);
        while (System.nanoTime() < deadline) {
            if (completions.poll(taken) > 0) {
                int number = (int) taken.workRequestId(0);
                return new Receipt(
                        number,
                        WorkCompletionStatus.of(taken.status(0)),
                        taken.queuePairNumber(0),
                        memory.get(ValueLayout.JAVA_BYTE, (long) (number % SLOTS) * SLOT_BYTES));
            }
            Thread.onSpinWait();
        }
        throw new AssertionError("nothing was received within " + TestDevice.TIMEOUT_MILLIS + " ms");
    }

    /** Tells whether nothing was received for a while. */
    boolean isQuiet() throws IOException, InterruptedException {
        Thread.sleep(200);
        return completions.poll(taken) == 0;
    }

    /** What a completion of a server says, and the byte in its slot. */
    record Receipt(int number, WorkCompletionStatus status, int queuePairNumber, int value) {}

    @Override
    public void close() throws VerbsException {
        for (Endpoint client : clients) {
            client.close();
        }
        for (CommunicationId server : servers) {
            server.close();
        }
        channel.close();
        region.close();
        shared.close();
        completions.close();
        domain.close();
        receive.close();
        taken.close();
        arena.close();
    }
}
