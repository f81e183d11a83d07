/** Prints TAP. */
final class Tap {
    private int count;
    private int failed;

    void ok(boolean good, String name) {
        count++;
        System.out.println((good ? "ok " : "not ok ") + count + " - " + name);
        if (!good) {
            failed++;
        }
    }

    void is(Object got, Object expected, String name) {
        boolean good = String.valueOf(got).equals(String.valueOf(expected));
        ok(good, name);
        if (!good) {
            System.out.println("#   expected " + expected + ", got " + got);
        }
    }

    /** The message of what a piece of code throws. */
    static String thrown(Runnable code) {
        try {
            code.run();
            return "nothing";
        } catch (RuntimeException e) {
            return e.getMessage();
        }
    }

    /** The exit status. */
    int done() {
        System.out.println("1.." + count);
        return failed > 0 ? 1 : 0;
    }
}
