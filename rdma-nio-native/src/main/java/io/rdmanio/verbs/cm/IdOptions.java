package io.rdmanio.verbs.cm;

import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.IdOption;
import java.util.Objects;

/**
 * The options of a communication id (rdma_set_option(3)), had from {@link CommunicationId#options}. They can be set and
 * not read. Every method makes a system call and does not block; all may be called by any thread.
 */
public final class IdOptions {
    /** The size of a path in bytes ({@code struct ibv_path_data}). */
    public static final int PATH_BYTES = 72;

    private static final int BYTE_MAX = 255;
    private static final int MAX_ACK_TIMEOUT = 31;
    private static final int MAX_PATHS = 6;

    private final DeviceBoundId id;

    IdOptions(DeviceBoundId id) {
        this.id = id;
    }

    private void set(IdOption option, int value) throws VerbsException {
        id.enterAndStay();
        try {
            id.handle().setOption(option, value);
        } finally {
            id.exit();
        }
    }

    private static int checkRange(String what, int value, int max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(what + " " + value + " is not 0 to " + max);
        }
        return value;
    }

    /**
     * Allows the address to be bound while another id has it (RDMA_OPTION_ID_REUSEADDR, rdma_set_option(3)). Before
     * bind.
     *
     * @param reuse whether
     * @throws VerbsException when it fails
     * @throws IllegalStateException after the id's close
     */
    public void setReuseAddress(boolean reuse) throws VerbsException {
        set(IdOption.REUSE_ADDRESS, reuse ? 1 : 0);
    }

    /**
     * Keeps an IPv6 wildcard from taking IPv4 too (RDMA_OPTION_ID_AFONLY, rdma_set_option(3)). Before bind.
     *
     * @param only whether
     * @throws VerbsException when the id is bound already ({@code EINVAL})
     * @throws IllegalStateException after the id's close
     */
    public void setAddressFamilyOnly(boolean only) throws VerbsException {
        set(IdOption.ADDRESS_FAMILY_ONLY, only ? 1 : 0);
    }

    /**
     * Sets the type of service (RDMA_OPTION_ID_TOS, rdma_set_option(3)). Before connect.
     *
     * @param typeOfService as in the IP header, 0 to 255
     * @throws VerbsException when it fails
     * @throws IllegalArgumentException when the value is not 0 to 255
     * @throws IllegalStateException after the id's close
     */
    public void setTypeOfService(int typeOfService) throws VerbsException {
        set(IdOption.TYPE_OF_SERVICE, checkRange("type of service", typeOfService, BYTE_MAX));
    }

    /**
     * Sets how long the queue pair waits for an acknowledgement before it sends again (RDMA_OPTION_ID_ACK_TIMEOUT,
     * rdma_set_option(3)): 4.096 microseconds times two to the power of the exponent. Before connect or accept; not for
     * iWARP and datagrams.
     *
     * @param exponent 1 to 31; 0 waits for ever
     * @throws VerbsException when the id's queue pairs are not connected ones ({@code EINVAL})
     * @throws IllegalArgumentException when the value is not 0 to 31
     * @throws IllegalStateException after the id's close
     */
    public void setAcknowledgementTimeout(int exponent) throws VerbsException {
        set(IdOption.ACKNOWLEDGEMENT_TIMEOUT, checkRange("acknowledgement timeout", exponent, MAX_ACK_TIMEOUT));
    }

    /**
     * Sets the path to the peer (RDMA_OPTION_IB_PATH, rdma_set_option(3)), which takes the place of
     * {@link CommunicationId#resolveRoute}: ROUTE_RESOLVED follows. For InfiniBand, when the address is resolved.
     *
     * @param pathData one to six {@code struct ibv_path_data}, as {@link AddressInfo#route} has them
     * @throws VerbsException when the address is not resolved, the device is no InfiniBand one, or the path is not
     *     complete ({@code EINVAL})
     * @throws IllegalArgumentException when the length is not that of one to six such structs
     * @throws IllegalStateException after the id's close
     */
    public void setPath(byte[] pathData) throws VerbsException {
        Objects.requireNonNull(pathData, "pathData");
        if (pathData.length == 0 || pathData.length % PATH_BYTES != 0 || pathData.length > MAX_PATHS * PATH_BYTES) {
            throw new IllegalArgumentException(
                    pathData.length + " bytes are not one to " + MAX_PATHS + " paths of " + PATH_BYTES + " bytes");
        }
        id.enterAndStay();
        try {
            id.handle().setPath(pathData);
        } finally {
            id.exit();
        }
    }
}
