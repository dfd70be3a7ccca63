package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.TransportType;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.Struct;
import io.rdmanio.verbs.spi.VerbsAccess;
import io.rdmanio.verbs.spi.VerbsEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/**
 * A driver without a device: an {@code ibv_context} inside a {@code verbs_context} in native memory, whose functions
 * are Java. It begins as one of the newer kind with nothing in its tables; a test puts in what the driver shall have.
 *
 * <p>What libibverbs exports (ibv_destroy_srq, ibv_destroy_qp, ibv_close_device and their like) works on it too, by the
 * library's own table of functions, whose layout is private: every function there is {@link #library}.
 *
 * <p>Thread safety: functions may be called by any thread; everything else is for the thread of the test.
 */
final class FakeDriver implements AutoCloseable {
    static final String NAME = "fake0";

    // Nobody but the library itself reads it.
    static final Field.U64 PRIVATE = new Field.U64("priv", 208);

    // The library's private table has about a hundred functions behind a few words of other things.
    private static final int PRIVATE_BYTES = 8192;
    private static final int LIBRARY_ARGUMENTS = 4;
    private static final NativeFunction ERRNO_LOCATION = Downcall.libc("__errno_location");

    /** A function of the driver. */
    @FunctionalInterface
    interface Function {
        /**
         * Answers a call.
         *
         * @param arguments as they came in registers: of an int only the lower half is defined
         * @return the result, an address or a number
         */
        long call(long[] arguments);
    }

    /** A call that was made. */
    record Call(String function, List<Long> arguments) {}

    private final Arena arena = Arena.ofShared();
    private final List<Call> calls = Collections.synchronizedList(new ArrayList<>());
    private final MemorySegment verbsContext = arena.allocate(VerbsContext.SIZE, 16);
    private final MemorySegment context = VerbsContext.CONTEXT.of(verbsContext);
    private volatile Function library = arguments -> 0;
    private volatile Throwable failure;

    FakeDriver() {
        MemorySegment device = arena.allocate(IbvDevice.SIZE, 16);
        IbvDevice.NAME.of(device).setString(0, NAME);
        IbvDevice.NODE_TYPE.set(device, 1);
        IbvDevice.TRANSPORT_TYPE.set(device, TransportType.IB.value());
        IbvContext.DEVICE.set(context, device.address());
        IbvContext.CMD_FD.set(context, -1);
        IbvContext.ASYNC_FD.set(context, -1);
        IbvContext.NUM_COMP_VECTORS.set(context, 1);
        IbvContext.ABI_COMPAT.set(context, FfmContext.EXTENDED);
        VerbsContext.SZ.set(verbsContext, VerbsContext.SIZE);
        MemorySegment table = arena.allocate(PRIVATE_BYTES, 16);
        long stub = stub("library", LIBRARY_ARGUMENTS, arguments -> library.call(arguments));
        for (long i = 0; i < PRIVATE_BYTES / Long.BYTES; i++) {
            table.setAtIndex(ValueLayout.JAVA_LONG, i, stub);
        }
        PRIVATE.set(verbsContext, table.address());
    }

    /** Makes the context one of the older kind, before which no verbs_context lies. */
    FakeDriver oldKind() {
        IbvContext.ABI_COMPAT.set(context, 0);
        return this;
    }

    /** Makes the verbs_context one of an older library: it ends (in truth begins) just behind this function. */
    FakeDriver without(Field.U64 function) {
        VerbsContext.SZ.set(verbsContext, VerbsContext.SIZE - function.offset() - Long.BYTES);
        return this;
    }

    /** Puts a function into one of the two tables. */
    FakeDriver on(Field.U64 function, int arguments, Function answer) {
        function.set(table(function), stub(function.nativeName(), arguments, answer));
        return this;
    }

    /** Leaves a null where a function may have been. */
    FakeDriver remove(Field.U64 function) {
        function.set(table(function), 0);
        return this;
    }

    private MemorySegment table(Field.U64 function) {
        return IbvContext.STRUCT.fields().contains(function) ? context : verbsContext;
    }

    /** Sets what answers whatever libibverbs calls by its own table; 0 unless it was set. */
    FakeDriver library(Function answer) {
        library = answer;
        return this;
    }

    /** An object of the driver, such as an {@code ibv_srq}, that begins with the pointer to its context. */
    MemorySegment object(Struct struct) {
        MemorySegment object = arena.allocate(struct.size(), 16);
        object.set(ValueLayout.JAVA_LONG, 0, address());
        return object;
    }

    /** The ibv_context. */
    long address() {
        return context.address();
    }

    /** The context as the engine sees it; it reads the table of operations now. */
    FfmContext context() {
        return new FfmContext(address());
    }

    /** The object in front of the context, whose close calls ibv_close_device. */
    OpenDeviceContext open() throws VerbsException {
        VerbsEngine engine = (VerbsEngine) Proxy.newProxyInstance(
                FakeDriver.class.getClassLoader(),
                new Class<?>[] {VerbsEngine.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "open" -> context();
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        return VerbsAccess.get().newEngine(engine).open(NAME);
    }

    /** Skips the test where libibverbs is not installed. */
    static void assumeLibrary() {
        Optional<String> reason = NativeLibrary.IBVERBS.load();
        Assumptions.assumeTrue(reason.isEmpty(), () -> reason.orElse(""));
    }

    /** The calls so far, in order. */
    List<Call> calls() {
        return List.copyOf(calls);
    }

    /** The names of the functions called so far, in order. */
    List<String> functions() {
        return calls().stream().map(Call::function).toList();
    }

    /** What a driver does when it fails: {@code errno = number; return 0}. */
    static long fail(int errno) {
        try (CallFrame frame = CallFrame.enter()) {
            Pointers.bytes(Downcall.call(ERRNO_LOCATION, frame), Integer.BYTES).set(ValueLayout.JAVA_INT, 0, errno);
        }
        return 0;
    }

    private static MethodHandle invoke() {
        try {
            return MethodHandles.lookup()
                    .findVirtual(
                            FakeDriver.class,
                            "invoke",
                            MethodType.methodType(long.class, String.class, Function.class, long[].class));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the method below", e);
        }
    }

    private long stub(String name, int arguments, Function answer) {
        MemoryLayout[] layouts = new MemoryLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        MethodHandle target =
                MethodHandles.insertArguments(invoke(), 0, this, name, answer).asCollector(long[].class, arguments);
        return Linker.nativeLinker()
                .upcallStub(target, FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts), arena)
                .address();
    }

    /** Called from C, where an exception would end the JVM. */
    long invoke(String name, Function answer, long[] arguments) {
        try {
            calls.add(new Call(name, Arrays.stream(arguments).boxed().toList()));
            return answer.call(arguments);
        } catch (Throwable e) {
            failure = e;
            return -1;
        }
    }

    @Override
    public void close() {
        arena.close();
        if (failure != null) {
            throw new AssertionError("a function of the fake driver failed", failure);
        }
    }
}
