/**
 * The few Linux system calls that verbs and channels need and Java does not offer: epoll, eventfd, poll, memory with a
 * descriptor, local sockets that carry descriptors, descriptor flags and resource limits, through
 * {@code java.lang.foreign}. A failed call is an {@link java.io.IOException} that names the call and the error;
 * {@code EAGAIN} and {@code EINTR} are results.
 */
package io.rdmanio.linux;
