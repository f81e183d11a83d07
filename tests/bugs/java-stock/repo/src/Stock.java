import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How much of each article there is, and what is set aside for orders. */
final class Stock {
    private final Map<Code, Integer> amounts = new HashMap<>();
    private final Map<Code, Integer> reserved = new HashMap<>();

    private static void check(int amount) {
        if (amount < 1) {
            throw new IllegalArgumentException("bad amount: " + amount);
        }
    }

    void receive(Code code, int amount) {
        check(amount);
        amounts.merge(code, amount, Integer::sum);
    }

    int amount(Code code) {
        return amounts.getOrDefault(code, 0);
    }

    /** What is neither sold nor set aside. */
    int available(Code code) {
        return amount(code) - reserved.getOrDefault(code, 0);
    }

    /** False, and nothing is set aside, when there is not enough. */
    boolean reserve(Code code, int amount) {
        check(amount);
        if (amount > available(code)) {
            return false;
        }
        reserved.merge(code, amount, Integer::sum);
        return true;
    }

    /** Sends out what was set aside. */
    void ship(Code code, int amount) {
        check(amount);
        int left = reserved.getOrDefault(code, 0) - amount;
        if (left < 0) {
            throw new IllegalStateException("not reserved: " + code);
        }
        if (left == 0) {
            reserved.remove(code);
        } else {
            reserved.put(code, left);
        }
        amounts.merge(code, -amount, Integer::sum);
    }

    /** "AB-1 5" for each article, in the order of the codes. */
    String report() {
        List<Code> codes = new ArrayList<>(amounts.keySet());
        Collections.sort(codes);
        StringBuilder out = new StringBuilder();
        for (Code code : codes) {
            out.append(code).append(' ').append(amounts.get(code)).append('\n');
        }
        return out.toString();
    }
}
