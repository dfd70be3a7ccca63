package io.rdmanio.verbs;

/** The devices that the verbs are tested on. */
public enum TestedDevice {
    /** RoCE: Linux's software driver rxe, in the lab. */
    ROCE("rxe"),
    /** iWARP: Linux's software driver siw, in the lab. */
    IWARP("siw"),
    /** The software device of this project, in every build. */
    SOFT("soft");

    private final String driver;

    TestedDevice(String driver) {
        this.driver = driver;
    }

    /** The name of what drives it, which its name begins with. */
    public String driver() {
        return driver;
    }
}
