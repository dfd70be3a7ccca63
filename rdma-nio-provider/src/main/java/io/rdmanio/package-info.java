/** Sockets of {@code java.nio} over RDMA: the provider that {@code -Djava.nio.channels.spi.SelectorProvider} names. */
package io.rdmanio;
