package io.rdmanio.ch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.RdmaSelectorProvider;
import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The provider, and whose channels go with whose selectors. */
abstract class ProviderContractTest extends ChannelContract {
    @Test
    @Tag("once")
    void rule01_provider_isFoundByTheSystemProperty() throws Exception {
        try (ChildJvm jvm = ChildJvm.of(provider(), DefaultProvider.class)) {
            assertThat(jvm.output().lines())
                    .containsExactly(provider().getClass().getName(), "the same");
        }
    }

    /** Ours is the one service on this class path. */
    @Test
    @Tag("once")
    void rule01_provider_isFoundAsAService() throws Exception {
        try (ChildJvm jvm = ChildJvm.start(List.of(), DefaultProvider.class)) {
            assertThat(jvm.output().lines()).containsExactly(RdmaSelectorProvider.class.getName(), "the same");
        }
    }

    @Test
    @Tag("once")
    void rule01_provider_thatDoesNotExist_isAConfigurationError() throws Exception {
        List<String> flags = List.of("-Djava.nio.channels.spi.SelectorProvider=no.such.Provider");
        try (ChildJvm jvm = ChildJvm.start(flags, DefaultProvider.class)) {
            assertThat(jvm.output()).contains(ServiceConfigurationError.class.getName());
        }
    }

    @Test
    void rule02_channels_areOpenedForEachInternetFamilyAndKnowTheirProvider() throws IOException {
        for (StandardProtocolFamily family : List.of(StandardProtocolFamily.INET, StandardProtocolFamily.INET6)) {
            try (SocketChannel socket = provider().openSocketChannel(family);
                    ServerSocketChannel server = provider().openServerSocketChannel(family)) {
                assertThat(socket.provider()).isSameAs(provider());
                assertThat(server.provider()).isSameAs(provider());
                assertThat(socket.isBlocking()).isTrue();
                assertThat(server.isBlocking()).isTrue();
            }
        }
        ProtocolFamily unknown = () -> "UNKNOWN";
        assertThatThrownBy(() -> provider().openSocketChannel(unknown))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> provider().openServerSocketChannel(unknown))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> provider().openSocketChannel(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> provider().openServerSocketChannel(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void rule02_methods_areThreadSafe() throws Exception {
        List<Doing<Void>> openers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            openers.add(doing(() -> {
                for (int j = 0; j < 20; j++) {
                    try (SocketChannel socket = provider().openSocketChannel();
                            ServerSocketChannel server = listen();
                            Selector selector = provider().openSelector()) {
                        socket.configureBlocking(false);
                        server.configureBlocking(false);
                        socket.register(selector, 0);
                        server.register(selector, ACCEPT);
                        selector.selectNow();
                    }
                }
                return null;
            }));
        }
        for (Doing<Void> opener : openers) {
            opener.get();
        }
    }

    @Test
    void rule03_selector_takesTheChannelsOfItsProviderAlone() throws IOException {
        try (AbstractSelector selector = provider().openSelector();
                SocketChannel foreign = transport().foreigner().openSocketChannel();
                SocketChannel ours = provider().openSocketChannel();
                Selector foreignSelector = transport().foreigner().openSelector()) {
            assertThat(selector.provider()).isSameAs(provider());
            foreign.configureBlocking(false);
            ours.configureBlocking(false);
            assertThatThrownBy(() -> foreign.register(selector, READ)).isInstanceOf(IllegalSelectorException.class);
            assertThatThrownBy(() -> ours.register(foreignSelector, READ)).isInstanceOf(IllegalSelectorException.class);
            assertThat(foreign.isRegistered()).isFalse();
            assertThat(selector.keys()).isEmpty();
            assertThat(ours.register(selector, CONNECT).isValid()).isTrue();
        }
    }

    @Test
    void rule62_operations_areThoseOfTheChannelsKindAndNoOthers() throws IOException {
        try (Selector selector = provider().openSelector();
                SocketChannel socket = provider().openSocketChannel();
                ServerSocketChannel server = listen()) {
            assertThat(socket.validOps()).isEqualTo(CONNECT | READ | WRITE);
            assertThat(server.validOps()).isEqualTo(ACCEPT);
            socket.configureBlocking(false);
            server.configureBlocking(false);
            assertThatThrownBy(() -> socket.register(selector, ACCEPT)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> socket.register(selector, 1 << 8)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> server.register(selector, READ)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
