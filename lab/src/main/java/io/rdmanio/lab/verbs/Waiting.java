package io.rdmanio.lab.verbs;

import io.rdmanio.linux.Poll;
import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.EventChannel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** How the programs wait for events of the connection manager. Stateless. */
final class Waiting {
    /** How long a peer may take for what it is expected to do. */
    static final int PATIENCE_MILLIS = 30_000;

    private Waiting() {}

    /** The next event, whenever it comes; the caller closes it. */
    static CommunicationEvent next(EventChannel channel) throws IOException {
        CommunicationEvent event = channel.takeEvent();
        while (event == null) {
            Poll.awaitReadable(channel.fileDescriptor(), -1, -1);
            event = channel.takeEvent();
        }
        return event;
    }

    /** The next event, which must come in time and be of this type; the caller closes it. */
    static CommunicationEvent next(EventChannel channel, CommunicationEventType type) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        CommunicationEvent event = channel.takeEvent();
        while (event == null) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("no " + type + " within " + PATIENCE_MILLIS + " ms");
            }
            Poll.awaitReadable(channel.fileDescriptor(), -1, PATIENCE_MILLIS);
            event = channel.takeEvent();
        }
        if (event.type() != type) {
            event.close();
            throw new IOException("expected " + type + ", got " + event);
        }
        return event;
    }

    /** Takes the next event, which must come in time and be of this type, and acknowledges it. */
    static void expect(EventChannel channel, CommunicationEventType type) throws IOException {
        next(channel, type).close();
    }
}
