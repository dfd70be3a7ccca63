/**
 * The RDMA connection manager (librdmacm) in full words: an {@link io.rdmanio.verbs.cm.EventChannel} makes
 * {@link io.rdmanio.verbs.cm.CommunicationId}s, which resolve addresses, listen, connect and accept, and delivers their
 * {@link io.rdmanio.verbs.cm.CommunicationEvent}s. Everything is asynchronous: a method begins something, an event ends
 * it. {@link io.rdmanio.verbs.cm.ConnectionEndpoint} and {@link io.rdmanio.verbs.cm.ListeningEndpoint} wait for the event
 * instead, up to a deadline; {@link io.rdmanio.verbs.cm.MessageQueues} sends and receives over an id's queue pair in few
 * words; {@link io.rdmanio.verbs.cm.AddressInfo} looks addresses up.
 *
 * <p>Ownership and errors are as in {@link io.rdmanio.verbs}.
 */
package io.rdmanio.verbs.cm;
