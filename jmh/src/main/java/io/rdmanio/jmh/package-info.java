/** JMH benchmarks: one question per class, with the JDK's answer beside ours. */
package io.rdmanio.jmh;
