package io.rdmanio.lab.verbs;

import io.rdmanio.verbs.cm.CommunicationEvent;
import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.EventChannel;
import java.io.IOException;

/** How the programs wait for events of the connection manager. Stateless. */
final class Waiting {
    /** How long a peer may take for what it is expected to do. */
    static final int PATIENCE_MILLIS = 30_000;

    private Waiting() {}

    /** The next event, whenever it comes; the caller closes it. */
    static CommunicationEvent next(EventChannel channel) throws IOException {
        CommunicationEvent event;
        do {
            event = channel.awaitEvent(PATIENCE_MILLIS);
        } while (event == null);
        return event;
    }

    /** The next event, which must come in time and be of this type; the caller closes it. */
    static CommunicationEvent next(EventChannel channel, CommunicationEventType type) throws IOException {
        CommunicationEvent event = channel.awaitEvent(PATIENCE_MILLIS);
        if (event == null) {
            throw new IOException("no " + type + " within " + PATIENCE_MILLIS + " ms");
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
