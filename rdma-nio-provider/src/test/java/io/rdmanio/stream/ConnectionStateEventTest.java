package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.RdmaEngine;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConnectionStateEventTest {
    private static final InetSocketAddress ELSEWHERE = new InetSocketAddress("198.51.100.1", 7);

    @TempDir
    Path folder;

    /** Also those of a process that has connected before anybody thought of recording. */
    @Test
    void states_ofConnectionsWhileRecording_areRecorded() throws IOException {
        failToConnect(new InetSocketAddress("198.51.100.2", 7));
        Path file = folder.resolve("states.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("io.rdmanio.ConnectionState");
            recording.start();
            failToConnect(ELSEWHERE);
            recording.stop();
            recording.dump(file);
        }
        List<String> changes = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("io.rdmanio.ConnectionState"))
                .filter(event -> event.getString("connection").contains(ELSEWHERE.toString()))
                .map(event -> event.getString("from") + " " + event.getString("to"))
                .toList();
        assertThat(changes).contains("RESOLVING_ADDRESS FAILED");
    }

    private static void failToConnect(InetSocketAddress peer) throws IOException {
        StreamConnection connection = new StreamConnection(StreamRuntime.over(RdmaEngine.soft()));
        assertThatThrownBy(() -> connection.connect(peer, StreamConfiguration.DEFAULT, -1))
                .isInstanceOf(NoRouteToHostException.class);
        connection.close(false);
        connection.release();
    }
}
