/** jcstress tests of what the streams keep to their own package; see {@code io.rdmanio.jcstress}. */
package io.rdmanio.stream;
