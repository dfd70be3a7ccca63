package io.rdmanio.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.AccessFlags;
import io.rdmanio.verbs.ExtendedDeviceAttributes;
import io.rdmanio.verbs.LeakCheck;
import io.rdmanio.verbs.MemoryWindowType;
import io.rdmanio.verbs.ReregisterFlags;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.Field;
import io.rdmanio.verbs.spi.MemoryRegionHandle;
import io.rdmanio.verbs.spi.MemoryWindowHandle;
import io.rdmanio.verbs.spi.ReregisterError;
import io.rdmanio.verbs.spi.ReregisterResult;
import io.rdmanio.verbs.spi.Struct;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** That the arguments of operations which no device here has reach the driver, and its failures the caller. */
@ExtendWith(LeakCheck.class)
class DeviceOperationsTest {
    // An ibv_mr with what libibverbs keeps behind it: its type, 0 for ordinary memory, and its access flags.
    private static final Field.U32 MR_TYPE = new Field.U32("mr_type", IbvMr.SIZE);
    private static final Struct REGION = new Struct("struct verbs_mr", IbvMr.SIZE + 16, List.of(MR_TYPE));
    private static final int DMABUF_TYPE = 3;

    @BeforeAll
    static void needLibrary() {
        assumeTrue(Imports.IBV_REREG_MR.missing().isEmpty(), "libibverbs is not installed");
    }

    @Test
    void queryDeviceExtended_readsEverything() throws VerbsException {
        try (FakeDriver driver = new FakeDriver()) {
            driver.on(VerbsContext.QUERY_DEVICE_EX, 4, arguments -> {
                MemorySegment attributes = IbvDeviceAttrEx.STRUCT.at(arguments[2]);
                IbvDeviceAttr.MAX_QP.set(IbvDeviceAttrEx.ORIG_ATTR.of(attributes), 1000);
                IbvDeviceAttrEx.STRUCT.fields().forEach(field -> mark(field, attributes));
                return 0;
            });
            ExtendedDeviceAttributes attributes = driver.context().queryDeviceExtended();
            assertThat(attributes.device().maxQueuePairs()).isEqualTo(1000);
            assertThat(attributes.componentMask()).isEqualTo(232);
            assertThat(attributes.onDemandPaging())
                    .isEqualTo(new ExtendedDeviceAttributes.OnDemandPaging(240, 248, 252, 256));
            assertThat(attributes.completionTimestampMask()).isEqualTo(264);
            assertThat(attributes.coreClockKilohertz()).isEqualTo(272);
            assertThat(attributes.capabilityFlags()).isEqualTo(280);
            assertThat(attributes.segmentation()).isEqualTo(new ExtendedDeviceAttributes.Segmentation(288, 292));
            assertThat(attributes.receiveSideScaling())
                    .isEqualTo(new ExtendedDeviceAttributes.ReceiveSideScaling(296, 300, 304, 312, 320 & 0xFF));
            assertThat(attributes.maxReceiveWorkQueues()).isEqualTo(328);
            assertThat(attributes.packetPacing()).isEqualTo(new ExtendedDeviceAttributes.PacketPacing(332, 336, 340));
            assertThat(attributes.rawPacketCapabilities()).isEqualTo(344);
            assertThat(attributes.tagMatching())
                    .isEqualTo(new ExtendedDeviceAttributes.TagMatching(348, 352, 356, 360, 364));
            assertThat(attributes.completionModeration())
                    .isEqualTo(new ExtendedDeviceAttributes.CompletionModeration(368, 370));
            assertThat(attributes.maxDeviceMemoryBytes()).isEqualTo(376);
            assertThat(attributes.pciAtomics()).isEqualTo(new ExtendedDeviceAttributes.PciAtomics(384, 386, 388));
            assertThat(attributes.extendedReliableOnDemandPaging()).isEqualTo(392);
            assertThat(attributes.physicalPorts()).isEqualTo(396);
            List<Long> arguments = driver.calls().getFirst().arguments();
            assertThat(arguments.get(0)).isEqualTo(driver.address());
            assertThat(arguments.get(1)).isZero();
            assertThat(arguments.get(3)).isEqualTo(400);
        }
    }

