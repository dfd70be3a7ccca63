package io.rdmanio.verbs;

import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/**
 * Attributes of a queue pair ({@code struct ibv_qp_attr}): to be changed by {@link QueuePair#modify}, or as
 * {@link QueuePair#query} found them.
 * Each setter returns this object and marks its attribute; the marked ones are the mask of ibv_modify_qp(3). The getters
 * tell the value whether it is marked or not: 0, false or null when nobody set it.
 *
 * <p>Setters check what the field can hold; whether the queue pair's state allows the attribute is for the device to say.
 *
 * <p>Not thread-safe: for one thread at a time.
 */
public final class QueuePairAttributes {
    private static final int MAX_FIVE_BITS = 31;
    private static final int MAX_THREE_BITS = 7;
    private static final int MIN_MTU_BYTES = 256;
    private static final int MAX_MTU_BYTES = 4096;

    private final Set<QueuePairAttribute> marked = EnumSet.noneOf(QueuePairAttribute.class);
    private QueuePairState state;
    private QueuePairState currentState;
    private int pathMtuBytes;
    private PathMigrationState pathMigrationState;
    private int queueKey;
    private int receivePacketNumber;
    private int sendPacketNumber;
    private int destinationNumber;
    private int accessFlags;
    private QueuePairCapabilities capabilities;
    private AddressHandleAttributes addressVector;
    private int partitionKeyIndex;
    private boolean drainedNotification;
    private int maxReadAtomic;
    private int maxDestinationReadAtomic;
    private int minRnrTimer;
    private int portNumber;
    private int timeout;
    private int retryCount;
    private int rnrRetryCount;
    private int rateLimitKbps;
    private AddressHandleAttributes alternateAddressVector;
    private int alternatePartitionKeyIndex;
    private int alternatePortNumber;
    private int alternateTimeout;
    private boolean draining;

    /** Begins with nothing set. */
    public QueuePairAttributes() {}

    /**
     * Which attributes are marked.
     *
     * @return a copy
     */
    public Set<QueuePairAttribute> marked() {
        Set<QueuePairAttribute> copy = EnumSet.noneOf(QueuePairAttribute.class);
        copy.addAll(marked);
        return copy;
    }

    /**
     * The marked attributes as C has them.
     *
     * @return bits of {@code enum ibv_qp_attr_mask}
     */
    public int mask() {
        return QueuePairAttribute.mask(marked);
    }

    /**
     * Marks other attributes than before, so that what was queried can be set elsewhere, or a part of it. Values stay.
     *
     * @param attributes those to be marked
     * @return this
     */
    public QueuePairAttributes mark(Set<QueuePairAttribute> attributes) {
        marked.retainAll(attributes);
        marked.addAll(attributes);
        return this;
    }

    private QueuePairAttributes set(QueuePairAttribute attribute) {
        marked.add(attribute);
        return this;
    }

    /** Refuses to set what no C value stands for. */
    void requireKnownValues() {
        for (QueuePairAttribute attribute : marked) {
            Object value = valueOf(attribute);
            if (value == null
                    || value == QueuePairState.UNKNOWN
                    || value == PathMigrationState.UNKNOWN
                    || (attribute == QueuePairAttribute.PATH_MTU && pathMtuBytes == 0)
                    || (attribute == QueuePairAttribute.ALTERNATE_PATH && alternateAddressVector == null)) {
                throw new IllegalArgumentException(attribute + " is marked to be set, and has no value to set");
            }
        }
    }

    private static int checkMtu(String name, int bytes) {
        if (bytes < MIN_MTU_BYTES || bytes > MAX_MTU_BYTES || Integer.bitCount(bytes) != 1) {
            throw new IllegalArgumentException(name + " " + bytes + " is not 256, 512, 1024, 2048 or 4096");
        }
        return bytes;
    }

    /**
     * Sets the state to move to.
     *
     * @param state qp_state
     * @return this
     * @throws NullPointerException when it is null
     */
    public QueuePairAttributes state(QueuePairState state) {
        this.state = Objects.requireNonNull(state, "state");
        return set(QueuePairAttribute.STATE);
    }

