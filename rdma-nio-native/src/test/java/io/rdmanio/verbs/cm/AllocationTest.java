package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The path of a message allocates nothing in Java, by the JVM's own count. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class AllocationTest {
    private static final int ROUNDS = 6;
    private static final int MESSAGES = 2_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    // A call that saves errno makes the JDK take a slice of the memory for it. The server compiler removes that; a JVM
    // that
    // stops at the client compiler, as in the lab, does not.
    private static final long ERRNO_SLICE_BYTES = 40;
    // The program takes an event in vain, waits, and takes it; whoever makes it, rings; and all that may happen once
    // more.
    private static final long MAX_CALLS_PER_NOTIFICATION = 8;

    private interface Message {
        void exchange() throws IOException;
    }

    @BeforeAll
    static void useDevice() {
        TestDevice.use();
    }

    /** The least of several rounds: until all is compiled, the JVM itself allocates for method handles. */
    private static long allocatedBytes(Message message) throws IOException {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < MESSAGES; i++) {
                message.exchange();
            }
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }

    @Test
    void postAndPoll_allocateNothing() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            Endpoint client = pair.client;
            Endpoint server = pair.server;
            long bytes = allocatedBytes(() -> {
                client.pair.postSend(client.prepare(SendOpcode.SEND, SendFlags.SIGNALED, 0, 8));
                pollOne(server.queue, server);
                server.postReceive(1, 0, 8);
                pollOne(client.queue, client);
            });
            assertThat(bytes).as("bytes allocated for %d messages", MESSAGES).isZero();
        }
    }

    @Test
    void notification_allocatesNoMoreThanTheJdkForErrno() throws IOException {
        try (ConnectedPair pair = new ConnectedPair()) {
            Endpoint client = pair.client;
            Endpoint server = pair.server;
            long bytes = allocatedBytes(() -> {
                client.queue.requestNotification(false);
                client.pair.postSend(client.prepare(SendOpcode.WRITE, SendFlags.SIGNALED, 0, 8)
                        .remote(server.region.address(), server.region.remoteKey()));
                while (client.channel.takeEvent() == null) {
                    Poll.awaitReadable(client.channel.fileDescriptor(), -1, 1000);
                }
                pollOne(client.queue, client);
            });
            assertThat(bytes)
                    .as("bytes allocated for %d notifications", MESSAGES)
                    .isLessThanOrEqualTo(MESSAGES * MAX_CALLS_PER_NOTIFICATION * ERRNO_SLICE_BYTES);
        }
    }

    private static void pollOne(CompletionQueue queue, Endpoint endpoint) throws IOException {
        while (queue.poll(endpoint.completions) == 0) {
            Thread.onSpinWait();
        }
        if (!endpoint.completions.succeeded(0)) {
            throw new AssertionError("status " + endpoint.completions.status(0));
        }
    }
}
