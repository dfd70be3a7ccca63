package io.rdmanio.lab.streams;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The teams that are alive. Each line has new ones, so that nothing depends on what was measured before, unless time
 * matters more. For one thread.
 */
final class Teams implements AutoCloseable {
    private record Key(Transport transport, List<String> jvmOptions) {}

    private final boolean kept;
    private final Map<Key, Team> teams = new HashMap<>();

    /**
     * None yet.
     *
     * @param kept whether the next line has the same teams
     */
    Teams(boolean kept) {
        this.kept = kept;
    }

    /** A team without connections. */
    Team of(Transport transport, List<String> jvmOptions) throws IOException {
        Key key = new Key(transport, jvmOptions);
        Team team = teams.get(key);
        if (team == null) {
            team = new Team(transport, jvmOptions);
            teams.put(key, team);
        }
        return team;
    }

    /** To be called behind a line that has come to its end, with teams that have no connections any more. */
    void lineEnded() throws IOException {
        if (!kept) {
            close();
        }
    }

    /** Ends all, whatever they are at. */
    @Override
    public void close() throws IOException {
        List<Team> open = new ArrayList<>(teams.values());
        teams.clear();
        IOException failure = null;
        for (Team team : open) {
            try {
                team.close();
            } catch (IOException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