    /**
     * The state to move to.
     *
     * @return qp_state
     */
    public QueuePairState state() {
        return state;
    }

    /**
     * Sets the state that the queue pair is assumed to be in now.
     *
     * @param currentState cur_qp_state
     * @return this
     * @throws NullPointerException when it is null
     */
    public QueuePairAttributes currentState(QueuePairState currentState) {
        this.currentState = Objects.requireNonNull(currentState, "currentState");
        return set(QueuePairAttribute.CURRENT_STATE);
    }

    /**
     * The state that the queue pair is assumed to be in now.
     *
     * @return cur_qp_state
     */
    public QueuePairState currentState() {
        return currentState;
    }

    /**
     * Sets the MTU of the path in bytes: 256, 512, 1024, 2048 or 4096.
     *
     * @param pathMtuBytes path_mtu
     * @return this
     * @throws IllegalArgumentException when it is anything else
     */
    public QueuePairAttributes pathMtuBytes(int pathMtuBytes) {
        this.pathMtuBytes = checkMtu("pathMtuBytes", pathMtuBytes);
        return set(QueuePairAttribute.PATH_MTU);
    }

    /**
     * The MTU of the path in bytes: 256, 512, 1024, 2048 or 4096.
     *
     * @return path_mtu
     */
    public int pathMtuBytes() {
        return pathMtuBytes;
    }

    /**
     * Sets whether it is ready to move to the alternate path.
     *
     * @param pathMigrationState path_mig_state
     * @return this
     * @throws NullPointerException when it is null
     */
    public QueuePairAttributes pathMigrationState(PathMigrationState pathMigrationState) {
        this.pathMigrationState = Objects.requireNonNull(pathMigrationState, "pathMigrationState");
        return set(QueuePairAttribute.PATH_MIGRATION_STATE);
    }

    /**
     * Whether it is ready to move to the alternate path.
     *
     * @return path_mig_state
     */
    public PathMigrationState pathMigrationState() {
        return pathMigrationState;
    }

    /**
     * Sets the Q_Key that datagrams must carry.
     *
     * @param queueKey qkey
     * @return this
     */
    public QueuePairAttributes queueKey(int queueKey) {
        this.queueKey = queueKey;
        return set(QueuePairAttribute.QUEUE_KEY);
    }

    /**
     * The Q_Key that datagrams must carry.
     *
     * @return qkey
     */
    public int queueKey() {
        return queueKey;
    }

    /**
     * Sets the first packet number that is expected, 24 bits.
     *
     * @param receivePacketNumber rq_psn
     * @return this
     */
    public QueuePairAttributes receivePacketNumber(int receivePacketNumber) {
        this.receivePacketNumber = receivePacketNumber;
        return set(QueuePairAttribute.RECEIVE_PACKET_NUMBER);
    }

    /**
     * The first packet number that is expected, 24 bits.
     *
     * @return rq_psn
     */
    public int receivePacketNumber() {
        return receivePacketNumber;
    }

    /**
     * Sets the first packet number that is sent, 24 bits.
     *
     * @param sendPacketNumber sq_psn
     * @return this
     */
    public QueuePairAttributes sendPacketNumber(int sendPacketNumber) {
        this.sendPacketNumber = sendPacketNumber;
        return set(QueuePairAttribute.SEND_PACKET_NUMBER);
    }

    /**
     * The first packet number that is sent, 24 bits.
     *
     * @return sq_psn
     */
    public int sendPacketNumber() {
        return sendPacketNumber;
    }

    /**
     * Sets the number of the peer's queue pair, 24 bits.
     *
     * @param destinationNumber dest_qp_num
     * @return this
     */
    public QueuePairAttributes destinationNumber(int destinationNumber) {
        this.destinationNumber = destinationNumber;
        return set(QueuePairAttribute.DESTINATION_NUMBER);
    }

    /**
     * The number of the peer's queue pair, 24 bits.
     *
     * @return dest_qp_num
     */
    public int destinationNumber() {
        return destinationNumber;
    }

