package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.PathMigrationState;
import io.rdmanio.verbs.QueuePairAttribute;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.QueuePairTransitions;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.VerbsException;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The attributes of a queue pair, and which changes of them are allowed when.
 *
 * <p>Thread safety: changed under the queue pair's lock for changes; the fields that the data path reads are volatile.
 */
final class QueuePairSettings {
    /** The largest MTU, which is the one that the port has. */
    static final int MTU_BYTES = 4096;
    /** How many reads and atomics may be under way each way. */
    static final int MAX_READ_ATOMICS = 128;

    private static final String MODIFY = "ibv_modify_qp";
    private static final String QUERY = "ibv_query_qp";
    private static final int KNOWN_ACCESS = AccessFlags.LOCAL_WRITE
            | AccessFlags.REMOTE_WRITE
            | AccessFlags.REMOTE_READ
            | AccessFlags.REMOTE_ATOMIC
            | AccessFlags.MEMORY_WINDOW_BIND;
    private static final AddressHandleAttributes NO_PATH = AddressHandleAttributes.local(0, 0);

    private final int number;
    private final QueuePairCapabilities capabilities;

    // Changed by whoever has the lock for changes; to ERROR by whoever meets an error.
    private final AtomicReference<QueuePairState> state = new AtomicReference<>(QueuePairState.RESET);

    volatile int accessFlags;
    volatile int timeout;
    volatile int retryCount;
    volatile int rnrRetryCount;
    volatile int minRnrTimer;

    private int port;
    private AddressHandleAttributes path = NO_PATH;
    private int pathMtuBytes = MTU_BYTES;
    private int destinationNumber;
    private int receivePacketNumber;
    private int sendPacketNumber;
    private int maxReadAtomic;
    private int maxDestinationReadAtomic;
    private PathMigrationState migration = PathMigrationState.MIGRATED;
    private int queueKey;

    QueuePairSettings(int number, QueuePairCapabilities capabilities) {
        this.number = number;
        this.capabilities = capabilities;
    }

    /** The state. */
    QueuePairState state() {
        return state.get();
    }

    /** Goes from one state to another; false when it is in another already. */
    boolean change(QueuePairState from, QueuePairState to) {
        return state.compareAndSet(from, to);
    }

    /** Goes to ERROR; false when it is there already, or in RESET, which knows no error. */
    boolean fail() {
        while (true) {
            QueuePairState from = state.get();
            if (from == QueuePairState.RESET || from == QueuePairState.ERROR) {
                return false;
            }
            if (state.compareAndSet(from, QueuePairState.ERROR)) {
                return true;
            }
        }
    }

    /** Goes to RESET, which nothing but the lock for changes's owner leaves. */
    void beginReset() {
        state.set(QueuePairState.RESET);
    }

    /** All attributes are as they were when the queue pair was made. */
    void reset() {
        accessFlags = 0;
        timeout = 0;
        retryCount = 0;
        rnrRetryCount = 0;
        minRnrTimer = 0;
        port = 0;
        path = NO_PATH;
        pathMtuBytes = MTU_BYTES;
        destinationNumber = 0;
        receivePacketNumber = 0;
        sendPacketNumber = 0;
        maxReadAtomic = 0;
        maxDestinationReadAtomic = 0;
        migration = PathMigrationState.MIGRATED;
    }

    /**
     * Finds out whether a change is allowed.
     *
     * @param change the change
     * @param gids how many entries the GID table has
     * @return the state that it leads to
     * @throws VerbsException EINVAL when it is not
     */
    QueuePairState check(QueuePairAttributes change, int gids) throws VerbsException {
        Set<QueuePairAttribute> marked = change.marked();
        QueuePairState from = state.get();
        QueuePairState to = marked.contains(QueuePairAttribute.STATE) ? change.state() : from;
        if (marked.contains(QueuePairAttribute.RATE_LIMIT)) {
            throw new VerbsException(
                    MODIFY,
                    subject(change),
                    Errno.EOPNOTSUPP,
                    "The device does not have this operation for these attributes: it knows no RATE_LIMIT.");
        }
        Set<QueuePairAttribute> alien = EnumSet.copyOf(withState(marked));
        Set<QueuePairAttribute> required = QueuePairTransitions.required(QueuePairType.RELIABLE_CONNECTED, from, to);
        alien.removeAll(required);
        alien.removeAll(QueuePairTransitions.optional(QueuePairType.RELIABLE_CONNECTED, from, to));
        alien.remove(QueuePairAttribute.STATE);
        boolean current = !marked.contains(QueuePairAttribute.CURRENT_STATE) || change.currentState() == from;
        if (!QueuePairTransitions.exists(from, to)
                || !marked.containsAll(required)
                || !alien.isEmpty()
                || !current
                || !valuesSuit(change, marked, gids)) {
            throw new VerbsException(MODIFY, subject(change), Errno.EINVAL, "");
        }
        return to;
    }

