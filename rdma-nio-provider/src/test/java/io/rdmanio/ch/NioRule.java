package io.rdmanio.ch;

import java.util.List;

/**
 * The rules of java.nio for socket channels, server socket channels, selectors and keys, some of them written nowhere but in
 * the JDK's own implementation. A test named {@code rule12_…} tests rule 12. The page {@code docs/nio-differences.md} is
 * written from here. Rules 49 to 54 are those of datagrams.
 */
record NioRule(int number, String text, String reasonForNoTest) {
    private static NioRule rule(int number, String text) {
        return new NioRule(number, text, null);
    }

    private static NioRule untested(int number, String text, String reason) {
        return new NioRule(number, text, reason);
    }

    static final List<NioRule> ALL = List.of(
            rule(
                    1,
                    "The provider is the class that the system property names, or the service; a failure is a"
                            + " ServiceConfigurationError"),
            rule(2, "It opens channels of each internet family, refuses unknown ones, and may be called by any thread"),
            rule(3, "A selector takes the channels of its own provider alone"),
            rule(4, "Registering does not wait for a selection in progress"),
            rule(
                    5,
                    "register checks the operations, openness, and the blocking mode, in this order; a key there is"
                            + " gets the attachment first, then the interest set"),
            rule(
                    6,
                    "A key is in the selector's set before it is in the channel's; if the selector closes meanwhile,"
                            + " it is in neither"),
            rule(7, "Cancelling waits for nothing, wakes nobody, and makes the key invalid at once"),
            rule(
                    8,
                    "Cancelled keys are flushed before and after the wait, and by the selector's close; with a closed"
                            + " channel's last key goes what stands behind it"),
            rule(9, "Interest sets change atomically, with the next selection, and not of a cancelled key"),
            rule(10, "A selection holds the monitors of the selector and of its selected keys"),
            rule(11, "keys() can't be changed and may be iterated any time; selectedKeys() only shrinks"),
            rule(
                    12,
                    "The ready set of a selected key only grows, and it counts if it did; that of another is replaced"),
            rule(
                    13,
                    "An action is called for ready keys under both monitors, may throw, cancel and close, and selects"
                            + " nothing"),
            rule(14, "A wake-up stays until a selection takes it, and calls add up to one"),
            rule(15, "An interrupt ends a selection with the status set and leaves the selector open"),
            rule(16, "A timeout of 0 is endless, selectNow never waits, and ages are as good as endless"),
            rule(17, "Interest that changed in a channel that was closed, or a key that was cancelled, is harmless"),
            rule(18, "Failure and hang-up make all of the interest set ready"),
            rule(19, "OP_CONNECT is ready while connecting alone, OP_READ and OP_WRITE when connected alone"),
            rule(20, "Closing is idempotent and cancels all keys"),
            rule(
                    21,
                    "A registered channel that is closed tells its peer at once, unless SO_LINGER is 0; a linger holds"
                            + " up nobody"),
            rule(22, "Closing in non-blocking mode waits for I/O in progress; in blocking mode it ends it"),
            rule(
                    23,
                    "A blocked operation ends with AsynchronousCloseException or, interrupted,"
                            + " ClosedByInterruptException with the status set; also if the interrupt came before"),
            rule(24, "In non-blocking mode an interrupted thread closes nothing"),
            rule(25, "Who interrupts does not wait for the interrupted"),
            rule(
                    26,
                    "bind, connect, finishConnect and configureBlocking wait for I/O in progress; what needs the state"
                            + " alone does not"),
            rule(
                    27,
                    "With a valid key a channel can't be made blocking, with a cancelled one it can, and be closed so"),
            rule(28, "Closed is told before not connected, that before a direction that is shut"),
            rule(29, "shutdownInput ends reads, blocked and later ones, with the end of the stream"),
            rule(
                    30,
                    "shutdownOutput ends a blocked write with AsynchronousCloseException, later ones with"
                            + " ClosedChannelException"),
            rule(31, "A reset is told by every read, and never as the end of the stream"),
            rule(32, "Empty buffers read 0, or -1 if the input is shut; indices are checked first"),
            rule(
                    33,
                    "Connecting to the wildcard means this host; a failure closes the channel, a programming error"
                            + " does not"),
            rule(
                    34,
                    "The local address is there from bind on and made concrete by connect; a closed channel tells"
                            + " none"),
            untested(
                    35,
                    "Addresses are told as they are",
                    "only a SecurityManager ever hid them, and there is none any more"),
            rule(36, "A listener is bound once; a backlog below 1 is 50; without an address it takes any port"),
            rule(37, "Accepted channels are blocking, whatever the listener is"),
            rule(38, "Accepted channels inherit the receive buffer set before bind"),
            rule(39, "Options are checked before the channel is looked at; a linger is clamped, all else refused"),
            rule(40, "Each kind of channel has its own options, in a set that can't be changed"),
            rule(41, "A channel has one adaptor"),
            rule(42, "Streams and connect of an adaptor need blocking mode; accept without a timeout gives what waits"),
            rule(
                    43,
                    "A timeout is the adaptor's alone; after a read's the socket goes on, after a connect's it is"
                            + " closed"),
            rule(44, "A wake-up for something else gives a timed operation no more time"),
            rule(45, "An adaptor tells the addresses and ports of sockets in each state"),
            rule(46, "An adaptor refuses values that sockets don't take, and tells of a closed socket"),
            rule(
                    47,
                    "I/O of an adaptor throws the channel's IOExceptions; its runtime exceptions, and all of option"
                            + " methods, become SocketExceptions with their cause"),
            rule(48, "Streams are refused with the reason: closed, not connected, or shut"),
            rule(55, "Blocked virtual threads leave their carrier to others"),
            rule(56, "Readers take turns; a reader and a writer don't wait for each other"),
            rule(57, "What becomes ready between the look and the sleep is not slept through"),
            rule(58, "What stands behind a channel goes when what was under way is delivered"),
            rule(59, "A selector costs one epoll instance and one descriptor that wakes it"),
            rule(60, "An end that the peer has told is the end of the stream, any other a reset"),
            rule(61, "What a connection is made with is read from the listener when its request comes"),
            rule(62, "Operations of interest are those of the channel's kind and no others"),
            rule(63, "What one selector or thread finds ready reaches all"),
            rule(64, "FileChannel transfers to and from a channel"),
            rule(65, "The streams of an adaptor are full duplex"),
            untested(
                    66,
                    "Adaptors of datagram channels close the socket that their superclass opens",
                    "there are none yet"));

    boolean isTested() {
        return reasonForNoTest == null;
    }
}
