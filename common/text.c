/*
 * text_clean() is a small terminal: it keeps one line as an array of
 * characters with a cursor, and gives the line away at each newline.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"

#define LINE_MIN 64     /* smallest limit of a line: the note must fit */
#define NOTE_MAX 80u    /* longest note, with its newlines */
#define BAD_BYTE 0xfffd /* what a byte that is not UTF-8 becomes */
#define ESC 0x1b

size_t
text_char(const char *s, size_t len, uint32_t *ret_cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	uint32_t cp;
	size_t n;

	if (len == 0)
		return 0;
	if (u[0] < 0x80) {
		n = 1;
		cp = u[0];
	} else if ((u[0] & 0xe0) == 0xc0) {
		n = 2;
		cp = u[0] & 0x1f;
	} else if ((u[0] & 0xf0) == 0xe0) {
		n = 3;
		cp = u[0] & 0x0f;
	} else if ((u[0] & 0xf8) == 0xf0) {
		n = 4;
		cp = u[0] & 0x07;
	} else {
		return 0;
	}
	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (u[i] & 0x3f);
	}
	if (cp < least[n] || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	if (ret_cp != NULL)
		*ret_cp = cp;
	return n;
}

size_t
text_next(const char *s, size_t len, uint32_t *ret_cp)
{
	size_t n = text_char(s, len, ret_cp);

	if (n > 0)
		return n;
	*ret_cp = BAD_BYTE;
	return 1;
}

bool
text_is_utf8(const char *s, size_t len)
{
	size_t n;

	for (size_t i = 0; i < len; i += n) {
		n = text_char(s + i, len - i, NULL);
		if (n == 0)
			return false;
	}
	return true;
}

