package io.rdmanio.verbs.soft;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.linux.ProcessCredentials;
import io.rdmanio.linux.SystemCallException;
import io.rdmanio.linux.UnixSocket;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that does its worst to another, from a seed. It is connected as everybody is, with a host of its own and random
 * traffic; and it writes anything into the memory that it shares with the victim, sends anything over the control sockets,
 * with any descriptors, takes pages away, and breaks off at any time. What its own engine makes of that is nobody's concern,
 * as long as it comes to an end. For one thread.
 */
final class HostilePeer implements Runnable {
    private static final NativeFunction FALLOCATE = Downcall.libc("fallocate");
    private static final NativeFunction FTRUNCATE = Downcall.libc("ftruncate");
    private static final NativeFunction SHUTDOWN = Downcall.libc("shutdown");
    private static final int SHUT_RDWR = 2;
    private static final int PUNCH_HOLE_KEEP_SIZE = 3;
    private static final int MAX_CONNECTIONS = 3;
    private static final int MAX_STRANGERS = 6;
    private static final long SETUP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int MAX_ATTACK_MICROS = 30_000;
    private static final int MAX_OPERATIONS = 8;
    private static final long PAUSE_NANOS = 20_000;
    private static final int NEAR_BYTES = 1024;
    private static final int NEAR_SLOTS = 8;

    private final Random random;
    private final int victimPort;
    private final String victimName;
    private final long[] victimNumbers;
    private final List<UnixSocket> strangers = new ArrayList<>();
    private final StringBuilder story = new StringBuilder();
    private SharedState state;
    private RandomMessages messages;
    private volatile int invitesTo;
    private volatile boolean finished;
    private volatile Throwable failure;

    /**
     * Prepares an attack.
     *
     * @param victimPort where the victim listens for connections
     * @param victimName the name of its process socket
     * @param victimNumbers what means something to it
     */
    HostilePeer(long seed, int victimPort, String victimName, long... victimNumbers) {
        random = new Random(seed);
        this.victimPort = victimPort;
        this.victimName = victimName;
        this.victimNumbers = victimNumbers;
    }

    /** A port where it would have the victim connect to; 0 when it has none. */
    int invitesTo() {
        return invitesTo;
    }

    boolean isFinished() {
        return finished;
    }

    /** What it did, in short. */
    String story() {
        return story.toString();
    }

    /** What went wrong that is not its own doing; null when nothing did. */
    Throwable failure() {
        return failure;
    }

    @Override
    public void run() {
        try {
            messages = new RandomMessages(random, victimNumbers);
            if (random.nextInt(4) == 0) {
                sendStrangers();
            }
            if (random.nextInt(8) != 0) {
                try (AnotherHost another = new AnotherHost()) {
                    attack(another);
                }
            }
        } catch (Throwable e) {
            failure = e;
        } finally {
            strangers.forEach(UnixSocket::close);
            if (messages != null) {
                messages.close();
            }
            finished = true;
        }
    }

    /** Connections that are no process: they say something, or nothing, and stay or go. */
    private void sendStrangers() throws IOException {
        List<String> names = new ArrayList<>(List.of(victimName));
        for (String line : Files.readAllLines(Path.of("/proc/net/unix"))) {
            int name = line.indexOf("@rdmanio/");
            if (name >= 0 && line.endsWith("/" + victimPort)) {
                names.add(line.substring(name + 1));
            }
        }
        int count = 1 + random.nextInt(MAX_STRANGERS);
        for (int i = 0; i < count; i++) {
            try {
                UnixSocket stranger = UnixSocket.connect(names.get(random.nextInt(names.size())));
                strangers.add(stranger);
                if (random.nextInt(4) != 0) {
                    send(stranger, messages.hello());
                }
                if (random.nextInt(3) != 0) {
                    send(stranger, messages.join());
                }
                for (int j = random.nextInt(4); j > 0; j--) {
                    send(stranger, messages.next());
                }
                if (random.nextBoolean()) {
                    stranger.close();
                }
            } catch (SystemCallException e) {
                note("refused");
            }
        }
        note(count + " strangers");
    }

