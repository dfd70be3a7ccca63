package io.rdmanio.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.verbs.soft.ControlMessage.Attach;
import io.rdmanio.verbs.soft.ControlMessage.AttachWanted;
import io.rdmanio.verbs.soft.ControlMessage.ConnectReject;
import io.rdmanio.verbs.soft.ControlMessage.ConnectReply;
import io.rdmanio.verbs.soft.ControlMessage.ConnectRequest;
import io.rdmanio.verbs.soft.ControlMessage.Detach;
import io.rdmanio.verbs.soft.ControlMessage.Detached;
import io.rdmanio.verbs.soft.ControlMessage.DisconnectReply;
import io.rdmanio.verbs.soft.ControlMessage.DisconnectRequest;
import io.rdmanio.verbs.soft.ControlMessage.Doorbell;
import io.rdmanio.verbs.soft.ControlMessage.DoorbellGone;
import io.rdmanio.verbs.soft.ControlMessage.Export;
import io.rdmanio.verbs.soft.ControlMessage.Foreign;
import io.rdmanio.verbs.soft.ControlMessage.Hello;
import io.rdmanio.verbs.soft.ControlMessage.Invalid;
import io.rdmanio.verbs.soft.ControlMessage.Join;
import io.rdmanio.verbs.soft.ControlMessage.Parameters;
import io.rdmanio.verbs.soft.ControlMessage.ReadyToUse;
import io.rdmanio.verbs.soft.ControlMessage.Resolve;
import io.rdmanio.verbs.soft.ControlMessage.Revoke;
import io.rdmanio.verbs.soft.ControlMessage.Revoked;
import io.rdmanio.verbs.soft.ControlMessage.Ring;
import io.rdmanio.verbs.soft.ControlMessage.Slab;
import io.rdmanio.verbs.soft.ControlMessage.TurnedAway;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Control messages survive the way through a datagram, and nothing else comes out of one. */
class ControlMessagesTest {
    private static final Parameters PARAMETERS = new Parameters(255, 16, true, 7, 6, false);

