package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.CompletionQueue;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.PostException;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SharedReceiveQueue;
import io.rdmanio.verbs.SharedReceiveQueueAttributes;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.XrcDomain;
import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.ReceiveWorkRequestLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Extended reliable connections, which no device here has, on a driver that has nothing else. */
@ExtendWith(LeakCheck.class)
class XrcTest {
    private static final SharedReceiveQueueAttributes WANTED = new SharedReceiveQueueAttributes(100, 2, 3);
    private static final int QUEUE_NUMBER = 0xABCDEF;

    private final FakeDriver driver = new FakeDriver();
    private final List<String> seen = new ArrayList<>();

    @TempDir
    Path directory;

    @BeforeEach
    void needLibrary() {
        FakeDriver.assumeLibrary();
    }

    @AfterEach
    void free() {
        driver.close();
    }

    private FakeDriver withXrc() {
        MemorySegment domain = driver.object(IbvSrq.STRUCT);
        MemorySegment queue = driver.object(IbvSrq.STRUCT);
        return driver.on(VerbsContext.OPEN_XRCD, 2, arguments -> {
                    MemorySegment init = IbvXrcdInitAttr.STRUCT.at(arguments[1]);
                    seen.add("open mask " + IbvXrcdInitAttr.COMP_MASK.get(init) + " fd " + IbvXrcdInitAttr.FD.get(init)
                            + " flags " + IbvXrcdInitAttr.OFLAGS.get(init) + " here "
                            + (arguments[0] == driver.address()));
                    return domain.address();
                })
                .on(VerbsContext.CLOSE_XRCD, 1, arguments -> {
                    seen.add("close " + (arguments[0] == domain.address()));
                    return 0;
                })
                .on(VerbsContext.CREATE_SRQ_EX, 2, arguments -> {
                    MemorySegment init = IbvSrqInitAttrEx.STRUCT.at(arguments[1]);
                    MemorySegment sizes = IbvSrqInitAttrEx.ATTR.of(init);
                    seen.add("create mask " + IbvSrqInitAttrEx.COMP_MASK.get(init) + " type "
                            + IbvSrqInitAttrEx.SRQ_TYPE.get(init) + " " + IbvSrqAttr.read(sizes) + " domain "
                            + (IbvSrqInitAttrEx.XRCD.get(init) == domain.address()) + " parts "
                            + (IbvSrqInitAttrEx.PD.get(init) == pd.address()) + " "
                            + (IbvSrqInitAttrEx.CQ.get(init) == cq.address()));
                    IbvSrqAttr.MAX_WR.set(sizes, 128);
                    IbvSrqAttr.MAX_SGE.set(sizes, 4);
                    return queue.address();
                })
                .on(VerbsContext.GET_SRQ_NUM, 2, arguments -> {
                    seen.add("number " + (arguments[0] == queue.address()));
                    MemorySegment.ofAddress(arguments[1])
                            .reinterpret(Integer.BYTES)
                            .set(ValueLayout.JAVA_INT, 0, QUEUE_NUMBER);
                    return 0;
                });
    }

    private final MemorySegment pd = driver.object(IbvSrq.STRUCT);
    private final MemorySegment cq = driver.object(IbvCq.STRUCT);

    private ProtectionDomain domain(OpenDeviceContext device) throws VerbsException {
        driver.library(arguments -> pd.address());
        ProtectionDomain domain = device.allocateProtectionDomain();
        driver.library(arguments -> 0);
        return domain;
    }

    private CompletionQueue queue(OpenDeviceContext device) throws VerbsException {
        driver.library(arguments -> cq.address());
        CompletionQueue queue = device.createCompletionQueue(1, null);
        driver.library(arguments -> 0);
        return queue;
    }

    @Test
    void domainAndQueue_passTheirArgumentsAndEndInOrder() throws IOException {
        OpenDeviceContext device = withXrc().open();
        XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
        assertThat(xrcDomain.context()).isSameAs(device);
        SharedReceiveQueue queue = domain(device).createSharedReceiveQueue(WANTED, xrcDomain, queue(device));
        assertThat(queue.isExtended()).isTrue();
        assertThat(queue.maxWorkRequests()).isEqualTo(128);
        assertThat(queue.maxSges()).isEqualTo(4);
        assertThat(queue.number()).isEqualTo(QUEUE_NUMBER);
        driver.library(arguments -> {
            seen.add("library");
            return 0;
        });
        xrcDomain.close();
        xrcDomain.close();
        // The queue is destroyed, by a function of the library, before the domain is closed.
        assertThat(seen)
                .containsExactly(
                        "open mask 3 fd -1 flags 64 here true",
                        "create mask 15 type 1 " + WANTED + " domain true parts true true",
                        "number true",
                        "library",
                        "close true");
        assertThatThrownBy(queue::number)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this SharedReceiveQueue is closed");
        device.close();
    }

