package io.rdmanio.ch;

/**
 * What our channels do otherwise than the JDK's over TCP, deliberately, and why: the one list of it. A contract test asks
 * {@link ChannelContract#differs} for it and tests either behaviour. The page {@code docs/nio-differences.md} is written
 * from here.
 */
enum Difference {
    KILLED_PEER(
            "A peer that is killed",
            "the end of the stream",
            "`SocketException: Connection reset`",
            "a kernel ends a dead process's TCP connection as if the process had done it; an RDMA connection that ends"
                    + " without the stream's own end may have lost its tail, and a reader must not take what it has for"
                    + " all"),
    CLOSE_WITH_UNREAD_DATA(
            "A peer that closes with unread data",
            "a reset",
            "the end of the stream",
            "the protocol has one message for the end, which C peers send too, and all that was sent to us has"
                    + " arrived"),
    OUTPUT_ENDED_IN_A_WRITE(
            "A write that has just begun when another thread ends the output",
            "`AsynchronousCloseException`, `ClosedChannelException` or `IOException: Broken pipe`, as chance has it",
            "`AsynchronousCloseException` or `ClosedChannelException`",
            "the JDK's write goes to the kernel without knowing that the output has ended in between; ours knows"),
    UNCONNECTED_KEY(
            "A key of a channel that neither is connected nor connects",
            "ready for all of its interest set",
            "not ready",
            "the JDK tells what epoll says of such a socket, which no operation would bear out"),
    LOOPBACK(
            "The loopback address, and connecting to the wildcard, which means it",
            "reach this host",
            "reach it on the software device alone",
            "the loopback interface has no RDMA device; other addresses of this host have one"),
    CLOSED_LISTENER(
            "A listener that is closed while registered",
            "listens on until its key is flushed",
            "stops listening at once",
            "nobody could accept what comes then, and the port is free when close returns"),
    SHARED_LISTENERS(
            "`SO_REUSEPORT` of a server socket channel",
            "several listeners share a port",
            "not supported; of a socket channel it is",
            "rdma_cm knows nothing like it: an address has one listener"),
    OPTIONS_OF_TCP(
            "`TCP_QUICKACK`, `SO_INCOMING_NAPI_ID`",
            "supported",
            "not supported",
            "there are no acknowledgements to delay, and no network device's queue in the kernel"),
    URGENT_DATA(
            "Urgent data",
            "sent, or read in line",
            "`sendUrgentData` and `setOOBInline(true)` throw SocketException",
            "the protocol has none"),
    BUFFER_SIZES(
            "`SO_SNDBUF`, `SO_RCVBUF`",
            "may be changed at any time",
            "fixed when a connection is made, and rounded up to multiples of 8 KiB",
            "they are registered memory, which the peer has been told of"),
    LINGER(
            "A close with `SO_LINGER` while the peer reads nothing",
            "waits for room at the peer",
            "returns as soon as the peer's device has acknowledged",
            "a write sends no more than the peer has room for, so that all that is written is delivered without the"
                    + " peer's doing"),
    CHANNELS_STREAMS(
            "A reader and a writer on streams of `java.nio.channels.Channels`",
            "don't wait for each other",
            "wait for each other",
            "java.base holds the blocking lock during I/O on channels that are not its own;"
                    + " the streams of `socket()` have no such lock"),
    FILE_TRANSFER(
            "`FileChannel.transferTo` and `transferFrom`",
            "use sendfile",
            "copy by 8 KiB",
            "java.base knows its own channels only; the bytes are the same, so there is nothing to test"),
    TYPE_OF_SERVICE(
            "`IP_TOS`",
            "takes effect at any time",
            "takes effect on connections made afterwards",
            "a route is resolved with it, and no interface tells which it was resolved with"),
    FULL_BACKLOG(
            "Requests beyond the backlog",
            "are dropped, and tried again by the peer's kernel",
            "up to 1,024 wait for an answer; further ones are refused",
            "rdma_cm tries few times, and not for long; a test would need a thousand connects"),
    CONNECT_TIMEOUT(
            "A connect that nobody answers",
            "gives up after about two minutes",
            "gives up after 60 s",
            "the communication manager has given up by then; a test would take as long"),
    END_OF_THE_JVM(
            "A JVM that exits with open connections",
            "ends at once; the kernel delivers what was written",
            "first delivers what was written and ends them, which takes 200 ms of quiet and at most 2 s",
            "no kernel does it afterwards; the lab's tests of whole programs show it");

    private final String what;
    private final String overTcp;
    private final String here;
    private final String reason;

    Difference(String what, String overTcp, String here, String reason) {
        this.what = what;
        this.overTcp = overTcp;
        this.here = here;
        this.reason = reason;
    }

    /** The row of the page's table, without the column of tests. */
    String row() {
        return "| " + what + " | " + overTcp + " | " + here + " | " + reason + " |";
    }

    /** Whether no contract test can show it; the reason says why. */
    boolean isUntested() {
        return switch (this) {
            case FILE_TRANSFER, TYPE_OF_SERVICE, FULL_BACKLOG, CONNECT_TIMEOUT, END_OF_THE_JVM -> true;
            default -> false;
        };
    }
}
