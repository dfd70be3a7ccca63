package io.rdmanio.verbs.soft;

import io.rdmanio.linux.MemoryFile;
import io.rdmanio.linux.UnixSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Everything that a host shares with other processes, found by looking through its objects: memory that is mapped from
 * memfds and may be written, the memfds themselves, areas, headers, and sockets. So whatever the engine comes to share is found here without being named.
 * For one thread.
 */
final class SharedState {
    private static final String PACKAGE = "io.rdmanio.";
    private static final int MAX_OBJECTS = 200_000;
    private static final int HEX = 16;

    final List<MemorySegment> segments = new ArrayList<>();
    final List<UnixSocket> sockets = new ArrayList<>();
    final List<MemoryFile> files = new ArrayList<>();
    final List<Area> areas = new ArrayList<>();
    final List<PairHeader> headers = new ArrayList<>();
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<Object> waiting = new ArrayList<>();
    private final List<long[]> mappings = new ArrayList<>();

    /** Looks through an object. What changes meanwhile may be overlooked. */
    SharedState(Object root) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            if (line.contains(" rw-s ") && line.contains("/memfd:")) {
                String[] bounds = line.substring(0, line.indexOf(' ')).split("-", -1);
                mappings.add(new long[] {Long.parseLong(bounds[0], HEX), Long.parseLong(bounds[1], HEX)});
            }
        }
        add(root);
        while (!waiting.isEmpty() && seen.size() < MAX_OBJECTS) {
            look(waiting.removeLast());
        }
    }

    private void add(Object object) {
        if (object != null && seen.add(object)) {
            waiting.add(object);
        }
    }

    private void look(Object object) {
        switch (object) {
            case MemorySegment segment -> {
                if (segment.isNative() && !segment.isReadOnly() && isMapped(segment)) {
                    segments.add(segment);
                }
            }
            case Area area -> {
                areas.add(area);
                lookInto(area);
            }
            case PairHeader header -> {
                headers.add(header);
                lookInto(header);
            }
            case UnixSocket socket -> sockets.add(socket);
            case MemoryFile file -> files.add(file);
            case Collection<?> collection -> addAll(contents(collection));
            case Map<?, ?> map -> {
                addAll(contents(map.keySet()));
                addAll(contents(map.values()));
            }
            case AtomicReference<?> reference -> add(reference.get());
            case AtomicReferenceArray<?> array -> {
                for (int i = 0; i < array.length(); i++) {
                    add(array.get(i));
                }
            }
            case Object[] array -> addAll(array);
            default -> lookInto(object);
        }
    }

    /**
     * The engine's own threads change its collections under locks that are not ours. A hash map that grows or shrinks
     * while it is copied tells so by either exception.
     */
    private static Object[] contents(Collection<?> collection) {
        while (true) {
            try {
                return collection.toArray();
            } catch (ConcurrentModificationException | ArrayIndexOutOfBoundsException e) {
                Thread.onSpinWait();
            }
        }
    }

    private void addAll(Object[] objects) {
        for (Object object : objects) {
            add(object);
        }
    }

    private void lookInto(Object object) {
        if (object.getClass().isArray() && Array.getLength(object) >= 0) {
            return;
        }
        for (Class<?> c = object.getClass(); c != null && c.getName().startsWith(PACKAGE); c = c.getSuperclass()) {
            for (Field field : c.getDeclaredFields()) {
                if (!field.getType().isPrimitive() && !Modifier.isStatic(field.getModifiers())) {
                    field.setAccessible(true);
                    try {
                        add(field.get(object));
                    } catch (IllegalAccessException e) {
                        throw new LinkageError(field.toString(), e);
                    }
                }
            }
        }
    }

    private boolean isMapped(MemorySegment segment) {
        long begin = segment.address();
        return segment.byteSize() >= Long.BYTES
                && mappings.stream().anyMatch(bounds -> bounds[0] <= begin && segment.byteSize() <= bounds[1] - begin);
    }
}
