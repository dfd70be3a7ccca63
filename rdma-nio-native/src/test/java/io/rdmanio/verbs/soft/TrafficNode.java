package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.CompletionChannel;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletions;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.CommunicationId;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.EventChannel;
import io.rdmanio.verbs.cm.PortSpace;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A process's part in random traffic over connections that come and go: a listener, what all connections share, and the
 * connections, each with work of all kinds on the way. Nothing that a peer does is an error here; the ends remember what
 * happened. For one thread.
 */
final class TrafficNode implements AutoCloseable {
    static final int TIMEOUT_MILLIS = 10_000;
    static final ConnectionParameters PARAMETERS = new ConnectionParameters(1, 1, 0, 7, 7, false, 0);
    static final int MEMORY_BYTES = 256 * 1024;
    static final int RECEIVE_BYTES = 4096;

    private static final int RECEIVES = 64;
    private static final int SHARED_RECEIVES = 128;
    private static final int QUEUE_ENTRIES = 16_384;
    private static final int BACKLOG = 64;
    private static final int SHARED_RECEIVE = -1;
    private static final int ALL_RIGHTS =
            AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

    final Random random;
    final ProtectionDomain domain;
    final CompletionQueue queue;
    final SharedReceiveQueue shared;
    final MemoryRegion direct;
    final MemoryRegion foreign;
    final MemoryRegion local;
    final SendWorkRequest send;
    final ReceiveWorkRequest receive;

    private final Arena arena = Arena.ofShared();
    private final EventChannel channel;
    private final CommunicationId listener;
    /** Null when a group tells of the queue. */
    private final CompletionChannel completionChannel;

    private final CompletionQueueGroup group;
    private final Object[] told = new Object[1];
    private final WorkCompletions completions = new WorkCompletions(arena, 16);
    private final List<TrafficEnd> ends = new ArrayList<>();
    private int firstEnd;
    private long received;

    /** Starts to listen at a free port of an address. Whether it waits with a channel or a group, the seed says. */
    TrafficNode(RdmaEngine engine, InetAddress address, long seed) throws VerbsException {
        this(engine, address, new Random(seed), engine.hasCompletionQueueGroups() && (seed & 1) != 0);
    }

    private TrafficNode(RdmaEngine engine, InetAddress address, Random random, boolean inGroup) throws VerbsException {
        this.random = random;
        channel = EventChannel.open(engine);
        listener = channel.createId(PortSpace.TCP);
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(BACKLOG);
        DeviceContext device = listener.device();
        domain = device.allocateProtectionDomain();
        completionChannel = inGroup ? null : device.createCompletionChannel();
        queue = device.createCompletionQueue(QUEUE_ENTRIES, completionChannel);
        group = inGroup ? CompletionQueueGroup.open(engine) : null;
        if (inGroup) {
            group.add(queue, queue);
        }
        shared = domain.createSharedReceiveQueue(new SharedReceiveQueueAttributes(SHARED_RECEIVES, 1, 0));
        direct = domain.allocateMemory(MEMORY_BYTES, ALL_RIGHTS);
        foreign = domain.registerMemory(arena.allocate(MEMORY_BYTES, RECEIVE_BYTES), ALL_RIGHTS);
        MemorySegment own = arena.allocate(MEMORY_BYTES + (long) RECEIVES * RECEIVE_BYTES, RECEIVE_BYTES);
        local = domain.registerMemory(own, AccessFlags.LOCAL_WRITE);
        send = new SendWorkRequest(arena, 2);
        receive = new ReceiveWorkRequest(arena, 1);
        for (int i = 0; i < SHARED_RECEIVES; i++) {
            shared.postReceive(prepareReceive(SHARED_RECEIVE));
        }
    }

    /** One that waits with a group. */
    static TrafficNode inGroup(InetAddress address, long seed) throws VerbsException {
        return new TrafficNode(RdmaEngine.soft(), address, new Random(seed), true);
    }

    int port() {
        return listener.localAddress().getPort();
    }

    /** The connections, in the order in which they began. */
    List<TrafficEnd> ends() {
        return ends;
    }

