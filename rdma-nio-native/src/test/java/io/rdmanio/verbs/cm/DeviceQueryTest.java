package io.rdmanio.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.FileDescriptors;
import io.rdmanio.verbs.CompletionChannel;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.DeviceContext;
import io.rdmanio.verbs.ExtendedDeviceAttributes;
import io.rdmanio.verbs.Feature;
import io.rdmanio.verbs.GidEntry;
import io.rdmanio.verbs.GidType;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.Needs;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.PortAttributes;
import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a real device tells about itself. */
@Tag("rdma")
@ExtendWith(LeakCheck.class)
class DeviceQueryTest {
    private static final int DEFAULT_PARTITION_KEY = 0xFFFF;

    private OpenDeviceContext device;

    @BeforeEach
    void open() throws IOException {
        device = TestDevice.engine().open(TestDevice.name());
    }

    @AfterEach
    void close() throws VerbsException {
        device.close();
    }

    @Test
    void extendedAttributes_holdThoseOfTheOlderQuery() throws VerbsException {
        ExtendedDeviceAttributes attributes = device.extendedAttributes();
        assertThat(attributes.device()).isEqualTo(device.attributes());
        assertThat(attributes.physicalPorts()).isIn(0, attributes.device().physicalPorts());
        assertThat((int) attributes.capabilityFlags())
                .isIn(0, attributes.device().capabilityFlags());
        assertThat(attributes.onDemandPaging().general()).isZero();
    }

    @Test
    @Needs(Feature.PARTITION_KEYS)
    void partitionKey_isTheDefaultOne() throws VerbsException {
        PortAttributes port = device.portAttributes(1);
        assertThat(port.partitionKeyTableLength()).isPositive();
        assertThat(device.partitionKey(1, 0)).isEqualTo(DEFAULT_PARTITION_KEY);
        assertThatThrownBy(() -> device.partitionKey(1, 60_000)).isInstanceOfSatisfying(VerbsException.class, e -> {
            assertThat(e.operation()).isEqualTo("ibv_query_pkey");
            assertThat(e).hasMessageContaining("port=1, index=60000");
        });
        assertThatThrownBy(() -> device.partitionKey(7, 0)).isInstanceOf(VerbsException.class);
    }

    @Test
    void gidTable_agreesWithEachEntry() throws VerbsException {
        List<GidEntry> table = device.gidTable();
        assertThat(table).isNotEmpty();
        for (GidEntry entry : table) {
            assertThat(entry.portNumber()).isEqualTo(1);
            assertThat(entry.type()).isNotEqualTo(GidType.UNKNOWN);
            assertThat(device.gidEntry(1, entry.index())).isEqualTo(entry);
            assertThat(device.gid(1, entry.index())).isEqualTo(entry.gid());
        }
        assertThatThrownBy(() -> device.gidEntry(1, 60_000)).isInstanceOfSatisfying(VerbsException.class, e -> {
            assertThat(e.operation()).isEqualTo("ibv_query_gid_ex");
            assertThat(e).hasMessageContaining("entries from 0");
        });
        assertThatThrownBy(() -> device.gidEntry(9, 0)).isInstanceOf(VerbsException.class);
    }

    @Test
    void portThatDoesNotFitItsByte_isNotTakenForAnother() {
        for (int port : new int[] {-1, 257, 0x10001}) {
            assertThatThrownBy(() -> device.portAttributes(port))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("port " + port + " is not 0 to 255");
            assertThatThrownBy(() -> device.gid(port, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> device.partitionKey(port, 0)).isInstanceOf(IllegalArgumentException.class);
        }
        for (int port : new int[] {0, 255}) {
            assertThatThrownBy(() -> device.portAttributes(port)).isInstanceOf(VerbsException.class);
        }
    }

    @Test
    @Needs(Feature.ADDRESS_GIDS)
    void findGid_findsAddressesByType() throws IOException {
        InetAddress address = TestDevice.address(0).getAddress();
        GidEntry entry = device.findGid(1, GidType.ROCE_V2, address).orElseThrow();
        assertThat(entry.gid().toAddress()).isEqualTo(address);
        assertThat(entry.interfaceIndex())
                .isEqualTo(NetworkInterface.getByInetAddress(address).getIndex());
        InetAddress second = TestDevice.secondAddress();
        assertThat(device.findGid(1, GidType.ROCE_V2, second))
                .hasValueSatisfying(found -> assertThat(found.index()).isNotEqualTo(entry.index()));
        assertThat(device.findGid(1, GidType.IB, address)).isEmpty();
        assertThat(device.findGid(1, GidType.ROCE_V2, InetAddress.getByName("192.0.2.1")))
                .isEmpty();
    }

    @Test
    void completionVectors_areThoseThatAQueueMayUse() throws VerbsException {
        int vectors = device.completionVectors();
        assertThat(vectors).isPositive();
        try (CompletionChannel channel = device.createCompletionChannel();
                CompletionQueue last = device.createCompletionQueue(4, channel, vectors - 1);
                CompletionQueue polled = device.createCompletionQueue(4, null, 0)) {
            assertThat(last).isNotSameAs(polled);
            assertThatThrownBy(() -> device.createCompletionQueue(4, channel, vectors))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.errorName()).isEqualTo("EINVAL");
                        assertThat(e).hasMessageContaining("vector=" + vectors);
                    });
        }
        assertThatThrownBy(() -> device.createCompletionQueue(4, null, -1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void asyncFileDescriptor_isNonBlockingAndCloseOnExec() throws IOException {
        assertThat(FileDescriptors.isNonBlockingAndCloseOnExec(device.asyncFileDescriptor()))
                .isTrue();
        assertThat(device.takeAsyncEvent()).isNull();
        try (EventChannel channel = EventChannel.open(TestDevice.engine());
                CommunicationId id = TestDevice.listen(channel)) {
            DeviceContext borrowed = id.device();
            assertThat(borrowed.takeAsyncEvent()).isNull();
            assertThat(FileDescriptors.isNonBlockingAndCloseOnExec(borrowed.asyncFileDescriptor()))
                    .isTrue();
        }
    }

    @Test
    void closedDevice_refusesEveryQuery() throws VerbsException {
        device.close();
        assertThatThrownBy(device::extendedAttributes)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this DeviceContext is closed");
        assertThatThrownBy(() -> device.partitionKey(1, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> device.gidEntry(1, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(device::gidTable).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(device::completionVectors).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(device::asyncFileDescriptor).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(device::takeAsyncEvent).isInstanceOf(IllegalStateException.class);
    }
}
