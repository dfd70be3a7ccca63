package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.AsyncEventType;
import io.rdmanio.verbs.DeviceInfo;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletionStatus;
import java.util.List;
import java.util.Optional;

/**
 * An implementation of verbs and of the connection manager, found as a service. Its constructor must be cheap and never
 * fail. Handles that it returns, and theirs, are used as the objects in front of them promise: no call after destroy,
 * no destroy during a call, children destroyed before parents. Otherwise all methods may be called by any thread.
 */
public interface VerbsEngine {
    /**
     * The engine's name.
     *
     * @return such as {@code ffm}
     */
    String name();

    /**
     * Why it can't be used.
     *
     * @return a sentence with cause and cure; empty when it can be used
     */
    Optional<String> unavailableReason();

    /**
     * Lists the devices.
     *
     * @return the devices there are now
     * @throws VerbsException when they can't be listed
     */
    List<DeviceInfo> devices() throws VerbsException;

    /**
     * Describes an asynchronous event in words.
     *
     * @param type the event's type
     * @return the engine's words; by default the name in C
     */
    default String describe(AsyncEventType type) {
        return String.valueOf(type.nativeName());
    }

    /**
     * Describes a completion's status in words.
     *
     * @param status the status
     * @return the engine's words; by default the name in C
     */
    default String describe(WorkCompletionStatus status) {
        return String.valueOf(status.nativeName());
    }

    /**
     * Opens a device.
     *
     * @param deviceName its name
     * @return a context that the caller must destroy
     * @throws VerbsException when there is no such device or it can't be opened
     */
    ContextHandle open(String deviceName) throws VerbsException;

    /**
     * Opens an event channel of the connection manager.
     *
     * @return the channel, its descriptor non-blocking and closed on exec
     * @throws VerbsException when it can't be opened
     */
    EventChannelHandle openEventChannel() throws VerbsException;
}
