package io.rdmanio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class RdmaSelectorProviderTest {
    private final RdmaSelectorProvider provider = new RdmaSelectorProvider();

    @Test
    void service_isFound() {
        assertThat(ServiceLoader.load(SelectorProvider.class))
                .anySatisfy(found -> assertThat(found).isInstanceOf(RdmaSelectorProvider.class));
    }

    @Test
    void channels_knowTheirProviderAndOperations() throws IOException {
        try (SocketChannel socket = provider.openSocketChannel();
                ServerSocketChannel server = provider.openServerSocketChannel();
                AbstractSelector selector = provider.openSelector()) {
            assertThat(socket.provider()).isSameAs(provider);
            assertThat(server.provider()).isSameAs(provider);
            assertThat(selector.provider()).isSameAs(provider);
            assertThat(socket.validOps())
                    .isEqualTo(SelectionKey.OP_CONNECT | SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            assertThat(server.validOps()).isEqualTo(SelectionKey.OP_ACCEPT);
        }
    }

    @Test
    void whatIsNotThereYet_saysSo() {
        assertThatThrownBy(provider::openPipe)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("not there yet");
        assertThatThrownBy(provider::openDatagramChannel)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("not there yet");
        assertThatThrownBy(() -> provider.openDatagramChannel(StandardProtocolFamily.INET))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> provider.openSocketChannel(StandardProtocolFamily.UNIX))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("UNIX");
        assertThatThrownBy(() -> provider.openServerSocketChannel(StandardProtocolFamily.UNIX))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(provider.inheritedChannel()).isNull();
    }
}
