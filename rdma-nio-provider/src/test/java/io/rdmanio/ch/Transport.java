package io.rdmanio.ch;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.spi.SelectorProvider;

/** What the contract suites run over. */
interface Transport {
    /** Whose channels and selectors are tested. */
    SelectorProvider provider();

    /** A provider whose channels the tested selectors must not take. */
    SelectorProvider foreigner();

    /** The local address that can be bound to and connected to. */
    InetAddress address() throws IOException;

    /** Whether a deliberate difference from the JDK's channels shows here; it never does over the JDK's. */
    boolean differs(Difference difference) throws IOException;

    /** Whether there is time for many rounds of a test, or for long streams; where a system call takes long, there is for few. */
    boolean affordsManyRounds() throws IOException;

    /** Connections of this process that hold what stands behind a socket: a descriptor, or memory and queues. */
    int liveConnections() throws IOException;

    /** Memory of this process, outside its heap, that its connections hold; what the kernel holds for sockets is not. */
    long heldBytes() throws IOException;
}
