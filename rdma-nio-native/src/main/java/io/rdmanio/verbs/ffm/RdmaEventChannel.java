package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct rdma_event_channel}: an event channel. */
final class RdmaEventChannel {
    static final Field.U32 FD = new Field.U32("fd", 0);
    static final long SIZE = 4;
    static final Struct STRUCT = Struct.of("struct rdma_event_channel", SIZE, FD);

    private RdmaEventChannel() {}
}
