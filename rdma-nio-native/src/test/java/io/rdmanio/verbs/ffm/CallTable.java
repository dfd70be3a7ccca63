package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.spi.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/** How the engine reaches a C function. */
public final class CallTable {
    private CallTable() {}

    /** The ways there are in the engine: exported, ops, verbs_context. */
    public static Set<String> reach(String function) {
        Set<String> ways = new HashSet<>();
        if (Arrays.stream(Imports.class.getDeclaredFields())
                .anyMatch(field -> field.getName().equals(function.toUpperCase(Locale.ROOT)))) {
            ways.add("exported");
        }
        String inline = function.replaceFirst("^ibv_", "");
        if (names(IbvContext.class).contains("ops." + inline)) {
            ways.add("ops");
        }
        if (names(VerbsContext.class).contains(inline)) {
            ways.add("verbs_context");
        }
        return ways;
    }

    private static Set<String> names(Class<?> layout) {
        Set<String> names = new HashSet<>();
        for (java.lang.reflect.Field field : layout.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && Field.class.isAssignableFrom(field.getType())) {
                try {
                    names.add(((Field) field.get(null)).nativeName());
                } catch (IllegalAccessException e) {
                    throw new AssertionError(e);
                }
            }
        }
        return names;
    }
}
