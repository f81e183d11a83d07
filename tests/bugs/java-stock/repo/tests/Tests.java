import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

final class Tests {
    private static Stock stock() {
        Stock s = new Stock();
        s.receive(Code.of("AB-20"), 5);
        s.receive(Code.of("AB-3/x"), 7);
        s.receive(Code.of("AB-20"), 2);
        return s;
    }

    private static boolean bad(String text) {
        return Tap.thrown(() -> Code.of(text)).equals("bad code: " + text);
    }

    public static void main(String[] args) {
        Tap t = new Tap();

        t.is(Code.of("AB-1042/x"), "AB-1042/x", "code");
        t.is(Code.of(" ab-7 "), "ab-7", "as it was written");
        t.is(Code.of("ab-1042/X").series(), "AB", "series");
        t.is(Code.of("ab-1042/X").number(), 1042, "number");
        t.ok(bad("") && bad("AB") && bad("ABCDE-1") && bad("AB-1/") && bad("AB-x"),
            "what is no code");
        t.ok(Code.of("AB-1").equals(Code.of("AB-1"))
            && !Code.of("AB-1").equals(Code.of("AB-10"))
            && !Code.of("AB-1").equals(null), "equal");
        t.ok(Code.of("AB-1/x").equals(Code.of("ab-1/X")),
            "equal, whatever the case");

        List<Code> codes = new ArrayList<>();
        for (String text : new String[] {"b-1", "AB-20", "ab-3/Y", "AB-3", "AB-3/x"}) {
            codes.add(Code.of(text));
        }
        Collections.sort(codes);
        t.is(codes, "[AB-3, AB-3/x, ab-3/Y, AB-20, b-1]", "order");

        t.is(stock().amount(Code.of("AB-20")), 7, "receive");
        t.is(stock().amount(Code.of("AB-21")), 0, "what there is not");
        t.is(stock().report(), "AB-3/x 7\nAB-20 7\n", "report");
        Stock s = stock();
        t.is(s.amount(Code.of("ab-3/X")), 7, "found, whatever the case");
        s.receive(Code.of("ab-20"), 1);
        t.is(s.report(), "AB-3/x 7\nAB-20 8\n", "is the same article");
        t.is(Tap.thrown(() -> stock().receive(Code.of("A-1"), 0)), "bad amount: 0",
            "bad amount");

        s = stock();
        t.ok(s.reserve(Code.of("AB-20"), 4), "reserve");
        t.is(s.available(Code.of("AB-20")), 3, "available");
        t.ok(!s.reserve(Code.of("AB-20"), 4), "not enough");
        t.ok(s.reserve(Code.of("AB-20"), 3), "all of it");
        s.ship(Code.of("AB-20"), 6);
        t.is(s.amount(Code.of("AB-20")) + " " + s.available(Code.of("AB-20")), "1 0",
            "ship");
        Stock last = s;
        t.is(Tap.thrown(() -> last.ship(Code.of("AB-20"), 2)), "not reserved: AB-20",
            "ship too much");
        System.exit(t.done());
    }
}
