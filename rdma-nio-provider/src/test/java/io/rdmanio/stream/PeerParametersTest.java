package io.rdmanio.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmanio.stream.PeerParameters.BufferHalf;
import java.net.ProtocolException;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class PeerParametersTest {
    private static final PeerParameters SAMPLE = new PeerParameters(
            false, 384, 0x1122334455667788L, 0xa1b2c3d4, 2, new BufferHalf(0x0102030405060708L, 0x0a0b0c0d, 65536));

    /** Field by field as librdmacm's rsocket.c lays them out, written by hand. */
    private static final String SAMPLE_HEX = "01" + "00" + "0180" + "000000" + "00"
            + "1122334455667788" + "a1b2c3d4" + "00000002"
            + "0102030405060708" + "0a0b0c0d" + "00010000";

    @Test
    void encode_laysOutFortyBytesBigEndian() {
        assertThat(HexFormat.of().formatHex(SAMPLE.encode())).isEqualTo(SAMPLE_HEX);
    }

    @Test
    void decode_ignoresWhatStandsBehind() throws ProtocolException {
        byte[] field = Arrays.copyOf(HexFormat.of().parseHex(SAMPLE_HEX), 196);
        Arrays.fill(field, 40, field.length, (byte) 0xee);

        assertThat(PeerParameters.decode(field)).isEqualTo(SAMPLE);
    }

    @Test
    void decode_readsTheByteOrderFlagAmongOthers() throws ProtocolException {
        byte[] field = SAMPLE.encode();
        field[1] = 3;

        assertThat(PeerParameters.decode(field).bigEndian()).isTrue();
    }

    @Test
    void decode_refusesWhatCannotBe() {
        assertThatThrownBy(() -> PeerParameters.decode(new byte[39]))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("39 bytes");
        assertThatThrownBy(() -> PeerParameters.decode(changed(0, 2)))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("version 2");
        assertThatThrownBy(() -> PeerParameters.decode(changed(23, 1)))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("1 entries");
        assertThatThrownBy(() -> PeerParameters.decode(changed(36, 0x80)))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("half");
    }

    private static byte[] changed(int index, int value) {
        byte[] field = SAMPLE.encode();
        field[index] = (byte) value;
        return field;
    }
}
