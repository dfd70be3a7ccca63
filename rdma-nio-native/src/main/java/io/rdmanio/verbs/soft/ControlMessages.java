package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.soft.ControlMessage.Attach;
import io.rdmanio.verbs.soft.ControlMessage.AttachWanted;
import io.rdmanio.verbs.soft.ControlMessage.ConnectReject;
import io.rdmanio.verbs.soft.ControlMessage.ConnectReply;
import io.rdmanio.verbs.soft.ControlMessage.ConnectRequest;
import io.rdmanio.verbs.soft.ControlMessage.Detach;
import io.rdmanio.verbs.soft.ControlMessage.Detached;
import io.rdmanio.verbs.soft.ControlMessage.DisconnectReply;
import io.rdmanio.verbs.soft.ControlMessage.DisconnectRequest;
import io.rdmanio.verbs.soft.ControlMessage.Doorbell;
import io.rdmanio.verbs.soft.ControlMessage.DoorbellGone;
import io.rdmanio.verbs.soft.ControlMessage.Export;
import io.rdmanio.verbs.soft.ControlMessage.Foreign;
import io.rdmanio.verbs.soft.ControlMessage.Hello;
import io.rdmanio.verbs.soft.ControlMessage.Invalid;
import io.rdmanio.verbs.soft.ControlMessage.Join;
import io.rdmanio.verbs.soft.ControlMessage.ReadyToUse;
import io.rdmanio.verbs.soft.ControlMessage.Resolve;
import io.rdmanio.verbs.soft.ControlMessage.Revoke;
import io.rdmanio.verbs.soft.ControlMessage.Revoked;
import io.rdmanio.verbs.soft.ControlMessage.Ring;
import io.rdmanio.verbs.soft.ControlMessage.Slab;
import io.rdmanio.verbs.soft.ControlMessage.TurnedAway;
import java.nio.ByteBuffer;

/**
 * Puts control messages into datagrams and back. A datagram is the number of the message's kind and then its fields, in
 * little-endian order and without padding; {@link MessageReader} and {@link MessageWriter} say how each type of field
 * looks. Every number is checked against what it can be at all; what it means is checked by who handles the message.
 * Stateless and safe for use by any thread.
 */
final class ControlMessages {
    /** The largest datagram. */
    static final int MAX_BYTES = 2048;

    /** The most descriptors that a datagram carries. */
    static final int MAX_DESCRIPTORS = 2;

    private static final int HELLO = 1;
    private static final int JOIN = 2;
    private static final int SLAB = 3;
    private static final int DOORBELL = 4;
    private static final int DOORBELL_GONE = 5;
    private static final int ATTACH = 6;
    private static final int DETACH = 7;
    private static final int DETACHED = 8;
    private static final int RESOLVE = 9;
    private static final int EXPORT = 10;
    private static final int FOREIGN = 11;
    private static final int INVALID = 12;
    private static final int REVOKE = 13;
    private static final int REVOKED = 14;
    private static final int CONNECT_REQUEST = 15;
    private static final int CONNECT_REPLY = 16;
    private static final int CONNECT_REJECT = 17;
    private static final int READY_TO_USE = 18;
    private static final int DISCONNECT_REQUEST = 19;
    private static final int DISCONNECT_REPLY = 20;
    private static final int RING = 21;
    private static final int ATTACH_WANTED = 22;
    private static final int TURNED_AWAY = 23;

    private ControlMessages() {}

    /**
     * Puts a message into bytes.
     *
     * @param message the message
     * @param datagram where to, {@link #MAX_BYTES} long at least; its position is behind the message afterwards
     * @param descriptors where the descriptors of the message go, {@link #MAX_DESCRIPTORS} long at least
     * @return how many descriptors there are
     */
    static int encode(ControlMessage message, ByteBuffer datagram, int[] descriptors) {
        MessageWriter out = new MessageWriter(datagram, descriptors);
        switch (message) {
            case Hello m -> out.kind(HELLO).int32(m.version()).int64(m.token()).flag(m.useExisting());
            case Join m ->
                out.kind(JOIN).int64(m.slabBytes()).descriptor(m.slab()).descriptor(m.epochs());
            case TurnedAway _ -> out.kind(TURNED_AWAY);
            case Slab m -> out.kind(SLAB).int32(m.index()).int64(m.slabBytes()).descriptor(m.descriptor());
            case Doorbell m -> out.kind(DOORBELL).int32(m.index()).descriptor(m.descriptor());
            case DoorbellGone m -> out.kind(DOORBELL_GONE).int32(m.index());
            case Ring m -> out.kind(RING).int32(m.index());
            case Attach m -> attach(out.kind(ATTACH), m);
            case AttachWanted m -> out.kind(ATTACH_WANTED).int32(m.queuePair()).int32(m.fromQueuePair());
            case Detach m ->
                out.kind(DETACH)
                        .int32(m.queuePair())
                        .int32(m.fromQueuePair())
                        .int32(m.slab())
                        .int64(m.offset());
            case Detached m -> out.kind(DETACHED).int32(m.slab()).int64(m.offset());
            case ControlMessage.Memory m -> memory(out, m);
            case ControlMessage.Connection m -> connection(out, m);
        }
        return out.descriptorCount();
    }

    private static void attach(MessageWriter out, Attach m) {
        out.int32(m.queuePair()).int32(m.fromQueuePair()).int32(m.slot());
        out.int32(m.slab()).int64(m.offset());
        out.int32(m.ringEntries()).int32(m.receiveEntries()).int32(m.stagingBytes());
        out.int32(m.accessFlags()).int32(m.minRnrTimer()).int32(m.domain());
    }