    static Stream<ControlMessage> messages() throws UnknownHostException {
        InetSocketAddress ipv4 = new InetSocketAddress(InetAddress.getByName("127.1.2.3"), 65535);
        InetSocketAddress ipv6 = new InetSocketAddress(InetAddress.getByName("fe80::17%1"), 0);
        return Stream.of(
                new Hello(ControlMessage.VERSION, 0x8123456789abcdefL, true),
                new Join(1L << 40, 10, 11),
                new TurnedAway(),
                new Slab(7, 1 << 20, 10),
                new Doorbell(0, 10),
                new DoorbellGone(Integer.MAX_VALUE),
                new Ring(16383),
                new AttachWanted(4, 0xff_fffe),
                new Attach(0xff_ffff, 2, 16383, 3, 1L << 33, 64, 128, 32768, 0xf, 12, 8),
                new Detach(3, 4, 0, 4096),
                new Detached(0, Long.MAX_VALUE),
                new Resolve(-2, 17),
                new Export(-3, -4, -5, 6, 7, 8, 10),
                new Foreign(-3, -4, Long.MIN_VALUE, 6, 7),
                new Invalid(-1, 5),
                new Revoke(65535, -1),
                new Revoked(0, 1),
                new ConnectRequest(-1, 5, ipv4, ipv6, PARAMETERS, bytes(ControlMessage.REQUEST_PRIVATE_DATA_BYTES)),
                new ConnectReply(-1, -2, 5, PARAMETERS, bytes(ControlMessage.REPLY_PRIVATE_DATA_BYTES)),
                new ConnectReject(-1, -2, 28, bytes(ControlMessage.REJECT_PRIVATE_DATA_BYTES)),
                new ConnectReject(0, 0, 8, new byte[0]),
                new ReadyToUse(1),
                new DisconnectRequest(2),
                new DisconnectReply(3));
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (i + 1);
        }
        return bytes;
    }

    /** A datagram and the descriptors that come with it. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Datagram(byte[] bytes, int[] descriptors) {
        static Datagram of(ControlMessage message) {
            ByteBuffer buffer = ByteBuffer.allocate(ControlMessages.MAX_BYTES);
            int[] descriptors = new int[ControlMessages.MAX_DESCRIPTORS];
            int count = ControlMessages.encode(message, buffer, descriptors);
            return new Datagram(Arrays.copyOf(buffer.array(), buffer.position()), Arrays.copyOf(descriptors, count));
        }

        ControlMessage decode() throws ProtocolException {
            return ControlMessages.decode(ByteBuffer.wrap(bytes), descriptors, descriptors.length);
        }
    }

    @ParameterizedTest
    @MethodSource("messages")
    void decode_ofWhatWasEncoded_returnsTheSame(ControlMessage message) throws ProtocolException {
        assertThat(Datagram.of(message).decode())
                .usingRecursiveComparison()
                .withStrictTypeChecking()
                .isEqualTo(message);
    }

    @Test
    void messages_ofThisTest_areAllThereAre() throws UnknownHostException {
        List<Class<?>> tested =
                new ArrayList<>(messages().map(Object::getClass).distinct().toList());
        List<Class<?>> all = Stream.of(ControlMessage.class.getPermittedSubclasses())
                .flatMap(group -> Stream.of(group.getPermittedSubclasses()))
                .toList();
        assertThat(tested).containsExactlyInAnyOrderElementsOf(all);
    }

    @ParameterizedTest
    @MethodSource("messages")
    void decode_cutOff_refuses(ControlMessage message) {
        Datagram whole = Datagram.of(message);
        for (int length = 0; length < whole.bytes.length; length++) {
            Datagram cut = new Datagram(Arrays.copyOf(whole.bytes, length), whole.descriptors);
            assertThatThrownBy(cut::decode).as("%d bytes", length).isInstanceOf(ProtocolException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("messages")
    void decode_withMoreBehindIt_refuses(ControlMessage message) {
        Datagram whole = Datagram.of(message);
        Datagram longer = new Datagram(Arrays.copyOf(whole.bytes, whole.bytes.length + 1), whole.descriptors);
        assertThatThrownBy(longer::decode)
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("after its fields");
    }

    @ParameterizedTest
    @MethodSource("messages")
    void decode_withAnotherNumberOfDescriptors_refuses(ControlMessage message) {
        Datagram whole = Datagram.of(message);
        int count = whole.descriptors.length;
        Datagram more = new Datagram(whole.bytes, Arrays.copyOf(whole.descriptors, count + 1));
        assertThatThrownBy(more::decode).isInstanceOf(ProtocolException.class).hasMessageContaining("too many");
        if (count > 0) {
            Datagram fewer = new Datagram(whole.bytes, Arrays.copyOf(whole.descriptors, count - 1));
            assertThatThrownBy(fewer::decode)
                    .isInstanceOf(ProtocolException.class)
                    .hasMessageContaining("lacks");
        }
    }

    @Test
    void decode_ofAnyBytes_returnsOrRefuses() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int read = 0;
        int refused = 0;
        for (int round = 0; round < 200_000; round++) {
            byte[] bytes = new byte[random.nextInt(160)];
            random.nextBytes(bytes);
            if (bytes.length >= Integer.BYTES) {
                ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(random.nextInt(24));
            }
            try {
                new Datagram(bytes, new int[random.nextInt(2)]).decode();
                read++;
            } catch (ProtocolException e) {
                refused++;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ", " + Arrays.toString(bytes), e);
            }
        }
        assertThat(read).as("messages by chance, seed %d", seed).isPositive();
        assertThat(refused).as("seed %d", seed).isGreaterThan(read);
    }

    @Test
    void decode_ofAChangedMessage_returnsOrRefuses() throws UnknownHostException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Datagram> valid = messages().map(Datagram::of).toList();
        int refused = 0;
        for (int round = 0; round < 200_000; round++) {
            Datagram original = valid.get(random.nextInt(valid.size()));
            byte[] bytes = original.bytes.clone();
            for (int change = random.nextInt(3); change >= 0; change--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            try {
                new Datagram(bytes, original.descriptors).decode();
            } catch (ProtocolException e) {
                refused++;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ", " + Arrays.toString(bytes), e);
            }
        }
        assertThat(refused).as("seed %d", seed).isPositive();
    }

    @Test
    void decode_ofNumbersThatNothingCanHave_refuses() {
        refuses(new Slab(-1, 4096, 10));
        refuses(new Slab(1, -4096, 10));
        refuses(new Detached(0, -1));
        refuses(new Resolve(1, 1 << 24));
        refuses(new Attach(2, 2, -1, 0, 0, 64, 64, 64, 0, 0, 0));
        refuses(new ConnectReject(0, 1, 28, new byte[ControlMessage.REJECT_PRIVATE_DATA_BYTES + 1]));
    }

    private static void refuses(ControlMessage message) {
        assertThatThrownBy(() -> Datagram.of(message).decode())
                .as("%s", message)
                .isInstanceOf(ProtocolException.class);
    }
}
