package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What failures of C functions mean: the same number does not mean the same everywhere. */
class CuresTest {
    @ParameterizedTest
    @CsvSource({
        "ibv_bind_mw, 12, send queue is full",
        "ibv_attach_mcast, 12, maxMulticastGroups",
        "ibv_alloc_pd, 12, none left",
        "ibv_alloc_mw, 12, none left",
        "ibv_create_ah, 12, none left",
        "ibv_reg_mr, 12, RLIMIT_MEMLOCK",
        "ibv_create_cq, 12, RLIMIT_MEMLOCK",
        "ibv_reg_mr, 1, RLIMIT_MEMLOCK",
        "ibv_reg_mr_iova2, 1, RLIMIT_MEMLOCK",
        "ibv_reg_mr, 13, access flags",
        "ibv_create_qp, 1, CAP_NET_RAW",
        "rdma_bind_addr, 13, CAP_NET_BIND_SERVICE",
        "ibv_open_device, 13, /dev/infiniband",
        "rdma_create_event_channel, 1, /dev/infiniband",
        "ibv_query_gid_ex, 22, entries from 0",
    })
    void cure_dependsOnTheFunction(String function, int errno, String words) {
        assertThat(Cures.of(function, errno)).contains(words);
    }

    @Test
    void status_ofAFailureIsNeverZero() {
        try (CallFrame frame = CallFrame.enter()) {
            FakeDriver.fail(0);
            Downcall.call(Downcall.libc("getpid"), frame); // saves errno, which is 0 now
            assertThat(Status.errno(0, frame)).isZero();
            assertThat(Status.errno(Errno.EINVAL, frame)).isEqualTo(Errno.EINVAL);
            assertThat(Status.errno(-Errno.EINVAL, frame)).isEqualTo(Errno.EINVAL);
            assertThat(Status.errno(-1, frame)).isNotZero();
        }
    }
}
