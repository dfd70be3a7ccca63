package io.rdmanio.verbs.soft;

import io.rdmanio.linux.SystemCallException;
import io.rdmanio.linux.WakePipe;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionChannelHandle;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A completion channel: a pipe that this process and the peers of its queue pairs write to. It says that something
 * happened; what, say the requests for events that have been taken.
 *
 * <p>Thread safety: all methods may be called by any thread; {@code takeEvent} by one at a time. The array of queues is
 * copied when it changes, under this object's monitor.
 */
final class SoftCompletionChannel implements CompletionChannelHandle {
    private static final SoftCompletionQueue[] NONE = {};

    private final WakePipe event;
    // The process pairs whose peers can fire.
    private final Set<ProcessPair> told = ConcurrentHashMap.newKeySet();
    private volatile SoftCompletionQueue[] queues = NONE;
    // Where the taker goes on, so that no queue starves.
    private int nextIndex;

    SoftCompletionChannel() throws VerbsException {
        try {
            event = new WakePipe();
        } catch (SystemCallException e) {
            throw SoftContext.failure("ibv_create_comp_channel", "", e.errno(), e);
        }
    }

    @Override
    public int fileDescriptor() {
        return event.fileDescriptor();
    }

    /**
     * Opens a way to fire, to be sent to another process.
     *
     * @return a descriptor of its own, to be closed by the caller once it is sent
     * @throws SystemCallException when no descriptor is left
     */
    int openOtherEnd() throws SystemCallException {
        return event.openOtherEnd();
    }

    /**
     * The number by which the peer of a process pair knows this channel; it is told when it doesn't.
     *
     * @param pair the pair
     * @return the number
     * @throws IOException when no number or descriptor is left
     */
    int indexFor(ProcessPair pair) throws IOException {
        told.removeIf(ProcessPair::isDead);
        told.add(pair);
        return pair.doorbellIndexOf(this);
    }

    /** Makes the descriptor readable. */
    void fire() {
        event.signal();
    }

    synchronized void add(SoftCompletionQueue queue) {
        SoftCompletionQueue[] more = Arrays.copyOf(queues, queues.length + 1);
        more[queues.length] = queue;
        queues = more;
    }

    synchronized void remove(SoftCompletionQueue queue) {
        queues = Arrays.stream(queues).filter(other -> other != queue).toArray(SoftCompletionQueue[]::new);
    }

    @Override
    public long takeEvent() {
        // What happens after this makes the descriptor readable anew.
        event.drain();
        SoftCompletionQueue[] snapshot = queues;
        int start = nextIndex;
        long taken = 0;
        for (int i = 0; i < snapshot.length; i++) {
            int index = (start + i) % snapshot.length;
            SoftCompletionQueue queue = snapshot[index];
            if (taken != 0) {
                if (queue.hasEvent()) {
                    event.signal();
                    break;
                }
            } else if (queue.takeEvent()) {
                taken = queue.token();
                nextIndex = index + 1;
            }
        }
        return taken;
    }

    @Override
    public void destroy() {
        told.forEach(pair -> pair.forgetDoorbell(this));
        event.close();
    }
}
