/**
 * jcstress tests: one class per protocol over shared fields, one nested test per question, every outcome described as the
 * interleaving that leads to it.
 */
package io.rdmanio.jcstress;
