/**
 * The comparison of streams: one program on plain {@code java.nio.channels}, in two processes, run over the software
 * device and over the JDK's own TCP in turn. {@link io.rdmanio.lab.streams.StreamSpeed} is that program, and knows
 * nothing of ours; {@link io.rdmanio.lab.streams.StreamSpeedComparison} starts it and judges.
 */
package io.rdmanio.lab.streams;
