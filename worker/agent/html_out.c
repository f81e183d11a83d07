/* html_out.c - the writer of markdown, of html_priv.h. */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/html_priv.h"

void
out_init(struct out *o, size_t max)
{
	*o = (struct out){ 0 };
	buf_init(&o->text, max);
	buf_init(&o->open, 4096);
}

void
out_clear(struct out *o)
{
	buf_clear(&o->text);
	buf_clear(&o->open);
}

static void
add(struct out *o, const char *s, size_t n)
{
	if (buf_add(&o->text, s, n) < 0)
		o->full = true;
}

void
out_break(struct out *o, unsigned n, bool set)
{
	if (o->text.len == 0 || (o->marked && !set))
		return;
	if (o->breaks == 0)
		o->blank = o->prefix;
	if (set || o->breaks < n)
		o->breaks = n;
	o->space = false;
}

void
out_space(struct out *o)
{
	o->space = o->text.len > 0 && o->breaks == 0;
}

static void
new_line(struct out *o)
{
	add(o, "\n", 1);
	add(o, o->first, o->prefix);
	memcpy(o->first, o->cont, sizeof o->first);
}

/* With so much of the prefix, but no white space at its end. */
static void
empty_line(struct out *o, size_t n)
{
	add(o, "\n", 1);
	while (n > 0 && o->cont[n - 1] == ' ')
		n--;
	add(o, o->cont, n);
}

/* Something visible follows. */
static void
begin(struct out *o)
{
	if (o->text.len == 0) {
		add(o, o->first, o->prefix);
		memcpy(o->first, o->cont, sizeof o->first);
	} else if (o->breaks > 0) {
		while (--o->breaks > 0)
			empty_line(o, o->blank);
		new_line(o);
	} else if (o->space) {
		add(o, " ", 1);
	}
	o->breaks = 0;
	o->space = o->marked = false;
	if (o->open.len > 0) {
		add(o, o->open.data, o->open.len);
		buf_reset(&o->open);
	}
}

void
out_text(struct out *o, const char *s, size_t n)
{
	if (o->full)
		return;
	if (o->text.len == 0 || o->breaks > 0 || o->space || o->open.len > 0)
		begin(o);
	add(o, s, n);
}

void
out_lines(struct out *o, const char *s, size_t n)
{
	const char *q;
	size_t line;
	bool first = true;

	while (n > 0 && !o->full) {
		q = memchr(s, '\n', n);
		line = q != NULL ? (size_t)(q - s) : n;
		if (first)
			begin(o);
		else if (line == 0)
			empty_line(o, o->prefix);
		else
			new_line(o);
		first = false;
		add(o, s, line);
		line += q != NULL;
		s += line;
		n -= line;
	}
}

size_t
out_open(struct out *o, const char *mark)
{
	size_t at = o->open.len;

	(void)buf_adds(&o->open, mark);
	return at;
}

void
out_close(struct out *o, size_t at, const char *mark)
{
	if (o->open.len > at) {
		o->open.len = at;
		o->open.data[at] = '\0';
	} else if (!o->full) {
		add(o, mark, strlen(mark));
	}
}

size_t
out_push(struct out *o, const char *mark, const char *cont)
{
	size_t at = o->prefix, n = strlen(cont);

	if (at + n <= PREFIX_MAX) {
		memcpy(o->first + at, mark, n);
		memcpy(o->cont + at, cont, n);
		o->prefix += n;
		o->marked = strcmp(mark, cont) != 0;
	}
	return at;
}

void
out_pop(struct out *o, size_t at)
{
	if (at < o->prefix) {
		o->prefix = at;
		if (o->blank > at)
			o->blank = at;
		o->marked = false;
	}
}

/* --- code ------------------------------------------------------------------
 */

static size_t
longest_run(const struct buf *b, char c)
{
	size_t i, n = 0, most = 0;

	for (i = 0; i < b->len; i++) {
		n = b->data[i] == c ? n + 1 : 0;
		if (n > most)
			most = n;
	}
	return most;
}

static void
add_run(struct buf *dst, char c, size_t n)
{
	while (n-- > 0)
		(void)buf_addc(dst, c);
}

void
out_fence(struct out *o, const struct slice *lang, const struct buf *code)
{
	size_t n = longest_run(code, '`') + 1, end = code->len;
	struct buf b;

	while (end > 0 && strchr(" \t\n", code->data[end - 1]) != NULL)
		end--;
	if (end == 0)
		return;
	if (n < 3)
		n = 3;
	buf_init(&b, BUF_NOMAX);
	add_run(&b, '`', n);
	if (lang->p != NULL)
		(void)buf_add(&b, lang->p, lang->n);
	(void)buf_addc(&b, '\n');
	(void)buf_add(&b, code->data, end);
	(void)buf_addc(&b, '\n');
	add_run(&b, '`', n);
	out_break(o, 2, false);
	out_lines(o, b.data, b.len);
	out_break(o, 2, false);
	buf_clear(&b);
}

void
out_code(struct out *o, const struct buf *code)
{
	size_t n = longest_run(code, '`') + 1;
	bool pad;
	struct buf b;

	if (code->len == 0)
		return;
	pad = code->data[0] == '`' || code->data[code->len - 1] == '`';
	buf_init(&b, BUF_NOMAX);
	add_run(&b, '`', n);
	if (pad)
		(void)buf_addc(&b, ' ');
	(void)buf_add(&b, code->data, code->len);
	if (pad)
		(void)buf_addc(&b, ' ');
	add_run(&b, '`', n);
	out_text(o, b.data, b.len);
	buf_clear(&b);
}
