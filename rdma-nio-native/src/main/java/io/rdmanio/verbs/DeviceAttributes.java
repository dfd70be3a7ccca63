package io.rdmanio.verbs;

/**
 * What a device can do: all of {@code struct ibv_device_attr} (ibv_query_device(3)). Limits are upper bounds, not
 * promises. Immutable.
 *
 * @param firmwareVersion version of the firmware
 * @param nodeGuid GUID of the device, in host order
 * @param systemImageGuid GUID of the system image, in host order
 * @param maxMemoryRegionBytes largest memory region
 * @param pageSizes page sizes it can handle, a bit each
 * @param vendorId vendor
 * @param vendorPartId part
 * @param hardwareVersion revision
 * @param maxQueuePairs queue pairs
 * @param maxQueuePairWorkRequests work requests of a queue
 * @param capabilityFlags {@code IBV_DEVICE_*} bits
 * @param maxSges scatter-gather entries of a work request
 * @param maxReadSges scatter-gather entries of a read
 * @param maxCompletionQueues completion queues
 * @param maxCompletionQueueEntries entries of a completion queue
 * @param maxMemoryRegions memory regions
 * @param maxProtectionDomains protection domains
 * @param maxQueuePairReadAtomics reads and atomics a queue pair can be the target of at a time
 * @param maxEeReadAtomics the same of an end-to-end context
 * @param maxResourceReadAtomics the same of the whole device
 * @param maxQueuePairInitiatedReadAtomics reads and atomics a queue pair can have under way
 * @param maxEeInitiatedReadAtomics the same of an end-to-end context
 * @param atomicCapability how far atomics are atomic
 * @param maxEeContexts end-to-end contexts
 * @param maxReliableDatagramDomains reliable datagram domains
 * @param maxMemoryWindows memory windows
 * @param maxRawIpv6QueuePairs raw IPv6 queue pairs
 * @param maxRawEthernetQueuePairs raw Ethernet queue pairs
 * @param maxMulticastGroups multicast groups
 * @param maxMulticastQueuePairs queue pairs of a multicast group
 * @param maxTotalMulticastQueuePairs queue pairs attached to multicast groups
 * @param maxAddressHandles address handles
 * @param maxFastMemoryRegions fast memory regions
 * @param maxMapsPerFastMemoryRegion remaps of a fast memory region
 * @param maxSharedReceiveQueues shared receive queues
 * @param maxSharedReceiveQueueWorkRequests work requests of a shared receive queue
 * @param maxSharedReceiveQueueSges scatter-gather entries of such a work request
 * @param maxPartitionKeys partitions
 * @param localAckDelay acknowledge delay, as exponent: 4.096 µs × 2^n
 * @param physicalPorts ports, counted from 1
 */
public record DeviceAttributes(
        String firmwareVersion,
        long nodeGuid,
        long systemImageGuid,
        long maxMemoryRegionBytes,
        long pageSizes,
        int vendorId,
        int vendorPartId,
        int hardwareVersion,
        int maxQueuePairs,
        int maxQueuePairWorkRequests,
        int capabilityFlags,
        int maxSges,
        int maxReadSges,
        int maxCompletionQueues,
        int maxCompletionQueueEntries,
        int maxMemoryRegions,
        int maxProtectionDomains,
        int maxQueuePairReadAtomics,
        int maxEeReadAtomics,
        int maxResourceReadAtomics,
        int maxQueuePairInitiatedReadAtomics,
        int maxEeInitiatedReadAtomics,
        AtomicCapability atomicCapability,
        int maxEeContexts,
        int maxReliableDatagramDomains,
        int maxMemoryWindows,
        int maxRawIpv6QueuePairs,
        int maxRawEthernetQueuePairs,
        int maxMulticastGroups,
        int maxMulticastQueuePairs,
        int maxTotalMulticastQueuePairs,
        int maxAddressHandles,
        int maxFastMemoryRegions,
        int maxMapsPerFastMemoryRegion,
        int maxSharedReceiveQueues,
        int maxSharedReceiveQueueWorkRequests,
        int maxSharedReceiveQueueSges,
        int maxPartitionKeys,
        int localAckDelay,
        int physicalPorts) {}
