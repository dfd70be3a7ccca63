package io.rdmanio.verbs;

/**
 * What a device can do, with all that newer versions of libibverbs tell: all of {@code struct ibv_device_attr_ex}
 * (ibv_query_device_ex(3)). What a driver does not tell is zero. Immutable.
 *
 * @param device the attributes that every version tells
 * @param componentMask {@code comp_mask}, reserved
 * @param onDemandPaging what may be done with memory that is not pinned
 * @param completionTimestampMask which bits of a completion's timestamp count; 0 when there are none
 * @param coreClockKilohertz how fast the timestamp's clock runs
 * @param capabilityFlags all {@code IBV_DEVICE_*} bits, of which {@link DeviceAttributes#capabilityFlags} are the lower
 *     half
 * @param segmentation segmentation of large sends by the device
 * @param receiveSideScaling spreading of receives over work queues
 * @param maxReceiveWorkQueues work queues of the receive type
 * @param packetPacing limits of the rate of a queue pair
 * @param rawPacketCapabilities {@code enum ibv_raw_packet_caps} bits
 * @param tagMatching matching of messages by tag
 * @param completionModeration how events of completion queues can be held back
 * @param maxDeviceMemoryBytes memory on the device that can be allocated
 * @param pciAtomics atomic operations over PCI
 * @param extendedReliableOnDemandPaging {@code enum ibv_odp_transport_cap_bits} of extended reliable connections
 * @param physicalPorts ports, also when there are more than 255; 0 when only {@link DeviceAttributes#physicalPorts}
 *     tells
 */
public record ExtendedDeviceAttributes(
        DeviceAttributes device,
        int componentMask,
        OnDemandPaging onDemandPaging,
        long completionTimestampMask,
        long coreClockKilohertz,
        long capabilityFlags,
        Segmentation segmentation,
        ReceiveSideScaling receiveSideScaling,
        int maxReceiveWorkQueues,
        PacketPacing packetPacing,
        int rawPacketCapabilities,
        TagMatching tagMatching,
        CompletionModeration completionModeration,
        long maxDeviceMemoryBytes,
        PciAtomics pciAtomics,
        int extendedReliableOnDemandPaging,
        int physicalPorts) {

    /**
     * What may be done with memory that is not pinned ({@code struct ibv_odp_caps}).
     *
     * @param general {@code enum ibv_odp_general_caps} bits; 0 when there is no such memory
     * @param reliableConnected {@code enum ibv_odp_transport_cap_bits} of reliable connections
     * @param unreliableConnected the same of unreliable connections
     * @param unreliableDatagram the same of datagrams
     */
    public record OnDemandPaging(
            long general, int reliableConnected, int unreliableConnected, int unreliableDatagram) {}

    /**
     * Segmentation of large sends by the device ({@code struct ibv_tso_caps}).
     *
     * @param maxBytes largest send; 0 when there is no segmentation
     * @param queuePairTypes which types of queue pair, a bit each
     */
    public record Segmentation(int maxBytes, int queuePairTypes) {}

    /**
     * Spreading of receives over work queues ({@code struct ibv_rss_caps}).
     *
     * @param queuePairTypes which types of queue pair, a bit each
     * @param maxIndirectionTables tables
     * @param maxIndirectionTableEntries entries of a table
     * @param hashFields {@code enum ibv_rx_hash_fields} bits
     * @param hashFunctions {@code enum ibv_rx_hash_function_flags} bits
     */
    public record ReceiveSideScaling(
            int queuePairTypes,
            int maxIndirectionTables,
            int maxIndirectionTableEntries,
            long hashFields,
            int hashFunctions) {}

    /**
     * Limits of the rate of a queue pair ({@code struct ibv_packet_pacing_caps}).
     *
     * @param minKilobitsPerSecond the lowest
     * @param maxKilobitsPerSecond the highest; 0 when there is no pacing
     * @param queuePairTypes which types of queue pair, a bit each
     */
    public record PacketPacing(int minKilobitsPerSecond, int maxKilobitsPerSecond, int queuePairTypes) {}

    /**
     * Matching of messages by tag ({@code struct ibv_tm_caps}).
     *
     * @param maxRendezvousHeaderBytes header of a rendezvous request
     * @param maxTags tagged buffers of a list; 0 when there is no matching
     * @param flags {@code enum ibv_tm_cap_flags} bits
     * @param maxOperations outstanding operations on a list
     * @param maxSges scatter-gather entries of a tagged buffer
     */
    public record TagMatching(int maxRendezvousHeaderBytes, int maxTags, int flags, int maxOperations, int maxSges) {}

    /**
     * How events of completion queues can be held back ({@code struct ibv_cq_moderation_caps}).
     *
     * @param maxCompletions until so many completions are there
     * @param maxPeriodMicros or so long
     */
    public record CompletionModeration(int maxCompletions, int maxPeriodMicros) {}

    /**
     * Atomic operations over PCI ({@code struct ibv_pci_atomic_caps}), {@code enum ibv_pci_atomic_op_size} bits each.
     *
     * @param fetchAndAdd sizes of fetch-and-add
     * @param swap sizes of swap
     * @param compareAndSwap sizes of compare-and-swap
     */
    public record PciAtomics(int fetchAndAdd, int swap, int compareAndSwap) {}

    /**
     * The attributes of a device that tells no more than the older query.
     *
     * @param device what it told
     * @return the same, with zeros for the rest
     */
    public static ExtendedDeviceAttributes of(DeviceAttributes device) {
        return new ExtendedDeviceAttributes(
                device,
                0,
                new OnDemandPaging(0, 0, 0, 0),
                0,
                0,
                0,
                new Segmentation(0, 0),
                new ReceiveSideScaling(0, 0, 0, 0, 0),
                0,
                new PacketPacing(0, 0, 0),
                0,
                new TagMatching(0, 0, 0, 0, 0),
                new CompletionModeration(0, 0),
                0,
                new PciAtomics(0, 0, 0),
                0,
                0);
    }
}
