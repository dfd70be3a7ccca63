package io.rdmanio.verbs;

import static io.rdmanio.verbs.TestedDevice.IWARP;
import static io.rdmanio.verbs.TestedDevice.ROCE;
import static io.rdmanio.verbs.TestedDevice.SOFT;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * What one of the tested devices does otherwise than the others, and why: the one list of their differences. A test
 * {@linkplain Needs needs} a feature, or tests what happens {@linkplain Without without} it. The page
 * {@code docs/device-differences.md} is written from here.
 */
public enum Feature {
    ADDRESS_GIDS("GIDs made of the addresses of the network", lack(IWARP, "the GID is made of the hardware address")),
    ATOMICS("atomic operations", lack(IWARP, "iWARP has none")),
    CHOSEN_ADDRESSES(
            "a region under an address of the program's choice",
            lack(IWARP, "siw knows memory by its own address alone")),
    COMPLETION_QUEUE_GROUPS(
            "completion queues that one thread watches together, with one descriptor",
            lack(ROCE, "libibverbs has no such thing"),
            lack(IWARP, "libibverbs has no such thing")),
    CONNECTION_ATTRIBUTES(
            "INIT attributes of a connection as on InfiniBand", lack(IWARP, "iWARP asks for other attributes")),
    CONNECTION_PARAMETERS(
            "the initiator depth of a request, told to the listener", lack(IWARP, "siw does not carry it")),
    DATAGRAMS(
            "unreliable datagrams, with their address handles",
            lack(IWARP, "iWARP has none"),
            lack(SOFT, "it has reliable connections only")),
    DEVICE_NODES("device nodes with permissions", lack(SOFT, "it is no device of the kernel")),
    DRAINED_STATE("a send queue that is drained (SQD)", lack(IWARP, "siw shows no such state")),
    IMMEDIATE_DATA("immediate data", lack(IWARP, "iWARP has none")),
    LAST_RECEIVE_EVENT(
            "an asynchronous event of a queue pair in ERROR that takes no more of a shared queue (QP_LAST_WQE_REACHED)",
            lack(ROCE, "rxe's driver raises none"),
            lack(IWARP, "siw's driver raises none")),
    LOCKED_MEMORY("a limit on registered memory (memlock)", lack(SOFT, "it locks no memory")),
    LOCK_PERMISSION(
            "EPERM where no memory may be locked at all",
            lack(IWARP, "siw answers ENOMEM"),
            lack(SOFT, "it locks no memory")),
    LOSSY_WIRE(
            "a wire that loses packets",
            lack(IWARP, "TCP repeats them underneath"),
            lack(SOFT, "its wire is memory, which loses nothing")),
    MEMORY_WINDOWS("memory windows", lack(IWARP, "siw has none")),
    MULTICAST("multicast", lack(IWARP, "it needs datagrams"), lack(SOFT, "it needs datagrams")),
    NETWORK_INTERFACE(
            "a network interface below, which can go down and lose its addresses",
            lack(SOFT, "its wire is memory; a local address that goes takes no connection with it")),
    NETWORK_INTERFACE_GIDS(
            "a connection that depends on the GID it was made with",
            lack(IWARP, "TCP waits for the address to return"),
            lack(SOFT, "its wire is memory")),
    OWN_CONNECTIONS(
            "queue pairs that the program connects and changes the state of",
            lack(IWARP, "the connection manager does it, over TCP")),
    PARTITION_KEYS("partition keys", lack(IWARP, "iWARP has none")),
    PEER_LOSS_AT_ACCEPT(
            "accept, or the event after it, that tells of a peer who left before",
            lack(IWARP, "siw accepts, and the connection ends at once")),
    PRIVATE_DATA_LIMITS(
            "InfiniBand's limits of private data",
            lack(IWARP, "its limits are beyond the size that the interface has")),
    PRIVATE_READ_SINKS(
            "reading into memory that no peer may write", lack(IWARP, "the answer to a read is a write of the peer's")),
    QUEUE_PAIR_ERROR_EVENTS(
            "asynchronous events of a queue pair that fails (QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR)",
            lack(ROCE, "rxe's driver raises none; completions tell"),
            lack(SOFT, "completions tell, as with rxe")),
    QUEUE_PAIR_QUERY("queries for a queue pair's attributes", lack(IWARP, "siw leaves most of the answer undefined")),
    RECEIVER_NOT_READY(
            "a sender that waits for a receive (RNR)", lack(IWARP, "a message without a receive ends the connection")),
    REJECT_REASONS("the reason of a rejection", lack(IWARP, "it is an errno of TCP's")),
    REMOTE_COMPLETION(
            "a completion that tells what became of the request at the peer",
            lack(IWARP, "siw completes a request when TCP has taken it")),
    REREGISTRATION(
            "changing a region (ibv_rereg_mr)",
            lack(ROCE, "rxe's driver lacks it"),
            lack(IWARP, "siw's driver lacks it")),
    RESIZED_COMPLETION_QUEUES("resizing a completion queue", lack(IWARP, "siw can't")),
    RESIZED_SHARED_QUEUES("resizing a shared receive queue", lack(IWARP, "siw can't")),
    SHARED_QUEUE_QUERY("queries for a shared receive queue's attributes", lack(IWARP, "siw can't")),
    SOLICITED_EVENTS("an event for solicited receives alone", lack(IWARP, "siw makes none of a solicited receive")),
    TRANSPORT_TIMEOUT("a request that fails when nobody answers", lack(IWARP, "TCP repeats it underneath")),
    UNRELIABLE_CONNECTIONS(
            "unreliable connections", lack(IWARP, "iWARP has none"), lack(SOFT, "it has reliable connections only")),
    WINDOW_BOUNDS(
            "a memory window's own bounds",
            lack(ROCE, "rxe checks the bounds of the region instead"),
            lack(IWARP, "siw has no memory windows"));

    private final String description;

    @SuppressWarnings("ImmutableEnumChecker") // written by the constructor alone
    private final Map<TestedDevice, String> reasons = new EnumMap<>(TestedDevice.class);

    private record Lack(TestedDevice device, String reason) {}

    Feature(String description, Lack... lacks) {
        this.description = description;
        for (Lack lack : lacks) {
            reasons.put(lack.device(), lack.reason());
        }
    }

    private static Lack lack(TestedDevice device, String reason) {
        return new Lack(device, reason);
    }

    /** What it is, in words. */
    public String description() {
        return description;
    }

    /** Why a device lacks it; empty if the device has it. */
    public Optional<String> reasonToLack(TestedDevice device) {
        return Optional.ofNullable(reasons.get(device));
    }

    /** Whether a device has it. */
    public boolean isOf(TestedDevice device) {
        return !reasons.containsKey(device);
    }
}