    /**
     * Sets what the peer may do, bits of {@link AccessFlags}.
     *
     * @param accessFlags qp_access_flags
     * @return this
     */
    public QueuePairAttributes accessFlags(int accessFlags) {
        this.accessFlags = accessFlags;
        return set(QueuePairAttribute.ACCESS_FLAGS);
    }

    /**
     * What the peer may do, bits of {@link AccessFlags}.
     *
     * @return qp_access_flags
     */
    public int accessFlags() {
        return accessFlags;
    }

    /**
     * Sets the sizes.
     *
     * @param capabilities cap
     * @return this
     * @throws NullPointerException when it is null
     */
    public QueuePairAttributes capabilities(QueuePairCapabilities capabilities) {
        this.capabilities = Objects.requireNonNull(capabilities, "capabilities");
        return set(QueuePairAttribute.CAPABILITIES);
    }

    /**
     * The sizes.
     *
     * @return cap
     */
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    /**
     * Sets the path to the peer.
     *
     * @param addressVector ah_attr
     * @return this
     * @throws NullPointerException when it is null
     */
    public QueuePairAttributes addressVector(AddressHandleAttributes addressVector) {
        this.addressVector = Objects.requireNonNull(addressVector, "addressVector");
        return set(QueuePairAttribute.ADDRESS_VECTOR);
    }

    /**
     * The path to the peer.
     *
     * @return ah_attr
     */
    public AddressHandleAttributes addressVector() {
        return addressVector;
    }

    /**
     * Sets the index in the port's table of partition keys, 0 to 65535.
     *
     * @param partitionKeyIndex pkey_index
     * @return this
     * @throws IllegalArgumentException when it is anything else
     */
    public QueuePairAttributes partitionKeyIndex(int partitionKeyIndex) {
        this.partitionKeyIndex = UnsignedField.checkShort("partitionKeyIndex", partitionKeyIndex);
        return set(QueuePairAttribute.PARTITION_KEY_INDEX);
    }

    /**
     * The index in the port's table of partition keys, 0 to 65535.
     *
     * @return pkey_index
     */
    public int partitionKeyIndex() {
        return partitionKeyIndex;
    }

    /**
     * Sets whether an asynchronous event shall tell that the send queue is drained.
     *
     * @param drainedNotification en_sqd_async_notify
     * @return this
     */
    public QueuePairAttributes drainedNotification(boolean drainedNotification) {
        this.drainedNotification = drainedNotification;
        return set(QueuePairAttribute.DRAINED_NOTIFICATION);
    }

    /**
     * Whether an asynchronous event shall tell that the send queue is drained.
     *
     * @return en_sqd_async_notify
     */
    public boolean drainedNotification() {
        return drainedNotification;
    }

    /**
     * Sets reads and atomics that may be outstanding at the peer, 0 to 255.
     *
     * @param maxReadAtomic max_rd_atomic
     * @return this
     * @throws IllegalArgumentException when it is anything else
     */
    public QueuePairAttributes maxReadAtomic(int maxReadAtomic) {
        this.maxReadAtomic = UnsignedField.checkByte("maxReadAtomic", maxReadAtomic);
        return set(QueuePairAttribute.MAX_READ_ATOMIC);
    }

    /**
     * Reads and atomics that may be outstanding at the peer, 0 to 255.
     *
     * @return max_rd_atomic
     */
    public int maxReadAtomic() {
        return maxReadAtomic;
    }

