package io.rdmanio.verbs.soft;

import io.rdmanio.linux.SystemCallException;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionChannelHandle;
import java.util.Arrays;

/**
 * A completion channel: a pipe that this process and the peers of its queue pairs write to. It says that something
 * happened; what, say the requests for events that have been taken.
 *
 * <p>Thread safety: all methods may be called by any thread; {@code takeEvent} by one at a time. The array of queues is
 * copied when it changes, under this object's monitor.
 */
final class SoftCompletionChannel implements CompletionChannelHandle {
    private static final SoftCompletionQueue[] NONE = {};

    private final OwnDoorbell doorbell;
    private volatile SoftCompletionQueue[] queues = NONE;
    // Where the taker goes on, so that no queue starves.
    private int nextIndex;

    SoftCompletionChannel() throws VerbsException {
        try {
            doorbell = new OwnDoorbell();
        } catch (SystemCallException e) {
            throw SoftContext.failure("ibv_create_comp_channel", "", e.errno(), e);
        }
    }

    @Override
    public int fileDescriptor() {
        return doorbell.fileDescriptor();
    }

    /** What peers ring. */
    OwnDoorbell doorbell() {
        return doorbell;
    }

    /** Makes the descriptor readable. */
    void fire() {
        doorbell.ring();
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
        doorbell.drain();
        SoftCompletionQueue[] snapshot = queues;
        int start = nextIndex;
        long taken = 0;
        for (int i = 0; i < snapshot.length; i++) {
            int index = (start + i) % snapshot.length;
            SoftCompletionQueue queue = snapshot[index];
            if (taken != 0) {
                if (queue.hasEvent()) {
                    doorbell.ring();
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
        doorbell.close();
    }
}
