package io.rdmanio.lab.streams;

import java.util.List;

/** What the streams go over: the two that are compared. */
enum Transport {
    /** The JDK's own channels: the kernel's TCP on loopback. */
    TCP("sun.nio.ch.EPollSelectorProvider"),
    /** Our channels over the software device. */
    SOFT("io.rdmanio.RdmaSelectorProvider");

    private final String provider;

    Transport(String provider) {
        this.provider = provider;
    }

    /** The class of the provider that a program over it tells. */
    String provider() {
        return provider;
    }

    /** What a JVM is told besides the provider. */
    List<String> jvmOptions() {
        return switch (this) {
            case TCP -> List.of();
            case SOFT -> List.of("-Dio.rdmanio.policy=soft", "--enable-native-access=ALL-UNNAMED");
        };
    }
}
