package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct sockaddr_in}: an IPv4 address with a port. */
final class SockaddrIn {
    static final Field.U16 SIN_FAMILY = new Field.U16("sin_family", 0);
    static final Field.Net16 SIN_PORT = new Field.Net16("sin_port", 2);
    static final Field.Bytes SIN_ADDR = new Field.Bytes("sin_addr", 4, 4);
    static final long SIZE = 16;
    static final Struct STRUCT = Struct.of("struct sockaddr_in", SIZE, SIN_FAMILY, SIN_PORT, SIN_ADDR);

    private SockaddrIn() {}
}
