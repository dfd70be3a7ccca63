package io.rdmanio.verbs;

/**
 * A port of a device: all of {@code struct ibv_port_attr} (ibv_query_port(3)). Immutable.
 *
 * @param state whether it is up
 * @param maxMtuBytes largest MTU, 0 when unknown
 * @param activeMtuBytes MTU in use, 0 when unknown
 * @param gidTableLength entries of the GID table
 * @param capabilityFlags {@code IBV_PORT_*} bits
 * @param maxMessageBytes largest message
 * @param badPartitionKeys count of messages with a bad partition key
 * @param queueKeyViolations count of messages with a bad queue key
 * @param partitionKeyTableLength entries of the partition key table
 * @param localId LID
 * @param subnetManagerLocalId LID of the subnet manager
 * @param localIdMaskControl LMC
 * @param maxVirtualLanes virtual lanes, as coded
 * @param subnetManagerServiceLevel service level of the subnet manager
 * @param subnetTimeout propagation delay, as exponent
 * @param initTypeReply kind of initialization done
 * @param activeWidth link width, as coded
 * @param activeSpeed link speed, as coded
 * @param physicalState physical state, as coded
 * @param linkLayer InfiniBand or Ethernet
 * @param flags {@code IBV_QPF_*} bits
 * @param capabilityFlags2 {@code enum ibv_port_cap_flags2} bits
 */
public record PortAttributes(
        PortState state,
        int maxMtuBytes,
        int activeMtuBytes,
        int gidTableLength,
        int capabilityFlags,
        long maxMessageBytes,
        int badPartitionKeys,
        int queueKeyViolations,
        int partitionKeyTableLength,
        int localId,
        int subnetManagerLocalId,
        int localIdMaskControl,
        int maxVirtualLanes,
        int subnetManagerServiceLevel,
        int subnetTimeout,
        int initTypeReply,
        int activeWidth,
        int activeSpeed,
        int physicalState,
        LinkLayer linkLayer,
        int flags,
        int capabilityFlags2) {}
