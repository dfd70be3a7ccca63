package io.rdmanio.ch;

import java.net.InetAddress;
import java.nio.channels.spi.SelectorProvider;

/** The contract as the JDK keeps it: what fails here is a wrong contract. */
class JdkSocketChannelTest extends SocketChannelContractTest {
    @Override
    SelectorProvider provider() {
        return JdkTransport.provider();
    }

    @Override
    InetAddress address() {
        return JdkTransport.address();
    }
}
