package io.rdmanio.ch;

import java.util.concurrent.CopyOnWriteArrayList;

/** The keys of one channel, for telling them that the channel has changed. Thread-safe. */
final class ChannelKeys {
    private final CopyOnWriteArrayList<SelectionKeyImpl> keys = new CopyOnWriteArrayList<>();

    void add(SelectionKeyImpl key) {
        keys.add(key);
    }

    void remove(SelectionKeyImpl key) {
        keys.remove(key);
    }

    /** Has every selector look at the channel again. */
    void channelChanged() {
        keys.forEach(SelectionKeyImpl::enqueue);
    }
}
