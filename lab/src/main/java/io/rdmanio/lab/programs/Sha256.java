package io.rdmanio.lab.programs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** One SHA-256 in the making. One thread at a time. */
final class Sha256 {
    private final MessageDigest digest;

    Sha256() {
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    static String of(byte[] bytes) {
        return new Sha256().add(ByteBuffer.wrap(bytes)).hex();
    }

    static String of(Path file) throws IOException {
        Sha256 sha = new Sha256();
        try (InputStream content = sha.digesting(Files.newInputStream(file))) {
            content.transferTo(java.io.OutputStream.nullOutputStream());
        }
        return sha.hex();
    }

    /** Adds what remains of the buffer, leaving it unread. */
    Sha256 add(ByteBuffer buffer) {
        digest.update(buffer.duplicate());
        return this;
    }

    /** The same stream, adding what is read from it. */
    InputStream digesting(InputStream stream) {
        return new DigestInputStream(stream, digest);
    }

    /** The digest of all that was added, which ends it. */
    String hex() {
        return HexFormat.of().formatHex(digest.digest());
    }
}
