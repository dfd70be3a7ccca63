package io.rdmanio.verbs.soft;

import io.rdmanio.linux.EventFd;
import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.WakePipe;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Control messages as a hostile process would send them: of every kind, with numbers that mean something and numbers that
 * don't, with bytes changed, missing and added, and with descriptors of what should not be sent. For one thread.
 */
final class RandomMessages implements AutoCloseable {
    private static final int FILE_BYTES = 1 << 20;
    private static final List<Class<?>> KINDS = kinds(ControlMessage.class);

    private final Random random;
    private final long[] numbers;
    private final EventFd eventFd = new EventFd();
    private final WakePipe pipe = new WakePipe();
    private final MemoryFile unsealed;
    private final MemoryFile tooShort;
    private final MemoryFile good;
    private final MemoryFile frozen;
    private final int otherEnd;

    /** Bytes, and what goes with them. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Datagram(byte[] bytes, int[] descriptors) {}

    /**
     * Messages from a seed.
     *
     * @param numbers that mean something to the receiver
     */
    RandomMessages(Random random, long... numbers) throws IOException {
        this.random = random;
        this.numbers = numbers;
        otherEnd = pipe.openOtherEnd();
        unsealed = MemoryFile.create("hostile-unsealed", FILE_BYTES);
        tooShort = MemoryFile.create("hostile-short", MemoryFile.PAGE_BYTES);
        tooShort.addSeals(MemoryFile.SEAL_GROW | MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_SEAL);
        good = MemoryFile.create("hostile-good", FILE_BYTES);
        good.addSeals(MemoryFile.SEAL_GROW | MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_SEAL);
        frozen = MemoryFile.create("hostile-frozen", FILE_BYTES);
        frozen.addSeals(MemoryFile.SEAL_GROW | MemoryFile.SEAL_SHRINK | MemoryFile.SEAL_WRITE | MemoryFile.SEAL_SEAL);
    }

    private static List<Class<?>> kinds(Class<?> type) {
        List<Class<?>> found = new ArrayList<>();
        for (Class<?> each : type.getPermittedSubclasses()) {
            if (each.isRecord()) {
                found.add(each);
            } else {
                found.addAll(kinds(each));
            }
        }
        return found;
    }

    /** A number: one that means something, one at an edge, or any. */
    long number() {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextLong();
            case 1 -> random.nextInt();
            case 2 -> 1L << random.nextInt(Long.SIZE);
            case 3 -> -1 - random.nextInt(3);
            case 4 -> 64L * random.nextInt(4096);
            case 5, 6 -> numbers[random.nextInt(numbers.length)];
            default -> random.nextInt(8);
        };
    }

    /** A message of any kind, as bytes, often damaged. */
    Datagram next() {
        if (random.nextInt(16) == 0) {
            byte[] bytes = new byte[1 + random.nextInt(ControlMessages.MAX_BYTES + 64)];
            random.nextBytes(bytes);
            return new Datagram(bytes, descriptors(random.nextInt(5)));
        }
        Class<?> kind = KINDS.get(random.nextInt(KINDS.size()));
        return encode((ControlMessage) make(kind));
    }

    /** A greeting, often a good one. */
    Datagram hello() {
        int version = random.nextInt(4) == 0 ? (int) number() : ControlMessage.VERSION;
        return encode(new ControlMessage.Hello(version, random.nextLong(), random.nextInt(4) == 0));
    }

    /** The second message, often a good one. */
    Datagram join() {
        boolean isGood = random.nextBoolean();
        return encode(new ControlMessage.Join(isGood ? FILE_BYTES : number(), -1, -1));
    }

    private Datagram encode(ControlMessage message) {
        ByteBuffer buffer = ByteBuffer.allocate(ControlMessages.MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int count = ControlMessages.encode(message, buffer, new int[ControlMessages.MAX_DESCRIPTORS]);
        byte[] bytes = Arrays.copyOf(buffer.array(), buffer.position());
        switch (random.nextInt(8)) {
            case 0 -> bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
            case 1 -> bytes = Arrays.copyOf(bytes, 1 + random.nextInt(bytes.length + 8));
            case 2 -> count = random.nextInt(6);
            default -> {
                // As it is.
            }
        }
        return new Datagram(bytes, descriptors(count));
    }

    private int[] descriptors(int count) {
        int[] choice = {
            eventFd.fileDescriptor(),
            pipe.fileDescriptor(),
            otherEnd,
            unsealed.fileDescriptor(),
            tooShort.fileDescriptor(),
            good.fileDescriptor(),
            good.fileDescriptor(),
            frozen.fileDescriptor(),
            0,
            1
        };
        int[] descriptors = new int[count];
        Arrays.setAll(descriptors, i -> choice[random.nextInt(choice.length)]);
        return descriptors;
    }

    private Object make(Class<?> record) {
        RecordComponent[] components = record.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            values[i] = value(types[i]);
        }
        try {
            Constructor<?> constructor = record.getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(record.getName(), e);
        }
    }

    private Object value(Class<?> type) {
        if (type == int.class) {
            return (int) number();
        }
        if (type == long.class) {
            return number();
        }
        if (type == boolean.class) {
            return random.nextBoolean();
        }
        if (type == byte[].class) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            return bytes;
        }
        if (type == InetSocketAddress.class) {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), random.nextInt(1 << 16));
        }
        return make(type);
    }

    @Override
    public void close() {
        eventFd.close();
        pipe.close();
        FileDescriptors.close(otherEnd);
        unsealed.close();
        tooShort.close();
        good.close();
        frozen.close();
    }
}
