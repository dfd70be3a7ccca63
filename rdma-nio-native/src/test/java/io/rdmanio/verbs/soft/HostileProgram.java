package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.MemoryRegion;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.RdmaEngine;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A victim with hostile peers, one for each seed, in a JVM of its own: if it crashes, or hangs, whoever started it sees that.
 * After each seed the victim must be as it was before: all work of the connections with the hostile peer given back,
 * nothing left, memory that was not granted unchanged, no thread interrupted, and an innocent connection with right data
 * going on all the while. Prints the seeds as it goes, and its first failure as soon as there is one; ends with status 0
 * when all went well.
 */
final class HostileProgram implements AutoCloseable {
    private static final long SEED_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final long END_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long JOIN_MILLIS = TimeUnit.SECONDS.toMillis(10);
    private static final int CANARY_BYTES = 64 * 1024;
    private static final int WARM_UP = 20;
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

    private final SoftHost host = SoftHost.acquire();
    private final TrafficNode victim;
    private final AnotherHost innocentHost = new AnotherHost();
    private final CheckedTraffic innocent;
    private final Arena arena = Arena.ofShared();
    private final ProtectionDomain otherDomain;
    private final MemoryRegion[] canaries;
    private final MemorySegment unregistered = arena.allocate(CANARY_BYTES, 4096);
    private volatile Throwable failure;
    private volatile boolean over;
    private volatile long seedBegan = System.nanoTime();
    private volatile String current = "none";

    private HostileProgram(long seed) throws IOException {
        RdmaEngine engine = RdmaEngine.soft();
        victim = new TrafficNode(engine, InetAddress.getLoopbackAddress(), seed);
        innocent = new CheckedTraffic(engine, innocentHost.engine(), seed);
        otherDomain = victim.domain.context().allocateProtectionDomain();
        int all = AccessFlags.LOCAL_WRITE
                | AccessFlags.REMOTE_WRITE
                | AccessFlags.REMOTE_READ
                | AccessFlags.REMOTE_ATOMIC;
        canaries = new MemoryRegion[] {
            victim.domain.allocateMemory(CANARY_BYTES, AccessFlags.LOCAL_WRITE),
            victim.domain.registerMemory(arena.allocate(CANARY_BYTES, 4096), AccessFlags.LOCAL_WRITE),
            victim.domain.registerMemory(arena.allocate(CANARY_BYTES, 4096), AccessFlags.REMOTE_READ),
            victim.domain.allocateMemory(CANARY_BYTES, AccessFlags.REMOTE_READ),
            otherDomain.allocateMemory(CANARY_BYTES, all),
            otherDomain.registerMemory(arena.allocate(CANARY_BYTES, 4096), all)
        };
        for (MemoryRegion canary : canaries) {
            sing(canary.memory());
        }
        sing(unregistered);
    }

