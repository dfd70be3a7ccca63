package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.SystemCallException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** What the connection manager needs, of the host that it belongs to. Thread-safe. */
final class HostNetwork implements ConnectionNetwork {
    private static final System.Logger LOGGER = System.getLogger(HostNetwork.class.getName());
    private static final Path SOCKETS = Path.of("/proc/net/unix");
    // Number, references, protocol, flags, type, state, inode, name.
    private static final int FLAGS_COLUMN = 3;
    private static final int NAME_COLUMN = 7;
    // __SO_ACCEPTCON: the socket listens. Those that it has accepted bear its name too.
    private static final String LISTENS = "00010000";
    private static final String ABSTRACT = "@";

    private final SoftHost host;
    private final String prefix;
    private final Set<String> own = ConcurrentHashMap.newKeySet();

    HostNetwork(SoftHost host, int userId) {
        this.host = host;
        this.prefix = Rendezvous.prefix(userId);
    }

    @Override
    public void find(String name, long deadlineNanos, Search search) {
        host.connectPair(prefix + name, deadlineNanos, new PairListener() {
            @Override
            public void paired(ProcessPair pair) {
                search.found(new HostPeer(pair));
            }

            @Override
            public void failed(int errno) {
                search.failed(errno);
            }
        });
    }

    @Override
    public Runnable schedule(long deadlineNanos, Runnable task) {
        return host.progress().schedule(deadlineNanos, task)::cancel;
    }

    @Override
    public Runnable take(String name) throws IOException {
        SoftHost.Listening listening;
        try {
            listening = host.listen(prefix + name);
        } catch (SystemCallException e) {
            if (e.errno() == Errno.EADDRINUSE) {
                return null;
            }
            throw e;
        }
        own.add(name);
        return () -> {
            own.remove(name);
            listening.close();
        };
    }

    @Override
    public List<String> others() {
        // Latin-1 takes the bytes of any name.
        try (Stream<String> lines = Files.lines(SOCKETS, StandardCharsets.ISO_8859_1)) {
            return lines.map(this::takenName)
                    .filter(name -> name != null && !own.contains(name))
                    .toList();
        } catch (IOException e) {
            // What is the same address, rather than a conflicting one, is noticed all the same.
            LOGGER.log(System.Logger.Level.WARNING, "can't see which addresses other processes have bound", e);
            return List.of();
        }
    }

    /** The name in a line of the system's list; null when it is none of ours. */
    private String takenName(String line) {
        String start = ABSTRACT + prefix + PortNames.SPACE;
        String[] columns = line.split("\\s+", NAME_COLUMN + 1);
        return columns.length > NAME_COLUMN
                        && columns[FLAGS_COLUMN].equals(LISTENS)
                        && columns[NAME_COLUMN].startsWith(start)
                ? columns[NAME_COLUMN].substring(ABSTRACT.length() + prefix.length())
                : null;
    }
}
