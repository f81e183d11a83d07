import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Decides which file to write to, and what happens to the old ones. */
final class LogRoller {
    private final LogNames names;
    private final long maxBytes;
    private final int keepDays;
    private final Map<String, Long> files = new TreeMap<>();

    LogRoller(LogNames names, long maxBytes, int keepDays) {
        this.names = names;
        this.maxBytes = maxBytes;
        this.keepDays = keepDays;
    }

    /** A file that is there already. */
    void found(String name, long bytes) {
        files.put(name, bytes);
    }

    private int lastPart(LocalDate day) {
        int last = 0;
        for (String name : files.keySet()) {
            Optional<LocalDate> found = names.day(name);
            if (found.isPresent() && found.get().equals(day)) {
                last = Math.max(last, names.part(name));
            }
        }
        return last;
    }

    /** Writes some bytes; returns the name of the file that they go to. */
    String write(LocalDate day, long bytes) {
        int part = Math.max(1, lastPart(day));
        String name = names.name(day, part);
        long size = files.getOrDefault(name, 0L);
        if (size > 0 && size + bytes > maxBytes) {
            name = names.name(day, part + 1);
            size = 0;
        }
        files.put(name, size + bytes);
        return name;
    }

    /** Files that are older than the days to keep, the oldest first. */
    List<String> expired(LocalDate today) {
        List<String> old = new ArrayList<>();
        for (String name : files.keySet()) {
            Optional<LocalDate> day = names.day(name);
            if (day.isPresent() && day.get().isBefore(today.minusDays(keepDays))) {
                old.add(name);
            }
        }
        old.sort(Comparator.comparing((String name) -> names.day(name).get())
            .thenComparing(names::part));
        return old;
    }

    /** All expired files by the folder that they are moved to. */
    Map<String, List<String>> archive(LocalDate today) {
        Map<String, List<String>> folders = new TreeMap<>();
        for (String name : expired(today)) {
            String folder = names.archive(names.day(name).get());
            folders.computeIfAbsent(folder, f -> new ArrayList<>()).add(name);
            files.remove(name);
        }
        return folders;
    }
}
