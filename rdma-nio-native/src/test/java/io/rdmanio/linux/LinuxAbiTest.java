package io.rdmanio.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.abi.HeaderFacts;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the layouts and constants of system calls with the installed headers. */
class LinuxAbiTest {
    private static final List<String> HEADERS = List.of(
            "errno.h",
            "fcntl.h",
            "linux/magic.h",
            "linux/falloc.h",
            "linux/memfd.h",
            "poll.h",
            "sys/epoll.h",
            "sys/eventfd.h",
            "sys/mman.h",
            "sys/resource.h",
            "sys/socket.h",
            "sys/un.h",
            "sys/vfs.h",
            "unistd.h");

    private static Map<String, Long> table() throws IllegalAccessException {
        Map<String, Long> table = new LinkedHashMap<>();
        table.put("sizeof(struct epoll_event)", Epoll.EVENT_BYTES);
        table.put("offsetof(struct epoll_event, data)", Epoll.DATA_OFFSET);
        table.put("EPOLLIN", (long) Epoll.IN);
        table.put("EPOLLOUT", (long) Epoll.OUT);
        table.put("EPOLLERR", (long) Epoll.ERR);
        table.put("EPOLLHUP", (long) Epoll.HUP);
        table.put("EPOLLRDHUP", (long) Epoll.RDHUP);
        table.put("(int) EPOLLONESHOT", (long) Epoll.ONESHOT);
        table.put("(int) EPOLLET", (long) Epoll.ET);
        table.put("EPOLL_CTL_ADD", (long) Epoll.EPOLL_CTL_ADD);
        table.put("EPOLL_CTL_DEL", (long) Epoll.EPOLL_CTL_DEL);
        table.put("EPOLL_CTL_MOD", (long) Epoll.EPOLL_CTL_MOD);
        table.put("EPOLL_CLOEXEC", (long) FileDescriptors.O_CLOEXEC);
        table.put("EFD_CLOEXEC", (long) FileDescriptors.O_CLOEXEC);
        table.put("EFD_NONBLOCK", (long) FileDescriptors.O_NONBLOCK);
        table.put("O_RDONLY", (long) FileDescriptors.O_RDONLY);
        table.put("O_WRONLY", (long) FileDescriptors.O_WRONLY);
        table.put("F_GETPIPE_SZ", (long) WakePipe.F_GETPIPE_SZ);
        table.put("O_NONBLOCK", (long) FileDescriptors.O_NONBLOCK);
        table.put("F_GETFD", (long) FileDescriptors.F_GETFD);
        table.put("F_SETFD", (long) FileDescriptors.F_SETFD);
        table.put("F_GETFL", (long) FileDescriptors.F_GETFL);
        table.put("F_SETFL", (long) FileDescriptors.F_SETFL);
        table.put("FD_CLOEXEC", (long) FileDescriptors.FD_CLOEXEC);
        table.put("sizeof(struct pollfd)", Poll.POLLFD_BYTES);
        table.put("offsetof(struct pollfd, events)", Poll.EVENTS);
        table.put("offsetof(struct pollfd, revents)", Poll.RETURNED_EVENTS);
        table.put("POLLIN", (long) Poll.POLLIN);
        table.put("RLIMIT_MEMLOCK", (long) ResourceLimits.RLIMIT_MEMLOCK);
        table.put("offsetof(struct rlimit, rlim_cur)", 0L);
        putMemory(table);
        putSockets(table);
        for (java.lang.reflect.Field field : Errno.class.getFields()) {
            if (Modifier.isStatic(field.getModifiers())) {
                table.put(field.getName(), (long) field.getInt(null));
            }
        }
        return table;
    }

