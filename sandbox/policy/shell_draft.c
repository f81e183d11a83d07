/* shell_draft.c - characters, and words in the making. */
#include "common/compat.h"

#include "common/log.h"
#include "sandbox/policy/shell_priv.h"

#define STEP_BYTES 16

/* --- characters ------------------------------------------------------------
 */

bool
sh_is_meta(int c)
{
	return c < 0 || c == ' ' || c == '\t' || c == '\n' || c == ';' ||
	    c == '&' || c == '|' || c == '<' || c == '>' || c == '(' ||
	    c == ')';
}

bool
sh_is_blank(int c)
{
	return c == ' ' || c == '\t';
}

bool
sh_is_name_start(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool
sh_is_name(int c)
{
	return sh_is_name_start(c) || (c >= '0' && c <= '9');
}

int
sh_ahead(const struct sh_parser *p, size_t n)
{
	return p->at + n < p->len ? (unsigned char)p->s[p->at + n] : -1;
}

bool
sh_joined(const struct sh_parser *p, size_t n)
{
	return sh_ahead(p, n) == '\\' && sh_ahead(p, n + 1) == '\n';
}

int
sh_peek(struct sh_parser *p)
{
	while (sh_joined(p, 0))
		p->at += 2;
	return sh_ahead(p, 0);
}

bool
sh_at_word(const struct sh_parser *p)
{
	int c = sh_ahead(p, 0);

	if ((c == '<' || c == '>') && sh_ahead(p, 1) == '(')
		return !p->plain;
	return c >= 0 && !sh_is_meta(c);
}

bool
sh_step(struct sh_parser *p, size_t bytes)
{
	p->work += STEP_BYTES + bytes;
	if (p->work > p->max_work)
		sh_fail(p, "it takes too long to be read");
	return !p->failed;
}

/* --- drafts ----------------------------------------------------------------
 */

void
sh_put(struct sh_draft *d, int c, bool plain)
{
	if (d->n == d->size) {
		d->size = d->size > 0 ? 2 * d->size : 64;
		d->text = xreallocarray(d->text, d->size, 1);
		d->plain = xreallocarray(d->plain, d->size, sizeof *d->plain);
	}
	d->text[d->n] = (char)c;
	d->plain[d->n++] = plain;
}

/* As it stands in the text, from start to where we are. */
void
sh_put_source(struct sh_parser *p, struct sh_draft *d, size_t start)
{
	if (!sh_step(p, (p->at - start) / 16)) /* copied, not read */
		return;
	for (size_t i = start; i < p->at; i++)
		sh_put(d, p->s[i], false);
}

void
sh_draft_clear(struct sh_draft *d)
{
	free(d->text);
	free(d->plain);
}

void
sh_computed(
    struct sh_parser *p, struct sh_draft *d, const char *var, size_t len)
{
	d->flags |= SH_COMPUTED;
	if (d->var == NULL && len > 0)
		d->var = sh_dup(p->out, var, len);
}
