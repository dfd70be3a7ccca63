package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Memory of a shared receive queue whose queue pairs are of another domain. */
@Timeout(60)
class SharedReceiveMemoryTest {
    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    @Test
    void deregister_waitsForAQueuePairOfAnotherDomainThatReceivesThere() throws Exception {
        SoftContext context = new SoftContext(SoftHost.startAnother());
        ProtectionDomainHandle receiving = context.allocateProtectionDomain();
        ProtectionDomainHandle connecting = context.allocateProtectionDomain();
        SharedReceiveQueueHandle shared = receiving.createSharedReceiveQueue(new SharedReceiveQueueAttributes(4, 1, 0));
        CompletionQueueHandle queue = context.createCompletionQueue(4, null, 1);
        SoftQueuePair queuePair = (SoftQueuePair) connecting.createQueuePair(new QueuePairRequest(
                QueuePairType.RELIABLE_CONNECTED,
                new QueuePairCapabilities(1, 0, 1, 0, 0),
                queue,
                queue,
                true,
                shared,
                null));
        MemoryRegionHandle region = receiving
                .allocateMemory(1, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE)
                .region();
        // As whoever is about to place a message does.
        queuePair.inbound().claim().acquire();
        CompletableFuture<Void> destroyed;
        try {
            destroyed = CompletableFuture.runAsync(() -> destroy(region));
            Thread.sleep(200);
            assertThat(destroyed).isNotDone();
        } finally {
            queuePair.inbound().claim().release();
        }
        destroyed.get(10, TimeUnit.SECONDS);
        queuePair.destroy();
        shared.destroy();
        queue.destroy();
        connecting.destroy();
        receiving.destroy();
        context.destroy();
    }

    private static void destroy(MemoryRegionHandle region) {
        try {
            region.destroy();
        } catch (VerbsException e) {
            throw new AssertionError(e);
        }
    }
}
