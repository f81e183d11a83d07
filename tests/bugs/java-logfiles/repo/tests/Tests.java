import java.time.LocalDate;

final class Tests {
    private static final LogNames NAMES = new LogNames("app");

    private static LocalDate day(int year, int month, int day) {
        return LocalDate.of(year, month, day);
    }

    private static LogRoller roller() {
        LogRoller r = new LogRoller(NAMES, 100, 7);
        r.found("app-2024-03-09.log", 90);
        r.found("app-2024-03-09.2.log", 95);
        r.found("app-2024-02-28.log", 10);
        r.found("app-2024-02-27.10.log", 10);
        r.found("app-2024-02-27.9.log", 10);
        r.found("other.log", 10);
        return r;
    }

    public static void main(String[] args) {
        Tap t = new Tap();

        t.is(NAMES.name(day(2024, 3, 9), 1), "app-2024-03-09.log", "name");
        t.is(NAMES.name(day(2024, 3, 9), 3), "app-2024-03-09.3.log",
            "name of a part");
        t.is(NAMES.name(day(2023, 12, 24), 1), "app-2023-12-24.log", "December");
        t.is(NAMES.name(day(2024, 12, 30), 1), "app-2024-12-30.log",
            "the end of a year");
        t.is(NAMES.name(day(2024, 1, 1), 1), "app-2024-01-01.log",
            "the beginning of a year");
        t.is(NAMES.archive(day(2024, 12, 31)), "app-2024-12", "archive");

        t.is(NAMES.day("app-2024-03-09.log").get(), day(2024, 3, 9), "day");
        t.is(NAMES.day("app-2024-03-09.12.log").get(), day(2024, 3, 9),
            "day of a part");
        t.is(NAMES.part("app-2024-03-09.12.log"), 12, "part");
        t.ok(NAMES.day("app-2024-03.log").isEmpty()
            && NAMES.day("app-2024-13-09.log").isEmpty()
            && NAMES.day("xapp-2024-03-09.log").isEmpty()
            && NAMES.day("app-2024-03-09.txt").isEmpty()
            && NAMES.day("app-2024-03-09.x.log").isEmpty(), "other names");
        t.is(Tap.thrown(() -> new LogNames("a/b")), "bad name: a/b", "bad name");

        LogRoller r = new LogRoller(NAMES, 100, 7);
        t.is(r.write(day(2024, 3, 10), 60), "app-2024-03-10.log", "first file");
        t.is(r.write(day(2024, 3, 10), 40), "app-2024-03-10.log", "just full");
        t.is(r.write(day(2024, 3, 10), 1), "app-2024-03-10.2.log", "second part");
        t.is(r.write(day(2024, 3, 11), 500), "app-2024-03-11.log",
            "a large piece alone");
        t.is(roller().write(day(2024, 3, 9), 6), "app-2024-03-09.3.log",
            "goes on after a start");

        t.is(roller().expired(day(2024, 3, 7)),
            "[app-2024-02-27.9.log, app-2024-02-27.10.log, app-2024-02-28.log]",
            "expired, the oldest first");
        t.is(roller().expired(day(2024, 3, 6)),
            "[app-2024-02-27.9.log, app-2024-02-27.10.log]", "just not expired");
        r = new LogRoller(NAMES, 100, 7);
        r.write(day(2024, 12, 31), 5);
        r.write(day(2025, 1, 2), 5);
        t.is(r.archive(day(2025, 1, 9)),
            "{app-2024-12=[app-2024-12-31.log]}", "over the end of a year");
        r = roller();
        r.archive(day(2024, 4, 1));
        t.is(r.expired(day(2024, 4, 1)), "[]", "archived once");
        System.exit(t.done());
    }
}
