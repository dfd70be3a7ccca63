package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.AsyncEventType;

/**
 * What an engine read of an asynchronous event.
 *
 * @param value the C value of its type
 * @param element the handle it is about, as its {@code asyncElement} says; 0 when it is about the device or a port
 * @param port the port's number, from 1; 0 when it is not about a port
 */
public record TakenAsyncEvent(int value, long element, int port) {
    /**
     * Describes an event about an object.
     *
     * @param type what happened
     * @param element the object's {@code asyncElement}
     * @return the event
     */
    public static TakenAsyncEvent ofObject(AsyncEventType type, long element) {
        return new TakenAsyncEvent(type.value(), element, 0);
    }

    /**
     * Describes an event about the device or a port.
     *
     * @param type what happened
     * @param port the port, from 1; 0 for the device
     * @return the event
     */
    public static TakenAsyncEvent ofPort(AsyncEventType type, int port) {
        return new TakenAsyncEvent(type.value(), 0, port);
    }

    /**
     * What happened.
     *
     * @return the type; UNKNOWN when this version does not know it
     */
    public AsyncEventType type() {
        return AsyncEventType.of(value);
    }
}
