package io.rdmanio.verbs;

/**
 * A path to a peer ({@code struct ibv_ah_attr}, ibv_create_ah(3)): of an address handle, or of a connected queue pair.
 * Immutable.
 *
 * @param route the global part, always needed by RoCE ({@code grh}); null when there is none ({@code is_global} is 0)
 * @param destinationLocalId the peer's LID, 0 to 65535; 0 on Ethernet ({@code dlid})
 * @param serviceLevel service level, 0 to 15 ({@code sl})
 * @param sourcePathBits low bits of the source LID ({@code src_path_bits})
 * @param staticRate the greatest rate as coded in {@code enum ibv_rate}; 0 for no limit of its own
 * @param portNumber the local port, from 1 ({@code port_num})
 */
public record AddressHandleAttributes(
        GlobalRoute route,
        int destinationLocalId,
        int serviceLevel,
        int sourcePathBits,
        int staticRate,
        int portNumber) {
    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException when a number does not fit into its field
     */
    public AddressHandleAttributes {
        UnsignedField.checkShort("destinationLocalId", destinationLocalId);
        UnsignedField.checkByte("serviceLevel", serviceLevel);
        UnsignedField.checkByte("sourcePathBits", sourcePathBits);
        UnsignedField.checkByte("staticRate", staticRate);
        UnsignedField.checkByte("portNumber", portNumber);
    }

    /**
     * A path by GID alone, as RoCE has it.
     *
     * @param portNumber the local port, from 1
     * @param route the global part
     * @return the path, everything else zero
     * @throws IllegalArgumentException when the port number does not fit
     */
    public static AddressHandleAttributes global(int portNumber, GlobalRoute route) {
        return new AddressHandleAttributes(route, 0, 0, 0, 0, portNumber);
    }

    /**
     * A path by LID within an InfiniBand subnet.
     *
     * @param portNumber the local port, from 1
     * @param destinationLocalId the peer's LID
     * @return the path, everything else zero
     * @throws IllegalArgumentException when a number does not fit
     */
    public static AddressHandleAttributes local(int portNumber, int destinationLocalId) {
        return new AddressHandleAttributes(null, destinationLocalId, 0, 0, 0, portNumber);
    }

    /**
     * The same path with another service level.
     *
     * @param level the level
     * @return the path
     * @throws IllegalArgumentException when it does not fit
     */
    public AddressHandleAttributes withServiceLevel(int level) {
        return new AddressHandleAttributes(route, destinationLocalId, level, sourcePathBits, staticRate, portNumber);
    }

    /**
     * The same path with other source path bits.
     *
     * @param bits the bits
     * @return the path
     * @throws IllegalArgumentException when they don't fit
     */
    public AddressHandleAttributes withSourcePathBits(int bits) {
        return new AddressHandleAttributes(route, destinationLocalId, serviceLevel, bits, staticRate, portNumber);
    }

    /**
     * The same path with a greatest rate.
     *
     * @param rate as coded in {@code enum ibv_rate}
     * @return the path
     * @throws IllegalArgumentException when it does not fit
     */
    public AddressHandleAttributes withStaticRate(int rate) {
        return new AddressHandleAttributes(route, destinationLocalId, serviceLevel, sourcePathBits, rate, portNumber);
    }

    /**
     * Tells whether there is a global part.
     *
     * @return is_global
     */
    public boolean isGlobal() {
        return route != null;
    }
}
