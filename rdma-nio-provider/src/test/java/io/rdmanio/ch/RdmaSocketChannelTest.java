package io.rdmanio.ch;

import io.rdmanio.stream.StreamLeakCheck;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.spi.SelectorProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract over RDMA. */
@Tag("rdma")
@ExtendWith(StreamLeakCheck.class)
class RdmaSocketChannelTest extends SocketChannelContractTest {
    @BeforeAll
    static void warmUp() throws IOException {
        RdmaTransport.warmUp();
    }

    @Override
    SelectorProvider provider() {
        return RdmaTransport.provider();
    }

    @Override
    InetAddress address() throws IOException {
        return RdmaTransport.address();
    }
}
