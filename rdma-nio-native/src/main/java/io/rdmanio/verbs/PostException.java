package io.rdmanio.verbs;

/**
 * A list of work requests was not posted, or not all of it: those before the one named here were. Post the rest again
 * when the cause is gone.
 */
public final class PostException extends VerbsException {
    private static final long serialVersionUID = 1L;

    /** The place in the list, or -1. */
    private final int index;

    /** The caller's number. */
    private final long workRequestId;

    private PostException(
            String operation, String arguments, int errno, String explanation, int index, long workRequestId) {
        super(operation, arguments, errno, explanation);
        this.index = index;
        this.workRequestId = workRequestId;
    }

    static PostException at(
            int index, long workRequestId, String operation, String arguments, int errno, String explanation) {
        String place =
                "the first that was not posted is request " + index + " of the list, workRequestId=" + workRequestId;
        return new PostException(operation, arguments + ", " + place, errno, explanation, index, workRequestId);
    }

    static PostException unplaced(String operation, String arguments, int errno, String explanation) {
        return new PostException(operation, arguments, errno, explanation, -1, 0);
    }

    /**
     * The place of the first request that was not posted ({@code bad_wr}).
     *
     * @return its index in the list, from 0; -1 when the driver did not tell
     */
    public int failedIndex() {
        return index;
    }

    /**
     * The number that the first request carries that was not posted.
     *
     * @return its wr_id; 0 when the driver did not tell
     */
    public long failedWorkRequestId() {
        return workRequestId;
    }
}