    @Test
    void postReceive_goesToTheDriversFunction() throws IOException {
        driver.on(IbvContext.OPS_POST_SRQ_RECV, 3, arguments -> {
            MemorySegment request = ReceiveWorkRequestLayout.STRUCT.at(arguments[1]);
            seen.add("post " + ReceiveWorkRequestLayout.WORK_REQUEST_ID.get(request));
            MemorySegment.ofAddress(arguments[2]).reinterpret(Long.BYTES).set(ValueLayout.JAVA_LONG, 0, arguments[1]);
            return Errno.ENOMEM;
        });
        try (OpenDeviceContext device = withXrc().open();
                ReceiveWorkRequest request = new ReceiveWorkRequest(1)) {
            SharedReceiveQueue queue = domain(device)
                    .createSharedReceiveQueue(
                            WANTED, device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE), queue(device));
            request.workRequestId(7);
            assertThatThrownBy(() -> queue.postReceive(request))
                    .isInstanceOfSatisfying(
                            PostException.class,
                            e -> assertThat(e.failedWorkRequestId()).isEqualTo(7))
                    .hasMessageContaining("the shared receive queue is full (128 work requests)");
        }
        assertThat(seen).contains("post 7");
    }

    @Test
    void postReceive_withoutSuchAFunctionIsAnError() throws IOException {
        try (OpenDeviceContext device = withXrc().open();
                ReceiveWorkRequest request = new ReceiveWorkRequest(1)) {
            SharedReceiveQueue queue = domain(device)
                    .createSharedReceiveQueue(
                            WANTED, device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE), queue(device));
            assertThatThrownBy(() -> queue.postReceive(request))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_post_srq_recv")
                    .hasMessageContaining("EOPNOTSUPP");
        }
    }

    @Test
    void domainOfAFile_passesADescriptorOfIt() throws IOException {
        Path file = Files.createFile(directory.resolve("xrc"));
        try (OpenDeviceContext device = withXrc().open();
                XrcDomain xrcDomain = device.openXrcDomain(file, XrcDomain.CREATE | XrcDomain.EXCLUSIVE)) {
            assertThat(xrcDomain.context()).isSameAs(device);
            assertThat(seen).singleElement().asString().matches("open mask 3 fd \\d+ flags 192 here true");
            assertThatThrownBy(() -> device.openXrcDomain(directory.resolve("nosuch"), 0))
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(VerbsException.class)
                    .hasMessageContaining("nosuch");
        }
    }

    @Test
    void failuresOfTheDriver_areExplained() throws IOException {
        withXrc()
                .on(VerbsContext.OPEN_XRCD, 2, arguments -> FakeDriver.fail(Errno.EAGAIN))
                .on(VerbsContext.GET_SRQ_NUM, 2, arguments -> Errno.ENOSYS);
        try (OpenDeviceContext device = driver.open()) {
            assertThatThrownBy(() -> device.openXrcDomain(XrcDomain.NO_FILE, 0))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_open_xrcd(fake0, fd=-1, oflags=0x0)")
                    .hasMessageContaining("EAGAIN")
                    .hasMessageContaining("XrcDomain.CREATE");
        }
        AtomicBoolean busy = new AtomicBoolean(true);
        withXrc()
                .on(VerbsContext.CREATE_SRQ_EX, 2, arguments -> FakeDriver.fail(Errno.EINVAL))
                .on(VerbsContext.CLOSE_XRCD, 1, arguments -> busy.get() ? -Errno.EBUSY : 0);
        OpenDeviceContext device = driver.open();
        XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
        ProtectionDomain domain = domain(device);
        CompletionQueue queue = queue(device);
        assertThatThrownBy(() -> domain.createSharedReceiveQueue(WANTED, xrcDomain, queue))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_create_srq_ex")
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("maxSharedReceiveQueueWorkRequests");
        assertThatThrownBy(device::close)
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_close_xrcd")
                .hasMessageContaining("EBUSY");
        busy.set(false);
        device.close();
    }

    static List<Field.U64> needed() {
        return List.of(VerbsContext.OPEN_XRCD, VerbsContext.CLOSE_XRCD);
    }

    @ParameterizedTest
    @MethodSource("needed")
    void domain_isNotOpenedWhereItCannotBeOrCannotBeClosed(Field.U64 missing) throws IOException {
        withXrc().remove(missing);
        try (OpenDeviceContext device = driver.open()) {
            assertThatThrownBy(() -> device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("ibv_" + missing.nativeName());
                        assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP);
                        assertThat(e).hasMessageContaining("libibverbs.so");
                    });
        }
        assertThat(seen).isEmpty();
    }

    @Test
    void queueAndNumber_areNotAskedForWhereTheyAreNot() throws IOException {
        withXrc().without(VerbsContext.CREATE_SRQ_EX);
        try (OpenDeviceContext device = driver.open()) {
            XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
            ProtectionDomain domain = domain(device);
            CompletionQueue queue = queue(device);
            assertThatThrownBy(() -> domain.createSharedReceiveQueue(WANTED, xrcDomain, queue))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_srq_ex(fake0)")
                    .hasMessageContaining("EOPNOTSUPP");
        }
    }

    private long queuePair(int number) {
        MemorySegment pair = driver.object(IbvQp.STRUCT);
        IbvQp.QP_NUM.set(pair, number);
        return pair.address();
    }

    @Test
    void receivingQueuePair_isMadeAndOpenedByTheDomain() throws IOException {
        withXrc()
                .on(VerbsContext.CREATE_QP_EX, 2, arguments -> {
                    MemorySegment init = IbvQpInitAttrEx.STRUCT.at(arguments[1]);
                    seen.add("create mask " + IbvQpInitAttrEx.COMP_MASK.get(init) + " type "
                            + IbvQpInitAttrEx.QP_TYPE.get(init) + " here " + (arguments[0] == driver.address())
                            + " domain " + (IbvQpInitAttrEx.XRCD.get(init) != 0));
                    return queuePair(5);
                })
                .on(VerbsContext.OPEN_QP, 2, arguments -> {
                    MemorySegment open = IbvQpOpenAttr.STRUCT.at(arguments[1]);
                    seen.add("open mask " + IbvQpOpenAttr.COMP_MASK.get(open) + " type "
                            + IbvQpOpenAttr.QP_TYPE.get(open) + " number " + IbvQpOpenAttr.QP_NUM.get(open)
                            + " domain " + (IbvQpOpenAttr.XRCD.get(open) != 0));
                    return queuePair(IbvQpOpenAttr.QP_NUM.get(open));
                });
        OpenDeviceContext device = driver.open();
        XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
        QueuePairInitAttributes wanted = QueuePairInitAttributes.of(
                        QueuePairType.XRC_RECEIVE, new QueuePairCapabilities(0, 0, 0, 0, 0))
                .withXrcDomain(xrcDomain);
        QueuePair made = domain(device).createQueuePair(wanted);
        QueuePair opened = xrcDomain.openQueuePair(6);
        assertThat(made.number()).isEqualTo(5);
        assertThat(opened.number()).isEqualTo(6);
        assertThat(opened.type()).isEqualTo(QueuePairType.XRC_RECEIVE);
        seen.removeFirst();
        driver.library(arguments -> {
            seen.add("library");
            return 0;
        });
        xrcDomain.close();
        // Both queue pairs are destroyed, by a function of the library, before the domain is closed.
        assertThat(seen)
                .containsExactly(
                        "create mask 2 type 10 here true domain true",
                        "open mask 11 type 10 number 6 domain true",
                        "library",
                        "library",
                        "close true");
        assertThatThrownBy(opened::toError).isInstanceOf(IllegalStateException.class);
        device.close();
    }

    @Test
    void receivingQueuePair_thatCannotBeIsExplained() throws IOException {
        try (OpenDeviceContext device = withXrc().open()) {
            XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
            ProtectionDomain domain = domain(device);
            QueuePairInitAttributes wanted = QueuePairInitAttributes.of(
                            QueuePairType.XRC_RECEIVE, new QueuePairCapabilities(0, 0, 0, 0, 0))
                    .withXrcDomain(xrcDomain);
            assertThatThrownBy(() -> domain.createQueuePair(wanted))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_qp_ex(fake0)")
                    .hasMessageContaining("EOPNOTSUPP");
            assertThatThrownBy(() -> xrcDomain.openQueuePair(6))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_open_qp(fake0)")
                    .hasMessageContaining("EOPNOTSUPP");
            driver.on(VerbsContext.OPEN_QP, 2, arguments -> FakeDriver.fail(Errno.EINVAL));
            assertThatThrownBy(() -> xrcDomain.openQueuePair(6))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_open_qp(queuePair=6)")
                    .hasMessageContaining("EINVAL");
        }
    }

    @Test
    void badArguments_areRefusedBeforeTheCall() throws IOException {
        try (FakeDriver other = new FakeDriver();
                OpenDeviceContext device = withXrc().open();
                OpenDeviceContext stranger = other.open()) {
            assertThatThrownBy(() -> device.openXrcDomain(-2, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> device.openXrcDomain(XrcDomain.NO_FILE, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("0x1");
            XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
            other.library(arguments -> pd.address());
            ProtectionDomain domain = stranger.allocateProtectionDomain();
            other.library(arguments -> 0);
            CompletionQueue queue = queue(device);
            assertThatThrownBy(() -> domain.createSharedReceiveQueue(WANTED, xrcDomain, queue))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("different devices");
            ProtectionDomain own = domain(device);
            xrcDomain.close();
            assertThatThrownBy(() -> own.createSharedReceiveQueue(WANTED, xrcDomain, queue))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this XrcDomain is closed");
            assertThatThrownBy(() -> new SharedReceiveQueueAttributes(1, -1, 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
