/** Which transport a channel gets. */
package io.rdmanio.policy;
