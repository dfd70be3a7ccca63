/**
 * Programs that use verbs and the connection manager directly, through {@code io.rdmanio.verbs}: what rdma-core's rping,
 * udaddy and mckey are in C, with their wire protocols and options, so that a C program can be the peer and the judge of
 * each; and the Java side of the comparison of speed with C. They wait by poll(2), which {@code io.rdmanio.linux} has,
 * and which a program with a class path may use.
 */
package io.rdmanio.lab.verbs;
