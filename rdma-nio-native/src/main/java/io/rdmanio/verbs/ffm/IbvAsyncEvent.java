package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_async_event}: an asynchronous event. */
final class IbvAsyncEvent {
    static final Field.U64 ELEMENT_QP = new Field.U64("element.qp", 0);
    static final Field.U32 ELEMENT_PORT_NUM = new Field.U32("element.port_num", 0);
    static final Field.U32 EVENT_TYPE = new Field.U32("event_type", 8);
    static final long SIZE = 16;
    static final Struct STRUCT = Struct.of("struct ibv_async_event", SIZE, ELEMENT_QP, ELEMENT_PORT_NUM, EVENT_TYPE);

    private IbvAsyncEvent() {}
}
