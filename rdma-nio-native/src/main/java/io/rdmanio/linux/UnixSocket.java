package io.rdmanio.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * A socket between processes of this host that keeps messages whole and in order and carries descriptors (SOCK_SEQPACKET,
 * unix(7)), under a name that is no file (the abstract name space, of which each network namespace has its own). Non-blocking,
 * and closed on exec, as is every descriptor that it receives.
 *
 * <p>Thread safety: all methods may be called by any thread; a {@link ReceivedMessage} belongs to one thread at a time. Nothing
 * is allocated per message.
 */
public final class UnixSocket implements AutoCloseable {
    /** How many descriptors a message may carry. */
    public static final int MAX_DESCRIPTORS = 16;

    /** The longest name, in bytes of UTF-8. */
    public static final int MAX_NAME_BYTES = 107;

    private static final NativeFunction SOCKET = Downcall.libc("socket");
    private static final NativeFunction BIND = Downcall.libc("bind");
    private static final NativeFunction LISTEN = Downcall.libc("listen");
    private static final NativeFunction CONNECT = Downcall.libc("connect");
    private static final NativeFunction ACCEPT4 = Downcall.libc("accept4");
    private static final NativeFunction GETSOCKOPT = Downcall.libc("getsockopt");
    private static final NativeFunction SEND = Downcall.libc("send");
    private static final NativeFunction SENDMSG = Downcall.libc("sendmsg");
    private static final NativeFunction RECVMSG = Downcall.libc("recvmsg");
    static final int AF_UNIX = 1;
    static final int SOCK_SEQPACKET = 5;
    static final int SOL_SOCKET = 1;
    static final int SO_PEERCRED = 17;
    static final int SCM_RIGHTS = 1;
    static final int MSG_CTRUNC = 8;
    static final int MSG_TRUNC = 0x20;
    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_NOSIGNAL = 0x4000;
    static final int MSG_CMSG_CLOEXEC = 0x4000_0000;

    // struct sockaddr_un
    static final long PATH = 2;
    // struct ucred
    static final long UCRED_BYTES = 12;
    static final long USER_ID = 4;
    static final long GROUP_ID = 8;
    // struct msghdr
    static final long MSGHDR_BYTES = 56;
    static final long IOV = 16;
    static final long IOV_COUNT = 24;
    static final long CONTROL = 32;
    static final long CONTROL_BYTES = 40;
    static final long FLAGS = 48;
    // struct iovec
    static final long IOVEC_BYTES = 16;
    static final long IOVEC_LENGTH = 8;
    // struct cmsghdr
    static final long CMSGHDR_BYTES = 16;
    static final long LEVEL = 8;
    static final long TYPE = 12;

    // Where the structs of a message lie in the arguments of a call.
    private static final long IOVEC_AT = MSGHDR_BYTES;
    private static final long CONTROL_AT = IOVEC_AT + IOVEC_BYTES;
    private static final long MAX_CONTROL_BYTES = CMSGHDR_BYTES + (long) MAX_DESCRIPTORS * Integer.BYTES;

    private final OwnedDescriptor descriptor;

    private UnixSocket(int fileDescriptor) {
        descriptor = new OwnedDescriptor(fileDescriptor, UnixSocket.class);
    }

    private static UnixSocket open() throws SystemCallException {
        try (CallFrame frame = CallFrame.enter()) {
            int type = SOCK_SEQPACKET | FileDescriptors.O_NONBLOCK | FileDescriptors.O_CLOEXEC;
            int descriptor = (int) Downcall.call(SOCKET, frame, AF_UNIX, type, 0);
            if (descriptor < 0) {
                throw Errno.exception("socket(AF_UNIX, SOCK_SEQPACKET)", frame.errno());
            }
            return new UnixSocket(descriptor);
        }
    }

