package io.rdmanio.verbs.ffm;

import io.rdmanio.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Finds out why the engine can't be used on this host. */
final class Availability {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");
    private static final Path NODES = Path.of("/dev/infiniband");
    private static final Path CONNECTION_MANAGER = NODES.resolve("rdma_cm");

    private Availability() {}

    static Optional<String> reason(FfmEngine engine) {
        for (ImportedFunction function : Imports.required()) {
            Optional<String> missing = function.missing();
            if (missing.isPresent()) {
                return missing;
            }
        }
        try {
            if (engine.devices().isEmpty()) {
                return Optional.of(noDevice());
            }
        } catch (VerbsException e) {
            return Optional.of("The RDMA devices can't be listed: " + e.getMessage() + ".");
        }
        return nodes();
    }

    private static String noDevice() {
        if (isEmpty(DEVICES, "*")) {
            return "There is no RDMA device (" + DEVICES
                    + " is missing or empty); load its driver, or make a software one:"
                    + " rdma link add rxe0 type rxe netdev eth0.";
        }
        if (isEmpty(NODES, "uverbs*")) {
            return "There are RDMA devices, but no device nodes " + NODES
                    + "/uverbs*; load ib_uverbs, or pass the nodes into the container (--device=" + NODES + ").";
        }
        return "There are RDMA devices, but libibverbs shows none; its drivers may be missing (package"
                + " ibverbs-providers), or the devices belong to another network namespace.";
    }

    private static Optional<String> nodes() {
        if (!Files.exists(CONNECTION_MANAGER)) {
            return Optional.of("The device node " + CONNECTION_MANAGER
                    + " is missing; load rdma_ucm, or pass the node into the container (--device=" + NODES + ").");
        }
        if (!isUsable(CONNECTION_MANAGER)) {
            return Optional.of(noPermission(CONNECTION_MANAGER));
        }
        Path denied = null;
        try (DirectoryStream<Path> nodes = Files.newDirectoryStream(NODES, "uverbs*")) {
            for (Path node : nodes) {
                if (isUsable(node)) {
                    return Optional.empty();
                }
                denied = node;
            }
        } catch (IOException e) {
            return Optional.of("The directory " + NODES + " can't be read: " + e.getMessage() + ".");
        }
        return Optional.of(denied == null ? noDevice() : noPermission(denied));
    }

    private static String noPermission(Path node) {
        return "This process may not read and write the device node " + node
                + "; give it the node's group, or make the node accessible (udev).";
    }

    private static boolean isUsable(Path node) {
        return Files.isReadable(node) && Files.isWritable(node);
    }

    private static boolean isEmpty(Path directory, String glob) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, glob)) {
            return !entries.iterator().hasNext();
        } catch (IOException e) {
            return true;
        }
    }
}
