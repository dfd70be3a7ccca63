package io.rdmanio.stream;

import io.rdmanio.verbs.SendFlags;
import io.rdmanio.verbs.SendOpcode;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.WorkCompletions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ProtocolException;
import java.nio.ByteBuffer;

/**
 * Puts messages on the wire: as the immediate data of RDMA WRITEs, or, over iWARP, which has none, as a four-byte SEND
 * behind the WRITE.
 *
 * <p>The caller fills in payload and target of {@link #payload()}, then posts. Not thread-safe: guarded by the
 * connection's lock.
 */
abstract sealed class MessagePoster implements AutoCloseable {
    /** Marks a send's completion; those of receives carry the number of their slot. */
    static final long SEND_ID = -1;

    /** Marks the completion of a probe, a send as well. */
    static final long PROBE_ID = -2;

    final StreamResources resources;
    private final SendWorkRequest payload = new SendWorkRequest(2);
    final SendWorkRequest bare = new SendWorkRequest(1);

    /** Made when first needed; null before. */
    private SendWorkRequest probe;

    private MessagePoster(StreamResources resources) {
        this.resources = resources;
        payload.workRequestId(SEND_ID);
        bare.workRequestId(SEND_ID);
    }

    static MessagePoster over(StreamResources resources) {
        return resources.messagesAsSend ? new AsSend(resources) : new AsImmediate(resources);
    }

    /** The work request that carries a payload, for the caller to describe payload and target in. */
    SendWorkRequest payload() {
        return payload;
    }

    /** Work requests a message with payload takes; slots, if it is a control message. */
    abstract int entriesPerPayload();

    /**
     * Posts a message with the payload described in {@link #payload()}.
     *
     * @param inline whether the payload is copied into the work request
     */
    abstract void postPayload(int message, boolean inline, boolean signalled) throws VerbsException;

    /**
     * Posts a message with payload that lies in a buffer, to the target described in {@link #payload()}, on a device that
     * {@linkplain io.rdmanio.verbs.DeviceContext#postsBuffers posts buffers}.
     */
    abstract void postPayload(int message, boolean signalled, ByteBuffer data, int position, int lengthBytes)
            throws VerbsException;

    /** Posts a message without payload. */
    abstract void postBare(int message, boolean signalled) throws VerbsException;

    /** Posts a WRITE of no bytes and without a message, signalled: the peer's device answers, its program sees nothing. */
    void postProbe() throws VerbsException {
        if (probe == null) {
            probe = new SendWorkRequest(1);
            probe.workRequestId(PROBE_ID)
                    .opcode(SendOpcode.WRITE)
                    .flags(SendFlags.SIGNALED)
                    .sgeCount(0)
                    .remote(0, 0);
        }
        resources.queuePair.postSend(probe);
    }

    /** The message that a successful receive brought. */
    abstract int message(WorkCompletions completions, int index) throws ProtocolException;

    @Override
    public void close() {
        payload.close();
        bare.close();
        if (probe != null) {
            probe.close();
        }
    }

    private static int flags(boolean inline, boolean signalled) {
        return (inline ? SendFlags.INLINE : 0) | (signalled ? SendFlags.SIGNALED : 0);
    }

    /** Messages as immediate data: InfiniBand and RoCE. */
    private static final class AsImmediate extends MessagePoster {
        AsImmediate(StreamResources resources) {
            super(resources);
            payload().opcode(SendOpcode.WRITE_WITH_IMM);
            bare.opcode(SendOpcode.WRITE_WITH_IMM).sgeCount(0).remote(0, 0);
        }

        @Override
        int entriesPerPayload() {
            return 1;
        }

        @Override
        void postPayload(int message, boolean inline, boolean signalled) throws VerbsException {
            payload().immediateData(message).flags(flags(inline, signalled));
            resources.queuePair.postSend(payload());
        }

        @Override
        void postPayload(int message, boolean signalled, ByteBuffer data, int position, int lengthBytes)
                throws VerbsException {
            payload().immediateData(message).flags(flags(true, signalled));
            resources.queuePair.postSend(payload(), data, position, lengthBytes);
        }

        @Override
        void postBare(int message, boolean signalled) throws VerbsException {
            bare.immediateData(message).flags(flags(false, signalled));
            resources.queuePair.postSend(bare);
        }

        @Override
        int message(WorkCompletions completions, int index) throws ProtocolException {
            if (!completions.hasImmediate(index)) {
                throw new ProtocolException("The peer sent a message without immediate data");
            }
            return completions.immediateData(index);
        }
    }

    /** Messages as SEND in the sender's byte order: iWARP. The last word of the inline area holds the message. */
    private static final class AsSend extends MessagePoster {
        private final MemorySegment word;

        AsSend(StreamResources resources) {
            super(resources);
            this.word = resources.inlineMemory.asSlice(
                    resources.inlineMemory.byteSize() - StreamMessage.LENGTH_BYTES, StreamMessage.LENGTH_BYTES);
            payload().opcode(SendOpcode.WRITE).next(bare);
            bare.opcode(SendOpcode.SEND)
                    .sgeCount(1)
                    .sge(0, word.address(), StreamMessage.LENGTH_BYTES, resources.local.localKey());
        }

        @Override
        int entriesPerPayload() {
            return 2;
        }

        @Override
        void postPayload(int message, boolean inline, boolean signalled) throws VerbsException {
            payload().flags(flags(inline, false));
            prepareBare(message, signalled);
            resources.queuePair.postSend(payload());
        }

        @Override
        void postPayload(int message, boolean signalled, ByteBuffer data, int position, int lengthBytes) {
            throw new UnsupportedOperationException("no iWARP device posts buffers");
        }

        @Override
        void postBare(int message, boolean signalled) throws VerbsException {
            prepareBare(message, signalled);
            resources.queuePair.postSend(bare);
        }

        private void prepareBare(int message, boolean signalled) {
            word.set(ValueLayout.JAVA_INT_UNALIGNED, 0, message);
            bare.flags(flags(true, signalled));
        }

        @Override
        int message(WorkCompletions completions, int index) throws ProtocolException {
            if (completions.lengthBytes(index) != StreamMessage.LENGTH_BYTES) {
                throw new ProtocolException("The peer sent a message of " + completions.lengthBytes(index) + " bytes");
            }
            return resources.messageSlots.get(
                    ValueLayout.JAVA_INT_UNALIGNED, completions.workRequestId(index) * StreamMessage.LENGTH_BYTES);
        }
    }
}
