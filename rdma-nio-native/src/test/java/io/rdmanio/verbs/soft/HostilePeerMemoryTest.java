package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.EventFd;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.ReceivedMessage;
import io.rdmanio.linux.UnixSocket;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.AllocatedMemory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A peer that breaks the protocol of memory loses the pair; nothing of it stays, and nothing crashes. */
@Timeout(60)
@ExtendWith(LeakCheck.class)
class HostilePeerMemoryTest {
    private static final int PAGE = 4096;
    private static final int KEY = 0x0007_1234;
    private static final int EPOCH = 1;
    private static final int DOMAIN = 77;
    private static final int READ_WRITE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;
    private static final int LARGE = 256 * PAGE;
    private static final int SEALS = MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_GROW;

    private UnixSocket[] sockets;
    private final Arena arena = Arena.ofShared();
    private MemoryFile epochsFile;
    private MemorySegment epochs;
    private MemoryEnd victim;

    @BeforeEach
    void connect() throws IOException, ProtocolException {
        sockets = MemoryEnd.sockets();
        // Not sealed against writing, so that it can lie at any time.
        epochsFile = MemoryFile.create("rdmanio-hostile", EpochPage.BYTES);
        epochsFile.addSeals(SEALS);
        epochs = epochsFile.map(0, EpochPage.BYTES, true, arena);
        setEpoch(KeyTable.slot(KEY), EPOCH);
        victim = MemoryEnd.connect(sockets, epochsFile.fileDescriptor());
    }

    @AfterEach
    void disconnect() throws IOException {
        victim.close();
        assertThat(victim.keys.allocations().count()).isZero();
        assertThat(victim.exports.lentCount()).isZero();
        sockets[1].close();
        epochsFile.close();
        arena.close();
        assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain("/memfd:rdmanio");
    }

    private void setEpoch(int slot, int epoch) {
        epochs.set(ValueLayout.JAVA_INT, 4L * slot, epoch);
    }

    private void hostileSends(ControlMessage message) {
        MemoryEnd.send(sockets[1], message);
    }

    private CompletableFuture<Void> answerToVictim() {
        CompletableFuture<Void> known = new CompletableFuture<>();
        victim.imports.resolve(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN, () -> known.complete(null));
        return known;
    }

    private void victimAsks() {
        victim.imports.resolve(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN, () -> {});
    }

    private void assertViolation(String text) throws Exception {
        Exception violation = victim.end.get(10, TimeUnit.SECONDS);
        assertThat(violation).isInstanceOf(ProtocolException.class).hasMessageContaining(text);
    }

    private static ControlMessage.Export export(long lengthBytes, long fileOffset, MemoryFile file) {
        return new ControlMessage.Export(
                KEY, EPOCH, 0x10_0000, lengthBytes, READ_WRITE, fileOffset, file.fileDescriptor());
    }

    private static MemoryFile file(long sizeBytes, int seals) throws IOException {
        MemoryFile file = MemoryFile.create("rdmanio-hostile", sizeBytes);
        file.addSeals(seals);
        return file;
    }

    @Test
    void soundExport_isTaken() throws Exception {
        CompletableFuture<Void> known = answerToVictim();
        try (MemoryFile file = file(2 * PAGE, SEALS)) {
            hostileSends(export(PAGE, 100, file));
        }
        known.get(10, TimeUnit.SECONDS);
        RemoteKey key = victim.imports.find(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN);
        assertThat(key.memory().byteSize()).isEqualTo(PAGE);
        key.memory().set(ValueLayout.JAVA_BYTE, PAGE - 1, (byte) 1);
    }

    @Test
    void exportThatNobodyAskedFor_isAViolation() throws Exception {
        try (MemoryFile file = file(PAGE, SEALS)) {
            hostileSends(export(PAGE, 0, file));
        }
        assertViolation("not asked for");
    }

    @Test
    void answersThatNobodyAskedFor_areViolations() throws Exception {
        victimAsks();
        hostileSends(new ControlMessage.Invalid(KEY + 1, MemoryEnd.QUEUE_PAIR));
        assertViolation("not asked for");
    }