    private static void sing(MemorySegment memory) {
        for (long i = 0; i < memory.byteSize(); i += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, i, i * STEP);
        }
    }

    private static void listen(String what, MemorySegment memory) {
        for (long i = 0; i < memory.byteSize(); i += Long.BYTES) {
            if (memory.get(ValueLayout.JAVA_LONG, i) != i * STEP) {
                throw new IllegalStateException(what + " was written at " + i);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        long first = Long.parseLong(args[0]);
        int count = Integer.parseInt(args[1]);
        int status = 0;
        try (HostileProgram program = new HostileProgram(first)) {
            Thread.setDefaultUncaughtExceptionHandler((thread, e) -> program.fail(e));
            Thread watchdog = Thread.ofPlatform().daemon().start(program::watch);
            Thread innocent = Thread.ofPlatform().daemon().start(program::keepGoing);
            try {
                program.attackAll(first, count);
            } catch (Throwable e) {
                program.fail(e);
            }
            program.over = true;
            program.join(innocent);
            program.join(watchdog);
            status = program.failure == null ? 0 : 1;
        }
        System.out.println("DONE");
        System.exit(status);
    }

    /** Tells of it at once, since what follows from it may keep this program from its end. */
    private synchronized void fail(Throwable e) {
        if (failure == null) {
            failure = e;
            // Not the standard output: peers send that, too, as a descriptor, and whoever spoils it must be found.
            System.err.println("FAILED at " + current + " in " + Thread.currentThread());
            e.printStackTrace();
        }
    }

    private void join(Thread thread) throws InterruptedException {
        thread.join(JOIN_MILLIS);
        if (thread.isAlive()) {
            IllegalStateException stuck = new IllegalStateException("does not end: " + thread);
            stuck.setStackTrace(thread.getStackTrace());
            fail(stuck);
        }
    }

    private void keepGoing() {
        try {
            while (!over && failure == null) {
                innocent.round();
                Thread.sleep(1);
            }
        } catch (Throwable e) {
            fail(e);
        }
    }

    /** Ends the process, with all stacks, when a seed takes too long. */
    private void watch() {
        try {
            while (!over) {
                Thread.sleep(100);
                if (System.nanoTime() - seedBegan > SEED_NANOS) {
                    System.out.println("HUNG at " + current);
                    Thread.getAllStackTraces().forEach((thread, stack) -> {
                        System.out.println(thread);
                        Stream.of(stack).forEach(frame -> System.out.println("    " + frame));
                    });
                    Runtime.getRuntime().halt(2);
                }
            }
        } catch (InterruptedException e) {
            fail(e);
        }
    }

    private void attackAll(long first, int count) throws Exception {
        Map<String, Integer> before = null;
        for (int i = -WARM_UP; i < count; i++) {
            if (i == 0) {
                before = Possessions.settled(null, TimeUnit.SECONDS.toNanos(1));
            }
            long seed = first + i;
            seedBegan = System.nanoTime();
            current = "seed " + seed;
            System.out.println("SEED " + seed);
            HostilePeer hostile = attack(seed);
            current = "seed " + seed + ": " + hostile.story();
            if (failure != null) {
                return;
            }
            if (hostile.failure() != null) {
                throw new IllegalStateException("the hostile peer could not go on", hostile.failure());
            }
            check();
            if (before != null) {
                awaitSame(before);
            }
        }
    }

    private HostilePeer attack(long seed) throws Exception {
        long roundsBefore = innocent.rounds();
        HostilePeer hostile =
                new HostilePeer(seed, victim.port(), Rendezvous.processName(host.userId(), host.token()), numbers());
        Thread thread = Thread.ofPlatform().daemon().start(hostile);
        Random random = new Random(seed);
        boolean invited = false;
        while (!hostile.isFinished()) {
            if (hostile.invitesTo() != 0 && !invited) {
                invited = true;
                for (int i = random.nextInt(3); i >= 0; i--) {
                    victim.connect(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), hostile.invitesTo()),
                            random.nextBoolean());
                }
            }
            step();
        }
        join(thread);
        long deadline = System.nanoTime() + END_NANOS;
        while (!victim.ends().stream().allMatch(TrafficEnd::isOver) || innocent.rounds() == roundsBefore) {
            step();
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("still there is " + victim.ends() + ", innocent rounds "
                        + innocent.rounds() + " after " + roundsBefore + "; " + hostile.story());
            }
            if (failure != null) {
                break;
            }
        }
        victim.closeEnds();
        return hostile;
    }

    private void step() throws IOException {
        if (!victim.step()) {
            victim.await(1);
        }
    }

    private long[] numbers() {
        long[] numbers = new long[2 * canaries.length + 4];
        for (int i = 0; i < canaries.length; i++) {
            numbers[2 * i] = canaries[i].address() + 8;
            numbers[2 * i + 1] = canaries[i].remoteKey();
        }
        numbers[2 * canaries.length] = victim.foreign.address();
        numbers[2 * canaries.length + 1] = victim.foreign.remoteKey();
        numbers[2 * canaries.length + 2] = victim.local.localKey();
        numbers[2 * canaries.length + 3] = victim.local.address();
        return numbers;
    }

    private void check() {
        for (int i = 0; i < canaries.length; i++) {
            listen("canary " + i, canaries[i].memory());
        }
        listen("unregistered memory", unregistered);
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.isInterrupted()) {
                throw new IllegalStateException("interrupted: " + thread);
            }
        }
    }

    private static void awaitSame(Map<String, Integer> before) throws IOException, InterruptedException {
        Map<String, Integer> found = Possessions.settled(before, END_NANOS);
        if (!found.equals(before)) {
            throw new IllegalStateException("there is " + found + ", there was " + before);
        }
    }

    @Override
    public void close() throws IOException {
        for (MemoryRegion canary : canaries) {
            canary.close();
        }
        otherDomain.close();
        victim.close();
        innocent.close();
        innocentHost.close();
        host.release();
        arena.close();
    }
}
