package io.rdmanio.verbs.spi;

import io.rdmanio.linux.UseGate;
import io.rdmanio.verbs.VerbsException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The ownership of one native handle: who its parents and children are, which calls are in progress, and how it is
 * closed: no new call is let in, calls in progress are waited for, children are closed (the youngest first), then the
 * handle is destroyed. A destroy that fails leaves the object closed for use, counted as open, and to be closed again.
 *
 * <p>Thread safety: all methods may be called by any thread. {@code closing} serializes closers, so that a parent can't
 * be destroyed while a child's destroy is still under way; it is taken from parent to child, never the other way.
 * {@code children} is guarded by itself, and nothing is called under it.
 */
public final class Lifecycle {
    /** Destroys a native handle. */
    @FunctionalInterface
    public interface Destroyer {
        /**
         * Destroys it. Called once at a time, after the last call and the last child are gone; again only after a
         * failure.
         *
         * @throws VerbsException when the engine can't
         */
        void destroy() throws VerbsException;
    }

    private final UseGate gate = new UseGate();
    private final ReentrantLock closing = new ReentrantLock();
    private final Set<Lifecycle> children = new LinkedHashSet<>();
    private final HandleKind kind;
    private final Destroyer destroyer;
    // Changed only from inside this life, so never during its close.
    private final List<Lifecycle> parents;
    private boolean destroyed;

    /**
     * Begins a life. The caller must be inside every parent (between {@link #enter} and {@link #exit}), so that none is
     * closed meanwhile.
     *
     * @param kind what it is counted as
     * @param destroyer how it ends
     * @param parents those that must outlive it
     */
    public Lifecycle(HandleKind kind, Destroyer destroyer, Lifecycle... parents) {
        this.kind = kind;
        this.destroyer = destroyer;
        this.parents = new CopyOnWriteArrayList<>(parents);
        for (Lifecycle parent : this.parents) {
            parent.gain(this);
        }
        kind.opened();
    }

    private Lifecycle(HandleKind kind) {
        this.kind = kind;
        this.destroyer = () -> {};
        this.parents = List.of();
    }

    /**
     * The life of something that somebody else owns: it isn't counted and is never closed.
     *
     * @param kind what it is
     * @return its life
     */
    public static Lifecycle borrowed(HandleKind kind) {
        return new Lifecycle(kind);
    }

    private void gain(Lifecycle child) {
        synchronized (children) {
            children.add(child);
        }
    }

    private void lose(Lifecycle child) {
        synchronized (children) {
            children.remove(child);
        }
    }

    /**
     * Adds a parent, which from now on closes this first. The caller must be inside this and inside the parent.
     *
     * @param parent another that must outlive this
     */
    public void addParent(Lifecycle parent) {
        parents.add(parent);
        parent.gain(this);
    }

    /**
     * Moves this from one parent to another. The caller must be inside all three, so that each close sees this at the
     * one parent or the other.
     *
     * @param from the parent that it leaves
     * @param to the parent that takes it over, as its youngest child
     */
    public void move(Lifecycle from, Lifecycle to) {
        if (from != to) {
            addParent(to);
            parents.remove(from);
            from.lose(this);
        }
    }

    /**
     * Begins a call on the handle.
     *
     * @throws IllegalStateException when it is closed
     */
    public void enter() {
        if (!gate.tryEnter()) {
            throw closed();
        }
    }

    /**
     * Refuses a use after close, without beginning a call.
     *
     * @throws IllegalStateException when it is closed
     */
    public void requireOpen() {
        if (isClosed()) {
            throw closed();
        }
    }

    /**
     * Begins a call on the handle, unless it is closed.
     *
     * @return whether the call was begun
     */
    public boolean tryEnter() {
        return gate.tryEnter();
    }

    /** Ends a call on the handle. */
    public void exit() {
        gate.exit();
    }

    /**
     * The exception for a use after close.
     *
     * @return the exception, to be thrown by the caller
     */
    public IllegalStateException closed() {
        return new IllegalStateException("this " + kind.label() + " is closed");
    }

    /**
     * Tells whether close was called.
     *
     * @return true from the beginning of close
     */
    public boolean isClosed() {
        return gate.isShut();
    }

    /**
     * Closes: see the class. Idempotent; a second closer waits for the first.
     *
     * @throws VerbsException when this handle or one of its children can't be destroyed
     */
    public void close() throws VerbsException {
        closing.lock();
        try {
            if (!destroyed) {
                gate.shut();
                gate.awaitIdle();
                closeChildren();
                destroyer.destroy();
                destroyed = true;
                kind.closed();
                for (Lifecycle parent : parents) {
                    parent.lose(this);
                }
            }
        } finally {
            closing.unlock();
        }
    }

    private void closeChildren() throws VerbsException {
        List<Lifecycle> youngestFirst;
        synchronized (children) {
            youngestFirst = new ArrayList<>(children).reversed();
        }
        // A window may be bound to an older or a younger region, which can't be destroyed before it.
        youngestFirst.sort(Comparator.comparing(child -> child.kind != HandleKind.MEMORY_WINDOW));
        VerbsException failure = null;
        for (Lifecycle child : youngestFirst) {
            try {
                child.close();
            } catch (VerbsException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
