package io.rdmanio.stream;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** Flight Recorder event: a connection has changed its state. */
@Name("io.rdmanio.ConnectionState")
@Label("RDMA Connection State")
@Category("RDMA")
@Description("An RDMA stream connection has changed its state")
@StackTrace(false)
final class ConnectionStateEvent extends Event {
    @Label("Connection")
    String connection;

    @Label("From")
    String from;

    @Label("To")
    String to;

    static void emit(StreamConnection connection, ConnectionState from, ConnectionState to) {
        ConnectionStateEvent event = new ConnectionStateEvent();
        if (event.isEnabled()) {
            event.connection = connection.toString();
            event.from = from.name();
            event.to = to.name();
            event.commit();
        }
    }
}
