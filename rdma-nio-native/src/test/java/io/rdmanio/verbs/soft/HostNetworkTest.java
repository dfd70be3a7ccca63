package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.UnixSocket;
import io.rdmanio.verbs.LeakCheck;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Names of processes, and the processes behind them. */
@Timeout(30)
class HostNetworkTest {
    private static final String NAME = PortNames.SPACE + "4/127.0.0.1/1";

    @RegisterExtension
    final LeakCheck leakCheck = new LeakCheck();

    private SoftHost host;
    private SoftHost other;
    private HostNetwork network;
    private HostNetwork otherNetwork;

    @BeforeEach
    void start() throws IOException {
        host = SoftHost.startAnother();
        other = SoftHost.startAnother();
        network = new HostNetwork(host);
        otherNetwork = new HostNetwork(other);
    }

    @AfterEach
    void end() {
        host.release();
        other.release();
    }

    @Test
    void name_isTakenOnceAndSeenByOthers() throws IOException {
        Runnable giveBack = network.take(NAME);
        assertThat(giveBack).isNotNull();
        assertThat(network.take(NAME)).isNull();
        assertThat(otherNetwork.take(NAME)).isNull();
        assertThat(network.others()).doesNotContain(NAME);
        assertThat(otherNetwork.others()).contains(NAME);
        giveBack.run();
        assertThat(otherNetwork.others()).doesNotContain(NAME);
        otherNetwork.take(NAME).run();
    }

    @Test
    void connection_isNoName() throws IOException {
        Runnable giveBack = network.take(NAME);
        try (UnixSocket connection = UnixSocket.connect(Rendezvous.prefix(host.userId()) + NAME)) {
            assertThat(connection.peerCredentials().userId()).isEqualTo(host.userId());
            giveBack.run();
            assertThat(otherNetwork.others()).doesNotContain(NAME);
        }
    }

    private CompletableFuture<Object> find(String name) {
        CompletableFuture<Object> outcome = new CompletableFuture<>();
        otherNetwork.find(name, System.nanoTime() + TimeUnit.SECONDS.toNanos(10), new ConnectionNetwork.Search() {
            @Override
            public void found(ConnectionPeer peer) {
                outcome.complete(peer);
            }

            @Override
            public void failed(int errno) {
                outcome.complete(errno);
            }
        });
        return outcome;
    }

    @Test
    void find_meetsWhoHasTheName() throws Exception {
        assertThat(find(NAME).get(10, TimeUnit.SECONDS)).isEqualTo(Errno.ECONNREFUSED);
        Runnable giveBack = network.take(NAME);
        assertThat(find(NAME).get(10, TimeUnit.SECONDS))
                .isInstanceOfSatisfying(
                        ProcessPair.class, peer -> assertThat(peer.peerToken()).isEqualTo(host.token()));
        giveBack.run();
    }

    @Test
    void epochOfAPeer_isAnotherAsSoonAsItHasStoppedListening() throws Exception {
        Runnable giveBack = network.take(NAME);
        ProcessPair peer = (ProcessPair) find(NAME).get(10, TimeUnit.SECONDS);
        Runnable giveAnotherBack = network.take(NAME + "1");
        int epoch = peer.listenerEpoch();
        assertThat(peer.listenerEpoch()).isEqualTo(epoch);
        giveBack.run();
        // Before anybody else can have the name.
        assertThat(peer.listenerEpoch()).isNotEqualTo(epoch);
        int next = peer.listenerEpoch();
        giveAnotherBack.run();
        giveAnotherBack.run();
        assertThat(peer.listenerEpoch()).isNotEqualTo(epoch).isNotEqualTo(next);
    }
}
