/**
 * Programs as other people write them: plain {@code java.nio.channels}, Jetty, Netty and {@code java.net.http}, with no
 * import of the provider's packages. The lab starts each in a JVM of its own, with a class path and the provider's flag,
 * and judges it by its output and exit status. All of them run over the JDK's own provider just as well.
 */
package io.rdmanio.lab.programs;
