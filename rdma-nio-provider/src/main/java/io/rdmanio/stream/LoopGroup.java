package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.RdmaEngine;
import java.io.IOException;
import java.lang.System.Logger.Level;

/**
 * The completion queues that the event loop watches: those of connections that go on by themselves, and of those that several
 * wait for, or somebody who can't watch a group. Used by the event loop's thread; connections join by any.
 */
final class LoopGroup {
    private static final System.Logger LOG = System.getLogger(LoopGroup.class.getName());
    private static final int TOLD_AT_ONCE = 64;

    /** After so many the event loop's other descriptors have their turn. */
    private static final int ROUNDS = 8;

    private final CompletionQueueGroup group;
    private final Object[] told = new Object[TOLD_AT_ONCE];

    private LoopGroup(CompletionQueueGroup group) {
        this.group = group;
    }

    /** Opens a group that the event loop watches from now on. */
    static LoopGroup start(RdmaEngine engine) throws IOException {
        CompletionQueueGroup group = CompletionQueueGroup.open(engine);
        LoopGroup watched = new LoopGroup(group);
        try {
            boolean empty = group.prepareToSleep();
            assert empty;
            EventLoop.Registration forEver =
                    EventLoop.get().register(group.fileDescriptor(), false, watched::handleTold);
            assert forEver != null;
        } catch (IOException e) {
            group.close();
            throw e;
        }
        return watched;
    }

    CompletionQueueGroup group() {
        return group;
    }

    private void handleTold() {
        group.drain();
        group.awake();
        for (int round = 0; round < ROUNDS; round++) {
            int count = group.take(told);
            for (int i = 0; i < count; i++) {
                tell((StreamConnection) told[i]);
                told[i] = null;
            }
            if (group.prepareToSleep()) {
                return;
            }
        }
        group.signal();
    }

    private static void tell(StreamConnection connection) {
        try {
            connection.descriptorReady();
        } catch (RuntimeException | Error e) {
            // a bug in what one connection makes of it must not end the others; it is told loudly
            LOG.log(Level.ERROR, "The handler of what " + connection + " was told failed", e);
        }
    }
}
