package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.cm.AddressFamily;
import io.rdmanio.verbs.cm.AddressInfo;
import io.rdmanio.verbs.cm.AddressInfoHints;
import io.rdmanio.verbs.cm.PortSpace;
import io.rdmanio.verbs.spi.Field;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code struct rdma_addrinfo} between Java and C. */
final class FfmAddressInfo {
    private static final int SOCKADDR_STORAGE_BYTES = 128;
    private static final int ALIGNMENT = 8;
    private static final int EAI_SYSTEM = -11;

    // The codes of getaddrinfo(3), negative as in glibc.
    static final Map<Integer, String> EAI_NAMES = Map.ofEntries(
            Map.entry(-1, "EAI_BADFLAGS"),
            Map.entry(-2, "EAI_NONAME"),
            Map.entry(-3, "EAI_AGAIN"),
            Map.entry(-4, "EAI_FAIL"),
            Map.entry(-5, "EAI_NODATA"),
            Map.entry(-6, "EAI_FAMILY"),
            Map.entry(-7, "EAI_SOCKTYPE"),
            Map.entry(-8, "EAI_SERVICE"),
            Map.entry(-9, "EAI_ADDRFAMILY"),
            Map.entry(-10, "EAI_MEMORY"),
            Map.entry(EAI_SYSTEM, "EAI_SYSTEM"),
            Map.entry(-12, "EAI_OVERFLOW"));

    private FfmAddressInfo() {}

    static List<AddressInfo> lookUp(String node, String service, AddressInfoHints hints) throws VerbsException {
        try (Arena arena = Arena.ofConfined();
                CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(
                    Imports.RDMA_GETADDRINFO.get(),
                    frame,
                    string(arena, node),
                    string(arena, service),
                    hints.equals(AddressInfoHints.NONE) ? 0 : hints(arena, hints),
                    frame.argumentsAddress());
            if (result != 0) {
                throw failure(result, frame.errno(), "node=" + node + ", service=" + service + ", " + hints);
            }
            long list = frame.arguments().get(ValueLayout.JAVA_LONG, 0);
            try {
                return read(list);
            } finally {
                Downcall.call(Imports.RDMA_FREEADDRINFO.get(), frame, list);
            }
        }
    }

    /** A code of getaddrinfo(3) is returned by older libraries, and handed out as errno, still negative, by newer. */
    private static VerbsException failure(int result, int errno, String arguments) {
        String function = Imports.RDMA_GETADDRINFO.name();
        int code = result == -1 && errno != 0 ? errno : result;
        if (code > 0) {
            return new VerbsException(function, arguments, code, Cures.of(function, code));
        }
        return new VerbsException(
                function,
                arguments,
                0,
                gaiString(code) + " (" + EAI_NAMES.getOrDefault(code, "code") + ", " + code + ")");
    }

    /** What the C library says of a code. */
    static String gaiString(int code) {
        try (CallFrame frame = CallFrame.enter()) {
            return Pointers.string(Downcall.call(GaiStrerror.FUNCTION, frame, code));
        }
    }

    private static final class GaiStrerror {
        static final NativeFunction FUNCTION = Downcall.libc("gai_strerror");
    }

    private static long string(Arena arena, String text) {
        return text == null ? 0 : arena.allocateFrom(text).address();
    }

    private static long hints(Arena arena, AddressInfoHints hints) {
        MemorySegment struct = arena.allocate(RdmaAddrinfo.SIZE, ALIGNMENT);
        RdmaAddrinfo.AI_FLAGS.set(struct, hints.flags());
        RdmaAddrinfo.AI_FAMILY.set(struct, hints.family().value());
        if (hints.queuePairType() != null) {
            RdmaAddrinfo.AI_QP_TYPE.set(struct, hints.queuePairType().value());
        }
        if (hints.portSpace() != null) {
            RdmaAddrinfo.AI_PORT_SPACE.set(struct, hints.portSpace().value());
        }
        putAddress(arena, struct, raw(hints.source()), RdmaAddrinfo.AI_SRC_LEN, RdmaAddrinfo.AI_SRC_ADDR);
        putAddress(arena, struct, raw(hints.destination()), RdmaAddrinfo.AI_DST_LEN, RdmaAddrinfo.AI_DST_ADDR);
        return struct.address();
    }

    private static byte[] raw(InetSocketAddress address) {
        if (address == null) {
            return new byte[0];
        }
        MemorySegment memory = MemorySegment.ofArray(new long[SOCKADDR_STORAGE_BYTES / Long.BYTES]);
        SocketAddresses.write(address, memory);
        return memory.asSlice(0, SocketAddresses.sizeBytes(memory)).toArray(ValueLayout.JAVA_BYTE);
    }

