package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.DeviceAttributes;
import io.rdmanio.verbs.DeviceInfo;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.PortAttributes;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.PortSpace;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;

/**
 * An engine that does nothing but record what the objects in front of it ask for, and hand out the events that a test
 * put into it. Not thread-safe.
 */
public final class FakeEngine implements VerbsEngine {
    /** What happened, in order: "destroy id 1", "acknowledge 7". */
    public final List<String> journal = new ArrayList<>();
    /** Events of the event channel, to be taken. */
    public final Queue<TakenEvent> events = new ArrayDeque<>();
    /** Tokens of completion queues with events, to be taken. */
    public final Queue<Long> completionEvents = new ArrayDeque<>();
    /** Asynchronous events, to be taken. */
    public final Queue<TakenAsyncEvent> asyncEvents = new ArrayDeque<>();
    /** What the next queue's asynchronous events carry; one more with each queue. */
    public long nextElement = 1;
    /** Runs inside each destroy of a queue. */
    public Runnable duringDestroy = () -> {};
    /** How the next reregistration ends. */
    public ReregisterResult reregistration = ReregisterResult.DONE;
    /** Runs inside every poll of a completion queue. */
    public Runnable duringPoll = () -> {};
    /** Runs inside every resize of a completion queue. */
    public Runnable duringResize = () -> {};
    /** The next destroy fails with this error number, unless it is 0. */
    public int failNextDestroy;

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public Optional<String> unavailableReason() {
        return Optional.empty();
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of();
    }

    private void destroy(String what) throws VerbsException {
        if (what.startsWith("queue")) {
            duringDestroy.run();
        }
        if (failNextDestroy != 0) {
            int errno = failNextDestroy;
            failNextDestroy = 0;
            throw new VerbsException("destroy", what, errno, "");
        }
        journal.add("destroy " + what);
    }

    @Override
    public ContextHandle open(String deviceName) {
        return new Context();
    }

    @Override
    public EventChannelHandle openEventChannel() {
        return new EventChannel();
    }

    /** An id that can be named and destroyed and nothing else. */
    public CommunicationIdHandle newId(String name) {
        return (CommunicationIdHandle) Proxy.newProxyInstance(
                FakeEngine.class.getClassLoader(),
                new Class<?>[] {CommunicationIdHandle.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "setToken" -> {
                        journal.add("id " + name + " gets token " + arguments[0]);
                        yield null;
                    }
                    case "migrate" -> {
                        journal.add("migrate id " + name);
                        yield null;
                    }
                    case "destroy" -> {
                        destroy("id " + name);
                        yield null;
                    }
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private final class EventChannel implements EventChannelHandle {
        @Override
        public int fileDescriptor() {
            return -1;
        }

        @Override
        public TakenEvent takeEvent() {
            return events.poll();
        }

        @Override
        public void acknowledge(TakenEvent event) {
            journal.add("acknowledge " + event.key());
        }

        @Override
        public CommunicationIdHandle createId(PortSpace space, long token) {
            return newId(String.valueOf(token));
        }

        @Override
        public void destroy() throws VerbsException {
            FakeEngine.this.destroy("event channel");
        }
    }

    private final class Region implements MemoryRegionHandle {
        private int key = 1;

        @Override
        public int localKey() {
            return key;
        }

        @Override
        public int remoteKey() {
            return -key;
        }

        @Override
        public ReregisterResult reregister(
                int changes, ProtectionDomainHandle domain, long address, long lengthBytes, int accessFlags) {
            journal.add("reregister " + changes + (domain == null ? "" : " domain") + (address == 0 ? "" : " memory")
                    + " " + lengthBytes + " " + accessFlags);
            key++;
            return reregistration;
        }

        @Override
        public void destroy() throws VerbsException {
            FakeEngine.this.destroy("region");
        }
    }

    private final class Context implements ContextHandle {
        @Override
        public String name() {
            return "fake0";
        }

        @Override
        public TransportType transport() {
            return TransportType.UNKNOWN;
        }

        @Override
        public DeviceAttributes queryDevice() {
            throw new UnsupportedOperationException();
        }

        @Override
        public PortAttributes queryPort(int port) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Gid queryGid(int port, int index) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ProtectionDomainHandle allocateProtectionDomain() {
            return new ProtectionDomainHandle() {
                @Override
                public MemoryRegionHandle registerMemory(long address, long lengthBytes, int accessFlags) {
                    return new Region();
                }

                @Override
                public void destroy() throws VerbsException {
                    FakeEngine.this.destroy("domain");
                }
            };
        }

        @Override
        public TakenAsyncEvent takeAsyncEvent() {
            return asyncEvents.poll();
        }

        @Override
        public void acknowledgeAsyncEvent(TakenAsyncEvent event) {
            journal.add("acknowledge " + event.type() + " of " + event.element());
        }

        @Override
        public CompletionChannelHandle createCompletionChannel() {
            return new CompletionChannelHandle() {
                @Override
                public int fileDescriptor() {
                    return -1;
                }

                @Override
                public long takeEvent() {
                    Long token = completionEvents.poll();
                    return token == null ? 0 : token;
                }

                @Override
                public void destroy() throws VerbsException {
                    FakeEngine.this.destroy("channel");
                }
            };
        }

        @Override
        public CompletionQueueHandle createCompletionQueue(
                int depthEntries, CompletionChannelHandle channel, long token) {
            long element = nextElement++;
            return new CompletionQueueHandle() {
                private int depth = depthEntries;

                @Override
                public long asyncElement() {
                    return element;
                }

                @Override
                public int poll(int capacity, MemorySegment completions) {
                    duringPoll.run();
                    return 0;
                }

                @Override
                public int requestNotification(boolean solicitedOnly) {
                    return 0;
                }

                @Override
                public int depthEntries() {
                    return depth;
                }

                @Override
                public void resize(int newDepthEntries) {
                    duringResize.run();
                    depth = newDepthEntries + 1;
                }

                @Override
                public void acknowledgeEvents(int events) {
                    journal.add("acknowledge queue " + token + " x" + events);
                }

                @Override
                public void destroy() throws VerbsException {
                    FakeEngine.this.destroy("queue " + token);
                }
            };
        }

        @Override
        public void destroy() throws VerbsException {
            FakeEngine.this.destroy("context");
        }
    }
}
