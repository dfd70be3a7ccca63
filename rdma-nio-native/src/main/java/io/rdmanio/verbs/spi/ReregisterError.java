package io.rdmanio.verbs.spi;

/** How a reregistration failed ({@code enum ibv_rereg_mr_err_code}). Immutable. */
public enum ReregisterError {
    /** The arguments were refused: the old registration is valid ({@code IBV_REREG_MR_ERR_INPUT}). */
    INPUT(-1, "IBV_REREG_MR_ERR_INPUT", Remains.OLD),
    /** The new memory could not be kept from forks: the old is valid ({@code IBV_REREG_MR_ERR_DONT_FORK_NEW}). */
    DONT_FORK_NEW(-2, "IBV_REREG_MR_ERR_DONT_FORK_NEW", Remains.OLD),
    /** The old memory could not be given back to forks: the new is valid ({@code IBV_REREG_MR_ERR_DO_FORK_OLD}). */
    DO_FORK_OLD(-3, "IBV_REREG_MR_ERR_DO_FORK_OLD", Remains.NEW),
    /** The driver failed: none is valid ({@code IBV_REREG_MR_ERR_CMD}). */
    COMMAND(-4, "IBV_REREG_MR_ERR_CMD", Remains.NOTHING),
    /** The driver failed, and so did the undoing of the rest ({@code IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW}). */
    COMMAND_AND_DO_FORK_NEW(-5, "IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW", Remains.NOTHING);

    /** Which registration a failure leaves. */
    public enum Remains {
        /** The one before. */
        OLD,
        /** The one that was wanted. */
        NEW,
        /** None: the region may only be deregistered. */
        NOTHING
    }

    private static final ReregisterError[] VALUES = values();

    private final int value;
    private final String nativeName;
    private final Remains remains;

    ReregisterError(int value, String nativeName, Remains remains) {
        this.value = value;
        this.nativeName = nativeName;
        this.remains = remains;
    }

    /**
     * The C value.
     *
     * @return the value, negative
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

    /**
     * What it leaves.
     *
     * @return the registration that is valid
     */
    public Remains remains() {
        return remains;
    }

    /**
     * The constant of a C value.
     *
     * @param value the C value, not 0
     * @return the constant; COMMAND, the worst, for a value that this version does not know
     */
    public static ReregisterError of(int value) {
        for (ReregisterError constant : VALUES) {
            if (constant.value == value) {
                return constant;
            }
        }
        return COMMAND;
    }
}
