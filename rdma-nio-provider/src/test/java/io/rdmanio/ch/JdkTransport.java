package io.rdmanio.ch;

import java.net.InetAddress;
import java.nio.channels.spi.SelectorProvider;

/** The oracle: the JDK's own provider over TCP on the loopback interface. */
final class JdkTransport {
    private JdkTransport() {}

    static SelectorProvider provider() {
        SelectorProvider provider = SelectorProvider.provider();
        if (provider.getClass().getName().startsWith("io.rdmanio")) {
            throw new IllegalStateException("the oracle is the JDK's provider; start this JVM without ours");
        }
        return provider;
    }

    static InetAddress address() {
        return InetAddress.getLoopbackAddress();
    }
}
