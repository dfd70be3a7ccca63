package io.rdmanio.stream;

import io.rdmanio.verbs.CompletionQueueGroup;
import io.rdmanio.verbs.RdmaEngine;
import java.io.IOException;

/**
 * The completion queues that the event loop watches: those of connections that go on by themselves, and of those that several
 * wait for, or somebody who can't watch a group. Used by the event loop's thread; connections join by any.
 */
final class LoopGroup {
    private static final int TOLD_AT_ONCE = 64;

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
        do {
            int count = group.take(told);
            for (int i = 0; i < count; i++) {
                ((StreamConnection) told[i]).descriptorReady();
                told[i] = null;
            }
        } while (!group.prepareToSleep());
    }
}