    /** Writes into a field its own offset. */
    private static void mark(Field field, MemorySegment struct) {
        int offset = (int) field.offset();
        switch (field) {
            case Field.U8 byteField -> byteField.set(struct, offset);
            case Field.U16 shortField -> shortField.set(struct, offset);
            case Field.U32 intField -> intField.set(struct, offset);
            case Field.U64 longField -> longField.set(struct, offset);
            default -> assertThat(field).isSameAs(IbvDeviceAttrEx.ORIG_ATTR);
        }
    }

    @Test
    void queryDeviceExtended_fallsBackToTheOlderQuery() throws VerbsException {
        for (int errno : new int[] {Errno.EOPNOTSUPP, Errno.ENOSYS}) {
            try (FakeDriver driver = new FakeDriver()) {
                driver.on(VerbsContext.QUERY_DEVICE_EX, 4, _ -> errno);
                assertFallsBack(driver);
            }
        }
        try (FakeDriver driver = new FakeDriver()) {
            assertFallsBack(driver);
            assertFallsBack(driver.on(VerbsContext.QUERY_DEVICE_EX, 4, _ -> 0).oldKind());
        }
    }

    private static void assertFallsBack(FakeDriver driver) throws VerbsException {
        driver.library(arguments -> {
            IbvDeviceAttr.MAX_CQ.set(
                    IbvDeviceAttr.STRUCT.at(arguments[2]), 7); // libibverbs asks the driver by the newer function
            return 0;
        });
        ExtendedDeviceAttributes attributes = driver.context().queryDeviceExtended();
        assertThat(attributes.device().maxCompletionQueues()).isEqualTo(7);
        assertThat(attributes).isEqualTo(ExtendedDeviceAttributes.of(attributes.device()));
        assertThat(driver.functions()).endsWith("library");
    }

