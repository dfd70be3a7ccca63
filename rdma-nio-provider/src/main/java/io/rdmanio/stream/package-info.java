/**
 * The rsocket stream over a reliable-connected queue pair: connection set-up and end, credits, buffer halves, messages.
 *
 * <p>{@link io.rdmanio.stream.StreamRuntime} owns the threads of the process, {@link io.rdmanio.stream.StreamListener}
 * and {@link io.rdmanio.stream.StreamConnection} are what a channel holds. Everything here speaks the wire protocol of
 * librdmacm's rsockets (rsocket(7)) and knows nothing of {@code java.nio}'s channel states.
 */
package io.rdmanio.stream;
