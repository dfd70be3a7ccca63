package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.QueuePairRequest;
import io.rdmanio.verbs.spi.SharedReceiveQueueHandle;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What librdmacm hands to a driver with extended reliable connections, which no device here has. */
@ExtendWith(LeakCheck.class)
class IdOfAFakeDriverTest {
    private static final SharedReceiveQueueAttributes WANTED = new SharedReceiveQueueAttributes(100, 2, 0);

    private final FakeDriver driver = new FakeDriver();
    private final List<String> seen = new ArrayList<>();
    private MemorySegment struct;
    private FfmCommunicationId id;
    private FfmXrcDomain xrcDomain;
    private FfmCompletionQueue queue;
    private FfmProtectionDomain domain;

    @BeforeEach
    void makeAnId() throws VerbsException {
        FakeDriver.assumeLibrary();
        NativeLibrary.RDMACM.load().ifPresent(reason -> Assumptions.abort(reason));
        struct = driver.object(RdmaCmId.STRUCT);
        assertThat(RdmaCmId.VERBS.get(struct)).isEqualTo(driver.address());
        RdmaCmId.QP_TYPE.set(struct, QueuePairType.XRC_SEND.value());
        id = new FfmCommunicationId(new FfmEngine(), struct.address());
        long xrcd = driver.object(IbvSrq.STRUCT).address();
        driver.on(VerbsContext.OPEN_XRCD, 2, arguments -> xrcd).on(VerbsContext.CLOSE_XRCD, 1, arguments -> 0);
        xrcDomain = FfmXrcDomain.open(driver.context(), -1, 0);
        queue = new FfmCompletionQueue(
                driver.context(), driver.object(IbvSrq.STRUCT).address());
        domain = new FfmProtectionDomain(
                driver.context(), driver.object(IbvSrq.STRUCT).address());
    }

    @AfterEach
    void free() {
        driver.close();
    }

    @Test
    void createSharedReceiveQueue_passesDomainsAndQueue() throws VerbsException {
        MemorySegment srq = driver.object(IbvSrq.STRUCT);
        driver.on(VerbsContext.CREATE_SRQ_EX, 2, arguments -> {
            MemorySegment init = IbvSrqInitAttrEx.STRUCT.at(arguments[1]);
            seen.add("type " + IbvSrqInitAttrEx.SRQ_TYPE.get(init) + " parts "
                    + (IbvSrqInitAttrEx.PD.get(init) == domain.pd) + " "
                    + (IbvSrqInitAttrEx.XRCD.get(init) == xrcDomain.xrcd) + " "
                    + (IbvSrqInitAttrEx.CQ.get(init) == queue.cq) + " "
                    + IbvSrqAttr.read(IbvSrqInitAttrEx.ATTR.of(init)).maxWorkRequests());
            return srq.address();
        });
        SharedReceiveQueueHandle created = id.createSharedReceiveQueue(domain, WANTED, xrcDomain, queue);
        assertThat(seen).containsExactly("type 1 parts true true true 100");
        assertThat(created.granted().maxWorkRequests()).isEqualTo(100);
        assertThat(RdmaCmId.SRQ.get(struct)).isEqualTo(srq.address());
        assertThatThrownBy(() -> id.createSharedReceiveQueue(domain, WANTED, xrcDomain, queue))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("has a shared receive queue");
        created.destroy();
        assertThat(RdmaCmId.SRQ.get(struct)).isZero();
        assertThat(driver.functions()).endsWith("library");
    }

    @Test
    void createSharedReceiveQueue_withoutTheDriversFunctionIsRefused() {
        assertThatThrownBy(() -> id.createSharedReceiveQueue(domain, WANTED, xrcDomain, queue))
                .isInstanceOfSatisfying(VerbsException.class, e -> {
                    assertThat(e.operation()).isEqualTo("rdma_create_srq_ex");
                    assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP);
                });
        assertThat(driver.functions()).containsExactly("open_xrcd");
    }

    @Test
    void createQueuePair_passesTheXrcDomain() {
        driver.on(VerbsContext.CREATE_QP_EX, 2, arguments -> {
            MemorySegment init = IbvQpInitAttrEx.STRUCT.at(arguments[1]);
            seen.add("mask " + IbvQpInitAttrEx.COMP_MASK.get(init) + " parts "
                    + (IbvQpInitAttrEx.PD.get(init) == domain.pd) + " "
                    + (IbvQpInitAttrEx.XRCD.get(init) == xrcDomain.xrcd));
            return FakeDriver.fail(Errno.ENOMEM);
        });
        QueuePairRequest request = new QueuePairRequest(
                QueuePairType.XRC_SEND, new QueuePairCapabilities(4, 0, 1, 0, 0), queue, queue, false, null, xrcDomain);
        // A queue pair would be brought to INIT with the kernel's help, so the driver has none left.
        assertThatThrownBy(() -> id.createQueuePair(domain, request))
                .isInstanceOfSatisfying(VerbsException.class, e -> {
                    assertThat(e.operation()).isEqualTo("rdma_create_qp_ex");
                    assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
                });
        assertThat(seen).containsExactly("mask 3 parts true true");
    }
}
