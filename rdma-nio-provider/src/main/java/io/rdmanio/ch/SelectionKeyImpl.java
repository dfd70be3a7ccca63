package io.rdmanio.ch;

import io.rdmanio.stream.ReadinessSource;
import io.rdmanio.stream.Watch;
import io.rdmanio.verbs.CompletionQueueGroup;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectionKey;

/**
 * A channel's registration with a selector. The interest set may be changed by any thread and takes effect with the next
 * selection; the ready set and what the selector keeps here are guarded by the selector's lock. Thread-safe.
 */
final class SelectionKeyImpl extends AbstractSelectionKey {
    private static final VarHandle INTEREST;

    static {
        try {
            INTEREST = MethodHandles.lookup().findVarHandle(SelectionKeyImpl.class, "interest", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The key's place in the selector's queue. */
    static final class KeyNode extends ReadyQueue.Node {
        final SelectionKeyImpl key;

        private KeyNode(SelectionKeyImpl key) {
            this.key = key;
        }
    }

    /** The key's eye on its channel. */
    static final class KeyWatch extends Watch {
        final SelectionKeyImpl key;

        private KeyWatch(SelectionKeyImpl key) {
            this.key = key;
        }

        @Override
        public CompletionQueueGroup group() {
            return key.selector.group();
        }

        @Override
        protected void ready() {
            key.enqueue();
        }
    }

    private final SelectableChannel channel;
    private final RdmaSelectorImpl selector;
    private final KeyNode node = new KeyNode(this);

    final Watch watch = new KeyWatch(this);

    private volatile int interest;
    private volatile int ready;

    // begin: guarded by the selector's lock
    /** The interest set that the current selection goes by. */
    int appliedInterest;

    /** What the last look at the channel found ready. */
    int foundReady;

    /** Place in the selector's list of ready keys, -1 if not in it. */
    int activeIndex = -1;

    ReadinessSource source;
    int descriptor = -1;
    boolean deregistered;
    // end

    /** Whether the selector has been told of a change of interest; guarded by its update lock. */
    boolean updateQueued;

    SelectionKeyImpl(SelectableChannel channel, RdmaSelectorImpl selector) {
        this.channel = channel;
        this.selector = selector;
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    SelectableRdmaChannel rdmaChannel() {
        return (SelectableRdmaChannel) channel;
    }

    @Override
    public Selector selector() {
        return selector;
    }

    private void ensureValid() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    private void ensureSupported(int ops) {
        if ((ops & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException("operations 0x" + Integer.toHexString(ops) + " are not of this channel");
        }
    }

    @Override
    public int interestOps() {
        ensureValid();
        return interest;
    }

    @Override
    public SelectionKey interestOps(int ops) {
        ensureValid();
        ensureSupported(ops);
        changed((int) INTEREST.getAndSet(this, ops), ops);
        return this;
    }

    @Override
    public int interestOpsOr(int ops) {
        ensureValid();
        ensureSupported(ops);
        int before = (int) INTEREST.getAndBitwiseOr(this, ops);
        changed(before, before | ops);
        return before;
    }

    @Override
    public int interestOpsAnd(int ops) {
        ensureValid();
        int before = (int) INTEREST.getAndBitwiseAnd(this, ops);
        changed(before, before & ops);
        return before;
    }

    private void changed(int before, int after) {
        if (before != after) {
            selector.interestChanged(this);
        }
    }

    /** The interest set of a key that may be cancelled. */
    int currentInterest() {
        return interest;
    }

    @Override
    public int readyOps() {
        ensureValid();
        return ready;
    }

    /** Replaces the ready set by what was found. */
    void setReady(int ops) {
        ready = ops;
    }

    /** Adds what was found to the ready set; tells whether it grew. */
    boolean addReady(int ops) {
        int before = ready;
        int after = before | ops;
        ready = after;
        return after != before;
    }

    /** Has the selector look at the channel again, waking it if it sleeps. Callable under any lock. */
    void enqueue() {
        selector.enqueue(node);
    }
}
