package io.rdmanio.ch;

import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Set;

/** A view of a set that elements can be removed from but not added to; as thread-safe as the set. */
final class UngrowableSet<E> extends AbstractSet<E> {
    private final Set<E> set;

    UngrowableSet(Set<E> set) {
        this.set = set;
    }

    @Override
    public Iterator<E> iterator() {
        return set.iterator();
    }

    @Override
    public int size() {
        return set.size();
    }

    @Override
    public boolean contains(Object element) {
        return set.contains(element);
    }

    @Override
    public boolean remove(Object element) {
        return set.remove(element);
    }

    @Override
    public void clear() {
        set.clear();
    }
}
