package io.rdmanio.verbs;

/** Flags of a send work request ({@code enum ibv_send_flags}, ibv_post_send(3)). */
public final class SendFlags {
    /** Start after earlier reads and atomics are done ({@code IBV_SEND_FENCE}). */
    public static final int FENCE = 1;

    /** Generate a completion ({@code IBV_SEND_SIGNALED}). */
    public static final int SIGNALED = 1 << 1;

    /** Mark the peer's receive completion as solicited ({@code IBV_SEND_SOLICITED}). */
    public static final int SOLICITED = 1 << 2;

    /** Copy the data at post: the buffer may be reused at once and needs no key ({@code IBV_SEND_INLINE}). */
    public static final int INLINE = 1 << 3;

    /** Let the device compute checksums ({@code IBV_SEND_IP_CSUM}). */
    public static final int IP_CHECKSUM = 1 << 4;

    private SendFlags() {}
}
