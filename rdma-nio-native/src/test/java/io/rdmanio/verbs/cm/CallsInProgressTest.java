package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.FakeEngine;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.TakenEvent;
import io.rdmanio.verbs.spi.VerbsAccess;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What must wait while a call on an id is inside the library, as connect is for seconds on iWARP. */
@ExtendWith(LeakCheck.class)
class CallsInProgressTest {
    private static final int TIMEOUT_SECONDS = 10;
    private static final int A_WHILE_MILLIS = 100;
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(1, 1, 1, 1, 0);

    private final FakeEngine fake = new FakeEngine();
    private final RdmaEngine engine = VerbsAccess.get().newEngine(fake);
    private final ContextHandle context = fake.open("fake0");
    private final CountDownLatch connecting = new CountDownLatch(1);
    private final CountDownLatch connected = new CountDownLatch(1);
    private EventChannel channel;
    private CommunicationId id;

    /** An id with a device, whose connect takes until {@link #connected} is counted down. */
    @BeforeEach
    void takeId() throws VerbsException {
        channel = EventChannel.open(engine);
        channel.createId(PortSpace.TCP);
        fake.events.add(new TakenEvent(
                1, CommunicationEventType.CONNECT_REQUEST, 0, 1, handle(fake.newId("busy")), new byte[0], null));
        try (CommunicationEvent request = channel.takeEvent()) {
            id = request.id();
        }
        fake.journal.clear();
    }

    private CommunicationIdHandle handle(CommunicationIdHandle rest) {
        return proxy(CommunicationIdHandle.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "connect" -> {
                connecting.countDown();
                assertThat(connected.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
                fake.journal.add("connected");
                yield null;
            }
            case "device" -> context;
            case "protectionDomain" -> null;
            case "createQueuePair" -> queuePair();
            default -> method.invoke(rest, arguments);
        });
    }

    private QueuePairHandle queuePair() {
        return proxy(QueuePairHandle.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "number", "asyncElement" -> method.getReturnType() == int.class ? (Object) 1 : (Object) 1L;
            case "capabilities" -> CAPABILITIES;
            case "destroy" -> {
                fake.journal.add("destroy queue pair");
                yield null;
            }
            default -> {
                if (!method.isDefault()) {
                    throw new UnsupportedOperationException(method.getName());
                }
                yield InvocationHandler.invokeDefault(proxy, method, arguments);
            }
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(CallsInProgressTest.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** Runs something while connect is under way, and sees that it ends after connect and not before. */
    private void waitsForConnect(Callable<?> action) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<?> connect = threads.submit(() -> {
                id.connect(ConnectionParameters.DEFAULT, null);
                return null;
            });
            assertThat(connecting.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
            Future<?> other = threads.submit(action);
            assertThatThrownBy(() -> other.get(A_WHILE_MILLIS, TimeUnit.MILLISECONDS))
                    .isInstanceOf(TimeoutException.class);
            assertThat(fake.journal).isEmpty();
            connected.countDown();
            connect.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            other.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertThat(fake.journal).startsWith("connected");
        } finally {
            connected.countDown();
        }
    }

    @Test
    void migrate_leavesTheChannelToTheCallsThatUseIt() throws Exception {
        try (EventChannel second = EventChannel.open(engine)) {
            waitsForConnect(() -> {
                id.migrate(second);
                channel.close();
                return null;
            });
            assertThat(id.channel()).isSameAs(second);
        }
    }

    @Test
    void closeOfTheQueuePair_leavesItToTheCallsThatUseIt() throws Exception {
        try (EventChannel toClose = channel;
                ProtectionDomain domain = id.device().allocateProtectionDomain();
                CompletionQueue queue = id.device().createCompletionQueue(1, null)) {
            QueuePair pair = id.createQueuePair(
                    domain,
                    QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTED, CAPABILITIES)
                            .withCompletionQueue(queue));
            waitsForConnect(() -> {
                pair.close();
                return null;
            });
            assertThat(fake.journal).containsExactly("connected", "destroy queue pair");
            assertThat(toClose).isSameAs(id.channel());
        }
    }

    @Test
    void callAfterTheCloseOfTheQueuePair_goesWithoutIt() throws Exception {
        connected.countDown();
        try (EventChannel toClose = channel;
                ProtectionDomain domain = id.device().allocateProtectionDomain();
                CompletionQueue queue = id.device().createCompletionQueue(1, null)) {
            QueuePair pair = id.createQueuePair(
                    domain,
                    QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTED, CAPABILITIES)
                            .withCompletionQueue(queue));
            pair.close();
            id.connect(ConnectionParameters.DEFAULT, null);
            assertThat(fake.journal).containsExactly("destroy queue pair", "connected");
            assertThat(toClose).isSameAs(id.channel());
        }
    }
}
