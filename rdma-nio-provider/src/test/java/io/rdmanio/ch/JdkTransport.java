package io.rdmanio.ch;

import io.rdmanio.RdmaSelectorProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The oracle: the JDK's own provider over TCP on the loopback interface. */
final class JdkTransport implements Transport {
    private final SelectorProvider foreigner = new RdmaSelectorProvider();

    @Override
    public SelectorProvider provider() {
        return jdk();
    }

    static SelectorProvider jdk() {
        SelectorProvider provider = SelectorProvider.provider();
        if (provider.getClass().getName().startsWith("io.rdmanio")) {
            throw new IllegalStateException("the oracle is the JDK's provider; start this JVM without ours");
        }
        return provider;
    }

    @Override
    public SelectorProvider foreigner() {
        return foreigner;
    }

    @Override
    public InetAddress address() {
        return InetAddress.getLoopbackAddress();
    }

    @Override
    public boolean differs(Difference difference) {
        return false;
    }

    @Override
    public boolean affordsManyRounds() {
        return true;
    }

    @Override
    public int liveConnections() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return (int) open.filter(JdkTransport::isSocket).count();
        }
    }

    @Override
    public long heldBytes() {
        return 0;
    }

    private static boolean isSocket(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
        } catch (IOException e) {
            return false; // the descriptor of the directory itself, closed by now
        }
    }
}