    @Test
    void foreignAnswerThatNobodyAskedFor_isAViolation() throws Exception {
        hostileSends(new ControlMessage.Foreign(KEY, EPOCH, 0, PAGE, READ_WRITE));
        assertViolation("not asked for");
    }

    @Test
    void memoryThatMayShrink_isAViolation() throws Exception {
        victimAsks();
        try (MemoryFile file = file(PAGE, MemoryFile.SEAL_GROW)) {
            hostileSends(export(PAGE, 0, file));
        }
        assertViolation("may shrink");
    }

    @Test
    void memoryThatIsTooShort_isAViolation() throws Exception {
        victimAsks();
        try (MemoryFile file = file(PAGE, SEALS)) {
            hostileSends(export(PAGE + 1, 0, file));
        }
        assertViolation("too short");
    }

    @Test
    void memoryBeyondTheEnd_isAViolation() throws Exception {
        victimAsks();
        try (MemoryFile file = file(PAGE, SEALS)) {
            hostileSends(export(1, PAGE, file));
        }
        assertViolation("too short");
    }

    @Test
    void lengthThatOverflows_isAViolation() throws Exception {
        victimAsks();
        try (MemoryFile file = file(PAGE, SEALS)) {
            hostileSends(export(Long.MAX_VALUE, Long.MAX_VALUE, file));
        }
        assertViolation("too short");
    }

    @Test
    void emptyMemory_isAViolation() throws Exception {
        victimAsks();
        try (MemoryFile file = file(0, SEALS)) {
            hostileSends(export(0, 0, file));
        }
        assertViolation("too short");
    }

    @Test
    void memorySealedAgainstTheWritingItPromises_isAViolation() throws Exception {
        victimAsks();
        try (MemoryFile file = file(PAGE, SEALS | MemoryFile.SEAL_WRITE)) {
            hostileSends(export(PAGE, 0, file));
        }
        assertViolation("EPERM");
    }

    @Test
    void descriptorOfSomethingElse_isAViolation(@TempDir Path directory) throws Exception {
        victimAsks();
        int file = FileDescriptors.openForReading(Files.writeString(directory.resolve("file"), "text"));
        hostileSends(new ControlMessage.Export(KEY, EPOCH, 0, PAGE, READ_WRITE, 0, file));
        FileDescriptors.close(file);
        assertViolation("can't be mapped");
    }

    @Test
    void descriptorOfAnEvent_isAViolation() throws Exception {
        victimAsks();
        try (EventFd event = new EventFd()) {
            hostileSends(new ControlMessage.Export(KEY, EPOCH, 0, PAGE, READ_WRITE, 0, event.fileDescriptor()));
        }
        assertViolation("can't be mapped");
    }

    @Test
    void hugeMemory_isTakenWithoutTouchingIt() throws Exception {
        CompletableFuture<Void> known = answerToVictim();
        try (MemoryFile file = file(1L << 40, SEALS)) {
            hostileSends(export(1L << 40, 0, file));
        }
        known.get(10, TimeUnit.SECONDS);
        assertThat(victim.imports.find(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN)).isNotNull();
    }

    @Test
    void holePunchedUnderAMapping_readsZero() throws Exception {
        CompletableFuture<Void> known = answerToVictim();
        try (MemoryFile file = file(PAGE, SEALS)) {
            hostileSends(export(PAGE, 0, file));
            known.get(10, TimeUnit.SECONDS);
            MemorySegment memory =
                    victim.imports.find(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN).memory();
            memory.set(ValueLayout.JAVA_INT, 8, 42);
            punchHole(file);
            assertThat(memory.get(ValueLayout.JAVA_INT, 8)).isZero();
            memory.set(ValueLayout.JAVA_INT, 8, 42);
        }
    }

    private static void punchHole(MemoryFile file) {
        int punchAndKeepSize = 3;
        try (CallFrame frame = CallFrame.enter()) {
            long result =
                    Downcall.call(Downcall.libc("fallocate"), frame, file.fileDescriptor(), punchAndKeepSize, 0, PAGE);
            assertThat((int) result).isZero();
        }
    }

