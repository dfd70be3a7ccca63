package io.rdmanio.verbs.soft;

import io.rdmanio.linux.FileDescriptors;
import java.net.InetSocketAddress;

/**
 * A message of the control socket of a pair of processes, one to a datagram; {@link ControlMessages} puts them into bytes
 * and back. Queue pairs are named by their numbers in the process that is meant; slots, slabs, doorbells and areas
 * belong to the process that says so.
 *
 * <p>A message that carries a descriptor lends it when it is sent: the sender keeps and closes its own. A message that
 * was received owns it: whoever handles the message must close it or hand it on. Immutable, except that nobody may
 * change an array that is in one.
 */
sealed interface ControlMessage {
    /** The version of all that the two ends of a pair share: these messages and the layout of the memory. */
    int VERSION = 1;

    /** What a message without a descriptor says of it. */
    int NO_DESCRIPTOR = -1;

    /** The most private data that a request to connect carries in the port space TCP. */
    int REQUEST_PRIVATE_DATA_BYTES = 56;

    /** The most private data that a reply carries. */
    int REPLY_PRIVATE_DATA_BYTES = 196;

    /** The most private data that a rejection carries. */
    int REJECT_PRIVATE_DATA_BYTES = 148;

    /**
     * The descriptor that goes with the message.
     *
     * @return its number, or {@link #NO_DESCRIPTOR}
     */
    default int descriptor() {
        return NO_DESCRIPTOR;
    }

    /** Closes the descriptors of a message that was received and leads nowhere. */
    default void discard() {
        if (descriptor() != NO_DESCRIPTOR) {
            FileDescriptors.close(descriptor());
        }
    }

    /** What becomes of the connection between two processes; handled by the host. */
    sealed interface Handshake extends ControlMessage {}

    /** How queue pairs find each other's memory and wake each other; handled by the pair and its queue pairs. */
    sealed interface Wiring extends ControlMessage {}

    /** What keys mean; handled by the pair's imports and exports. */
    sealed interface Memory extends ControlMessage {}

    /** The connection manager's; handled by it. */
    sealed interface Connection extends ControlMessage {}

    /**
     * The first message each way. It carries no descriptor, so that an end that has a pair with this process already,
     * or speaks another version, can leave it at that.
     *
     * @param version {@link #VERSION} of the sender
     * @param token the sender's token
     * @param useExisting an answer only: the two processes have, or are about to have, another connection, so this one
     *     leads nowhere
     */
    record Hello(int version, long token, boolean useExisting) implements Handshake {}

    /**
     * The second message each way, first from the end that connected: the memory through which its sender receives.
     *
     * @param slabBytes the size of slab 0, which begins with the header
     * @param slab the memfd of slab 0
     * @param epochs the memfd of the sender's page of epochs
     */
    record Join(long slabBytes, int slab, int epochs) implements Handshake {
        @Override
        public void discard() {
            FileDescriptors.close(slab);
            FileDescriptors.close(epochs);
        }
    }

    /**
     * The sender has too many pairs, or too many with this process, and closes the connection now. In place of its {@link
     * Hello} or {@link Join}, from the end that was connected to.
     */
    record TurnedAway() implements Handshake {}

    /**
     * A further slab of the sender, which may hold areas from now on.
     *
     * @param index its number, one more than that of the last slab
     * @param slabBytes its size
     * @param descriptor its memfd
     */
    record Slab(int index, long slabBytes, int descriptor) implements Wiring {}

    /**
     * A completion channel of the sender.
     *
     * @param index the number by which {@link Attach} will name it
     * @param descriptor the end of a pipe, see {@link io.rdmanio.linux.WakePipe}
     */
    record Doorbell(int index, int descriptor) implements Wiring {}

    /**
     * The sender's completion channel is gone; its number may come again.
     *
     * @param index its number
     */
    record DoorbellGone(int index) implements Wiring {}

    /**
     * Signals a completion channel of the receiver, in place of the pipe that it sent: the sender has no descriptor to spare
     * for it.
     *
     * @param index the number by which the receiver told it
     */
    record Ring(int index) implements Wiring {}

    /**
     * A queue pair is ready to receive, and this is where.
     *
     * @param queuePair the receiver's queue pair, which is to send there
     * @param fromQueuePair the sender's queue pair
     * @param slot the sender's slot of its queue pair, for the ready and work sets
     * @param slab the slab of the sender in which the area lies
     * @param offset where it begins
     * @param ringEntries how many entries its ring has, a power of two
     * @param receiveEntries how many the mirror of its receive queue has, a power of two; 0 with a shared receive queue
     * @param stagingBytes how much room for data it has
     * @param accessFlags what the queue pair allows its peer, bits of {@code IBV_ACCESS_*}
     * @param minRnrTimer the code of the pause that it asks for when it has no receive
     * @param domain the sender's number of the queue pair's protection domain: what a key means is the same for all
     *     queue pairs of one domain
     */
    record Attach(
            int queuePair,
            int fromQueuePair,
            int slot,
            int slab,
            long offset,
            int ringEntries,
            int receiveEntries,
            int stagingBytes,
            int accessFlags,
            int minRnrTimer,
            int domain)
            implements Wiring {}

