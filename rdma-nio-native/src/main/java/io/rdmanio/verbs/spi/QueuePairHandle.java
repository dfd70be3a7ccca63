package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** An engine's queue pair. */
public interface QueuePairHandle {
    /**
     * The queue pair's number.
     *
     * @return qp_num
     */
    int number();

    /**
     * The sizes that were granted.
     *
     * @return the sizes
     */
    QueuePairCapabilities capabilities();

    /**
     * Tells whether posting and destroying may happen at the same time, so that nobody must keep them apart: destroying
     * waits for posts that are under way, and a later one is refused by an error number.
     *
     * @return false unless the engine says otherwise
     */
    default boolean isSafeToPostWhenDestroyed() {
        return false;
    }

    /**
     * Posts a list of send work requests. Allocates nothing.
     *
     * @param first the first, laid out as {@link SendWorkRequestLayout} says; when it fails, the address of the first
     *     that was not posted is left in this one at {@link SendWorkRequestLayout#FAILED_OFFSET}
     * @return 0, or an error number
     */
    int postSend(MemorySegment first);

    /**
     * Posts one send work request with inline data that lies in a buffer; the entries of the request mean nothing. Asked
     * only of a device that {@linkplain ContextHandle#postsBuffers posts buffers}. Allocates nothing, unless the request
     * must wait.
     *
     * @param request laid out as {@link SendWorkRequestLayout} says, flagged as inline, the last of its list
     * @param data the buffer, of any kind; neither its position nor its limit is changed
     * @param position where the data begins in it
     * @param lengthBytes how long it is
     * @return 0, or an error number, of which {@link SendWorkRequestLayout#FAILED_OFFSET} tells as well
     */
    default int postSend(MemorySegment request, ByteBuffer data, int position, int lengthBytes) {
        throw new UnsupportedOperationException("the device posts no buffers");
    }

    /**
     * Posts a list of receive work requests. Allocates nothing.
     *
     * @param first the first, laid out as {@link ReceiveWorkRequestLayout} says; when it fails, the address of the
     *     first that was not posted is left in this one at {@link ReceiveWorkRequestLayout#FAILED_OFFSET}
     * @return 0, or an error number
     */
    int postReceive(MemorySegment first);

    /**
     * Posts receive work requests without scatter-gather entries, numbered from 0 on. By default as one list.
     *
     * @param count how many, at least 1
     * @return 0, or an error number; those before the one that failed are posted then
     */
    default int postEmptyReceives(int count) {
        try (Arena arena = Arena.ofConfined()) {
            long rest = ReceiveWorkRequestLayout.ALLOCATED_BYTES;
            MemorySegment list = arena.allocate(rest + (count - 1) * ReceiveWorkRequestLayout.SIZE, Long.BYTES);
            long at = 0;
            for (int id = 0; id < count; id++) {
                long next = rest + id * ReceiveWorkRequestLayout.SIZE;
                ReceiveWorkRequestLayout.WORK_REQUEST_ID.set(list, at, id);
                ReceiveWorkRequestLayout.NEXT.set(list, at, id + 1 < count ? list.address() + next : 0);
                at = next;
            }
            return postReceive(list);
        }
    }

    /**
     * Changes attributes, the state among them.
     *
     * @param attributes the marked ones are changed
     * @throws VerbsException when it fails; nothing is changed then
     */
    default void modify(QueuePairAttributes attributes) throws VerbsException {
        throw Unsupported.operation("ibv_modify_qp");
    }

    /**
     * Queries attributes.
     *
     * @param mask which at least, bits of {@link io.rdmanio.verbs.QueuePairAttribute}
     * @return the answer
     * @throws VerbsException when it fails
     */
    default QueriedQueuePair query(int mask) throws VerbsException {
        throw Unsupported.operation("ibv_query_qp");
    }

    /**
     * Attaches it to a multicast group.
     *
     * @param group the group
     * @param localId its LID
     * @throws VerbsException when it fails
     */
    default void attachMulticast(Gid group, int localId) throws VerbsException {
        throw Unsupported.operation("ibv_attach_mcast");
    }

    /**
     * Detaches it from a multicast group.
     *
     * @param group the group
     * @param localId its LID
     * @throws VerbsException when it fails
     */
    default void detachMulticast(Gid group, int localId) throws VerbsException {
        throw Unsupported.operation("ibv_detach_mcast");
    }

    /**
     * What asynchronous events carry for it.
     *
     * @return a number that no other handle of the context has while this one is alive; 0 when there are no such events
     */
    default long asyncElement() {
        return 0;
    }

    /**
     * Destroys it.
     *
     * @throws VerbsException when it fails
     */
    void destroy() throws VerbsException;

    /**
     * Has a task run after {@link #destroy}, when nothing of the peer's reaches memory through it any more. Called once at
     * most, before that.
     *
     * @param task the task, which does not block
     * @return false when that is so as soon as destroy has returned; the task is not kept then
     */
    default boolean keepForQuiet(Runnable task) {
        return false;
    }
}
