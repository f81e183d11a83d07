import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;

/** Names of log files: app-2024-03-09.log, app-2024-03-09.2.log ... */
final class LogNames {
    private static final DateTimeFormatter DAY =
        DateTimeFormatter.ofPattern("YYYY-MM-dd", Locale.ROOT);
    private static final DateTimeFormatter MONTH =
        DateTimeFormatter.ofPattern("yyyy-MM", Locale.ROOT);
    private static final String END = ".log";

    private final String prefix;

    LogNames(String application) {
        if (application.isEmpty() || application.contains("/")) {
            throw new IllegalArgumentException("bad name: " + application);
        }
        prefix = application + "-";
    }

    /** The first file of a day has part 1. */
    String name(LocalDate day, int part) {
        return prefix + DAY.format(day) + (part > 1 ? "." + part : "") + END;
    }

    /** The folder that a day's files are moved to in the end. */
    String archive(LocalDate day) {
        return prefix + MONTH.format(day);
    }

    /** The day of a file; nothing for files that are no logs of ours. */
    Optional<LocalDate> day(String name) {
        if (!name.startsWith(prefix) || !name.endsWith(END)
            || name.length() < prefix.length() + 10 + END.length()) {
            return Optional.empty();
        }
        if (part(name) < 1) {
            return Optional.empty();
        }
        try {
            int from = prefix.length();
            return Optional.of(LocalDate.parse(name.substring(from, from + 10)));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    /** The part of a file; 0 when it has none that makes sense. */
    int part(String name) {
        String rest = name.substring(prefix.length() + 10,
            name.length() - END.length());
        if (rest.isEmpty()) {
            return 1;
        }
        return rest.matches("\\.[1-9][0-9]{0,5}")
            ? Integer.parseInt(rest.substring(1)) : 0;
    }
}
