/**
 * Channels, selector and keys: the rules of {@code java.nio} over streams, one class per mechanism.
 *
 * <p>Lock order: selector, its selected-key set, a channel's read lock, its write lock, its state lock; below them the
 * lock of the stream. No blocking call is made under the state lock.
 */
package io.rdmanio.ch;
