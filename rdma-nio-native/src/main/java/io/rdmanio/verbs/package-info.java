/**
 * The objects of RDMA verbs (libibverbs), in full words: a {@link io.rdmanio.verbs.RdmaEngine} lists and opens devices;
 * a {@link io.rdmanio.verbs.DeviceContext} makes protection domains, completion channels and completion queues; a
 * {@link io.rdmanio.verbs.ProtectionDomain} registers memory; work requests are prepared once in native memory and
 * posted many times to a {@link io.rdmanio.verbs.QueuePair}. Queue pairs are made by
 * {@link io.rdmanio.verbs.cm.CommunicationId}.
 *
 * <p>Ownership: every object owns one native handle and must be closed. A child holds its parents, and a parent that is
 * closed closes its children first. Close may be called by any thread and more than once; it waits for calls in
 * progress on the object. Any other method throws {@link java.lang.IllegalStateException} afterwards. A native failure
 * is a {@link io.rdmanio.verbs.VerbsException}.
 */
package io.rdmanio.verbs;