    private static void putMemory(Map<String, Long> table) {
        table.put("F_ADD_SEALS", (long) FileDescriptors.F_ADD_SEALS);
        table.put("F_GET_SEALS", (long) FileDescriptors.F_GET_SEALS);
        table.put("F_SEAL_SEAL", (long) MemoryFile.SEAL_SEAL);
        table.put("F_SEAL_SHRINK", (long) MemoryFile.SEAL_SHRINK);
        table.put("F_SEAL_GROW", (long) MemoryFile.SEAL_GROW);
        table.put("F_SEAL_WRITE", (long) MemoryFile.SEAL_WRITE);
        table.put("F_SEAL_FUTURE_WRITE", (long) MemoryFile.SEAL_FUTURE_WRITE);
        table.put("MFD_CLOEXEC", (long) MemoryFile.MFD_CLOEXEC);
        table.put("MFD_ALLOW_SEALING", (long) MemoryFile.MFD_ALLOW_SEALING);
        table.put("MADV_POPULATE_READ", (long) MappedPages.MADV_POPULATE_READ);
        table.put("MADV_POPULATE_WRITE", (long) MappedPages.MADV_POPULATE_WRITE);
        table.put("SEEK_END", (long) MemoryFile.SEEK_END);
        table.put("FALLOC_FL_KEEP_SIZE", (long) MemoryFile.FALLOC_FL_KEEP_SIZE);
        table.put("FALLOC_FL_PUNCH_HOLE", (long) MemoryFile.FALLOC_FL_PUNCH_HOLE);
        table.put("PROT_READ", (long) MemoryFile.PROT_READ);
        table.put("PROT_WRITE", (long) MemoryFile.PROT_WRITE);
        table.put("MAP_SHARED", (long) MemoryFile.MAP_SHARED);
        table.put("MAP_PRIVATE", (long) MemoryFile.MAP_PRIVATE);
        table.put("MAP_FIXED", (long) MemoryFile.MAP_FIXED);
        table.put("MAP_ANONYMOUS", (long) MemoryFile.MAP_ANONYMOUS);
        table.put("MAP_NORESERVE", (long) MemoryFile.MAP_NORESERVE);
        table.put("sizeof(struct statfs)", MemoryFile.STATFS_BYTES);
        table.put("offsetof(struct statfs, f_type)", 0L);
        table.put("sizeof(((struct statfs *) 0)->f_type)", (long) Long.BYTES);
        table.put("TMPFS_MAGIC", MemoryFile.TMPFS_MAGIC);
    }

    private static void putSockets(Map<String, Long> table) {
        table.put("AF_UNIX", (long) UnixSocket.AF_UNIX);
        table.put("SOCK_SEQPACKET", (long) UnixSocket.SOCK_SEQPACKET);
        table.put("SOCK_NONBLOCK", (long) FileDescriptors.O_NONBLOCK);
        table.put("SOCK_CLOEXEC", (long) FileDescriptors.O_CLOEXEC);
        table.put("SOL_SOCKET", (long) UnixSocket.SOL_SOCKET);
        table.put("SO_PEERCRED", (long) UnixSocket.SO_PEERCRED);
        table.put("SCM_RIGHTS", (long) UnixSocket.SCM_RIGHTS);
        table.put("MSG_CTRUNC", (long) UnixSocket.MSG_CTRUNC);
        table.put("MSG_TRUNC", (long) UnixSocket.MSG_TRUNC);
        table.put("MSG_DONTWAIT", (long) UnixSocket.MSG_DONTWAIT);
        table.put("MSG_NOSIGNAL", (long) UnixSocket.MSG_NOSIGNAL);
        table.put("MSG_CMSG_CLOEXEC", (long) UnixSocket.MSG_CMSG_CLOEXEC);
        table.put("offsetof(struct sockaddr_un, sun_path)", UnixSocket.PATH);
        table.put("sizeof(((struct sockaddr_un *) 0)->sun_path)", UnixSocket.MAX_NAME_BYTES + 1L);
        table.put("sizeof(struct ucred)", UnixSocket.UCRED_BYTES);
        table.put("offsetof(struct ucred, pid)", 0L);
        table.put("offsetof(struct ucred, uid)", UnixSocket.USER_ID);
        table.put("offsetof(struct ucred, gid)", UnixSocket.GROUP_ID);
        table.put("sizeof(struct msghdr)", UnixSocket.MSGHDR_BYTES);
        table.put("offsetof(struct msghdr, msg_iov)", UnixSocket.IOV);
        table.put("offsetof(struct msghdr, msg_iovlen)", UnixSocket.IOV_COUNT);
        table.put("offsetof(struct msghdr, msg_control)", UnixSocket.CONTROL);
        table.put("offsetof(struct msghdr, msg_controllen)", UnixSocket.CONTROL_BYTES);
        table.put("offsetof(struct msghdr, msg_flags)", UnixSocket.FLAGS);
        table.put("sizeof(struct iovec)", UnixSocket.IOVEC_BYTES);
        table.put("offsetof(struct iovec, iov_len)", UnixSocket.IOVEC_LENGTH);
        table.put("sizeof(struct cmsghdr)", UnixSocket.CMSGHDR_BYTES);
        table.put("offsetof(struct cmsghdr, cmsg_level)", UnixSocket.LEVEL);
        table.put("offsetof(struct cmsghdr, cmsg_type)", UnixSocket.TYPE);
        table.put("CMSG_LEN(8)", UnixSocket.CMSGHDR_BYTES + 8);
    }

    @Test
    void table_isThatOfTheHeaders(@TempDir Path directory) throws Exception {
        Map<String, Long> ours = table();
        assertThat(HeaderFacts.differences(ours, HeaderFacts.evaluate(HEADERS, ours.keySet(), directory)))
                .isEmpty();
    }
}
