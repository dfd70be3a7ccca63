/** The objects of verbs and of the RDMA connection manager, and the engines that implement them. */
@SuppressWarnings("module") // io.rdmanio is built after this module
module io.rdmanio.verbs {
    exports io.rdmanio.verbs;
    exports io.rdmanio.verbs.cm;
    exports io.rdmanio.linux to
            io.rdmanio;

    uses io.rdmanio.verbs.spi.VerbsEngine;

    provides io.rdmanio.verbs.spi.VerbsEngine with
            io.rdmanio.verbs.ffm.FfmEngine,
            io.rdmanio.verbs.soft.SoftEngine;
}
