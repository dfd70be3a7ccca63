/**
 * The seam between the objects of verbs and an engine that implements them. An engine implements
 * {@link io.rdmanio.verbs.spi.VerbsEngine} and the handles it returns; the objects in front of it hold ownership, use
 * after close and the order of destruction, so an engine need not. Work requests and completions cross the seam as
 * native memory in the C layout, which the layout classes here describe: one layout for all engines. Not exported.
 */
package io.rdmanio.verbs.spi;
