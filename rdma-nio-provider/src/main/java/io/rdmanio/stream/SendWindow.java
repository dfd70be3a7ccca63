package io.rdmanio.stream;

/**
 * What a sender may still post: the peer's credits, entries of the send queue, slots for control messages and space in
 * the circular send buffer.
 *
 * <p>Pure accounting, no native call. Send completions arrive in order, and only some work requests are signalled, so a
 * ledger keeps for each signalled one what its completion gives back: its own share and that of the unsignalled ones
 * before it. Not thread-safe: guarded by the connection's lock.
 */
final class SendWindow {
    /** Control messages that may be outstanding; they are outside the credits. */
    static final int CONTROL_SLOTS = 4;

    /** Below this much free buffer nothing is sent, as the C peer does, so that small tails are not dribbled out. */
    static final int MIN_FREE_BYTES = 2048;

    private static final int CREDIT_MASK = 0xffff;

    private final int totalEntries;
    private final int entriesPerData;
    private int bufferBytes;

    private int sent;
    private int limit;

    private int freeEntries;
    private int freeControl = CONTROL_SLOTS;
    private int freeBytes;
    private int head;

    // posted since the last signalled work request
    private int unsignalledEntries;
    private int unsignalledControl;
    private int unsignalledBytes;

    // begin ledger: one row per signalled work request not yet completed, oldest first
    private final int[] ledgerEntries;
    private final int[] ledgerControl;
    private final int[] ledgerBytes;
    private int ledgerFirst;
    private int ledgerCount;
    // end ledger

    /**
     * @param queueEntries depth of the send queue in work requests
     * @param entriesPerData work requests a DATA message takes: 1, or 2 where messages travel as SEND
     * @param bufferBytes size of the circular send buffer
     */
    SendWindow(int queueEntries, int entriesPerData, int bufferBytes) {
        this.totalEntries = queueEntries - CONTROL_SLOTS;
        this.entriesPerData = entriesPerData;
        this.bufferBytes = bufferBytes;
        this.freeEntries = totalEntries;
        this.freeBytes = bufferBytes;
        this.ledgerEntries = new int[queueEntries];
        this.ledgerControl = new int[queueEntries];
        this.ledgerBytes = new int[queueEntries];
    }

    /** Sets the absolute limit of messages; only the low 16 bits count. */
    void limit(int absoluteLimit) {
        limit = absoluteLimit & CREDIT_MASK;
    }

    /** Whether a DATA message could be posted if the peer had buffer for it. */
    boolean canSend() {
        return sent != limit && freeEntries >= entriesPerData && freeBytes >= MIN_FREE_BYTES;
    }

    int freeBytes() {
        return freeBytes;
    }

    /** Whether nothing more can be sent before a payload has left the send buffer. */
    boolean bufferFull() {
        return freeBytes < MIN_FREE_BYTES;
    }

    /** Whether nothing that is under way lies in the send buffer. */
    boolean bufferUnused() {
        return freeBytes == bufferBytes;
    }

    /**
     * The send buffer is another one, of another size.
     *
     * @throws IllegalStateException if something is under way from the one before
     */
    void resize(int bytes) {
        if (!bufferUnused()) {
            throw new IllegalStateException("what is in the send buffer can't be moved");
        }
        bufferBytes = bytes;
        freeBytes = bytes;
        head = 0;
    }

    /** Offset in the send buffer where the next payload goes. */
    int head() {
        return head;
    }

    /** Whether the next DATA message that takes this much buffer has to be signalled, lest the window never reopen. */
    boolean mustSignalData(int bytes) {
        return unsignalledEntries + entriesPerData >= totalEntries / 4
                || unsignalledBytes + bytes >= bufferBytes / 4
                || freeEntries - entriesPerData < entriesPerData
                || freeBytes - bytes < MIN_FREE_BYTES;
    }

    /**
     * Accounts for a DATA message.
     *
     * @param bytes of the send buffer it occupies until completed, 0 if it was posted inline
     */
    void dataPosted(int bytes, boolean signalled) {
        sent = sent + 1 & CREDIT_MASK;
        freeEntries -= entriesPerData;
        freeBytes -= bytes;
        head = head + bytes;
        if (head >= bufferBytes) {
            head -= bufferBytes;
        }
        unsignalledEntries += entriesPerData;
        unsignalledBytes += bytes;
        if (signalled) {
            signal();
        }
    }

    boolean controlAvailable(int slots) {
        return freeControl >= slots;
    }

    /** Whether the next control message has to be signalled; always so when fewer than two slots would be left. */
    boolean mustSignalControl(int slots) {
        return freeControl - slots < 2;
    }

    void controlPosted(int slots, boolean signalled) {
        freeControl -= slots;
        unsignalledControl += slots;
        if (signalled) {
            signal();
        }
    }

    private void signal() {
        int row = (ledgerFirst + ledgerCount) % ledgerEntries.length;
        ledgerEntries[row] = unsignalledEntries;
        ledgerControl[row] = unsignalledControl;
        ledgerBytes[row] = unsignalledBytes;
        ledgerCount++;
        unsignalledEntries = 0;
        unsignalledControl = 0;
        unsignalledBytes = 0;
    }

    /**
     * Gives back what the oldest signalled work request and those before it held.
     *
     * @throws IllegalStateException if nothing signalled is outstanding
     */
    void completed() {
        if (ledgerCount == 0) {
            throw new IllegalStateException("a send completed that was not signalled");
        }
        freeEntries += ledgerEntries[ledgerFirst];
        freeControl += ledgerControl[ledgerFirst];
        freeBytes += ledgerBytes[ledgerFirst];
        ledgerFirst = (ledgerFirst + 1) % ledgerEntries.length;
        ledgerCount--;
    }

    /** Whether everything posted up to the last signalled work request has completed. */
    boolean signalledAllCompleted() {
        return ledgerCount == 0;
    }

    @Override
    public String toString() {
        return "SendWindow[sent=" + sent + ", limit=" + limit + ", freeEntries=" + freeEntries + ", freeControl="
                + freeControl + ", freeBytes=" + freeBytes + ", signalled=" + ledgerCount + "]";
    }
}
