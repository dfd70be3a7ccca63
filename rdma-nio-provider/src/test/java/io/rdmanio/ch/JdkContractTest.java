package io.rdmanio.ch;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract as the JDK keeps it: what fails here is a wrong contract. */
class JdkContractTest {
    @RegisterExtension
    static final TransportParameter TRANSPORT = new TransportParameter(new JdkTransport());

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
