package io.rdmanio.verbs.cm;

/**
 * Parameters of a connection ({@code struct rdma_conn_param}, rdma_connect(3), rdma_accept(3)). Immutable.
 *
 * @param responderResources reads and atomics that the peer may have under way towards this side, 0 to 255; 255 is the
 *     device's maximum
 * @param initiatorDepth reads and atomics that this side may have under way, 0 to 255; 255 is the device's maximum
 * @param flowControl whether hardware flow control is available, 0 or 1
 * @param retryCount how often an unanswered message is repeated, 0 to 7; ignored when accepting
 * @param rnrRetryCount how often a message that found no receive posted is repeated, 0 to 6; 7 is for ever
 * @param srq whether the queue pair uses a shared receive queue; ignored when the id has a queue pair
 * @param queuePairNumber the queue pair; ignored when the id has one
 */
public record ConnectionParameters(
        int responderResources,
        int initiatorDepth,
        int flowControl,
        int retryCount,
        int rnrRetryCount,
        boolean srq,
        int queuePairNumber) {
    /**
     * What the library takes when C gives it none: as many reads and atomics as the device can, and repetitions without
     * end.
     */
    public static final ConnectionParameters DEFAULT = new ConnectionParameters(255, 255, 0, 7, 7, false, 0);

    private static final int BYTE_MAX = 255;

    /**
     * Checks the ranges of C's fields.
     *
     * @throws IllegalArgumentException when a value but the queue pair's number is not 0 to 255
     */
    public ConnectionParameters {
        checkByte("responderResources", responderResources);
        checkByte("initiatorDepth", initiatorDepth);
        checkByte("flowControl", flowControl);
        checkByte("retryCount", retryCount);
        checkByte("rnrRetryCount", rnrRetryCount);
    }

    private static void checkByte(String name, int value) {
        if (value < 0 || value > BYTE_MAX) {
            throw new IllegalArgumentException(name + " " + value + " is not 0 to " + BYTE_MAX);
        }
    }
}
