package io.rdmanio.verbs.soft;

import io.rdmanio.verbs.soft.ControlMessage.Attach;
import io.rdmanio.verbs.soft.ControlMessage.AttachWanted;
import io.rdmanio.verbs.soft.ControlMessage.Connection;
import io.rdmanio.verbs.soft.ControlMessage.Detach;
import io.rdmanio.verbs.soft.ControlMessage.Detached;
import io.rdmanio.verbs.soft.ControlMessage.Doorbell;
import io.rdmanio.verbs.soft.ControlMessage.DoorbellGone;
import io.rdmanio.verbs.soft.ControlMessage.Export;
import io.rdmanio.verbs.soft.ControlMessage.Foreign;
import io.rdmanio.verbs.soft.ControlMessage.Handshake;
import io.rdmanio.verbs.soft.ControlMessage.Invalid;
import io.rdmanio.verbs.soft.ControlMessage.Memory;
import io.rdmanio.verbs.soft.ControlMessage.Resolve;
import io.rdmanio.verbs.soft.ControlMessage.Revoke;
import io.rdmanio.verbs.soft.ControlMessage.Revoked;
import io.rdmanio.verbs.soft.ControlMessage.Ring;
import io.rdmanio.verbs.soft.ControlMessage.Slab;
import io.rdmanio.verbs.soft.ControlMessage.Wiring;

/** Gives the messages of a pair to those whom they are for. Belongs to the progress thread. */
final class PairReceiver implements ControlSocket.Receiver {
    private final ProcessPair pair;
    private final OwnSlabs own;
    private final PeerSlabs peers;
    private final Doorbells doorbells;

    PairReceiver(ProcessPair pair, OwnSlabs own, PeerSlabs peers, Doorbells doorbells) {
        this.pair = pair;
        this.own = own;
        this.peers = peers;
        this.doorbells = doorbells;
    }

    @Override
    public void received(ControlMessage message) throws ProtocolException {
        if (pair.isDead()) {
            message.discard();
            return;
        }
        switch (message) {
            case Wiring m -> wire(m);
            case Memory m -> map(m);
            case Connection m -> pair.host().connections().received(pair, m);
            case Handshake m -> {
                m.discard();
                throw new ProtocolException("a handshake within a pair: " + m);
            }
        }
    }

    private void wire(Wiring message) throws ProtocolException {
        switch (message) {
            case Slab m -> peers.add(m.index(), m.slabBytes(), 1, m.descriptor());
            case Doorbell m -> doorbells.add(m.index(), m.descriptor());
            case DoorbellGone m -> doorbells.remove(m.index());
            case Ring m -> doorbells.rung(m.index());
            case Attach m -> {
                pair.imports().attached(m.fromQueuePair());
                SoftQueuePair queuePair = pair.host().queuePairs().find(m.queuePair());
                // One that is gone meanwhile needs no place to send to, and its peer will hear that nobody answers.
                if (queuePair != null) {
                    queuePair.attached(pair, m);
                }
            }
            case AttachWanted m -> {
                SoftQueuePair queuePair = pair.host().queuePairs().find(m.queuePair());
                if (queuePair != null) {
                    queuePair.attachWanted(pair, m);
                }
            }
            case Detach m -> {
                SoftQueuePair queuePair = pair.host().queuePairs().find(m.queuePair());
                if (queuePair != null) {
                    queuePair.detached(pair, m);
                } else {
                    pair.send(new Detached(m.slab(), m.offset()));
                }
            }
            case Detached m -> own.release(m.slab(), m.offset());
        }
    }

    private void map(Memory message) throws ProtocolException {
        switch (message) {
            case Resolve m -> pair.exports().received(m);
            case Revoked m -> pair.exports().received(m);
            case Export m -> pair.imports().received(m);
            case Foreign m -> pair.imports().received(m);
            case Invalid m -> pair.imports().received(m);
            case Revoke m -> pair.imports().received(m);
        }
    }

    @Override
    public void kicked() {
        pair.work();
    }

    @Override
    public void ended(int errno, String reason) {
        pair.killNow(reason);
    }
}
