package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.RdmaEngine;
import io.rdmanio.verbs.spi.CommunicationIdHandle;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.EventChannelHandle;
import io.rdmanio.verbs.spi.ProtectionDomainHandle;
import io.rdmanio.verbs.spi.QueuePairHandle;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import io.rdmanio.verbs.spi.TakenAsyncEvent;
import io.rdmanio.verbs.spi.TakenEvent;
import io.rdmanio.verbs.spi.VerbsAccess;
import io.rdmanio.verbs.spi.VerbsEngine;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;

/**
 * The real engine, with events of its device and of its connection manager that never happened. Not thread-safe.
 */
final class InjectingEngine {
    // Keys of events that were made up; those of the real engine are addresses.
    private static final long MADE_UP = -1;

    /** Asynchronous events to be taken before real ones. */
    final Queue<TakenAsyncEvent> asyncEvents = new ArrayDeque<>();
    /** Types of connection manager events to be taken before real ones, for the id created last. */
    final Queue<CommunicationEventType> events = new ArrayDeque<>();
    /** How many made up events were acknowledged. */
    int acknowledged;
    /** What the asynchronous events of the last queue pair carry. */
    long queuePair;
    /** What the asynchronous events of the last completion queue carry. */
    long completionQueue;
    /** What the asynchronous events of the last shared receive queue carry. */
    long sharedReceiveQueue;

    private final Map<Object, Object> proxies = new HashMap<>();
    private final Map<TakenAsyncEvent, Integer> madeUp = new HashMap<>();
    private long lastToken;

    RdmaEngine engine() {
        VerbsEngine real = VerbsAccess.get().engine(TestDevice.engine());
        return VerbsAccess.get().newEngine((VerbsEngine) wrap(real, VerbsEngine.class));
    }

    private Object wrap(Object real, Class<?> type) {
        return proxies.computeIfAbsent(
                real,
                key -> Proxy.newProxyInstance(
                        InjectingEngine.class.getClassLoader(), new Class<?>[] {type}, new Handler(key)));
    }

    /** Passes calls on to the real object. */
    private final class Handler implements java.lang.reflect.InvocationHandler {
        private final Object real;

        Handler(Object real) {
            this.real = real;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            Object[] values = arguments == null ? new Object[0] : arguments.clone();
            switch (method.getName()) {
                case "takeAsyncEvent" -> {
                    if (!asyncEvents.isEmpty()) {
                        madeUp.merge(asyncEvents.peek(), 1, Integer::sum);
                        return asyncEvents.poll();
                    }
                }
                case "acknowledgeAsyncEvent" -> {
                    if (madeUp.getOrDefault((TakenAsyncEvent) values[0], 0) > 0) {
                        madeUp.merge((TakenAsyncEvent) values[0], -1, Integer::sum);
                        acknowledged++;
                        return null;
                    }
                }
                case "takeEvent" -> {
                    if (!events.isEmpty()) {
                        return new TakenEvent(MADE_UP, events.poll(), 0, lastToken, null, new byte[0], null);
                    }
                }
                case "acknowledge" -> {
                    if (((TakenEvent) values[0]).key() == MADE_UP) {
                        acknowledged++;
                        return null;
                    }
                }
                case "createId" -> lastToken = (Long) values[1];
                case "setToken" -> lastToken = (Long) values[0];
                default -> {
                    // Nothing to do with events.
                }
            }
            for (int i = 0; i < values.length; i++) {
                if (values[i] != null
                        && Proxy.isProxyClass(values[i].getClass())
                        && Proxy.getInvocationHandler(values[i]) instanceof Handler handler) {
                    values[i] = handler.real;
                }
            }
            try {
                return result(method.invoke(real, values));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private Object result(Object value) {
            return switch (value) {
                case ContextHandle context -> wrap(context, ContextHandle.class);
                case EventChannelHandle channel -> wrap(channel, EventChannelHandle.class);
                case CommunicationIdHandle id -> wrap(id, CommunicationIdHandle.class);
                case ProtectionDomainHandle domain -> wrap(domain, ProtectionDomainHandle.class);
                case TakenEvent event
                when event.newId() != null ->
                    new TakenEvent(
                            event.key(),
                            event.type(),
                            event.status(),
                            event.idToken(),
                            (CommunicationIdHandle) wrap(event.newId(), CommunicationIdHandle.class),
                            event.privateData(),
                            event.connectionParameters());
                case CompletionQueueHandle queue -> {
                    completionQueue = queue.asyncElement();
                    yield queue;
                }
                case QueuePairHandle pair -> {
                    queuePair = pair.asyncElement();
                    yield pair;
                }
                case SharedReceiveQueueHandle queue -> {
                    sharedReceiveQueue = queue.asyncElement();
                    yield queue;
                }
                case null, default -> value;
            };
        }
    }
}
