package io.rdmanio.verbs.cm;

/** How a multicast group is joined ({@code enum rdma_cm_mc_join_flags}, rdma_join_multicast_ex(3)). Immutable. */
public enum MulticastJoin {
    /** To send and to receive ({@code RDMA_MC_JOIN_FLAG_FULLMEMBER}). */
    FULL_MEMBER(0, "RDMA_MC_JOIN_FLAG_FULLMEMBER"),
    /** To send only; the queue pair is not attached ({@code RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}). */
    SEND_ONLY_FULL_MEMBER(1, "RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER");

    private final int value;
    private final String nativeName;

    MulticastJoin(int value, String nativeName) {
        this.value = value;
        this.nativeName = nativeName;
    }

    /**
     * The C value.
     *
     * @return the value
     */
    public int value() {
        return value;
    }

    /**
     * The C constant.
     *
     * @return its name
     */
    public String nativeName() {
        return nativeName;
    }
}
