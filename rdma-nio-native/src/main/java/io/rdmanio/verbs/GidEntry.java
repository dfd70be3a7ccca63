package io.rdmanio.verbs;

/**
 * An entry of a port's GID table ({@code struct ibv_gid_entry}, ibv_query_gid_ex(3)). Immutable.
 *
 * @param gid the GID
 * @param index its place in the table of the port, which address handles and queue pairs name as that of the source GID
 * @param portNumber the port, from 1
 * @param type what it means on the wire
 * @param interfaceIndex index of the network interface (if_nametoindex(3)); 0 when there is none
 */
public record GidEntry(Gid gid, int index, int portNumber, GidType type, int interfaceIndex) {}