    private void send(UnixSocket socket, RandomMessages.Datagram datagram) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(datagram.bytes().length);
            MemorySegment.copy(datagram.bytes(), 0, bytes, ValueLayout.JAVA_BYTE, 0, datagram.bytes().length);
            boolean ignored = socket.send(bytes, datagram.descriptors());
        } catch (SystemCallException | IllegalStateException e) {
            note("not sent");
        }
    }

    private void note(String what) {
        story.append(what).append("; ");
    }

    private void attack(AnotherHost another) throws IOException {
        SoftHost host = another.host();
        TrafficNode node = new TrafficNode(another.engine(), InetAddress.getLoopbackAddress(), random.nextLong());
        try {
            int connections = 1 + random.nextInt(MAX_CONNECTIONS);
            if (random.nextInt(3) == 0) {
                invitesTo = node.port();
                note("invites");
            } else {
                for (int i = 0; i < connections; i++) {
                    node.connect(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), victimPort), random.nextBoolean());
                }
                note(connections + " connections");
            }
            if (random.nextInt(4) != 0) {
                setUp(node);
            }
            long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(random.nextInt(MAX_ATTACK_MICROS));
            boolean once = random.nextBoolean();
            state = new SharedState(host);
            do {
                work(node);
                for (int i = random.nextInt(MAX_OPERATIONS); i >= 0; i--) {
                    operate();
                }
                if (random.nextInt(8) == 0) {
                    state = new SharedState(host);
                }
            } while (System.nanoTime() < end && !once);
            for (int i = random.nextInt(200); i > 0; i--) {
                work(node);
            }
            if (random.nextBoolean()) {
                note("breaks off");
                new SharedState(host).sockets.forEach(this::hangUp);
            }
        } finally {
            invitesTo = 0;
            close(node);
        }
    }

    /** Ends a connection behind the back of its owner. */
    private void hangUp(UnixSocket socket) {
        try (CallFrame frame = CallFrame.enter()) {
            byOwnDescriptor(socket.fileDescriptor(), own -> {
                ensureOpen(socket);
                long ignored = Downcall.call(SHUTDOWN, frame, own, SHUT_RDWR);
            });
        } catch (IOException | IllegalStateException e) {
            note("gone");
        }
    }

    private interface DescriptorUse {
        void accept(int own) throws IOException;
    }

    /**
     * Does something by a descriptor of its own to what the engine may close at the same time. The use begins with something
     * that fails when it is closed: if that passes, the descriptor is of this thing, and not of whatever has its number by
     * now.
     */
    private static void byOwnDescriptor(int number, DescriptorUse use) throws IOException {
        int own = FileDescriptors.duplicate(number);
        try {
            use.accept(own);
        } finally {
            FileDescriptors.close(own);
        }
    }

    private static void ensureOpen(UnixSocket socket) {
        try {
            ProcessCredentials ignored = socket.peerCredentials();
        } catch (SystemCallException e) {
            // One that listens has no peer, and is open.
        }
    }

    private void setUp(TrafficNode node) {
        long deadline = System.nanoTime() + SETUP_NANOS;
        while (System.nanoTime() < deadline && node.ends().stream().noneMatch(TrafficEnd::isEstablished)) {
            work(node);
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Its own work may fail in any way, now that it sees what it wrote itself. */
    private void work(TrafficNode node) {
        try {
            node.step();
        } catch (IOException | RuntimeException e) {
            note(e.toString());
        }
    }

    private void close(TrafficNode node) throws VerbsException {
        node.close();
    }

    private void operate() {
        try {
            int kind = random.nextInt(16);
            if (kind < 3 && !state.areas.isEmpty()) {
                forge(state.areas.get(random.nextInt(state.areas.size())));
            } else if (kind < 10 && !state.segments.isEmpty()) {
                corrupt(state.segments.get(random.nextInt(state.segments.size())));
            } else if (kind < 13 && !state.sockets.isEmpty()) {
                send(state.sockets.get(random.nextInt(state.sockets.size())), messages.next());
            } else if (kind == 13 && !state.files.isEmpty()) {
                takePages(state.files.get(random.nextInt(state.files.size())));
            } else if (kind == 14) {
                inventSleeper();
            } else if (kind == 15) {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        } catch (IllegalStateException | IndexOutOfBoundsException e) {
            note("gone");
        }
    }

    private void corrupt(MemorySegment segment) {
        long words = segment.byteSize() / Integer.BYTES;
        boolean isNear = random.nextBoolean();
        long word = isNear ? random.nextLong(Math.min(words, NEAR_BYTES / Integer.BYTES)) : random.nextLong(words);
        long offset = word * Integer.BYTES;
        switch (random.nextInt(6)) {
            case 0, 1 -> SharedWords.set(segment, offset, (int) messages.number());
            case 2 -> SharedWords.set(segment, offset, SharedWords.get(segment, offset) + random.nextInt(9) - 4);
            case 3 ->
                SharedWords.set(segment, offset, SharedWords.get(segment, offset) ^ 1 << random.nextInt(Integer.SIZE));
            case 4 -> {
                if (offset % Long.BYTES == 0 && offset + Long.BYTES <= segment.byteSize()) {
                    SharedWords.setLong(segment, offset, messages.number());
                }
            }
            default -> {
                long lengthBytes = Math.min(segment.byteSize() - offset, 4L * random.nextInt(64));
                MemorySegment piece = segment.asSlice(offset, lengthBytes);
                if (random.nextBoolean()) {
                    piece.fill((byte) random.nextInt());
                } else {
                    MemorySegment.copy(
                            segment, random.nextLong(segment.byteSize() - lengthBytes + 1), piece, 0, lengthBytes);
                }
            }
        }
    }

    /**
     * Says that somebody sleeps who doesn't or is nobody, to be woken by a doorbell of somebody else's or by none; or takes
     * such words of the victim's away.
     */
    private void inventSleeper() {
        boolean isPlausible = random.nextInt(4) != 0;
        int slot = isPlausible ? random.nextInt(NEAR_SLOTS) : (int) messages.number();
        if (!state.areas.isEmpty()) {
            state.areas.get(random.nextInt(state.areas.size())).setArmSlot(slot);
        }
        if (!state.headers.isEmpty()) {
            int doorbell = isPlausible ? random.nextInt(NEAR_SLOTS) : (int) messages.number();
            state.headers.get(random.nextInt(state.headers.size())).arm(slot, random.nextInt(4), doorbell);
        }
    }

    /** Puts an entry into a ring that looks like the next one, for memory of the victim that it knows of, or none. */
    private void forge(Area area) {
        int index = area.consumed() + random.nextInt(3);
        MemorySegment memory = area.memory;
        long entry = area.entryOffset(index);
        int region = 2 * random.nextInt(victimNumbers.length / 2);
        boolean isPlausible = random.nextInt(4) != 0;
        int flags = random.nextBoolean() ? Entry.LAST : random.nextInt(1 << Byte.SIZE);
        int kind = random.nextInt(Entry.KINDS + 1) | flags << Entry.FLAGS_SHIFT;
        int lengthBytes = isPlausible ? random.nextInt(4096) : (int) messages.number();
        int staging = isPlausible && area.stagingBytes > 0
                ? random.nextInt(area.stagingBytes) & -PairHeader.LINE_BYTES
                : (int) messages.number();
        SharedWords.set(memory, entry + Entry.KIND, kind);
        SharedWords.set(memory, entry + Entry.LENGTH, lengthBytes);
        SharedWords.set(memory, entry + Entry.IMMEDIATE, (int) messages.number());
        SharedWords.setLong(
                memory, entry + Entry.REMOTE_ADDRESS, isPlausible ? victimNumbers[region] : messages.number());
        SharedWords.set(memory, entry + Entry.REMOTE_KEY, (int) victimNumbers[region + 1]);
        SharedWords.set(memory, entry + Entry.STAGING, staging);
        SharedWords.setLong(memory, entry + Entry.OPERAND, messages.number());
        SharedWords.setLong(memory, entry + Entry.SWAP, messages.number());
        SharedWords.setRelease(memory, entry + Entry.SEQUENCE, index + 1);
    }

    /** Has the kernel take pages, or cut the file: the latter must be refused. */
    private void takePages(MemoryFile file) {
        try (CallFrame frame = CallFrame.enter()) {
            byOwnDescriptor(file.fileDescriptor(), own -> {
                long pages = file.sizeBytes() / MemoryFile.PAGE_BYTES;
                long first = random.nextLong(pages);
                long offset = first * MemoryFile.PAGE_BYTES;
                long lengthBytes = (1 + random.nextLong(pages - first)) * MemoryFile.PAGE_BYTES;
                long result = random.nextBoolean()
                        ? Downcall.call(FALLOCATE, frame, own, PUNCH_HOLE_KEEP_SIZE, offset, lengthBytes)
                        : Downcall.call(FTRUNCATE, frame, own, offset);
                note("pages " + (int) result);
            });
        } catch (IOException e) {
            note(e.toString());
        }
    }
}