    @Test
    void queryDeviceExtended_reportsOtherFailures() {
        try (FakeDriver driver = new FakeDriver()) {
            driver.on(VerbsContext.QUERY_DEVICE_EX, 4, _ -> Errno.EIO);
            assertThatThrownBy(() -> driver.context().queryDeviceExtended())
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("ibv_query_device_ex");
                        assertThat(e.errno()).isEqualTo(Errno.EIO);
                    });
            assertThat(driver.functions()).containsExactly("query_device_ex");
        }
    }

    private static FfmProtectionDomain domain(FakeDriver driver) {
        return new FfmProtectionDomain(
                driver.context(),
                driver.object(new Struct("struct ibv_pd", 16, List.of())).address());
    }

    @Test
    void registerDmaBuf_passesItsArguments() throws VerbsException {
        try (FakeDriver driver = new FakeDriver()) {
            MemorySegment mr = driver.object(REGION);
            IbvMr.LKEY.set(mr, 11);
            IbvMr.RKEY.set(mr, 12);
            driver.library(_ -> mr.address());
            FfmProtectionDomain domain = domain(driver);
            MemoryRegionHandle region = domain.registerDmaBuf(9, 4096, 8192, 0x7000, AccessFlags.LOCAL_WRITE);
            assertThat(region.localKey()).isEqualTo(11);
            assertThat(region.remoteKey()).isEqualTo(12);
            assertThat(driver.calls().getFirst().arguments()).startsWith(domain.pd, 4096L, 8192L, 0x7000L);
            driver.library(_ -> FakeDriver.fail(Errno.EOPNOTSUPP));
            assertThatThrownBy(() -> domain.registerDmaBuf(9, 4096, 8192, 0x7000, 0))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errorName()).isEqualTo("EOPNOTSUPP"))
                    .hasMessageContaining("fd=9, offset=4096, length=8192");
        }
    }

    @Test
    void registerMemory_underAnotherAddressPassesIt() throws VerbsException {
        try (FakeDriver driver = new FakeDriver()) {
            MemorySegment mr = driver.object(REGION);
            driver.library(_ -> mr.address());
            FfmProtectionDomain domain = domain(driver);
            for (int flags : new int[] {AccessFlags.LOCAL_WRITE, AccessFlags.RELAXED_ORDERING}) {
                domain.registerMemory(0x10_0000, 100, 0x20_0000, flags);
                assertThat(driver.calls().getLast().arguments()).startsWith(domain.pd, 0x10_0000L, 100L, 0x20_0000L);
            }
        }
    }

    @Test
    void reregister_passesItsArgumentsAndTellsHowItEnded() throws VerbsException {
        try (FakeDriver driver = new FakeDriver()) {
            MemorySegment mr = driver.object(REGION);
            FfmMemoryRegion region = new FfmMemoryRegion(mr.address());
            FfmProtectionDomain domain = domain(driver);
            int changes = ReregisterFlags.PROTECTION_DOMAIN | ReregisterFlags.TRANSLATION | ReregisterFlags.ACCESS;
            driver.library(_ -> {
                IbvMr.RKEY.set(mr, 77);
                return 0;
            });
            assertThat(region.reregister(changes, domain, 0x10_0000, 4096, AccessFlags.LOCAL_WRITE))
                    .isSameAs(ReregisterResult.DONE);
            assertThat(region.remoteKey()).isEqualTo(77);
            List<Long> arguments = driver.calls().getFirst().arguments();
            assertThat(arguments.get(0)).isEqualTo(mr.address());
            assertThat(arguments.get(1).intValue()).isEqualTo(changes);
            assertThat(arguments.subList(2, 4)).containsExactly(domain.pd, 0x10_0000L);

            driver.library(_ -> {
                FakeDriver.fail(Errno.ENOMEM);
                return Errno.ENOMEM;
            });
            assertThat(region.reregister(ReregisterFlags.ACCESS, null, 0, 0, 0))
                    .isEqualTo(new ReregisterResult(ReregisterError.COMMAND, Errno.ENOMEM));
            MR_TYPE.set(mr, DMABUF_TYPE);
            assertThat(region.reregister(ReregisterFlags.ACCESS, null, 0, 0, 0))
                    .isEqualTo(new ReregisterResult(ReregisterError.INPUT, Errno.EINVAL));
        }
    }

    @Test
    void memoryWindow_ofADriverWithoutThemIsRefused() {
        try (FakeDriver driver = new FakeDriver()) {
            assertThatThrownBy(() -> domain(driver).allocateMemoryWindow(MemoryWindowType.TYPE_2))
                    .isInstanceOfSatisfying(VerbsException.class, e -> {
                        assertThat(e.operation()).isEqualTo("ibv_alloc_mw");
                        assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP);
                        assertThat(e).hasMessageContaining("libibverbs");
                    });
            driver.on(IbvContext.OPS_ALLOC_MW, 2, _ -> FakeDriver.fail(Errno.EINVAL));
            assertThatThrownBy(() -> domain(driver).allocateMemoryWindow(MemoryWindowType.TYPE_2))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                    .hasMessageContaining("TYPE_2");
        }
    }

    @Test
    void memoryWindow_passesItsArguments() throws VerbsException {
        try (FakeDriver driver = new FakeDriver()) {
            MemorySegment mw = driver.object(IbvMw.STRUCT);
            driver.on(IbvContext.OPS_ALLOC_MW, 2, _ -> mw.address()).on(IbvContext.OPS_DEALLOC_MW, 1, _ -> 0);
            FfmProtectionDomain domain = domain(driver);
            MemoryWindowHandle window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1);
            assertThat(driver.calls().getFirst().arguments()).startsWith(domain.pd);
            assertThat(driver.calls().getFirst().arguments().get(1).intValue()).isEqualTo(1);
            window.setRemoteKey(0x1234);
            assertThat(IbvMw.RKEY.get(mw)).isEqualTo(0x1234);
            window.destroy();
            assertThat(driver.calls().getLast())
                    .isEqualTo(new FakeDriver.Call("ops.dealloc_mw", List.of(mw.address())));
        }
    }
}
