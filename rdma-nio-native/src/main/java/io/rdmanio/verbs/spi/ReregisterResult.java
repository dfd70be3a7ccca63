package io.rdmanio.verbs.spi;

/**
 * How a reregistration ended.
 *
 * @param error how it failed; null when it succeeded
 * @param errno the error number behind the failure; 0 when there is none
 */
public record ReregisterResult(ReregisterError error, int errno) {
    /** It succeeded. */
    public static final ReregisterResult DONE = new ReregisterResult(null, 0);
}