static size_t
encode(uint32_t cp, char dst[4])
{
	if (cp < 0x80) {
		dst[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		dst[0] = (char)(0xc0 | cp >> 6);
		dst[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		dst[0] = (char)(0xe0 | cp >> 12);
		dst[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		dst[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	dst[0] = (char)(0xf0 | cp >> 18);
	dst[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	dst[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	dst[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

size_t
text_cut(const char *s, size_t len, size_t max)
{
	if (max >= len)
		return len;
	for (size_t back = 0; back <= 3 && back <= max; back++) {
		if (((unsigned char)s[max - back] & 0xc0) != 0x80)
			return max - back;
	}
	return max; /* not UTF-8 here */
}

/* The smallest n >= min where s[n..len) starts with a whole character. */
static size_t
cut_front(const char *s, size_t len, size_t min)
{
	for (size_t n = min; n < min + 4; n++) {
		if (n >= len)
			return len;
		if (((unsigned char)s[n] & 0xc0) != 0x80)
			return n;
	}
	return min; /* not UTF-8 here */
}

/* --- text_clean ----------------------------------------------------------- */

struct term {
	uint32_t *cells;
	size_t n;      /* characters of the line */
	size_t cursor; /* <= n */
	size_t size;
	struct buf line; /* the line in UTF-8 */
	struct buf *dst;
	size_t max_line;
};

static void
term_put(struct term *t, uint32_t cp)
{
	if (t->cursor < t->n) {
		t->cells[t->cursor++] = cp;
		return;
	}
	if (t->n == t->size) {
		t->size = t->size > 0 ? t->size * 2 : 256;
		t->cells = xreallocarray(t->cells, t->size, sizeof *t->cells);
	}
	t->cells[t->n++] = cp;
	t->cursor = t->n;
}

static void
term_backspace(struct term *t)
{
	if (t->cursor == 0)
		return;
	t->cursor--;
	if (t->cursor == t->n - 1)
		t->n--;
}

/* CSI K: 0 to the end, 1 to the cursor, 2 the whole line. */
static void
term_erase(struct term *t, char how)
{
	if (how != '1')
		t->n = t->cursor;
	if (how == '1' || how == '2') {
		for (size_t i = 0; i < t->cursor; i++)
			t->cells[i] = ' ';
	}
}

/* The line goes to dst, cut in the middle when it is too long. */
static int
term_flush(struct term *t)
{
	char note[NOTE_MAX], utf8[4];
	size_t head, tail, len;
	const char *s;
	int r;

	buf_reset(&t->line);
	for (size_t i = 0; i < t->n; i++)
		(void)buf_add(&t->line, utf8, encode(t->cells[i], utf8));
	t->n = t->cursor = 0;
	s = buf_str(&t->line);
	len = t->line.len;
	if (t->max_line == 0 || len <= t->max_line)
		return buf_add(t->dst, s, len);

	/* The note is as long as with the whole length, or a bit shorter. */
	head = (size_t)snprintf(note, sizeof note, "[... %zu bytes ...]", len);
	head = (t->max_line - head) / 2;
	tail = cut_front(s, len, len - head);
	head = text_cut(s, len, head);
	snprintf(note, sizeof note, "[... %zu bytes ...]", tail - head);
	if ((r = buf_add(t->dst, s, head)) < 0 ||
	    (r = buf_adds(t->dst, note)) < 0)
		return r;
	return buf_add(t->dst, s + tail, len - tail);
}

/* "\033[" was read: parameters, intermediate bytes, one final byte (ECMA-48,
 * 5.4). Returns the bytes used; a byte that can't be here is left. */
static size_t
skip_csi(struct term *t, const char *s, size_t len)
{
	size_t i = 0;

	while (i < len && s[i] >= 0x20 && s[i] <= 0x3f)
		i++;
	if (i == len || s[i] < 0x40 || s[i] > 0x7e)
		return i;
	if (i <= 1 && s[i] == 'K')
		term_erase(t, i == 0 ? '0' : s[0]);
	return i + 1;
}

/* OSC, DCS and the like: up to BEL or ST. Ends before a newline as well, and is
 * none when it never ends, or one such byte could hide everything that follows.
 */
static size_t
skip_string(const char *s, size_t len)
{
	uint32_t cp;
	size_t n;

	for (size_t i = 0; i < len; i += n) {
		n = text_next(s + i, len - i, &cp);
		if (cp == '\n')
			return i;
		if (cp == 0x07 || cp == 0x9c)
			return i + n;
		if (cp == ESC)
			return i + (i + 1 < len && s[i + 1] == '\\' ? 2 : 0);
	}
	return 0;
}

/* ESC was read. */
static size_t
skip_escape(struct term *t, const char *s, size_t len)
{
	size_t i = 0;

	if (len == 0)
		return 0;
	if (s[0] == '[')
		return 1 + skip_csi(t, s + 1, len - 1);
	if (s[0] != '\0' && strchr("]PX^_", s[0]) != NULL)
		return 1 + skip_string(s + 1, len - 1);
	while (i < len && s[i] >= 0x20 && s[i] <= 0x2f)
		i++;
	if (i < len && s[i] >= 0x30 && s[i] <= 0x7e)
		i++;
	return i;
}

/* A control character was read; s[0..len) follows. Returns bytes used. */
static size_t
term_control(struct term *t, uint32_t cp, const char *s, size_t len)
{
	switch (cp) {
	case '\b':
		term_backspace(t);
		return 0;
	case '\r':
		t->cursor = 0;
		return 0;
	case ESC:
		return skip_escape(t, s, len);
	case 0x9b: /* CSI */
		return skip_csi(t, s, len);
	case 0x90: /* DCS */
	case 0x98: /* SOS */
	case 0x9d: /* OSC */
	case 0x9e: /* PM */
	case 0x9f: /* APC */
		return skip_string(s, len);
	}
	return 0;
}

static bool
is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f);
}

int
text_clean(struct buf *dst, const char *s, size_t len, size_t max_line)
{
	struct term t = { .dst = dst, .max_line = max_line };
	size_t start = dst->len;
	uint32_t cp;
	int r = 0;

	if (max_line > 0 && max_line < LINE_MIN)
		t.max_line = LINE_MIN;
	buf_init(&t.line, BUF_NOMAX);
	for (size_t i = 0; i < len;) {
		i += text_next(s + i, len - i, &cp);
		if (cp == '\n') {
			if ((r = term_flush(&t)) < 0 ||
			    (r = buf_addc(dst, '\n')) < 0)
				goto out;
		} else if (is_control(cp) && cp != '\t') {
			i += term_control(&t, cp, s + i, len - i);
		} else {
			term_put(&t, cp);
		}
	}
	r = term_flush(&t);
out:
	if (r < 0 && dst->data != NULL) {
		dst->len = start;
		dst->data[start] = '\0';
	}
	buf_clear(&t.line);
	free(t.cells);
	return r;
}

/* --- text_head_tail ------------------------------------------------------- */

static size_t
count_newlines(const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += s[i] == '\n';
	return n;
}

static size_t
head_end(const char *s, size_t len, size_t max)
{
	const char *nl = memrchr(s, '\n', max);

	/* Half of the head is not given up for a whole line. */
	if (nl != NULL && (size_t)(nl - s) >= max / 2)
		return (size_t)(nl - s) + 1;
	return text_cut(s, len, max);
}

static size_t
tail_start(const char *s, size_t len, size_t max)
{
	size_t at = len - max;
	const char *nl;

	if (at > 0 && s[at - 1] == '\n')
		return at;
	nl = memchr(s + at, '\n', max / 2);
	if (nl != NULL)
		return (size_t)(nl - s) + 1;
	return cut_front(s, len, at);
}

int
text_head_tail(struct buf *dst, const char *s, size_t len, size_t max)
{
	char note[NOTE_MAX];
	size_t head, tail, half, lines, out_len;
	int n, r;

	if (len <= max)
		return buf_add(dst, s, len);
	if (max < 2 * NOTE_MAX)
		return buf_add(dst, s, text_cut(s, len, max));
	half = (max - NOTE_MAX) / 2;
	head = head_end(s, len, half);
	tail = tail_start(s, len, half);
	lines = count_newlines(s + head, tail - head);
	n = snprintf(note, sizeof note,
	    "%s[... %zu bytes (%zu line%s) left out ...]\n",
	    head > 0 && s[head - 1] != '\n' ? "\n" : "", tail - head, lines,
	    lines == 1 ? "" : "s");
	/* All or nothing: the room is there before the first part goes in. */
	out_len = head + (size_t)n + len - tail;
	if ((r = buf_reserve(dst, out_len)) < 0)
		return r;
	(void)buf_add(dst, s, head);
	(void)buf_add(dst, note, (size_t)n);
	return buf_add(dst, s + tail, len - tail);
}

/* --- text_escape ---------------------------------------------------------- */

/* Line and paragraph separators, and what changes the writing direction. */
static bool
is_tricky(uint32_t cp)
{
	return (cp >= 0x2028 && cp <= 0x202e) || cp == 0x200e || cp == 0x200f ||
	    cp == 0x061c || (cp >= 0x2066 && cp <= 0x2069);
}

/* One character of s as it is shown (at most 16 bytes, with the NUL); returns
 * the bytes of s it stands for. */
static size_t
escape_char(const char *s, size_t len, char dst[17], size_t *dst_len)
{
	uint32_t cp;
	size_t n = text_char(s, len, &cp);

	if (n > 0 && !is_control(cp) && !is_tricky(cp)) {
		memcpy(dst, s, n);
		*dst_len = n;
		return n;
	}
	if (n == 1 && cp == '\n') {
		dst[0] = '\\';
		dst[1] = 'n';
		*dst_len = 2;
		return n;
	}
	n = n > 0 ? n : 1;
	for (size_t i = 0; i < n; i++)
		snprintf(
		    dst + 4 * i, 5, "\\x%02x", (unsigned)(unsigned char)s[i]);
	*dst_len = 4 * n;
	return n;
}

int
text_escape(struct buf *dst, const char *s, size_t len)
{
	size_t start = dst->len, n;
	char shown[17];
	int r;

	for (size_t i = 0; i < len;) {
		i += escape_char(s + i, len - i, shown, &n);
		if ((r = buf_add(dst, shown, n)) < 0) {
			if (dst->data != NULL) {
				dst->len = start;
				dst->data[start] = '\0';
			}
			return r;
		}
	}
	return 0;
}

size_t
text_escape_to(char *dst, size_t size, const char *s, size_t len)
{
	size_t at = 0, fits = 0, n;
	char shown[17];

	for (size_t i = 0; i < len;) {
		i += escape_char(s + i, len - i, shown, &n);
		if (at + n > size - 1) {
			memcpy(dst + fits, "...", 3);
			at = fits + 3;
			break;
		}
		memcpy(dst + at, shown, n);
		at += n;
		if (at + 3 <= size - 1)
			fits = at;
	}
	dst[at] = '\0';
	return at;
}

bool
text_is_one_of(const char *s, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(s, list[i]) == 0)
			return true;
	return false;
}

bool
text_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool
text_ends(const char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	return len >= n && memcmp(s + len - n, suffix, n) == 0;
}
