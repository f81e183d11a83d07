#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/repair/cand.h"
#include "orchestrator/repair/word.h"

#define KEEP_MAX (2 * CAND_MAX)
#define LOOKED_AT_MAX ((size_t)256 << 20)

static void
cand_free(struct cand *c)
{
	free(c->new_text);
	free(c->what);
}

void
cands_clear(struct cands *c)
{
	for (size_t i = 0; i < c->n; i++)
		cand_free(&c->v[i]);
	free(c->v);
	free(c->seen);
	*c = (struct cands){ 0 };
}

static bool
seen_add(struct cands *c, uint64_t h)
{
	size_t i;

	h |= h == 0;
	if (c->seen_n * 2 >= c->seen_size) {
		size_t size = c->seen_size == 0 ? 4096 : c->seen_size * 2;
		uint64_t *old = c->seen;
		size_t old_size = c->seen_size;

		c->seen = xcalloc(size, sizeof *c->seen);
		c->seen_size = size;
		c->seen_n = 0;
		for (i = 0; i < old_size; i++) {
			if (old[i] != 0)
				seen_add(c, old[i]);
		}
		free(old);
	}
	for (i = h & (c->seen_size - 1); c->seen[i] != 0;
	     i = (i + 1) & (c->seen_size - 1)) {
		if (c->seen[i] == h)
			return false;
	}
	c->seen[i] = h;
	c->seen_n++;
	return true;
}

/* The text's tokens, so far as blanks tell: blanks count only inside quotes
 * and between two words; indentation counts. */
static uint64_t
token_hash(uint64_t h, const char *s, size_t len)
{
	char quote = '\0', before = '\n';
	bool blank = false;

	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (quote == '\0' && (c == ' ' || c == '\t')) {
			if (before == '\n')
				h = word_hash(h, &c, 1);
			blank = true;
			continue;
		}
		if (blank && word_is_char(c) && word_is_char(before))
			h = word_hash(h, " ", 1);
		blank = false;
		if (quote == '\0' && (c == '"' || c == '\''))
			quote = c;
		else if (c == quote || c == '\n')
			quote = '\0';
		if (!(c == '\n' && before == '\n'))
			h = word_hash(h, &c, 1);
		before = c;
	}
	return h;
}

uint64_t
cand_key(const char *path, uint32_t line, const char *old, const char *new_text)
{
	uint64_t h = WORD_HASH_START;

	h = word_hash(h, path, strlen(path) + 1);
	h = word_hash(h, &line, sizeof line);
	h = word_hash(h, old, strlen(old) + 1);
	return word_hash(h, new_text, strlen(new_text) + 1);
}

static size_t
count_tokens(const char *s, size_t len)
{
	size_t n = 0;
	bool word = false;

	for (size_t i = 0; i < len; i++) {
		bool w = word_is_char(s[i]);

		n += w ? !word : s[i] > ' ';
		word = w;
	}
	return n;
}

/* A short form of text for a description, on one line. */
static void
add_short(struct buf *b, const char *s, size_t len)
{
	size_t n = text_cut(s, len, 60);

	(void)buf_addc(b, '`');
	(void)text_escape(b, s, n);
	(void)buf_adds(b, n < len ? "...`" : "`");
}

#define SHORT 3 /* bytes that alone tell nobody where they are */

/* "insert `=`" into what? What comes or goes is so little that the words on
 * both sides of it belong to it. */
static void
around(const char *old, size_t old_len, const char *text, size_t len,
    size_t bytes, size_t *pre, size_t *post)
{
	size_t a = *pre, z = *post;

	if (bytes > SHORT || memchr(text + a, '\n', len - a - z) != NULL ||
	    memchr(old + a, '\n', old_len - a - z) != NULL)
		return;
	while (a > 0 && !word_is_char(old[a - 1]) && old[a - 1] != '\n')
		a--;
	while (a > 0 && word_is_char(old[a - 1]))
		a--;
	while (z > 0 && !word_is_char(old[old_len - z]) &&
	    old[old_len - z] != '\n')
		z--;
	while (z > 0 && word_is_char(old[old_len - z]))
		z--;
	*pre = a;
	*post = z;
}