    @Test
    void epochThatLies_leadsToAnotherQuestionAndNoEndlessOneOfOurOwn() throws Exception {
        for (int i = 0; i < 50; i++) {
            CompletableFuture<Void> known = answerToVictim();
            try (MemoryFile file = file(PAGE, SEALS)) {
                hostileSends(export(PAGE, 0, file));
            }
            known.get(10, TimeUnit.SECONDS);
            assertThat(victim.imports.find(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN)).isNotNull();
            setEpoch(KeyTable.slot(KEY), EPOCH + 1);
            assertThat(victim.imports.find(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN)).isNull();
            setEpoch(KeyTable.slot(KEY), EPOCH);
        }
        assertThat(victim.sentCount).hasValue(50);
        assertThat(victim.end).isNotDone();
    }

    @Test
    void revocation_ofWhatIsNotThereIsAnswered() throws Exception {
        hostileSends(new ControlMessage.Revoke(9, 9));
        hostileSends(new ControlMessage.Revoke(KeyTable.SLOTS, 0));
        assertViolation("a slot that no key has");
        assertThat(victim.sentCount).hasValue(1);
    }

    /** The key's epoch stays what it is, so that it tells nobody to stop. */
    @Test
    void revocationInTheMiddleOfAnAccess_waitsForItAndDisturbsNobody() throws Exception {
        for (int round = 0; round < 100; round++) {
            CompletableFuture<Void> known = answerToVictim();
            try (MemoryFile file = file(LARGE, SEALS)) {
                hostileSends(export(LARGE, 0, file));
            }
            known.get(10, TimeUnit.SECONDS);
            RemoteKey key = victim.imports.find(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN);
            CountDownLatch begun = new CountDownLatch(1);
            CompletableFuture<Boolean> interrupted = CompletableFuture.supplyAsync(() -> useWhileCurrent(key, begun));
            assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
            hostileSends(new ControlMessage.Revoke(KeyTable.slot(KEY), EPOCH));
            assertThat(interrupted.get(10, TimeUnit.SECONDS)).isFalse();
            assertThat(victim.imports.find(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN)).isNull();
            drain();
        }
        assertThat(victim.end).isNotDone();
    }

    /** As a queue pair does, which asks under the claim under which it goes on. */
    private boolean useWhileCurrent(RemoteKey key, CountDownLatch begun) {
        boolean current = true;
        while (current) {
            victim.using.acquire();
            try {
                current = key.isCurrent();
                if (current) {
                    key.memory().fill((byte) 1);
                    key.memory().set(ValueLayout.JAVA_BYTE, LARGE - 1, (byte) 2);
                }
            } finally {
                victim.using.release();
            }
            begun.countDown();
        }
        return Thread.currentThread().isInterrupted();
    }

    @Test
    void memoryGivenBackThatWasNotAskedBack_isAViolation() throws Exception {
        AllocatedMemory memory = victim.domain.allocateMemory(PAGE, READ_WRITE);
        int key = memory.region().remoteKey();
        hostileSends(new ControlMessage.Resolve(key, MemoryEnd.QUEUE_PAIR));
        hostileSends(new ControlMessage.Revoked(KeyTable.slot(key), victim.keys.remote(key).epoch));
        assertViolation("not asked back");
        memory.region().destroy();
    }

    @Test
    void questions_getMemoryForTheirOwnQueuePairAlone() throws Exception {
        AllocatedMemory memory = victim.domain.allocateMemory(PAGE, READ_WRITE);
        Random random = new Random(1);
        for (int i = 0; i < 1_000; i++) {
            hostileSends(new ControlMessage.Resolve(random.nextInt(), MemoryEnd.QUEUE_PAIR));
            hostileSends(new ControlMessage.Resolve(memory.region().remoteKey(), 6 + random.nextInt(1000)));
            drain();
        }
        assertThat(victim.end).isNotDone();
        assertThat(victim.exports.lentCount()).isZero();
        memory.region().destroy();
    }

