import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads what PacketWriter wrote:
 *
 *     while (r.next()) {
 *         if (r.field() == 1) name = r.text();
 *         else r.skip();
 *     }
 */
final class PacketReader {
    private final byte[] data;
    private int at;
    private int field;
    private int type;

    PacketReader(byte[] data) {
        this.data = data;
    }

    private static IllegalStateException bad(String what) {
        return new IllegalStateException(what);
    }

    private int get() {
        if (at == data.length) {
            throw bad("cut off");
        }
        return data[at++] & 0xff;
    }

    private long number() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int b = get();
            if (shift == 63 && b > 1) {
                break;
            }
            value |= (long) (b & 0x7f) << shift;
            if (b < 0x80) {
                return value;
            }
        }
        throw bad("number too long");
    }

    /** Goes to the next field; false at the end. */
    boolean next() {
        if (at == data.length) {
            return false;
        }
        long tag = number();
        field = (int) (tag >>> 2);
        type = (int) (tag & 3);
        if (field < 1 || tag >>> 33 != 0) {
            throw bad("bad field");
        }
        return true;
    }

    int field() {
        return field;
    }

    private void expect(int wanted) {
        if (type != wanted) {
            throw bad("field " + field + " has type " + type);
        }
    }

    long unsigned() {
        expect(PacketWriter.NUMBER);
        return number();
    }

    long signed() {
        expect(PacketWriter.NUMBER);
        long folded = number();
        return folded >> 1 ^ -(folded & 1);
    }

    int fixed() {
        expect(PacketWriter.FIXED);
        int value = 0;
        for (int i = 0; i < 4; i++) {
            value = value << 8 | get();
        }
        return value;
    }

    byte[] bytes() {
        expect(PacketWriter.BYTES);
        long length = number();
        if (length < 0 || length > data.length - at) {
            throw bad("cut off");
        }
        byte[] bytes = Arrays.copyOfRange(data, at, at + (int) length);
        at += (int) length;
        return bytes;
    }

    String text() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    /** Passes over a value that one has no use for. */
    void skip() {
        switch (type) {
            case PacketWriter.NUMBER:
                number();
                break;
            case PacketWriter.BYTES:
                bytes();
                break;
            case PacketWriter.FIXED:
                fixed();
                break;
            default:
                throw bad("unknown type " + type);
        }
    }
}
