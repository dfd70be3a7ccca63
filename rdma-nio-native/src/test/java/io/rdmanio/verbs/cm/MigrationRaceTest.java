package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A channel is closed while an id moves away from it: the id is closed with the old channel, or lives in the new one. */
@ExtendWith(LeakCheck.class)
class MigrationRaceTest {
    private static final int ROUNDS = 2_000;
    private static final int TIMEOUT_SECONDS = 30;

    @Test
    void migrate_whileTheOldChannelClosesLosesNoId() throws Exception {
        int moved = 0;
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            CyclicBarrier start = new CyclicBarrier(2);
            for (int round = 0; round < ROUNDS; round++) {
                FakeEngine fake = new FakeEngine();
                RdmaEngine engine = VerbsAccess.get().newEngine(fake);
                EventChannel source = EventChannel.open(engine);
                EventChannel target = EventChannel.open(engine);
                CommunicationId id = source.createId(PortSpace.TCP);
                Future<?> closing = other.submit(() -> {
                    start.await();
                    source.close();
                    return null;
                });
                start.await();
                boolean migrated = migrate(id, target);
                closing.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
                assertThat(id.life().isClosed()).isEqualTo(!migrated);
                moved += migrated ? 1 : 0;
                target.close();
                assertThat(id.life().isClosed()).isTrue();
                List<String> journal = List.copyOf(fake.journal);
                assertThat(Collections.frequency(journal, "destroy id 1")).isEqualTo(1);
            }
        }
        assertThat(moved).isBetween(0, ROUNDS);
    }

    private static boolean migrate(CommunicationId id, EventChannel target) throws VerbsException {
        try {
            id.migrate(target);
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    @Test
    void migrateBothWays_atTheSameTimeEnds() throws Exception {
        RdmaEngine engine = VerbsAccess.get().newEngine(new FakeEngine());
        try (ExecutorService other = Executors.newSingleThreadExecutor();
                EventChannel first = EventChannel.open(engine);
                EventChannel second = EventChannel.open(engine)) {
            CommunicationId a = first.createId(PortSpace.TCP);
            CommunicationId b = second.createId(PortSpace.TCP);
            Future<?> moving = other.submit(() -> {
                for (int i = 0; i < ROUNDS; i++) {
                    a.migrate(i % 2 == 0 ? second : first);
                }
                return null;
            });
            for (int i = 0; i < ROUNDS; i++) {
                b.migrate(i % 2 == 0 ? first : second);
            }
            moving.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertThat(a.channel()).isSameAs(first);
            assertThat(b.channel()).isSameAs(second);
        }
    }
}
