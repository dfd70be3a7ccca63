/** The software device: verbs and connection manager between processes of one user on one host. */
package io.rdmanio.verbs.soft;
