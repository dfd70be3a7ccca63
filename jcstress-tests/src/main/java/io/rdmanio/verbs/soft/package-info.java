/** jcstress tests of what the software device keeps to its own package; see {@code io.rdmanio.jcstress}. */
package io.rdmanio.verbs.soft;