    /** How many messages were received. */
    long received() {
        return received;
    }

    /** A receive for an end's own queue or, with -1, the shared one. All go to the same few buffers: nobody reads them. */
    ReceiveWorkRequest prepareReceive(int end) {
        long offset = MEMORY_BYTES + (long) random.nextInt(RECEIVES) * RECEIVE_BYTES;
        return receive.workRequestId(end * 2L + 1).sgeCount(1).sge(0, local, offset, RECEIVE_BYTES);
    }

    /** Begins to connect. */
    void connect(InetSocketAddress peer, boolean sharesReceives) throws VerbsException {
        CommunicationId id = channel.createId(PortSpace.TCP);
        add(new TrafficEnd(this, id, firstEnd + ends.size(), sharesReceives));
        id.resolveAddress(null, peer, TrafficNode.TIMEOUT_MILLIS);
    }

    private TrafficEnd add(TrafficEnd end) {
        ends.add(end);
        end.id.attach(end);
        return end;
    }

    /** Does what there is to do: events, completions, new work. Returns whether there was anything. */
    boolean step() throws IOException {
        boolean busy = takeEvents();
        busy |= takeCompletions();
        for (TrafficEnd end : ends) {
            busy |= end.postSome();
        }
        return busy;
    }

    private boolean takeEvents() throws VerbsException {
        boolean any = false;
        while (true) {
            try (CommunicationEvent event = channel.takeEvent()) {
                if (event == null) {
                    return any;
                }
                any = true;
                if (event.type() == CommunicationEventType.CONNECT_REQUEST) {
                    boolean sharesReceives = random.nextBoolean();
                    add(new TrafficEnd(this, event.id(), firstEnd + ends.size(), sharesReceives))
                            .accept(event);
                } else if (event.id().attachment() instanceof TrafficEnd end) {
                    end.handle(event);
                }
            }
        }
    }

    private boolean takeCompletions() throws VerbsException {
        int count = queue.poll(completions);
        for (int i = 0; i < count; i++) {
            long number = completions.workRequestId(i);
            boolean isReceive = (number & 1) != 0;
            int end = (int) (number >> 1);
            if (isReceive) {
                received += completions.succeeded(i) ? 1 : 0;
            }
            if (end == SHARED_RECEIVE) {
                shared.postReceive(prepareReceive(SHARED_RECEIVE));
            } else if (end >= firstEnd) {
                ends.get(end - firstEnd).completed(isReceive, completions.succeeded(i));
            }
        }
        return count > 0;
    }

    /** Waits for an event of the connection manager or a completion, unless one is there already. */
    void await(int timeoutMillis) throws IOException {
        if (group != null) {
            boolean ignored = awaitInGroup(timeoutMillis);
            return;
        }
        queue.requestNotification(false);
        if (!takeCompletions()) {
            Poll.awaitReadable(channel.fileDescriptor(), completionChannel.fileDescriptor(), timeoutMillis);
            completionChannel.takeEvent();
        }
    }

    /** The same for one in a group. Returns whether anything came in time. */
    boolean awaitInGroup(int timeoutMillis) throws IOException {
        if (group.take(told) != 0 || !group.prepareToSleep()) {
            return true;
        }
        int readable = Poll.awaitReadable(channel.fileDescriptor(), group.fileDescriptor(), timeoutMillis);
        group.awake();
        group.drain();
        return readable != 0;
    }

    /** Closes all connections; what they still have in the queue is passed over. */
    void closeEnds() throws VerbsException {
        for (TrafficEnd end : ends) {
            end.id.close();
        }
        firstEnd += ends.size();
        ends.clear();
    }

    @Override
    public void close() throws VerbsException {
        closeEnds();
        shared.close();
        queue.close();
        if (group == null) {
            completionChannel.close();
        } else {
            group.close();
        }
        direct.close();
        foreign.close();
        local.close();
        domain.close();
        listener.close();
        channel.close();
        send.close();
        receive.close();
        completions.close();
        arena.close();
    }
}
