import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Fields of a packet, each a tag (number and type) and a value. Numbers take
 * as few groups of seven bits as they need, the lowest first.
 */
final class PacketWriter {
    static final int NUMBER = 0;
    static final int BYTES = 1;
    static final int FIXED = 2;

    private byte[] data = new byte[16];
    private int size;

    private void put(int b) {
        if (size == data.length) {
            data = Arrays.copyOf(data, size * 2);
        }
        data[size++] = (byte) b;
    }

    private void number(long value) {
        while ((value & ~0x7fL) != 0) {
            put((int) (value & 0x7f) | 0x80);
            value >>>= 7;
        }
        put((int) value);
    }

    private void tag(int field, int type) {
        if (field < 1) {
            throw new IllegalArgumentException("bad field " + field);
        }
        number((long) field << 2 | type);
    }

    PacketWriter unsigned(int field, long value) {
        tag(field, NUMBER);
        number(value);
        return this;
    }

    /** Small numbers are short whatever their sign: 0, -1, 1, -2 ... */
    PacketWriter signed(int field, long value) {
        tag(field, NUMBER);
        number(value << 1 ^ value >> 63);
        return this;
    }

    PacketWriter fixed(int field, int value) {
        tag(field, FIXED);
        for (int shift = 24; shift >= 0; shift -= 8) {
            put(value >> shift);
        }
        return this;
    }

    PacketWriter text(int field, String text) {
        return bytes(field, text.getBytes(StandardCharsets.UTF_8));
    }

    PacketWriter bytes(int field, byte[] bytes) {
        tag(field, BYTES);
        number(bytes.length);
        for (byte b : bytes) {
            put(b);
        }
        return this;
    }

    byte[] toBytes() {
        return Arrays.copyOf(data, size);
    }
}
