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
    private static final List<String> HEADERS =
            List.of("errno.h", "fcntl.h", "poll.h", "sys/epoll.h", "sys/eventfd.h", "sys/resource.h");

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
        for (java.lang.reflect.Field field : Errno.class.getFields()) {
            if (Modifier.isStatic(field.getModifiers())) {
                table.put(field.getName(), (long) field.getInt(null));
            }
        }
        return table;
    }

    @Test
    void table_isThatOfTheHeaders(@TempDir Path directory) throws Exception {
        Map<String, Long> ours = table();
        assertThat(HeaderFacts.differences(ours, HeaderFacts.evaluate(HEADERS, ours.keySet(), directory)))
                .isEmpty();
    }
}