    /**
     * Asks for {@link Attach} once more: there was no place to keep it when it came.
     *
     * @param queuePair the receiver's queue pair, which said so
     * @param fromQueuePair the sender's queue pair, to which it was said
     */
    record AttachWanted(int queuePair, int fromQueuePair) implements Wiring {}

    /**
     * A queue pair receives no more: whoever sends to this area must stop and answer {@link Detached}.
     *
     * @param queuePair the receiver's queue pair
     * @param fromQueuePair the sender's queue pair
     * @param slab the slab of the sender in which the area lies
     * @param offset where it begins
     */
    record Detach(int queuePair, int fromQueuePair, int slab, long offset) implements Wiring {}

    /**
     * The answer to {@link Detach}, and to nothing else: nothing is written there any more.
     *
     * @param slab the slab of the receiver in which the area lies
     * @param offset where it begins
     */
    record Detached(int slab, long offset) implements Wiring {}

    /**
     * Asks what a key of the receiver means.
     *
     * @param key the key
     * @param queuePair the receiver's queue pair, whose protection domain decides
     */
    record Resolve(int key, int queuePair) implements Memory {}

    /**
     * A key of the sender that leads to memory which the receiver can map.
     *
     * @param key the key
     * @param epoch the epoch of its slot
     * @param address what remote addresses begin with
     * @param lengthBytes how long it is
     * @param accessFlags bits of {@code IBV_ACCESS_*}
     * @param fileOffset where it begins in the file
     * @param descriptor its memfd
     */
    record Export(int key, int epoch, long address, long lengthBytes, int accessFlags, long fileOffset, int descriptor)
            implements Memory {}

    /**
     * A key of the sender that leads to memory which only the sender can reach.
     *
     * @param key the key
     * @param epoch the epoch of its slot
     * @param address what remote addresses begin with
     * @param lengthBytes how long it is
     * @param accessFlags bits of {@code IBV_ACCESS_*}
     */
    record Foreign(int key, int epoch, long address, long lengthBytes, int accessFlags) implements Memory {}

    /**
     * A key that means nothing to the sender, or nothing in the protection domain of that queue pair.
     *
     * @param key the key
     * @param queuePair the sender's queue pair, as in {@link Resolve}
     */
    record Invalid(int key, int queuePair) implements Memory {}

    /**
     * What the receiver has mapped of this slot of the sender is to be unmapped.
     *
     * @param slot the slot of the sender's key table
     * @param epoch the epoch that is over
     */
    record Revoke(int slot, int epoch) implements Memory {}

    /**
     * The answer to {@link Revoke}: it is unmapped.
     *
     * @param slot the slot of the receiver's key table
     * @param epoch the epoch that is over
     */
    record Revoked(int slot, int epoch) implements Memory {}

    /**
     * What both ends say of the connection that they want (struct rdma_conn_param).
     *
     * @param responderResources how many reads the sender answers at a time
     * @param initiatorDepth how many reads it has under way at a time
     * @param flowControl whether it has flow control
     * @param retryCount how often it tries again
     * @param rnrRetryCount how often it tries again when there is no receive
     * @param sharedReceiveQueue whether it receives through a shared receive queue
     */
    record Parameters(
            int responderResources,
            int initiatorDepth,
            boolean flowControl,
            int retryCount,
            int rnrRetryCount,
            boolean sharedReceiveQueue) {}

    /**
     * Asks a listener for a connection.
     *
     * @param connection the sender's number of the connection
     * @param queuePair the sender's queue pair
     * @param source the address that it connects from
     * @param destination the address that it connects to
     * @param parameters what it wants
     * @param privateData for the other program
     */
    @SuppressWarnings("ArrayRecordComponent") // never changed, and never compared but by tests
    record ConnectRequest(
            long connection,
            int queuePair,
            InetSocketAddress source,
            InetSocketAddress destination,
            Parameters parameters,
            byte[] privateData)
            implements Connection {}

    /**
     * Accepts.
     *
     * @param connection the receiver's number of the connection
     * @param fromConnection the sender's number of it
     * @param queuePair the sender's queue pair
     * @param parameters what it wants
     * @param privateData for the other program
     */
    @SuppressWarnings("ArrayRecordComponent") // never changed, and never compared but by tests
    record ConnectReply(long connection, long fromConnection, int queuePair, Parameters parameters, byte[] privateData)
            implements Connection {}

    /**
     * Refuses, or takes a request back.
     *
     * @param connection the receiver's number of the connection; 0 when the receiver has not told it yet
     * @param fromConnection the sender's number of it; 0 when it has none
     * @param reason the reason as InfiniBand numbers it (8 no listener, 28 by the consumer)
     * @param privateData for the other program
     */
    @SuppressWarnings("ArrayRecordComponent") // never changed, and never compared but by tests
    record ConnectReject(long connection, long fromConnection, int reason, byte[] privateData) implements Connection {}

    /**
     * The end that asked is ready.
     *
     * @param connection the receiver's number of the connection
     */
    record ReadyToUse(long connection) implements Connection {}

    /**
     * The sender ends the connection.
     *
     * @param connection the receiver's number of the connection
     */
    record DisconnectRequest(long connection) implements Connection {}

    /**
     * The answer to {@link DisconnectRequest}.
     *
     * @param connection the receiver's number of the connection
     */
    record DisconnectReply(long connection) implements Connection {}
}
