package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct sockaddr_in6}: an IPv6 address with a port. */
final class SockaddrIn6 {
    static final Field.U16 SIN6_FAMILY = new Field.U16("sin6_family", 0);
    static final Field.Net16 SIN6_PORT = new Field.Net16("sin6_port", 2);
    static final Field.U32 SIN6_FLOWINFO = new Field.U32("sin6_flowinfo", 4);
    static final Field.Bytes SIN6_ADDR = new Field.Bytes("sin6_addr", 8, 16);
    static final Field.U32 SIN6_SCOPE_ID = new Field.U32("sin6_scope_id", 24);
    static final long SIZE = 28;
    static final Struct STRUCT =
            Struct.of("struct sockaddr_in6", SIZE, SIN6_FAMILY, SIN6_PORT, SIN6_FLOWINFO, SIN6_ADDR, SIN6_SCOPE_ID);

    private SockaddrIn6() {}
}
