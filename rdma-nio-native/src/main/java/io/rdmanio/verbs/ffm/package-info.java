/**
 * The engine over libibverbs and librdmacm through {@code java.lang.foreign}. Handles and fields carry their C names
 * here. One class per C struct holds its layout, which a test proves against the installed headers. A function's error
 * convention is one of three, told apart by {@link io.rdmanio.verbs.ffm.Status}: an error number is returned; -1 is
 * returned and errno set; a null pointer is returned and errno set.
 */
package io.rdmanio.verbs.ffm;