    /**
     * Sets reads and atomics of the peer that resources are held for, 0 to 255.
     *
     * @param maxDestinationReadAtomic max_dest_rd_atomic
     * @return this
     * @throws IllegalArgumentException when it is anything else
     */
    public QueuePairAttributes maxDestinationReadAtomic(int maxDestinationReadAtomic) {
        this.maxDestinationReadAtomic = UnsignedField.checkByte("maxDestinationReadAtomic", maxDestinationReadAtomic);
        return set(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
    }

    /**
     * Reads and atomics of the peer that resources are held for, 0 to 255.
     *
     * @return max_dest_rd_atomic
     */
    public int maxDestinationReadAtomic() {
        return maxDestinationReadAtomic;
    }

    /**
     * Sets how long the peer shall wait when no receive is posted, as coded: 0 is 655.36 ms, 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms.
     *
     * @param minRnrTimer min_rnr_timer
     * @return this
     * @throws IllegalArgumentException when it is anything else
     */
    public QueuePairAttributes minRnrTimer(int minRnrTimer) {
        this.minRnrTimer = UnsignedField.check("minRnrTimer", minRnrTimer, MAX_FIVE_BITS);
        return set(QueuePairAttribute.MIN_RNR_TIMER);
    }

    /**
     * How long the peer shall wait when no receive is posted, as coded: 0 is 655.36 ms, 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms.
     *
     * @return min_rnr_timer
     */
    public int minRnrTimer() {
        return minRnrTimer;
    }

    /**
     * Sets the port, from 1.
     *
     * @param portNumber port_num
     * @return this
     * @throws IllegalArgumentException when it is anything else
     */
    public QueuePairAttributes portNumber(int portNumber) {
        this.portNumber = UnsignedField.checkByte("portNumber", portNumber);
        return set(QueuePairAttribute.PORT);
    }

    /**
     * The port, from 1.
     *
     * @return port_num
     */
    public int portNumber() {
        return portNumber;
    }

    /**
     * Sets how long an acknowledgement is waited for, as coded: 4.096 µs times two to that power, 0 for ever, at most 31.
     *
     * @param timeout timeout
     * @return this
     * @throws IllegalArgumentException when it is anything else
     */
    public QueuePairAttributes timeout(int timeout) {
        this.timeout = UnsignedField.check("timeout", timeout, MAX_FIVE_BITS);
        return set(QueuePairAttribute.TIMEOUT);
    }

    /**
     * How long an acknowledgement is waited for, as coded: 4.096 µs times two to that power, 0 for ever, at most 31.
     *
     * @return timeout
     */
    public int timeout() {
        return timeout;
    }

    /**
     * Sets how often a message that is not acknowledged is repeated, 0 to 7.
     *
     * @param retryCount retry_cnt
     * @return this
     * @throws IllegalArgumentException when it is anything else
     */
    public QueuePairAttributes retryCount(int retryCount) {
        this.retryCount = UnsignedField.check("retryCount", retryCount, MAX_THREE_BITS);
        return set(QueuePairAttribute.RETRY_COUNT);
    }

    /**
     * How often a message that is not acknowledged is repeated, 0 to 7.
     *
     * @return retry_cnt
     */
    public int retryCount() {
        return retryCount;
    }

    /**
     * Sets how often a message that found no receive is repeated, 0 to 6; 7 for ever.
     *
     * @param rnrRetryCount rnr_retry
     * @return this
     * @throws IllegalArgumentException when it is anything else
     */
    public QueuePairAttributes rnrRetryCount(int rnrRetryCount) {
        this.rnrRetryCount = UnsignedField.check("rnrRetryCount", rnrRetryCount, MAX_THREE_BITS);
        return set(QueuePairAttribute.RNR_RETRY_COUNT);
    }

    /**
     * How often a message that found no receive is repeated, 0 to 6; 7 for ever.
     *
     * @return rnr_retry
     */
    public int rnrRetryCount() {
        return rnrRetryCount;
    }

    /**
     * Sets the rate of packets in kilobits per second.
     *
     * @param rateLimitKbps rate_limit
     * @return this
     */
    public QueuePairAttributes rateLimitKbps(int rateLimitKbps) {
        this.rateLimitKbps = rateLimitKbps;
        return set(QueuePairAttribute.RATE_LIMIT);
    }

    /**
     * The rate of packets in kilobits per second.
     *
     * @return rate_limit
     */
    public int rateLimitKbps() {
        return rateLimitKbps;
    }

    /**
     * Sets the alternate path.
     *
     * @param vector the path ({@code alt_ah_attr})
     * @param partition index of its partition key ({@code alt_pkey_index})
     * @param port its port, from 1 ({@code alt_port_num})
     * @param timeoutCode how long an acknowledgement is waited for on it, coded as {@link #timeout(int)}
     *     ({@code alt_timeout})
     * @return this
     * @throws IllegalArgumentException when a number does not fit
     * @throws NullPointerException when the path is null
     */
    public QueuePairAttributes alternatePath(AddressHandleAttributes vector, int partition, int port, int timeoutCode) {
        Objects.requireNonNull(vector, "vector");
        UnsignedField.checkShort("partition", partition);
        UnsignedField.checkByte("port", port);
        UnsignedField.check("timeoutCode", timeoutCode, MAX_FIVE_BITS);
        alternateAddressVector = vector;
        alternatePartitionKeyIndex = partition;
        alternatePortNumber = port;
        alternateTimeout = timeoutCode;
        return set(QueuePairAttribute.ALTERNATE_PATH);
    }

    /**
     * The alternate path.
     *
     * @return alt_ah_attr
     */
    public AddressHandleAttributes alternateAddressVector() {
        return alternateAddressVector;
    }

    /**
     * Index of the alternate path's partition key.
     *
     * @return alt_pkey_index
     */
    public int alternatePartitionKeyIndex() {
        return alternatePartitionKeyIndex;
    }

    /**
     * Port of the alternate path.
     *
     * @return alt_port_num
     */
    public int alternatePortNumber() {
        return alternatePortNumber;
    }

    /**
     * How long an acknowledgement is waited for on the alternate path.
     *
     * @return alt_timeout
     */
    public int alternateTimeout() {
        return alternateTimeout;
    }

    /**
     * Sets what {@link #isDraining} tells. For an engine that answers a query: no change of a queue pair, so it marks
     * nothing.
     *
     * @param sqDraining sq_draining
     * @return this
     */
    public QueuePairAttributes draining(boolean sqDraining) {
        draining = sqDraining;
        return this;
    }

    /**
     * Tells whether the send queue is still draining. Only ever queried, in the state SEND_QUEUE_DRAINED.
     *
     * @return sq_draining
     */
    public boolean isDraining() {
        return draining;
    }

    /**
     * For messages.
     *
     * @return the marked attributes with their values
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (QueuePairAttribute attribute : marked) {
            text.append(text.isEmpty() ? "" : ", ")
                    .append(attribute)
                    .append('=')
                    .append(valueOf(attribute));
        }
        return text.toString();
    }

    private Object valueOf(QueuePairAttribute attribute) {
        return switch (attribute) {
            case STATE -> state;
            case CURRENT_STATE -> currentState;
            case PATH_MTU -> pathMtuBytes;
            case PATH_MIGRATION_STATE -> pathMigrationState;
            case QUEUE_KEY -> queueKey;
            case RECEIVE_PACKET_NUMBER -> receivePacketNumber;
            case SEND_PACKET_NUMBER -> sendPacketNumber;
            case DESTINATION_NUMBER -> destinationNumber;
            case ACCESS_FLAGS -> accessFlags;
            case CAPABILITIES -> capabilities;
            case ADDRESS_VECTOR -> addressVector;
            case PARTITION_KEY_INDEX -> partitionKeyIndex;
            case DRAINED_NOTIFICATION -> drainedNotification;
            case MAX_READ_ATOMIC -> maxReadAtomic;
            case MAX_DESTINATION_READ_ATOMIC -> maxDestinationReadAtomic;
            case MIN_RNR_TIMER -> minRnrTimer;
            case PORT -> portNumber;
            case TIMEOUT -> timeout;
            case RETRY_COUNT -> retryCount;
            case RNR_RETRY_COUNT -> rnrRetryCount;
            case RATE_LIMIT -> rateLimitKbps;
            case ALTERNATE_PATH ->
                alternateAddressVector + ", partition key index " + alternatePartitionKeyIndex + ", port "
                        + alternatePortNumber + ", timeout " + alternateTimeout;
        };
    }
}
