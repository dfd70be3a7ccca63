/**
 * A provider of {@code java.nio} socket channels over RDMA: an unmodified program sends its bytes through rdma_cm and verbs,
 * in the wire protocol of rsockets.
 */
module io.rdmanio {
    requires io.rdmanio.verbs;
    requires jdk.jfr;
    requires jdk.net;

    exports io.rdmanio;

    provides java.nio.channels.spi.SelectorProvider with
            io.rdmanio.RdmaSelectorProvider;
}
