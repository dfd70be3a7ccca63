package io.rdmanio.ch;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * What java.nio says of every selector: key sets, their locks, cancellation, selection with and without an action. How
 * readiness is found is the subclass's.
 *
 * <p>Thread-safe as {@link Selector} says: a selection holds this selector's monitor, then that of its selected-key set.
 * Registration takes neither, so it does not wait for a selection in progress.
 */
abstract class SelectorImpl extends AbstractSelector {
    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> publicKeys = Collections.unmodifiableSet(keys);

    // begin: guarded by this and publicSelectedKeys
    private final Set<SelectionKey> selectedKeys = new HashSet<>();
    private boolean selecting;
    // end

    private final Set<SelectionKey> publicSelectedKeys = new UngrowableSet<>(selectedKeys);

    SelectorImpl(SelectorProvider provider) {
        super(provider);
    }

    private void ensureOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    @Override
    public final Set<SelectionKey> keys() {
        ensureOpen();
        return publicKeys;
    }

    @Override
    public final Set<SelectionKey> selectedKeys() {
        ensureOpen();
        return publicSelectedKeys;
    }

    @Override
    public final int select() throws IOException {
        return lockAndSelect(null, -1);
    }

    @Override
    public final int select(long timeout) throws IOException {
        return lockAndSelect(null, checkTimeout(timeout));
    }

    @Override
    public final int selectNow() throws IOException {
        return lockAndSelect(null, 0);
    }

    @Override
    public final int select(Consumer<SelectionKey> action) throws IOException {
        return lockAndSelect(Objects.requireNonNull(action), -1);
    }

    @Override
    public final int select(Consumer<SelectionKey> action, long timeout) throws IOException {
        Objects.requireNonNull(action);
        return lockAndSelect(action, checkTimeout(timeout));
    }

    @Override
    public final int selectNow(Consumer<SelectionKey> action) throws IOException {
        return lockAndSelect(Objects.requireNonNull(action), 0);
    }

    /** From the caller's timeout, where 0 is endless, to ours, where that is -1. */
    private static long checkTimeout(long timeout) {
        if (timeout < 0) {
            throw new IllegalArgumentException("Negative timeout");
        }
        return timeout == 0 ? -1 : timeout;
    }

    private int lockAndSelect(Consumer<SelectionKey> action, long timeoutMillis) throws IOException {
        synchronized (this) {
            ensureOpen();
            if (selecting) {
                throw new IllegalStateException("select in progress");
            }
            selecting = true;
            selectionBegins();
            try {
                synchronized (publicSelectedKeys) {
                    return doSelect(action, timeoutMillis);
                }
            } finally {
                selectionEnds();
                selecting = false;
            }
        }
    }

    private int doSelect(Consumer<SelectionKey> action, long timeoutMillis) throws IOException {
        boolean blocking = timeoutMillis != 0;
        processCancelled();
        if (blocking) {
            begin();
        }
        try {
            findReady(timeoutMillis);
        } finally {
            if (blocking) {
                end();
            }
        }
        processCancelled();
        return processReady(action);
    }

    /** The calling thread is going to look at all keys. */
    abstract void selectionBegins();

    /** It does so no more. */
    abstract void selectionEnds();

    /** Shows the keys to an action, from any thread; those that come or go meanwhile may be missed. */
    final void forEachKey(Consumer<SelectionKeyImpl> action) {
        keys.forEach(key -> action.accept((SelectionKeyImpl) key));
    }

    /**
     * Finds ready keys, waiting for one if there is none.
     *
     * @param timeoutMillis 0 to not wait, -1 to wait endlessly
     */
    abstract void findReady(long timeoutMillis) throws IOException;

    /** Calls {@link #deliver} for every ready key; returns the sum of what it returned. */
    abstract int processReady(Consumer<SelectionKey> action);

    /** Hands a ready key to the action, or puts it into the selected-key set; returns 1 if that counts, else 0. */
    final int deliver(SelectionKeyImpl key, int readyOps, Consumer<SelectionKey> action) {
        if (action != null) {
            key.setReady(readyOps);
            action.accept(key);
            ensureOpen();
            return 1;
        }
        if (selectedKeys.contains(key)) {
            return key.addReady(readyOps) ? 1 : 0;
        }
        key.setReady(readyOps);
        selectedKeys.add(key);
        return 1;
    }

    @Override
    protected final SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
        if (!(channel instanceof SelectableRdmaChannel)) {
            throw new IllegalSelectorException();
        }
        ensureOpen();
        SelectionKeyImpl key = newKey(channel);
        key.attach(attachment);
        key.rdmaChannel().registered(key);
        keys.add(key);
        try {
            key.interestOps(ops);
        } catch (CancelledKeyException e) {
            // somebody saw the key in keys() and cancelled it: it is returned so
            assert !key.isValid();
        }
        if (!isOpen()) {
            keys.remove(key);
            key.rdmaChannel().deregistered(key);
            key.cancel();
            throw new ClosedSelectorException();
        }
        return key;
    }

    abstract SelectionKeyImpl newKey(SelectableChannel channel);

    /** Forgets a key: it is ready no more. */
    abstract void forget(SelectionKeyImpl key) throws IOException;

    private void processCancelled() throws IOException {
        Set<SelectionKey> cancelled = cancelledKeys();
        synchronized (cancelled) {
            if (cancelled.isEmpty()) {
                return; // and no iterator is made
            }
            for (Iterator<SelectionKey> i = cancelled.iterator(); i.hasNext(); ) {
                SelectionKeyImpl key = (SelectionKeyImpl) i.next();
                i.remove();
                if (keys.remove(key)) {
                    selectedKeys.remove(key);
                    remove(key);
                }
            }
        }
    }

    private void remove(SelectionKeyImpl key) throws IOException {
        forget(key);
        key.rdmaChannel().deregistered(key);
        deregister(key);
        SelectableChannel channel = key.channel();
        if (!channel.isOpen() && !channel.isRegistered()) {
            key.rdmaChannel().kill();
        }
    }

    @Override
    protected final void implCloseSelector() throws IOException {
        wakeup();
        synchronized (this) {
            synchronized (publicSelectedKeys) {
                for (Iterator<SelectionKey> i = keys.iterator(); i.hasNext(); ) {
                    SelectionKeyImpl key = (SelectionKeyImpl) i.next();
                    i.remove();
                    selectedKeys.remove(key);
                    remove(key);
                }
            }
            release();
        }
    }

    /** Gives back what the selector holds; it is closed. */
    abstract void release() throws IOException;
}
