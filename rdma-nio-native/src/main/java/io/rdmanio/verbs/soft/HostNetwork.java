package io.rdmanio.verbs.soft;

import io.rdmanio.linux.Errno;
import io.rdmanio.linux.SystemCallException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** A host as its connection manager sees it: the names of its user, and the processes behind them. Thread-safe. */
final class HostNetwork implements ConnectionNetwork {
    private static final Logger LOG = System.getLogger(HostNetwork.class.getName());
    private static final Path SOCKETS = Path.of("/proc/net/unix");
    // The columns of that file: address, references, protocol, flags, type, state, inode, name.
    private static final int FLAGS = 3;
    private static final int NAME = 7;
    /** __SO_ACCEPTCON; a connection has the name of its listener too. */
    private static final String LISTENING = "00010000";

    private final SoftHost host;
    private final Set<String> own = ConcurrentHashMap.newKeySet();

    HostNetwork(SoftHost host) {
        this.host = host;
    }

    private String full(String name) {
        return Rendezvous.prefix(host.userId()) + name;
    }

    @Override
    public Runnable take(String name) throws IOException {
        try {
            SoftHost.Listening listening = host.listen(full(name));
            own.add(name);
            return () -> {
                own.remove(name);
                listening.close();
            };
        } catch (SystemCallException e) {
            if (e.errno() == Errno.EADDRINUSE) {
                return null;
            }
            throw e;
        }
    }

    @Override
    public List<String> others() {
        String beginning = "@" + full("");
        // Latin-1 takes the bytes of any name.
        try (Stream<String> lines = Files.lines(SOCKETS, StandardCharsets.ISO_8859_1)) {
            return lines.map(line -> line.trim().split(" +", NAME + 1))
                    .filter(columns -> columns.length > NAME && columns[FLAGS].equals(LISTENING))
                    .filter(columns -> columns[NAME].startsWith(beginning + PortNames.SPACE))
                    .map(columns -> columns[NAME].substring(beginning.length()))
                    .filter(name -> !own.contains(name))
                    .toList();
        } catch (IOException | UncheckedIOException e) {
            // The name itself still keeps two from listening at the same address; only wildcards may overlap.
            LOG.log(Level.WARNING, "the names of other processes can't be read: {0}", e.toString());
            return List.of();
        }
    }

    @Override
    public void find(String name, long deadlineNanos, Search search) {
        host.connectPair(full(name), deadlineNanos, new PairListener() {
            @Override
            public void paired(ProcessPair pair) {
                search.found(pair);
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
}
