package io.rdmanio.verbs;

/**
 * What a device is ({@code enum ibv_node_type}, ibv_get_device_list(3)). An unknown C value is {@code UNKNOWN}.
 * Immutable.
 */
public enum NodeType {
    /** An InfiniBand or RoCE adapter ({@code IBV_NODE_CA}). */
    CHANNEL_ADAPTER(1, "IBV_NODE_CA"),
    /** A switch ({@code IBV_NODE_SWITCH}). */
    SWITCH(2, "IBV_NODE_SWITCH"),
    /** A router ({@code IBV_NODE_ROUTER}). */
    ROUTER(3, "IBV_NODE_ROUTER"),
    /** An iWARP adapter ({@code IBV_NODE_RNIC}). */
    RDMA_NIC(4, "IBV_NODE_RNIC"),
    /** A Cisco usNIC ({@code IBV_NODE_USNIC}). */
    USNIC(5, "IBV_NODE_USNIC"),
    /** A Cisco usNIC over UDP ({@code IBV_NODE_USNIC_UDP}). */
    USNIC_UDP(6, "IBV_NODE_USNIC_UDP"),
    /** Something else ({@code IBV_NODE_UNSPECIFIED}). */
    UNSPECIFIED(7, "IBV_NODE_UNSPECIFIED"),
    /** A value that this version does not know. */
    UNKNOWN(-1, null);

    private static final NodeType[] VALUES = values();

    private final int value;
    private final String nativeName;

    NodeType(int value, String nativeName) {
        this.value = value;
        this.nativeName = nativeName;
    }

    /**
     * The C value.
     *
     * @return the value; it means nothing for {@code UNKNOWN}
     */
    public int value() {
        return value;
    }

    /**
     * The C constant.
     *
     * @return its name; null for {@code UNKNOWN}
     */
    public String nativeName() {
        return nativeName;
    }

    /**
     * The constant of a C value.
     *
     * @param value the C value
     * @return the constant, {@code UNKNOWN} when there is none
     */
    public static NodeType of(int value) {
        for (NodeType constant : VALUES) {
            if (constant.value == value && constant != UNKNOWN) {
                return constant;
            }
        }
        return UNKNOWN;
    }
}
