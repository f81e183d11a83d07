import java.util.Arrays;

final class Tests {
    private static String hex(byte[] bytes) {
        StringBuilder out = new StringBuilder();
        for (byte b : bytes) {
            out.append(String.format("%02x", b));
        }
        return out.toString();
    }

    private static String hex(PacketWriter w) {
        return hex(w.toBytes());
    }

    private static PacketReader reader(int... bytes) {
        byte[] data = new byte[bytes.length];
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) bytes[i];
        }
        return new PacketReader(data);
    }

    private static PacketReader first(PacketWriter w) {
        PacketReader r = new PacketReader(w.toBytes());
        r.next();
        return r;
    }

    private static boolean comesBack(long value) {
        return first(new PacketWriter().signed(1, value)).signed() == value;
    }

    public static void main(String[] args) {
        Tap t = new Tap();

        t.is(hex(new PacketWriter()), "", "nothing");
        t.is(hex(new PacketWriter().unsigned(1, 5)), "0405", "a small number");
        t.is(hex(new PacketWriter().unsigned(2, 300)), "08ac02", "two groups");
        t.is(hex(new PacketWriter().unsigned(1, -1)),
            "04ffffffffffffffffff01", "the largest number");
        t.is(hex(new PacketWriter().signed(1, -1).signed(1, 1)), "04010402",
            "small signed numbers");
        t.is(hex(new PacketWriter().fixed(1, 0x01020384)), "0601020384", "fixed");
        t.is(hex(new PacketWriter().text(40, "h\u00e9")), "a10103" + "68c3a9",
            "text");
        t.is(Tap.thrown(() -> new PacketWriter().unsigned(0, 1)), "bad field 0",
            "field 0");

        t.is(first(new PacketWriter().unsigned(1, 300)).unsigned(), 300,
            "read a number");
        t.is(first(new PacketWriter().unsigned(1, -1)).unsigned(), -1,
            "read the largest");
        t.is(first(new PacketWriter().fixed(1, -7)).fixed(), -7, "read fixed");
        t.is(first(new PacketWriter().text(1, "h\u00e9")).text().length(), 2,
            "read text");
        boolean good = true;
        for (long value = -1000; value <= 1000; value++) {
            good = good && comesBack(value);
        }
        t.ok(good, "signed numbers come back");
        good = true;
        for (int shift = 0; shift < 62; shift++) {
            good = good && comesBack(1L << shift) && comesBack(-1L << shift);
        }
        t.ok(good, "powers of two come back");
        t.ok(comesBack(Long.MAX_VALUE) && comesBack(Long.MIN_VALUE),
            "the extremes come back");
        t.is(reader(4, 0xfd, 255, 255, 255, 255, 255, 255, 255, 255, 1).next(),
            true, "a long number begins");
        PacketReader r = reader(4, 0xfd, 255, 255, 255, 255, 255, 255, 255, 255, 1);
        r.next();
        t.is(r.signed(), Long.MIN_VALUE + 1, "and is read");

        PacketWriter all = new PacketWriter().text(1, "name").fixed(2, 9)
            .unsigned(3, 1L << 40).bytes(4, new byte[20]).signed(5, -12);
        r = new PacketReader(all.toBytes());
        String fields = "";
        long last = 0;
        while (r.next()) {
            fields += r.field();
            if (r.field() == 5) {
                last = r.signed();
            } else {
                r.skip();
            }
        }
        t.is(fields + " " + last, "12345 -12", "skip what is not wanted");

        t.is(Tap.thrown(() -> first(new PacketWriter().fixed(1, 1)).unsigned()),
            "field 1 has type 2", "wrong type");
        byte[] whole = new PacketWriter().text(1, "name").toBytes();
        t.is(Tap.thrown(() -> {
            PacketReader cut = new PacketReader(Arrays.copyOf(whole, 4));
            cut.next();
            cut.text();
        }), "cut off", "cut off");
        t.is(Tap.thrown(() -> reader(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
            0x80, 0x80, 0x02).next()), "number too long", "number too long");
        t.is(Tap.thrown(() -> reader(0).next()), "bad field", "bad field");
        System.exit(t.done());
    }
}