    private static void memory(MessageWriter out, ControlMessage.Memory message) {
        switch (message) {
            case Resolve m -> out.kind(RESOLVE).int32(m.key()).int32(m.queuePair());
            case Export m ->
                out.kind(EXPORT)
                        .int32(m.key())
                        .int32(m.epoch())
                        .int64(m.address())
                        .int64(m.lengthBytes())
                        .int32(m.accessFlags())
                        .int64(m.fileOffset())
                        .descriptor(m.descriptor());
            case Foreign m ->
                out.kind(FOREIGN)
                        .int32(m.key())
                        .int32(m.epoch())
                        .int64(m.address())
                        .int64(m.lengthBytes())
                        .int32(m.accessFlags());
            case Invalid m -> out.kind(INVALID).int32(m.key()).int32(m.queuePair());
            case Revoke m -> out.kind(REVOKE).int32(m.slot()).int32(m.epoch());
            case Revoked m -> out.kind(REVOKED).int32(m.slot()).int32(m.epoch());
        }
    }

    private static void connection(MessageWriter out, ControlMessage.Connection message) {
        switch (message) {
            case ConnectRequest m ->
                out.kind(CONNECT_REQUEST)
                        .int64(m.connection())
                        .int32(m.queuePair())
                        .address(m.source())
                        .address(m.destination())
                        .parameters(m.parameters())
                        .bytes(m.privateData());
            case ConnectReply m ->
                out.kind(CONNECT_REPLY)
                        .int64(m.connection())
                        .int64(m.fromConnection())
                        .int32(m.queuePair())
                        .parameters(m.parameters())
                        .bytes(m.privateData());
            case ConnectReject m ->
                out.kind(CONNECT_REJECT)
                        .int64(m.connection())
                        .int64(m.fromConnection())
                        .int32(m.reason())
                        .bytes(m.privateData());
            case ReadyToUse m -> out.kind(READY_TO_USE).int64(m.connection());
            case DisconnectRequest m -> out.kind(DISCONNECT_REQUEST).int64(m.connection());
            case DisconnectReply m -> out.kind(DISCONNECT_REPLY).int64(m.connection());
        }
    }

    /**
     * Reads a message. The descriptors that the datagram came with are the message's if this returns, and the caller's
     * still if it throws.
     *
     * @param datagram the bytes from position to limit
     * @param descriptors what came with them
     * @param descriptorCount how many came
     * @return the message
     * @throws ProtocolException when it is none
     */
    static ControlMessage decode(ByteBuffer datagram, int[] descriptors, int descriptorCount) throws ProtocolException {
        MessageReader in = new MessageReader(datagram, descriptors, descriptorCount);
        ControlMessage message = read(in);
        in.end();
        return message;
    }

    private static ControlMessage read(MessageReader in) throws ProtocolException {
        int kind = in.int32();
        return switch (kind) {
            case HELLO -> new Hello(in.int32(), in.int64(), in.flag());
            case JOIN -> new Join(in.size(), in.descriptor(), in.descriptor());
            case TURNED_AWAY -> new TurnedAway();
            case SLAB -> new Slab(in.index(), in.size(), in.descriptor());
            case DOORBELL -> new Doorbell(in.index(), in.descriptor());
            case DOORBELL_GONE -> new DoorbellGone(in.index());
            case RING -> new Ring(in.index());
            case ATTACH -> readAttach(in);
            case ATTACH_WANTED -> new AttachWanted(in.queuePair(), in.queuePair());
            case DETACH -> new Detach(in.queuePair(), in.queuePair(), in.index(), in.size());
            case DETACHED -> new Detached(in.index(), in.size());
            case RESOLVE -> new Resolve(in.int32(), in.queuePair());
            case EXPORT ->
                new Export(in.int32(), in.int32(), in.int64(), in.size(), in.index(), in.size(), in.descriptor());
            case FOREIGN -> new Foreign(in.int32(), in.int32(), in.int64(), in.size(), in.index());
            case INVALID -> new Invalid(in.int32(), in.queuePair());
            case REVOKE -> new Revoke(in.index(), in.int32());
            case REVOKED -> new Revoked(in.index(), in.int32());
            default -> readConnection(kind, in);
        };
    }

    private static Attach readAttach(MessageReader in) throws ProtocolException {
        return new Attach(
                in.queuePair(),
                in.queuePair(),
                in.index(),
                in.index(),
                in.size(),
                in.index(),
                in.index(),
                in.index(),
                in.index(),
                in.index(),
                in.int32());
    }

    private static ControlMessage readConnection(int kind, MessageReader in) throws ProtocolException {
        return switch (kind) {
            case CONNECT_REQUEST ->
                new ConnectRequest(
                        in.int64(),
                        in.queuePair(),
                        in.address(),
                        in.address(),
                        in.parameters(),
                        in.bytes(ControlMessage.REQUEST_PRIVATE_DATA_BYTES));
            case CONNECT_REPLY ->
                new ConnectReply(
                        in.int64(),
                        in.int64(),
                        in.queuePair(),
                        in.parameters(),
                        in.bytes(ControlMessage.REPLY_PRIVATE_DATA_BYTES));
            case CONNECT_REJECT ->
                new ConnectReject(
                        in.int64(), in.int64(), in.index(), in.bytes(ControlMessage.REJECT_PRIVATE_DATA_BYTES));
            case READY_TO_USE -> new ReadyToUse(in.int64());
            case DISCONNECT_REQUEST -> new DisconnectRequest(in.int64());
            case DISCONNECT_REPLY -> new DisconnectReply(in.int64());
            default -> throw new ProtocolException("a message of kind " + kind);
        };
    }
}
