#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/repair/spectrum.h"

#define HEAD "foray-spectrum "
#define PATH_MAX_BYTES 400
#define NONCE_MAX 64
/* Ranges may overlap: steps for a line, at most. */
#define STEPS_A_LINE 8
/* Lines of a function that are looked at for it. */
#define BODY_MAX 2000
/* What a head or a declaration has of its function's suspicion. */
#define AROUND 0.7f

/* --- parsing ------------------------------------------------------------- */

struct parser {
	const char *p;
	struct spectrum *sp;
	size_t size_file, size_range;
};

/* Digits at p->p, and the byte behind them must be one of end. */
static bool
number(struct parser *p, const char *end, uint32_t *ret)
{
	uint32_t n = 0;
	const char *s = p->p;

	for (; *s >= '0' && *s <= '9'; s++) {
		n = n * 10 + (uint32_t)(*s - '0');
		if (n > SPECTRUM_MAX_NUMBER)
			return false;
	}
	if (s == p->p || *s == '\0' || strchr(end, *s) == NULL)
		return false;
	p->p = s;
	*ret = n;
	return true;
}

static bool
skip(struct parser *p, char c)
{
	if (*p->p != c)
		return false;
	p->p++;
	return true;
}

static bool
parse_path(struct parser *p)
{
	struct spectrum *sp = p->sp;
	size_t len = strcspn(p->p, "\n");

	if (len == 0 || len > PATH_MAX_BYTES || p->p[len] == '\0' ||
	    sp->n_file >= SPECTRUM_MAX_FILES)
		return false;
	if (sp->n_file == p->size_file) {
		p->size_file = p->size_file * 2 + 16;
		sp->file =
		    xreallocarray(sp->file, p->size_file, sizeof *sp->file);
	}
	sp->file[sp->n_file++] =
	    (struct spectrum_file){ .path = xstrndup(p->p, len),
		    .first = sp->n_range };
	p->p += len + 1;
	return true;
}

static bool
parse_kind(struct parser *p, struct spectrum_range *r)
{
	if (skip(p, '-')) {
		r->kind = SPECTRUM_UNRUN;
	} else if (skip(p, 'x')) {
		r->kind = SPECTRUM_OUTSIDE;
	} else {
		r->kind = SPECTRUM_RUN;
		if (!number(p, "/", &r->failed) || !skip(p, '/') ||
		    !number(p, " ", &r->passed) || r->failed > p->sp->failed ||
		    r->passed > p->sp->passed || r->failed + r->passed == 0)
			return false;
	}
	return skip(p, ' ');
}

/* "KIND FIRST-LAST,LINE,...\n" */
static bool
parse_row(struct parser *p)
{
	struct spectrum *sp = p->sp;
	struct spectrum_range r = { 0 };

	if (sp->n_file == 0 || !parse_kind(p, &r))
		return false;
	do {
		if (!number(p, "-,\n", &r.first) || r.first == 0)
			return false;
		r.last = r.first;
		if (skip(p, '-') &&
		    (!number(p, ",\n", &r.last) || r.last < r.first))
			return false;
		if (sp->n_range >= SPECTRUM_MAX_RANGES)
			return false;
		if (sp->n_range == p->size_range) {
			p->size_range = p->size_range * 2 + 256;
			sp->range = xreallocarray(
			    sp->range, p->size_range, sizeof *sp->range);
		}
		sp->range[sp->n_range++] = r;
		sp->file[sp->n_file - 1].n++;
	} while (skip(p, ','));
	return skip(p, '\n');
}

/* The first row that begins with head. */
static const char *
find_row(const char *text, const char *head)
{
	const char *p = text;

	while ((p = strstr(p, head)) != NULL) {
		if (p == text || p[-1] == '\n')
			return p;
		p++;
	}
	return NULL;
}

static bool
parse(struct parser *p, const char *text, const char *nonce)
{
	char head[sizeof HEAD + NONCE_MAX + 1], end[NONCE_MAX + 8];

	if (*nonce == '\0' || strlen(nonce) > NONCE_MAX)
		return false;
	snprintf(head, sizeof head, "%s%s ", HEAD, nonce);
	snprintf(end, sizeof end, "end %s", nonce);
	if ((p->p = find_row(text, head)) == NULL)
		return false;
	p->p += strlen(head);
	if (!number(p, " ", &p->sp->failed) || !skip(p, ' ') ||
	    !number(p, "\n", &p->sp->passed) || !skip(p, '\n'))
		return false;
	while (!text_starts(p->p, end)) {
		if (text_starts(p->p, "= ")) {
			p->p += 2;
			if (!parse_path(p))
				return false;
		} else if (!parse_row(p)) {
			return false;
		}
	}
	return p->sp->n_range > 0;
}

