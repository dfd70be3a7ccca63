package io.rdmanio.verbs;

/**
 * A device as it stands in the list of devices (ibv_get_device_list(3)), not opened. Immutable.
 *
 * @param name the kernel's name, such as {@code mlx5_0}
 * @param guid its globally unique id, in host order (ibv_get_device_guid(3))
 * @param transport what it speaks
 * @param nodeType what it is
 */
public record DeviceInfo(String name, long guid, TransportType transport, NodeType nodeType) {}