    /**
     * Opens a socket that others can connect to. Does not block.
     *
     * @param abstractName its name, without the zero byte that the kernel wants before it
     * @param backlog how many connections may wait to be accepted
     * @return the socket, to be closed by the caller
     * @throws SystemCallException when the name is in use ({@code EADDRINUSE}), or no descriptor is left
     *     ({@code EMFILE}, {@code ENFILE})
     * @throws IllegalArgumentException when the name is empty or longer than {@link #MAX_NAME_BYTES}
     */
    public static UnixSocket listen(String abstractName, int backlog) throws SystemCallException {
        byte[] name = bytes(abstractName);
        UnixSocket socket = open();
        try {
            socket.callWithAddress(BIND, name, "bind(" + abstractName + ")");
            try (CallFrame frame = CallFrame.enter()) {
                int result = (int) Downcall.call(LISTEN, frame, socket.descriptor.number(), backlog);
                checked(result, frame, "listen(" + abstractName + ")");
            }
            return socket;
        } catch (SystemCallException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Connects to such a socket. Does not block: the connection is there at once, before it is accepted.
     *
     * @param abstractName the name
     * @return the connection, to be closed by the caller
     * @throws SystemCallException when nobody listens there ({@code ECONNREFUSED}), too many connections wait there
     *     already ({@code EAGAIN}), or no descriptor is left ({@code EMFILE}, {@code ENFILE})
     * @throws IllegalArgumentException when the name is empty or longer than {@link #MAX_NAME_BYTES}
     */
    public static UnixSocket connect(String abstractName) throws SystemCallException {
        byte[] name = bytes(abstractName);
        UnixSocket socket = open();
        try {
            socket.callWithAddress(CONNECT, name, "connect(" + abstractName + ")");
            return socket;
        } catch (SystemCallException e) {
            socket.close();
            throw e;
        }
    }

    private static byte[] bytes(String abstractName) {
        byte[] name = abstractName.getBytes(StandardCharsets.UTF_8);
        if (name.length == 0 || name.length > MAX_NAME_BYTES) {
            throw new IllegalArgumentException("a name has 1 to " + MAX_NAME_BYTES + " bytes: " + abstractName);
        }
        return name;
    }

    private void callWithAddress(NativeFunction function, byte[] name, String operation) throws SystemCallException {
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment address = frame.arguments();
            address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_UNIX);
            address.set(ValueLayout.JAVA_BYTE, PATH, (byte) 0);
            MemorySegment.copy(name, 0, address, ValueLayout.JAVA_BYTE, PATH + 1, name.length);
            long lengthBytes = PATH + 1 + name.length;
            int result =
                    (int) Downcall.call(function, frame, descriptor.number(), frame.argumentsAddress(), lengthBytes);
            checked(result, frame, operation);
        }
    }

    private static void checked(int result, CallFrame frame, String operation) throws SystemCallException {
        if (result < 0) {
            throw Errno.exception(operation, frame.errno());
        }
    }

    /**
     * Takes a connection that waits. Does not block.
     *
     * @return the connection, to be closed by the caller; null when none waits
     * @throws SystemCallException when no descriptor is left ({@code EMFILE}, {@code ENFILE}, {@code ENOMEM}); the
     *     connection waits on
     * @throws IllegalStateException after close
     */
    public UnixSocket accept() throws SystemCallException {
        descriptor.enter();
        try (CallFrame frame = CallFrame.enter()) {
            int flags = FileDescriptors.O_NONBLOCK | FileDescriptors.O_CLOEXEC;
            int accepted = (int) Downcall.call(ACCEPT4, frame, descriptor.number(), 0, 0, flags);
            if (accepted >= 0) {
                return new UnixSocket(accepted);
            }
            if (isPassing(frame.errno())) {
                return null;
            }
            throw Errno.exception("accept4", frame.errno());
        } finally {
            descriptor.leave();
        }
    }

    /** Nothing to do now; on a non-blocking socket an interrupted call is repeated when the descriptor is ready again. */
    private static boolean isPassing(int errno) {
        return errno == Errno.EAGAIN || errno == Errno.EINTR;
    }

    /**
     * Who is at the other end: who called connect, or listen.
     *
     * @return the credentials of that moment
     * @throws SystemCallException when getsockopt(2) fails
     * @throws IllegalStateException after close
     */
    public ProcessCredentials peerCredentials() throws SystemCallException {
        descriptor.enter();
        try (CallFrame frame = CallFrame.enter()) {
            MemorySegment credentials = frame.cleared(UCRED_BYTES + Integer.BYTES);
            credentials.set(ValueLayout.JAVA_INT, UCRED_BYTES, (int) UCRED_BYTES);
            long address = frame.argumentsAddress();
            int result = (int) Downcall.call(
                    GETSOCKOPT, frame, descriptor.number(), SOL_SOCKET, SO_PEERCRED, address, address + UCRED_BYTES);
            checked(result, frame, "getsockopt(SO_PEERCRED)");
            return new ProcessCredentials(
                    credentials.get(ValueLayout.JAVA_INT, 0),
                    credentials.get(ValueLayout.JAVA_INT, USER_ID),
                    credentials.get(ValueLayout.JAVA_INT, GROUP_ID));
        } finally {
            descriptor.leave();
        }
    }

    /**
     * Sends a message. Does not block.
     *
     * @param message its bytes, in native memory, at least one: an empty message would look like the end
     * @param descriptors what the other process shall have too, at most {@link #MAX_DESCRIPTORS}; they stay open here
     * @return false when there is no room now ({@link Epoll#OUT} tells when there is)
     * @throws SystemCallException when the other end is closed ({@code EPIPE}, {@code ECONNRESET}), the message is too
     *     long ({@code EMSGSIZE}), or too many descriptors of this user are under way ({@code ETOOMANYREFS})
     * @throws IllegalArgumentException when the message is empty or not native, or has too many descriptors
     * @throws IllegalStateException after close
     */
    public boolean send(MemorySegment message, int... descriptors) throws SystemCallException {
        requireMessage(message);
        if (descriptors.length > MAX_DESCRIPTORS) {
            throw new IllegalArgumentException(descriptors.length + " descriptors are more than " + MAX_DESCRIPTORS);
        }
        descriptor.enter();
        try (CallFrame frame = CallFrame.enter()) {
            boolean plain = descriptors.length == 0;
            long result = plain ? sendPlain(frame, message) : sendWith(frame, message, descriptors);
            if (result >= 0) {
                return true;
            }
            if (isPassing(frame.errno())) {
                return false;
            }
            throw Errno.exception(plain ? "send" : "sendmsg", frame.errno());
        } finally {
            descriptor.leave();
        }
    }

    private long sendPlain(CallFrame frame, MemorySegment message) {
        return Downcall.call(
                SEND, frame, descriptor.number(), message.address(), message.byteSize(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    private long sendWith(CallFrame frame, MemorySegment message, int[] descriptors) {
        putHeader(frame, message, putDescriptors(frame.arguments(), descriptors));
        int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
        return Downcall.call(SENDMSG, frame, descriptor.number(), frame.argumentsAddress(), flags);
    }

    /**
     * Receives a message. Does not block.
     *
     * @param room where its bytes go, native memory
     * @param into where the rest goes; descriptors that are still in there are closed first
     * @return what happened
     * @throws SystemCallException when recvmsg(2) fails for another reason than that the peer is gone ({@code ENOMEM})
     * @throws IllegalArgumentException when the room is empty or not native
     * @throws IllegalStateException after close
     */
    public Receipt receive(MemorySegment room, ReceivedMessage into) throws SystemCallException {
        requireMessage(room);
        into.closeDescriptors();
        into.begin(0, 0);
        descriptor.enter();
        try (CallFrame frame = CallFrame.enter()) {
            putHeader(frame, room, MAX_CONTROL_BYTES);
            int flags = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;
            int result = (int) Downcall.call(RECVMSG, frame, descriptor.number(), frame.argumentsAddress(), flags);
            if (result < 0) {
                return nothing(frame.errno());
            }
            into.begin(result, frame.arguments().get(ValueLayout.JAVA_INT, FLAGS));
            takeDescriptors(frame.arguments(), into);
            if (result > 0) {
                return Receipt.MESSAGE;
            }
            // Or an empty message, which this class does not send: a peer that breaks the rules is not listened to.
            into.closeDescriptors();
            return Receipt.END;
        } finally {
            descriptor.leave();
        }
    }

    private static Receipt nothing(int errno) throws SystemCallException {
        if (isPassing(errno)) {
            return Receipt.NOTHING_YET;
        }
        if (errno == Errno.ECONNRESET) {
            // It closed with messages of ours unread.
            return Receipt.END;
        }
        throw Errno.exception("recvmsg", errno);
    }

    private static void requireMessage(MemorySegment memory) {
        if (!memory.isNative() || memory.byteSize() == 0) {
            throw new IllegalArgumentException("a message lies in native memory and is not empty");
        }
    }

    private static void putHeader(CallFrame frame, MemorySegment message, long controlBytes) {
        MemorySegment header = frame.cleared(MSGHDR_BYTES);
        long address = frame.argumentsAddress();
        header.set(ValueLayout.JAVA_LONG, IOV, address + IOVEC_AT);
        header.set(ValueLayout.JAVA_LONG, IOV_COUNT, 1);
        header.set(ValueLayout.JAVA_LONG, CONTROL, address + CONTROL_AT);
        header.set(ValueLayout.JAVA_LONG, CONTROL_BYTES, controlBytes);
        header.set(ValueLayout.JAVA_LONG, IOVEC_AT, message.address());
        header.set(ValueLayout.JAVA_LONG, IOVEC_AT + IOVEC_LENGTH, message.byteSize());
    }

    private static long putDescriptors(MemorySegment arguments, int[] descriptors) {
        long bytes = CMSGHDR_BYTES + (long) descriptors.length * Integer.BYTES;
        arguments.set(ValueLayout.JAVA_LONG, CONTROL_AT, bytes);
        arguments.set(ValueLayout.JAVA_INT, CONTROL_AT + LEVEL, SOL_SOCKET);
        arguments.set(ValueLayout.JAVA_INT, CONTROL_AT + TYPE, SCM_RIGHTS);
        for (int i = 0; i < descriptors.length; i++) {
            long at = CONTROL_AT + CMSGHDR_BYTES + (long) i * Integer.BYTES;
            arguments.set(ValueLayout.JAVA_INT, at, descriptors[i]);
        }
        return bytes;
    }

    /** The kernel puts one block of rights at most, and nothing else unless it was asked to by a socket option. */
    private static void takeDescriptors(MemorySegment arguments, ReceivedMessage into) {
        long controlBytes = arguments.get(ValueLayout.JAVA_LONG, CONTROL_BYTES);
        if (controlBytes < CMSGHDR_BYTES
                || arguments.get(ValueLayout.JAVA_INT, CONTROL_AT + LEVEL) != SOL_SOCKET
                || arguments.get(ValueLayout.JAVA_INT, CONTROL_AT + TYPE) != SCM_RIGHTS) {
            return;
        }
        long end = CONTROL_AT + arguments.get(ValueLayout.JAVA_LONG, CONTROL_AT);
        for (long at = CONTROL_AT + CMSGHDR_BYTES; at + Integer.BYTES <= end; at += Integer.BYTES) {
            into.add(arguments.get(ValueLayout.JAVA_INT, at));
        }
    }

    /** What {@link #receive} found. */
    public enum Receipt {
        /** A message. */
        MESSAGE,
        /** No message now ({@link Epoll#IN} tells when there is one). */
        NOTHING_YET,
        /** No message any more: the other end is closed. */
        END
    }

    /**
     * The descriptor, to be waited for.
     *
     * @return its number; it means nothing after {@link #close}
     */
    public int fileDescriptor() {
        return descriptor.number();
    }

    /** Closes the socket, as soon as no call is in progress; a name is free then. Idempotent. */
    @Override
    public void close() {
        descriptor.close();
    }
}
