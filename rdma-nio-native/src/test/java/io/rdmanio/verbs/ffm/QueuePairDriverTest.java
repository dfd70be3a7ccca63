package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AddressHandleAttributes;
import io.rdmanio.verbs.Gid;
import io.rdmanio.verbs.GlobalRoute;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.OpenDeviceContext;
import io.rdmanio.verbs.PathMigrationState;
import io.rdmanio.verbs.PostException;
import io.rdmanio.verbs.ProtectionDomain;
import io.rdmanio.verbs.QueuePair;
import io.rdmanio.verbs.QueuePairAttribute;
import io.rdmanio.verbs.QueuePairAttributes;
import io.rdmanio.verbs.QueuePairCapabilities;
import io.rdmanio.verbs.QueuePairInitAttributes;
import io.rdmanio.verbs.QueuePairState;
import io.rdmanio.verbs.QueuePairType;
import io.rdmanio.verbs.ReceiveWorkRequest;
import io.rdmanio.verbs.SendWorkRequest;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.XrcDomain;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What reaches a driver of the attributes of queue pairs and of the queue pairs of XRC, which no device here has. */
@ExtendWith(LeakCheck.class)
class QueuePairDriverTest {
    private static final QueuePairCapabilities WANTED = new QueuePairCapabilities(1, 2, 3, 4, 5);
    private static final int NUMBER = 0x123456;

    private final FakeDriver driver = new FakeDriver();
    private final MemorySegment pd = driver.object(IbvSrq.STRUCT);
    private final MemorySegment xrcd = driver.object(IbvSrq.STRUCT);
    private final MemorySegment qp = driver.object(IbvQp.STRUCT);
    private final List<String> seen = new ArrayList<>();

    @BeforeEach
    void needLibrary() {
        FakeDriver.assumeLibrary();
        IbvQp.QP_NUM.set(qp, NUMBER);
    }

    @AfterEach
    void free() {
        driver.close();
    }

    private FakeDriver withXrc() {
        return driver.on(VerbsContext.OPEN_XRCD, 2, arguments -> xrcd.address())
                .on(VerbsContext.CLOSE_XRCD, 1, arguments -> {
                    seen.add("close domain");
                    return 0;
                })
                .on(VerbsContext.CREATE_QP_EX, 2, arguments -> {
                    MemorySegment init = IbvQpInitAttrEx.STRUCT.at(arguments[1]);
                    seen.add("create " + (arguments[0] == driver.address()) + " mask "
                            + IbvQpInitAttrEx.COMP_MASK.get(init) + " type " + IbvQpInitAttrEx.QP_TYPE.get(init)
                            + " domain " + (IbvQpInitAttrEx.XRCD.get(init) == xrcd.address()) + " queues "
                            + IbvQpInitAttrEx.SEND_CQ.get(init) + " " + IbvQpInitAttrEx.RECV_CQ.get(init));
                    return qp.address();
                })
                .on(VerbsContext.OPEN_QP, 2, arguments -> {
                    MemorySegment open = IbvQpOpenAttr.STRUCT.at(arguments[1]);
                    seen.add("open " + (arguments[0] == driver.address()) + " mask " + IbvQpOpenAttr.COMP_MASK.get(open)
                            + " number " + IbvQpOpenAttr.QP_NUM.get(open) + " type " + IbvQpOpenAttr.QP_TYPE.get(open)
                            + " domain " + (IbvQpOpenAttr.XRCD.get(open) == xrcd.address()));
                    return IbvQpOpenAttr.QP_NUM.get(open) == NUMBER ? qp.address() : FakeDriver.fail(Errno.EINVAL);
                });
    }

    private ProtectionDomain domain(OpenDeviceContext device) throws VerbsException {
        driver.library(arguments -> pd.address());
        ProtectionDomain domain = device.allocateProtectionDomain();
        driver.library(arguments -> 0);
        return domain;
    }

    private static QueuePairInitAttributes receiving(XrcDomain xrcDomain) {
        return QueuePairInitAttributes.of(QueuePairType.XRC_RECEIVE, WANTED).withXrcDomain(xrcDomain);
    }