int
spectrum_parse(struct spectrum *ret, const char *text, const char *nonce)
{
	struct spectrum sp = { 0 };
	struct parser p = { .sp = &sp };

	if (!parse(&p, text, nonce)) {
		spectrum_clear(&sp);
		return -1;
	}
	*ret = sp;
	return 0;
}

void
spectrum_clear(struct spectrum *sp)
{
	for (size_t i = 0; i < sp->n_file; i++)
		free(sp->file[i].path);
	free(sp->file);
	free(sp->range);
	*sp = (struct spectrum){ 0 };
}

const struct spectrum_file *
spectrum_find(const struct spectrum *sp, const char *path)
{
	for (size_t i = 0; i < sp->n_file; i++) {
		if (strcmp(sp->file[i].path, path) == 0)
			return &sp->file[i];
	}
	return NULL;
}

/* --- lines --------------------------------------------------------------- */

static float
root(float x)
{
	float r = x > 1 ? x : 1;

	for (int i = 0; i < 20; i++)
		r = (r + x / r) / 2;
	return r;
}

/* failed(line) / sqrt(all failing * (failed(line) + passed(line))) */
static float
ochiai(const struct spectrum *sp, const struct spectrum_range *r)
{
	if (r->failed == 0 || sp->failed == 0)
		return 0;
	return (float)r->failed /
	    root((float)sp->failed * (float)(r->failed + r->passed));
}

/* What is executed counts most, then what is more suspicious. */
static void
raise(struct spectrum_line *l, struct spectrum_line x)
{
	if (x.kind > l->kind || (x.kind == l->kind && x.ochiai > l->ochiai))
		*l = x;
}

static void
fill(const struct spectrum *sp, const struct spectrum_file *f, size_t n_line,
    struct spectrum_line *ret)
{
	size_t steps = STEPS_A_LINE * n_line;

	for (size_t i = f->first; i < f->first + f->n; i++) {
		const struct spectrum_range *r = &sp->range[i];
		struct spectrum_line x = { .kind = r->kind,
			.ochiai = r->kind == SPECTRUM_RUN ? ochiai(sp, r) : 0 };

		for (size_t k = r->first; k <= r->last && k <= n_line; k++) {
			if (steps-- == 0)
				return;
			raise(&ret[k - 1], x);
		}
	}
}

static uint32_t
last_line(const struct source *s, const struct stmt *st)
{
	return source_line(s, s->tok[st->last].off);
}

static struct spectrum_line
most(const struct spectrum_line *v, size_t first, size_t last)
{
	struct spectrum_line x = { 0 };

	for (size_t k = first; k <= last; k++)
		raise(&x, v[k - 1]);
	return x;
}

/* The lines of a function behind its head, the first of them. */
static struct spectrum_line
body_of(const struct source *s, const struct spectrum_line *v, int region)
{
	const struct region *r = &s->region[region];
	uint32_t first = r->first_line, last = r->last_line;
	uint32_t i = r->first_tok;
	struct spectrum_line x;

	while (i < r->last_tok && s->tok[i].kind == TOK_NEWLINE)
		i++;
	if (i <= r->last_tok && s->tok[i].line > first)
		first = s->tok[i].line;
	if (last > first + BODY_MAX)
		last = first + BODY_MAX;
	x = most(v, first, last);
	x.ochiai *= AROUND;
	return x;
}

/* A statement, or what stands for it when it is not executed by itself. */
static struct spectrum_line
of_stmt(const struct source *s, const struct stmt *st,
    const struct spectrum_line *v, const struct spectrum_line *body)
{
	struct spectrum_line x =
	    most(v, s->tok[st->first].line, last_line(s, st));
	int region = source_region(s, s->tok[st->first].line);

	if (region < 0 || (x.kind != SPECTRUM_NONE && st->kind != STMT_DEF))
		return x;
	return body[region].kind != SPECTRUM_NONE ? body[region] : x;
}

void
spectrum_lines(const struct spectrum *sp, const struct spectrum_file *f,
    const struct source *s, struct spectrum_line *ret)
{
	struct spectrum_line *v, *body;

	memset(ret, 0, s->n_line * sizeof *ret);
	if (f == NULL)
		return;
	v = xcalloc(s->n_line + 1, sizeof *v);
	body = xcalloc(s->n_region + 1, sizeof *body);
	fill(sp, f, s->n_line, v);
	for (size_t r = 0; r < s->n_region; r++)
		body[r] = body_of(s, v, (int)r);
	for (size_t k = 0; k < s->n_stmt; k++) {
		const struct stmt *st = &s->stmt[k];
		struct spectrum_line x = of_stmt(s, st, v, body);

		for (uint32_t i = s->tok[st->first].line; i <= last_line(s, st);
		     i++)
			raise(&ret[i - 1], x);
	}
	free(v);
	free(body);
}