    private static void putAddress(
            Arena arena, MemorySegment struct, byte[] address, Field.U32 length, Field.U64 pointer) {
        if (address.length > 0) {
            // librdmacm reads as much as the family says, whatever the length.
            MemorySegment memory = arena.allocate(Math.max(address.length, SOCKADDR_STORAGE_BYTES), ALIGNMENT);
            MemorySegment.copy(address, 0, memory, ValueLayout.JAVA_BYTE, 0, address.length);
            length.set(struct, address.length);
            pointer.set(struct, memory.address());
        }
    }

    /** Writes one, for a call that reads it. */
    static long write(Arena arena, AddressInfo info) {
        MemorySegment struct = arena.allocate(RdmaAddrinfo.SIZE, ALIGNMENT);
        RdmaAddrinfo.AI_FLAGS.set(struct, info.flags());
        RdmaAddrinfo.AI_FAMILY.set(struct, info.family().value());
        RdmaAddrinfo.AI_QP_TYPE.set(struct, info.queuePairType().value());
        RdmaAddrinfo.AI_PORT_SPACE.set(struct, info.portSpace().value());
        byte[] source = info.rawSource().length > 0 ? info.rawSource() : raw(info.source());
        byte[] destination = info.rawDestination().length > 0 ? info.rawDestination() : raw(info.destination());
        putAddress(arena, struct, source, RdmaAddrinfo.AI_SRC_LEN, RdmaAddrinfo.AI_SRC_ADDR);
        putAddress(arena, struct, destination, RdmaAddrinfo.AI_DST_LEN, RdmaAddrinfo.AI_DST_ADDR);
        putBytes(arena, struct, info.route(), RdmaAddrinfo.AI_ROUTE_LEN, RdmaAddrinfo.AI_ROUTE);
        putBytes(arena, struct, info.connectData(), RdmaAddrinfo.AI_CONNECT_LEN, RdmaAddrinfo.AI_CONNECT);
        return struct.address();
    }

    private static void putBytes(Arena arena, MemorySegment struct, byte[] bytes, Field.U64 length, Field.U64 pointer) {
        if (bytes.length > 0) {
            MemorySegment memory = arena.allocate(bytes.length, ALIGNMENT);
            MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
            length.set(struct, bytes.length);
            pointer.set(struct, memory.address());
        }
    }

    private static List<AddressInfo> read(long list) {
        List<AddressInfo> infos = new ArrayList<>();
        for (long next = list; next != 0; ) {
            MemorySegment struct = RdmaAddrinfo.STRUCT.at(next);
            byte[] source = bytes(RdmaAddrinfo.AI_SRC_ADDR.get(struct), RdmaAddrinfo.AI_SRC_LEN.get(struct));
            byte[] destination = bytes(RdmaAddrinfo.AI_DST_ADDR.get(struct), RdmaAddrinfo.AI_DST_LEN.get(struct));
            infos.add(new AddressInfo(
                    RdmaAddrinfo.AI_FLAGS.get(struct),
                    AddressFamily.of(RdmaAddrinfo.AI_FAMILY.get(struct)),
                    QueuePairType.of(RdmaAddrinfo.AI_QP_TYPE.get(struct)),
                    PortSpace.of(RdmaAddrinfo.AI_PORT_SPACE.get(struct)),
                    address(source),
                    address(destination),
                    Pointers.string(RdmaAddrinfo.AI_SRC_CANONNAME.get(struct)),
                    Pointers.string(RdmaAddrinfo.AI_DST_CANONNAME.get(struct)),
                    bytes(RdmaAddrinfo.AI_ROUTE.get(struct), RdmaAddrinfo.AI_ROUTE_LEN.get(struct)),
                    bytes(RdmaAddrinfo.AI_CONNECT.get(struct), RdmaAddrinfo.AI_CONNECT_LEN.get(struct)),
                    source,
                    destination));
            next = RdmaAddrinfo.AI_NEXT.get(struct);
        }
        return List.copyOf(infos);
    }

    private static byte[] bytes(long address, long length) {
        return address == 0 || length == 0
                ? new byte[0]
                : Pointers.bytes(address, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private static InetSocketAddress address(byte[] raw) {
        if (raw.length == 0) {
            return null;
        }
        MemorySegment memory = MemorySegment.ofArray(new long[SOCKADDR_STORAGE_BYTES / Long.BYTES]);
        MemorySegment.copy(raw, 0, memory, ValueLayout.JAVA_BYTE, 0, Math.min(raw.length, SOCKADDR_STORAGE_BYTES));
        return SocketAddresses.read(memory);
    }
}