    @Test
    void receivingQueuePair_isMadeOpenedAndClosedBeforeItsDomain() throws IOException {
        OpenDeviceContext device = withXrc().open();
        XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
        ProtectionDomain domain = domain(device);
        QueuePair made = domain.createQueuePair(receiving(xrcDomain));
        QueuePair opened = xrcDomain.openQueuePair(NUMBER);
        assertThat(made.number()).isEqualTo(NUMBER);
        assertThat(opened.type()).isEqualTo(QueuePairType.XRC_RECEIVE);
        assertThat(opened.domain()).isNull();
        assertThat(opened.initAttributes().xrcDomain()).isSameAs(xrcDomain);
        driver.library(arguments -> {
            seen.add("destroy " + (arguments[0] == qp.address()));
            return 0;
        });
        xrcDomain.close();
        assertThat(seen)
                .containsExactly(
                        "create true mask 2 type 10 domain true queues 0 0",
                        "open true mask 11 number " + NUMBER + " type 10 domain true",
                        "destroy true",
                        "destroy true",
                        "close domain");
        assertThatThrownBy(opened::toError).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> xrcDomain.openQueuePair(NUMBER))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("this XrcDomain is closed");
        device.close();
    }

    @Test
    void receivingQueuePair_hasNoQueuesToPostTo() throws IOException {
        OpenDeviceContext device = withXrc().open();
        XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
        QueuePair made = domain(device).createQueuePair(receiving(xrcDomain));
        try (SendWorkRequest send = new SendWorkRequest(0).workRequestId(5);
                ReceiveWorkRequest receive = new ReceiveWorkRequest(0).workRequestId(6)) {
            assertThatThrownBy(() -> made.postSend(send)).isInstanceOfSatisfying(PostException.class, e -> {
                assertThat(e.errno()).isEqualTo(Errno.EINVAL);
                assertThat(e.failedIndex()).isZero();
                assertThat(e.failedWorkRequestId()).isEqualTo(5);
            });
            assertThatThrownBy(() -> made.postReceive(receive))
                    .isInstanceOfSatisfying(
                            PostException.class,
                            e -> assertThat(e.failedWorkRequestId()).isEqualTo(6));
        }
        device.close();
    }

    @Test
    void unknownNumber_isExplained() throws IOException {
        OpenDeviceContext device = withXrc().open();
        XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
        assertThatThrownBy(() -> xrcDomain.openQueuePair(1))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("ibv_open_qp(queuePair=1)")
                .hasMessageContaining("no receiving queue pair of that number");
        device.close();
    }

    @Test
    void missingFunctions_areAnError() throws IOException {
        OpenDeviceContext device = driver.on(VerbsContext.OPEN_XRCD, 2, arguments -> xrcd.address())
                .on(VerbsContext.CLOSE_XRCD, 1, arguments -> 0)
                .open();
        XrcDomain xrcDomain = device.openXrcDomain(XrcDomain.NO_FILE, XrcDomain.CREATE);
        ProtectionDomain domain = domain(device);
        assertThatThrownBy(() -> domain.createQueuePair(receiving(xrcDomain)))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
                .hasMessageContaining("ibv_create_qp_ex");
        assertThatThrownBy(() -> xrcDomain.openQueuePair(NUMBER))
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
                .hasMessageContaining("ibv_open_qp");
        device.close();
    }

    @Test
    void everyAttribute_goesToCAndBack() {
        AddressHandleAttributes path = new AddressHandleAttributes(
                new GlobalRoute(new Gid(0x0102030405060708L, 0x090a0b0c0d0e0f10L), 0xFFFFF, 200, 201, 202),
                0xFFFE,
                15,
                127,
                9,
                3);
        AddressHandleAttributes alternate = AddressHandleAttributes.local(2, 77);
        QueuePairAttributes all = new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .currentState(QueuePairState.INITIALIZED)
                .pathMtuBytes(2048)
                .pathMigrationState(PathMigrationState.ARMED)
                .queueKey(0x80000001)
                .receivePacketNumber(0xFFFFFF)
                .sendPacketNumber(0xABCDEF)
                .destinationNumber(0x10203)
                .accessFlags(0x1F)
                .capabilities(WANTED)
                .addressVector(path)
                .alternatePath(alternate, 65535, 4, 31)
                .partitionKeyIndex(65534)
                .drainedNotification(true)
                .maxReadAtomic(255)
                .maxDestinationReadAtomic(254)
                .minRnrTimer(30)
                .portNumber(253)
                .timeout(29)
                .retryCount(7)
                .rnrRetryCount(6)
                .rateLimitKbps(123456);
        assertThat(all.marked()).isEqualTo(EnumSet.allOf(QueuePairAttribute.class));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(IbvQpAttr.SIZE, 8).fill((byte) 0x55);
            QueuePairStructs.write(all, struct);
            assertThat(IbvQpAttr.PATH_MTU.get(struct)).isEqualTo(4);
            assertThat(IbvQpAttr.SQ_DRAINING.get(struct)).isZero();
            assertThat(IbvAhAttr.IS_GLOBAL.get(IbvQpAttr.AH_ATTR.of(struct))).isEqualTo(1);
            assertThat(IbvAhAttr.IS_GLOBAL.get(IbvQpAttr.ALT_AH_ATTR.of(struct)))
                    .isZero();
            IbvQpAttr.SQ_DRAINING.set(struct, 1);
            QueuePairAttributes back = QueuePairStructs.attributes(struct, all.mask());
            assertThat(back).hasToString(all.toString());
            assertThat(back.isDraining()).isTrue();
            assertThat(back.addressVector()).isEqualTo(path);
            assertThat(back.alternateAddressVector()).isEqualTo(alternate);
            assertThat(back.alternatePartitionKeyIndex()).isEqualTo(65535);
            assertThat(back.alternatePortNumber()).isEqualTo(4);
            assertThat(back.alternateTimeout()).isEqualTo(31);
            // What is not marked stays zero.
            QueuePairStructs.write(new QueuePairAttributes().timeout(5), struct);
            assertThat(IbvQpAttr.TIMEOUT.get(struct)).isEqualTo(5);
            assertThat(IbvQpAttr.DEST_QP_NUM.get(struct)).isZero();
            assertThat(IbvQpAttr.PORT_NUM.get(struct)).isZero();
        }
    }

    @Test
    void whatADriverLeavesUndefined_isReadWithoutFailure() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(IbvQpAttr.SIZE, 8).fill((byte) 0xFF);
            QueuePairAttributes read = QueuePairStructs.attributes(struct, -1);
            assertThat(read.state()).isEqualTo(QueuePairState.UNKNOWN);
            assertThat(read.pathMtuBytes()).isZero();
            assertThat(read.marked()).isEqualTo(complement(QueuePairAttribute.PATH_MTU));
            assertThat(read.timeout()).isEqualTo(31);
        }
    }

    private static Set<QueuePairAttribute> complement(QueuePairAttribute attribute) {
        return EnumSet.complementOf(EnumSet.of(attribute));
    }
}
