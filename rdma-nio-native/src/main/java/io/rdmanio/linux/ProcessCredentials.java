package io.rdmanio.linux;

/**
 * Who a process is, as the kernel vouches for it (SO_PEERCRED, unix(7)): effective ids, in the terms of the reader's
 * namespaces. Immutable.
 *
 * @param processId its number; 0 when it lies in a process namespace that the reader can't see
 * @param userId its effective user
 * @param groupId its effective group
 */
public record ProcessCredentials(int processId, int userId, int groupId) {
    private static final NativeFunction GETPID = Downcall.libc("getpid");
    private static final NativeFunction GETEUID = Downcall.libc("geteuid");
    private static final NativeFunction GETEGID = Downcall.libc("getegid");

    /**
     * Those of this process.
     *
     * @return the present ones
     */
    public static ProcessCredentials own() {
        try (CallFrame frame = CallFrame.enter()) {
            return new ProcessCredentials((int) Downcall.call(GETPID, frame), (int) Downcall.call(GETEUID, frame), (int)
                    Downcall.call(GETEGID, frame));
        }
    }
}