    private void drain() throws IOException {
        ReceivedMessage message = new ReceivedMessage();
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment room = confined.allocate(ControlMessages.MAX_BYTES);
            while (sockets[1].receive(room, message) == UnixSocket.Receipt.MESSAGE) {
                assertThat(message.descriptorCount()).isZero();
            }
        }
    }

    @Test
    void peerThatKeepsMemory_delaysTheFirstDeregistrationOnly() throws Exception {
        AllocatedMemory[] memories = new AllocatedMemory[20];
        for (int i = 0; i < memories.length; i++) {
            memories[i] = victim.domain.allocateMemory(PAGE, READ_WRITE);
            hostileSends(new ControlMessage.Resolve(memories[i].region().remoteKey(), MemoryEnd.QUEUE_PAIR));
        }
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (victim.exports.lentCount() < memories.length && System.nanoTime() < deadline) {
            Thread.sleep(1);
        }
        long before = System.nanoTime();
        for (AllocatedMemory memory : memories) {
            memory.region().destroy();
        }
        assertThat(System.nanoTime() - before).isLessThan(TimeUnit.SECONDS.toNanos(5));
        assertThat(victim.keys.allocations().count()).isEqualTo(memories.length);
    }

    @Test
    void anyMessages_endThePairAtWorst() throws Exception {
        long seed = System.nanoTime();
        System.out.println("HostilePeerMemoryTest seed " + seed);
        Random random = new Random(seed);
        AllocatedMemory memory = victim.domain.allocateMemory(PAGE, READ_WRITE);
        try (MemoryFile sound = file(PAGE, SEALS);
                MemoryFile unsound = file(PAGE, 0)) {
            for (int i = 0; i < 500 && !victim.end.isDone(); i++) {
                victimAsks();
                hostileSends(anyMessage(random, memory, sound, unsound));
                setEpoch(KeyTable.slot(KEY), random.nextInt(3));
                RemoteKey key = victim.imports.find(KEY, MemoryEnd.QUEUE_PAIR, DOMAIN);
                if (key != null && key.memory() != null && !key.memory().isReadOnly()) {
                    touch(key);
                }
                drainAll();
            }
        }
        victim.endNow();
        if (victim.end.get() != null) {
            assertThat(victim.end.get()).isInstanceOf(ProtocolException.class);
        }
        memory.region().destroy();
    }

    private static void touch(RemoteKey key) {
        try {
            key.memory().set(ValueLayout.JAVA_BYTE, key.lengthBytes - 1, (byte) 1);
        } catch (IllegalStateException e) {
            // Revoked or replaced meanwhile, or the pair is dead.
            assertThat(e).hasMessageContaining("closed");
        }
    }

    private void drainAll() throws IOException {
        ReceivedMessage message = new ReceivedMessage();
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment room = confined.allocate(ControlMessages.MAX_BYTES);
            while (sockets[1].receive(room, message) == UnixSocket.Receipt.MESSAGE) {
                message.closeDescriptors();
            }
        }
    }

    private static ControlMessage anyMessage(
            Random random, AllocatedMemory memory, MemoryFile sound, MemoryFile unsound) throws VerbsException {
        int key = random.nextInt(8) == 0 ? random.nextInt() : KEY;
        int slot = random.nextInt(8) == 0 ? random.nextInt() & Integer.MAX_VALUE : KeyTable.slot(KEY);
        long length = random.nextInt(8) == 0 ? random.nextLong() & Long.MAX_VALUE : PAGE;
        long offset = random.nextInt(8) == 0 ? random.nextLong() & Long.MAX_VALUE : 0;
        MemoryFile file = random.nextInt(16) == 0 ? unsound : sound;
        return switch (random.nextInt(8)) {
            case 0 -> new ControlMessage.Foreign(key, random.nextInt(3), random.nextLong(), length, READ_WRITE);
            case 1 -> new ControlMessage.Invalid(key, MemoryEnd.QUEUE_PAIR);
            case 2 -> new ControlMessage.Revoke(slot, random.nextInt(3));
            case 3 -> new ControlMessage.Resolve(memory.region().remoteKey(), MemoryEnd.QUEUE_PAIR);
            case 4 ->
                random.nextInt(16) == 0 ? new ControlMessage.Revoked(slot, 1) : new ControlMessage.Revoke(slot, 1);
            default ->
                new ControlMessage.Export(
                        key,
                        random.nextInt(3),
                        random.nextLong(),
                        length,
                        random.nextBoolean() ? READ_WRITE : AccessFlags.REMOTE_READ,
                        offset,
                        file.fileDescriptor());
        };
    }
}
