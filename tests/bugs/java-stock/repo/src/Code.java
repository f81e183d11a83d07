/**
 * The code of an article, "AB-1042/x": what people type, so that the case does
 * not matter; but it is shown as it was first written.
 */
final class Code implements Comparable<Code> {
    private final String text;

    private Code(String text) {
        this.text = text;
    }

    /** Understands a code; blanks around it are no part of it. */
    static Code of(String written) {
        String text = written.trim();
        if (!text.matches("[A-Za-z]{1,4}-[0-9]{1,6}(/[A-Za-z0-9]+)?")) {
            throw new IllegalArgumentException("bad code: " + written);
        }
        return new Code(text);
    }

    String series() {
        return text.substring(0, text.indexOf('-')).toUpperCase();
    }

    int number() {
        int end = text.indexOf('/');
        return Integer.parseInt(
            text.substring(text.indexOf('-') + 1, end < 0 ? text.length() : end));
    }

    private String variant() {
        int slash = text.indexOf('/');
        return slash < 0 ? "" : text.substring(slash + 1).toLowerCase();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Code && text.equals(((Code) other).text);
    }

    /** By series, number and variant. */
    @Override
    public int compareTo(Code other) {
        int order = series().compareTo(other.series());
        if (order == 0) {
            order = Integer.compare(number(), other.number());
        }
        return order != 0 ? order : variant().compareTo(other.variant());
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
