package io.rdmanio.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The proof that bytes crossed an RDMA device and no kernel socket. While the processes run it watches from outside that
 * each of them owns a queue pair on the device and that none ever owns a TCP socket; on RoCE the device's own packet
 * counter must also have grown by as many packets as the bytes need. (iWARP's device counts nothing, and reports its
 * queue pairs as RESET whatever they do.) In a run over the JDK's provider, it proves nothing and says so.
 */
final class RdmaProof implements AutoCloseable {
    private static final int MTU_BYTES = 4096;
    private static final long PERIOD_MILLIS = 250;

    private final Device device;
    private final List<Peer> peers;
    private final long packetsBefore;
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Set<Long> withQueuePair = new ConcurrentSkipListSet<>();
    private final Map<Long, Set<Long>> threadsSeen = new HashMap<>();
    private final Set<String> tcpOwners = new ConcurrentSkipListSet<>();
    private final CountDownLatch looked = new CountDownLatch(1);
    private final Thread watcher;
    private volatile Exception watchFailure;

    private RdmaProof(Device device, List<Peer> peers) throws IOException {
        this.device = device;
        this.peers = peers;
        packetsBefore = packets();
        watcher = Thread.ofPlatform().daemon().name("rdma-proof").unstarted(this::watch);
    }

    /** Starts watching processes that have just been started, or have not yet connected. */
    static RdmaProof watch(Device device, Peer... peers) throws IOException {
        RdmaProof proof = new RdmaProof(device, List.of(peers));
        if (Lab.RDMA) {
            proof.watcher.start();
        } else {
            System.out.println("NO PROOF of RDMA: this run is over " + Lab.PROVIDER);
        }
        return proof;
    }

    private long packets() throws IOException {
        return device == Device.ROCE ? Kernel.counter(device, "sent_pkts") : 0;
    }

    private void watch() {
        try {
            do {
                sample();
                looked.countDown();
            } while (!stop.await(PERIOD_MILLIS, TimeUnit.MILLISECONDS));
        } catch (IOException e) {
            watchFailure = e;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void sample() throws IOException {
        if (withQueuePair.size() < peers.size()) {
            // The kernel names a queue pair's owner by the thread that created it, which may have ended since.
            Set<Long> owners = Kernel.queuePairs().stream()
                    .filter(queuePair -> queuePair.link().equals(device.link))
                    .filter(queuePair -> device == Device.IWARP || queuePair.has("state RTS"))
                    .map(Kernel.Resource::owner)
                    .collect(Collectors.toSet());
            for (Peer peer : peers) {
                Set<Long> threads = threadsSeen.computeIfAbsent(peer.pid(), _ -> new TreeSet<>());
                threads.addAll(peer.threads());
                if (!Collections.disjoint(threads, owners)) {
                    withQueuePair.add(peer.pid());
                }
            }
        }
        List<String> tcp = Kernel.tcpSocketNames();
        for (Peer peer : peers) {
            if (peer.openDescriptors().stream().anyMatch(tcp::contains)) {
                tcpOwners.add(peer.toString());
            }
        }
    }

    /** Waits until all processes have been looked at once. */
    void awaitOneLook() throws InterruptedException {
        assertThat(looked.await(30, TimeUnit.SECONDS))
                .as("a look at all processes")
                .isTrue();
    }

    /** Lets the program go on, which holds its connection, once all processes have been seen with a queue pair. */
    void releaseWhenSeen(Peer holder) throws IOException, InterruptedException {
        holder.awaitHeld();
        awaitQueuePairs();
        holder.release();
    }

    /** Waits until all processes have been seen with a queue pair. */
    void awaitQueuePairs() {
        if (Lab.RDMA) {
            await("queue pairs of all processes").until(() -> withQueuePair.size() == peers.size());
        }
    }

    /** Stops watching and asserts that so many bytes went over the device, and by no other way. */
    void verify(long bytes) throws IOException {
        close();
        if (!Lab.RDMA) {
            return;
        }
        assertThat(watchFailure).as("what kept the watcher from watching").isNull();
        assertThat(tcpOwners).as("processes seen with a TCP socket").isEmpty();
        Set<Long> pids = new TreeSet<>(peers.stream().map(Peer::pid).toList());
        assertThat(withQueuePair)
                .as("processes seen with a queue pair on " + device)
                .isEqualTo(pids);
        if (device == Device.ROCE) {
            assertThat((packets() - packetsBefore) * MTU_BYTES)
                    .as("room in the packets that " + device + " sent")
                    .isGreaterThanOrEqualTo(bytes);
        }
    }

    @Override
    public void close() {
        stop.countDown();
        try {
            watcher.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
