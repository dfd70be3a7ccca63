package io.rdmanio.verbs;

/** Checks of numbers that go into narrow unsigned fields of C. */
final class UnsignedField {
    private static final int MAX_BYTE = 0xFF;
    private static final int MAX_SHORT = 0xFFFF;

    private UnsignedField() {}

    static int checkByte(String name, int value) {
        return check(name, value, MAX_BYTE);
    }

    static int checkShort(String name, int value) {
        return check(name, value, MAX_SHORT);
    }

    static int check(String name, int value, int max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + " " + value + " is not 0 to " + max);
        }
        return value;
    }
}