/* "`a` -> `b`" for the middle that differs, grown to whole words. */
static void
describe(struct cand *c, const char *old, size_t old_len, const char *text,
    size_t len)
{
	size_t pre = 0, post = 0;
	struct buf b;

	while (pre < old_len && pre < len && old[pre] == text[pre])
		pre++;
	while (post < old_len - pre && post < len - pre &&
	    old[old_len - 1 - post] == text[len - 1 - post])
		post++;
	while (pre > 0 && (word_is_char(old[pre - 1])))
		pre--;
	while (post > 0 && word_is_char(old[old_len - post]))
		post--;
	c->changed = (uint16_t)(count_tokens(old + pre, old_len - pre - post) +
	    count_tokens(text + pre, len - pre - post));
	if (old_len - pre - post == 0)
		around(old, old_len, text, len, len - pre - post, &pre, &post);
	else if (len - pre - post == 0)
		around(
		    old, old_len, text, len, old_len - pre - post, &pre, &post);
	buf_init(&b, 1024);
	if (old_len - pre - post == 0) {
		(void)buf_adds(&b, "insert ");
		add_short(&b, text + pre, len - pre - post);
	} else if (len - pre - post == 0) {
		(void)buf_adds(&b, "delete ");
		add_short(&b, old + pre, old_len - pre - post);
	} else {
		add_short(&b, old + pre, old_len - pre - post);
		(void)buf_adds(&b, " -> ");
		add_short(&b, text + pre, len - pre - post);
	}
	c->what = buf_detach(&b, NULL);
}

static bool
is_blank(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] != ' ' && s[i] != '\t' && s[i] != '\n')
			return false;
	}
	return true;
}

void
cands_add(struct cands *c, const struct source *s, uint32_t idx, uint16_t op,
    float score, size_t from, size_t to, const char *text, size_t len)
{
	uint32_t first = source_line(s, from);
	uint32_t last = source_line(s, to > from ? to - 1 : to);
	size_t a = s->line_off[first - 1], b, skip = 0;
	struct cand cd = { .source = idx, .op = op, .score = score };
	struct buf nt;
	uint64_t h;

	buf_init(&nt, CAND_MAX_TEXT);
	if (c->bytes > LOOKED_AT_MAX)
		return;
	b = s->line_off[last] - 1;
	if (to > b) /* from or to stands in the newline */
		to = b;
	if (from > to || b - a > CAND_MAX_TEXT ||
	    buf_add(&nt, s->text + a, from - a) < 0 ||
	    buf_add(&nt, text, len) < 0)
		goto out;
	if (nt.len + (b - to) > CAND_MAX_TEXT ||
	    buf_add(&nt, s->text + to, b - to) < 0)
		goto out;
	while (nt.len > 0 && strchr(" \t", nt.data[nt.len - 1]) != NULL) {
		nt.len--; /* what a deletion left at the end */
		nt.data[nt.len] = '\0';
	}
	/* Lines that vanish take the line after them along. */
	if (is_blank(buf_str(&nt), nt.len) && last < s->n_line) {
		skip = b + 1;
		b = s->line_off[last + 1] - 1;
		buf_reset(&nt);
		if (b - skip > CAND_MAX_TEXT ||
		    buf_add(&nt, s->text + skip, b - skip) < 0)
			goto out;
		last++;
		if (b - a > CAND_MAX_TEXT)
			goto out;
	}
	c->bytes += b - a + nt.len;
	h = word_hash(WORD_HASH_START, &idx, sizeof idx);
	h = word_hash(h, &first, sizeof first);
	h = word_hash(h, &last, sizeof last);
	if (token_hash(h, s->text + a, b - a) ==
		token_hash(h, buf_str(&nt), nt.len) ||
	    !seen_add(c, token_hash(h, buf_str(&nt), nt.len)))
		goto out;
	describe(&cd, s->text + a, b - a, buf_str(&nt), nt.len);
	if (hints_match(c->hints, s->text + a, b - a, buf_str(&nt), nt.len))
		cd.score *= HINT_FACTOR;
	cd.line = first;
	cd.n_lines = last - first + 1;
	cd.region = source_region(s, source_line(s, from));
	cd.order = c->made++;
	cd.new_text = buf_detach(&nt, NULL);
	if (c->n == c->size) {
		c->size = c->size == 0 ? 1024 : c->size * 2;
		c->v = xreallocarray(c->v, c->size, sizeof *c->v);
	}
	c->v[c->n++] = cd;
	if (c->n >= KEEP_MAX)
		cands_sort(c, 0);
out:
	buf_clear(&nt);
}

static int
compare(const void *va, const void *vb)
{
	const struct cand *a = va, *b = vb;

	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void
cands_sort(struct cands *c, uint64_t seed)
{
	if (seed != 0) {
		/* Another seed tries equals in another order. */
		for (size_t i = 0; i < c->n; i++) {
			uint64_t h = word_hash(
			    seed, &c->v[i].order, sizeof c->v[i].order);

			c->v[i].order = (uint32_t)(h >> 32);
		}
	}
	if (c->n > 1)
		qsort(c->v, c->n, sizeof *c->v, compare);
	if (c->n > CAND_MAX)
		c->floor = c->v[CAND_MAX - 1].score;
	cands_keep(c, CAND_MAX);
}

void
cands_keep(struct cands *c, size_t n)
{
	while (c->n > n)
		cand_free(&c->v[--c->n]);
}

char *
cand_old(const struct cand *c, const struct source *s)
{
	size_t a = s->line_off[c->line - 1];

	return xstrndup(
	    s->text + a, s->line_off[c->line - 1 + c->n_lines] - 1 - a);
}
