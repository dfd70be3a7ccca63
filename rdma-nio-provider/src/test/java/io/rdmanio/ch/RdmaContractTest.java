package io.rdmanio.ch;

import io.rdmanio.stream.StreamLeakCheck;
import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract over RDMA: over the software device in every build, over the kernel's devices in the lab. */
@Tag("rdma")
@ExtendWith(StreamLeakCheck.class)
class RdmaContractTest {
    @RegisterExtension
    static final TransportParameter TRANSPORT = new TransportParameter(new RdmaTransport());

    @BeforeAll
    static void warmUp() throws IOException {
        RdmaTransport.warmUp();
    }

    @Nested
    class Provider extends ProviderContractTest {}

    @Nested
    class Connect extends ConnectContractTest {}

    @Nested
    class Accept extends AcceptContractTest {}

    @Nested
    class Transfer extends TransferContractTest {}

    @Nested
    class Abuse extends AbuseContractTest {}

    @Nested
    class Delivery extends DeliveryContractTest {}

    @Nested
    class Race extends RaceContractTest {}

    @Nested
    class HalfClose extends HalfCloseContractTest {}

    @Nested
    class Close extends CloseContractTest {}

    @Nested
    class Exit extends ExitContractTest {}

    @Nested
    class Interrupt extends InterruptContractTest {}

    @Nested
    class BlockingMode extends BlockingModeContractTest {}

    @Nested
    class Options extends OptionsContractTest {}

    @Nested
    class SocketAdaptor extends SocketAdaptorContractTest {}

    @Nested
    class ServerSocketAdaptor extends ServerSocketAdaptorContractTest {}

    @Nested
    class Register extends RegisterContractTest {}

    @Nested
    class Select extends SelectContractTest {}

    @Nested
    class ReadySet extends ReadySetContractTest {}

    @Nested
    class SelectAction extends SelectActionContractTest {}

    @Nested
    class ClosedKey extends ClosedKeyContractTest {}

    @Nested
    class VirtualThread extends VirtualThreadContractTest {}
}
