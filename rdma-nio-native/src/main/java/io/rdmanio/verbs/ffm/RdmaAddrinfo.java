package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;

/** {@code struct rdma_addrinfo}: an address with what else is known of the way to it. */
final class RdmaAddrinfo {
    static final Field.U32 AI_FLAGS = new Field.U32("ai_flags", 0);
    static final Field.U32 AI_FAMILY = new Field.U32("ai_family", 4);
    static final Field.U32 AI_QP_TYPE = new Field.U32("ai_qp_type", 8);
    static final Field.U32 AI_PORT_SPACE = new Field.U32("ai_port_space", 12);
    static final Field.U32 AI_SRC_LEN = new Field.U32("ai_src_len", 16);
    static final Field.U32 AI_DST_LEN = new Field.U32("ai_dst_len", 20);
    static final Field.U64 AI_SRC_ADDR = new Field.U64("ai_src_addr", 24);
    static final Field.U64 AI_DST_ADDR = new Field.U64("ai_dst_addr", 32);
    static final Field.U64 AI_SRC_CANONNAME = new Field.U64("ai_src_canonname", 40);
    static final Field.U64 AI_DST_CANONNAME = new Field.U64("ai_dst_canonname", 48);
    static final Field.U64 AI_ROUTE_LEN = new Field.U64("ai_route_len", 56);
    static final Field.U64 AI_ROUTE = new Field.U64("ai_route", 64);
    static final Field.U64 AI_CONNECT_LEN = new Field.U64("ai_connect_len", 72);
    static final Field.U64 AI_CONNECT = new Field.U64("ai_connect", 80);
    static final Field.U64 AI_NEXT = new Field.U64("ai_next", 88);
    static final long SIZE = 96;
    static final Struct STRUCT = Struct.of(
            "struct rdma_addrinfo",
            SIZE,
            AI_FLAGS,
            AI_FAMILY,
            AI_QP_TYPE,
            AI_PORT_SPACE,
            AI_SRC_LEN,
            AI_DST_LEN,
            AI_SRC_ADDR,
            AI_DST_ADDR,
            AI_SRC_CANONNAME,
            AI_DST_CANONNAME,
            AI_ROUTE_LEN,
            AI_ROUTE,
            AI_CONNECT_LEN,
            AI_CONNECT,
            AI_NEXT);

    private RdmaAddrinfo() {}
}
