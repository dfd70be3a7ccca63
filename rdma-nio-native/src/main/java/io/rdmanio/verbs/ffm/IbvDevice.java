package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct ibv_device}: a device in the list of devices. */
final class IbvDevice {
    static final Field.U32 NODE_TYPE = new Field.U32("node_type", 16);
    static final Field.U32 TRANSPORT_TYPE = new Field.U32("transport_type", 20);
    static final Field.Bytes NAME = new Field.Bytes("name", 24, 64);
    static final Field.Bytes DEV_NAME = new Field.Bytes("dev_name", 88, 64);
    static final long SIZE = 664;
    static final Struct STRUCT = Struct.of("struct ibv_device", SIZE, NODE_TYPE, TRANSPORT_TYPE, NAME, DEV_NAME);

    private IbvDevice() {}
}
