package io.rdmanio.lab.programs;

import java.io.IOException;

/** Data arrived, and not what was sent. */
final class WrongDataException extends IOException {
    private static final long serialVersionUID = 1;

    WrongDataException(long position, byte expected, byte actual) {
        super("wrong data: byte %,d is 0x%02x instead of 0x%02x".formatted(position, actual, expected));
    }

    WrongDataException(String message) {
        super("wrong data: " + message);
    }
}