    private static Set<QueuePairAttribute> withState(Set<QueuePairAttribute> marked) {
        marked.add(QueuePairAttribute.STATE); // so that the set is not empty, which EnumSet.copyOf would refuse
        return marked;
    }

    private String subject(QueuePairAttributes change) {
        return "queuePair=" + number + ", " + change;
    }

    private static boolean valuesSuit(QueuePairAttributes change, Set<QueuePairAttribute> marked, int gids) {
        return (!marked.contains(QueuePairAttribute.PORT) || change.portNumber() == SoftContext.PORT)
                && (!marked.contains(QueuePairAttribute.PARTITION_KEY_INDEX) || change.partitionKeyIndex() == 0)
                && (!marked.contains(QueuePairAttribute.ACCESS_FLAGS) || (change.accessFlags() & ~KNOWN_ACCESS) == 0)
                && (!marked.contains(QueuePairAttribute.MAX_READ_ATOMIC) || change.maxReadAtomic() <= MAX_READ_ATOMICS)
                && (!marked.contains(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC)
                        || change.maxDestinationReadAtomic() <= MAX_READ_ATOMICS)
                && !marked.contains(QueuePairAttribute.ALTERNATE_PATH)
                && (!marked.contains(QueuePairAttribute.ADDRESS_VECTOR) || pathSuits(change.addressVector(), gids));
    }

    private static boolean pathSuits(AddressHandleAttributes path, int gids) {
        return path.isGlobal()
                && path.portNumber() == SoftContext.PORT
                && path.route().sourceGidIndex() < gids;
    }

    /** Takes over the marked attributes but the state. They have been checked. */
    void apply(QueuePairAttributes change) {
        for (QueuePairAttribute attribute : change.marked()) {
            switch (attribute) {
                case ACCESS_FLAGS -> accessFlags = change.accessFlags();
                case PORT -> port = change.portNumber();
                case QUEUE_KEY -> queueKey = change.queueKey();
                case ADDRESS_VECTOR -> path = change.addressVector();
                case PATH_MTU -> pathMtuBytes = change.pathMtuBytes();
                case TIMEOUT -> timeout = change.timeout();
                case RETRY_COUNT -> retryCount = change.retryCount();
                case RNR_RETRY_COUNT -> rnrRetryCount = change.rnrRetryCount();
                case RECEIVE_PACKET_NUMBER -> receivePacketNumber = change.receivePacketNumber();
                case SEND_PACKET_NUMBER -> sendPacketNumber = change.sendPacketNumber();
                case MAX_READ_ATOMIC -> maxReadAtomic = change.maxReadAtomic();
                case MAX_DESTINATION_READ_ATOMIC -> maxDestinationReadAtomic = change.maxDestinationReadAtomic();
                case MIN_RNR_TIMER -> minRnrTimer = change.minRnrTimer();
                case DESTINATION_NUMBER -> destinationNumber = change.destinationNumber();
                case PATH_MIGRATION_STATE -> migration = change.pathMigrationState();
                case STATE,
                        CURRENT_STATE,
                        DRAINED_NOTIFICATION,
                        PARTITION_KEY_INDEX,
                        ALTERNATE_PATH,
                        CAPABILITIES,
                        RATE_LIMIT -> {
                    // The state is the queue pair's to change; of the others there is one value only.
                }
            }
        }
    }

    /**
     * Answers a query.
     *
     * @param mask the attributes that are wanted
     * @param draining whether the send queue is being drained
     * @return their values
     * @throws VerbsException when one can't be queried
     */
    QueuePairAttributes query(int mask, boolean draining) throws VerbsException {
        Set<QueuePairAttribute> wanted = QueuePairAttribute.of(mask);
        if (wanted.contains(QueuePairAttribute.RATE_LIMIT)) {
            throw new VerbsException(
                    QUERY,
                    "queuePair=" + number,
                    Errno.EOPNOTSUPP,
                    "RATE_LIMIT was asked for, which the device does not have.");
        }
        return new QueuePairAttributes()
                .state(state.get())
                .currentState(state.get())
                .pathMtuBytes(pathMtuBytes)
                .pathMigrationState(migration)
                .queueKey(queueKey)
                .receivePacketNumber(receivePacketNumber)
                .sendPacketNumber(sendPacketNumber)
                .destinationNumber(destinationNumber)
                .accessFlags(accessFlags)
                .capabilities(capabilities)
                .addressVector(path)
                .partitionKeyIndex(0)
                .drainedNotification(false)
                .maxReadAtomic(maxReadAtomic)
                .maxDestinationReadAtomic(maxDestinationReadAtomic)
                .minRnrTimer(minRnrTimer)
                .portNumber(port)
                .timeout(timeout)
                .retryCount(retryCount)
                .rnrRetryCount(rnrRetryCount)
                .alternatePath(NO_PATH, 0, 0, 0)
                .draining(draining)
                .mark(wanted);
    }
}
