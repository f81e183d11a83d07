/* opts.c - see opts.h. */
#include "common/compat.h"

#include "sandbox/policy/opts.h"

#define TAKES_VALUE "AQRWLTCSEXGZUK"
#define TAKES_VALUE_LONG TAKES_VALUE "J"
#define ABBREVIATION_MIN 4 /* "--ou" */

void
opts_begin(struct opts *o, const char *spec, const struct sh_word *w, size_t n)
{
	*o = (struct opts){
		.spec = spec != NULL ? spec : "", .w = w, .n = n, .i = 1
	};
}

/* The next token: its name without dashes' count changed, and its kind. */
static const char *
token(const char *s, const char **name, size_t *len, char *kind)
{
	const char *end;

	s += strspn(s, " +");
	if (*s == '\0')
		return NULL;
	end = s + strcspn(s, " ");
	*name = s;
	*kind = end[-1];
	*len = (size_t)(end - s) - 2;
	return end;
}

/* name: with its dashes. exact: no abbreviations. */
static bool
find_long(const char *spec, const char *word, size_t len, struct opt *ret)
{
	const char *s = spec, *name;
	bool found = false;
	size_t n;
	char kind;

	while ((s = token(s, &name, &n, &kind)) != NULL) {
		if (n < 2 || *name != '-' || len > n ||
		    strncmp(name, word, len) != 0)
			continue;
		if (len < n && (len < ABBREVIATION_MIN || word[1] != '-'))
			continue;
		/* The first that fits; a whole name beats a part. */
		if (!found || len == n) {
			ret->kind = (enum opt_kind)kind;
			ret->name = name;
			ret->name_len = n;
		}
		found = true;
		if (len == n)
			break;
	}
	return found;
}

static bool
find_short(const char *spec, char letter, struct opt *ret)
{
	const char *s = spec, *name;
	size_t n;
	char kind;

	while ((s = token(s, &name, &n, &kind)) != NULL) {
		if (n != 1 || *name != letter)
			continue;
		ret->kind = (enum opt_kind)kind;
		ret->name = name;
		ret->name_len = 1;
		return true;
	}
	return false;
}

/* The rest of a word. */
static struct sh_word
rest_of(const struct sh_word *w, const char *from)
{
	struct sh_word v = *w;

	v.text = (char *)(uintptr_t)from;
	v.len = w->len - (size_t)(from - w->text);
	return v;
}

static void
take_next(struct opts *o, struct opt *ret)
{
	if (o->i >= o->n)
		return;
	ret->value = o->w[o->i++];
	ret->has_value = true;
	if (ret->kind == OPT_LAST)
		o->operands = true;
}

static void
long_option(struct opts *o, const struct sh_word *w, struct opt *ret)
{
	const char *eq = strchr(w->text, '=');
	size_t len = eq != NULL ? (size_t)(eq - w->text) : w->len;

	if (!find_long(o->spec, w->text, len, ret) &&
	    (w->text[1] == '-' ||
		!find_long(o->spec, w->text, strlen(w->text), ret))) {
		ret->kind = OPT_FLAG;
		return;
	}
	if (eq != NULL) {
		ret->value = rest_of(w, eq + 1);
		ret->has_value = true;
	} else if (strchr(TAKES_VALUE_LONG, (char)ret->kind) != NULL) {
		take_next(o, ret);
	}
}

/* Is it listed as a long option with one dash ("-exec", "-fplugin=x")? */
static bool
is_one_dash(const char *spec, const struct sh_word *w)
{
	size_t len = strcspn(w->text, "=");
	struct opt dummy = { 0 };

	return w->text[1] != '-' && len > 2 &&
	    find_long(spec, w->text, len, &dummy);
}

static void
in_cluster(struct opts *o, struct opt *ret)
{
	const struct sh_word *w = &o->w[o->cluster_at];
	char letter = *o->cluster++;

	ret->at = o->cluster_at;
	ret->letter = letter;
	if (!find_short(o->spec, letter, ret)) {
		ret->kind = OPT_FLAG;
	} else if (strchr(TAKES_VALUE, (char)ret->kind) != NULL) {
		if (*o->cluster != '\0') {
			ret->value = rest_of(w, o->cluster);
			ret->has_value = true;
			o->operands |= ret->kind == OPT_LAST;
		} else {
			take_next(o, ret);
		}
		o->cluster = NULL;
		return;
	} else if (ret->kind == OPT_NUMBER) {
		/* perl -0777pe, -l012ne, -0xFFpe */
		o->cluster += *o->cluster == 'x'
		    ? 1 + strspn(o->cluster + 1, "0123456789abcdefABCDEF")
		    : strspn(o->cluster, "0123456789");
	} else if (ret->kind == OPT_MAYBE || ret->kind == OPT_MAYBE_RUN ||
	    ret->kind == OPT_INPLACE || ret->kind == OPT_REST ||
	    ret->kind == OPT_IMPORT) {
		if (*o->cluster != '\0') {
			ret->value = rest_of(w, o->cluster);
			ret->has_value = true;
		}
		o->cluster = NULL;
		return;
	}
	if (*o->cluster == '\0')
		o->cluster = NULL;
}

/* An option that lacks its value: it is asked for its text all the same. */
static const struct sh_word no_value = { .text = (char *)(uintptr_t) "" };

bool
opts_next(struct opts *o, struct opt *ret)
{
	const struct sh_word *w;

	*ret =
	    (struct opt){ .kind = OPT_OPERAND, .name = "", .value = no_value };
	if (o->cluster != NULL) {
		in_cluster(o, ret);
		return true;
	}
	if (o->i < o->n && !o->operands && strcmp(o->w[o->i].text, "--") == 0) {
		o->operands = true;
		o->i++;
	}
	if (o->i >= o->n)
		return false;
	ret->at = o->i;
	w = &o->w[o->i++];
	ret->value = *w;
	if (o->operands)
		return true;
	if (w->text[0] == '-' && w->text[1] != '\0') {
		ret->value = no_value;
		if (w->text[1] == '-' || is_one_dash(o->spec, w)) {
			long_option(o, w, ret);
			return true;
		}
		o->cluster = w->text + 1;
		o->cluster_at = ret->at;
		in_cluster(o, ret);
		return true;
	}
	if (word_may_be_option(w))
		ret->kind = OPT_COMPUTED;
	if (o->spec[0] == '+' && ret->kind == OPT_OPERAND)
		o->operands = true;
	return true;
}

bool
opts_has(const char *spec, const char *kinds)
{
	const char *s = spec != NULL ? spec : "", *name;
	size_t n;
	char kind;

	while ((s = token(s, &name, &n, &kind)) != NULL)
		if (strchr(kinds, kind) != NULL)
			return true;
	return false;
}

size_t
opts_find(
    const char *spec, const struct sh_word *w, size_t n, const char *option)
{
	size_t len = strlen(option), k;
	struct opts o;
	struct opt t;

	opts_begin(&o, spec, w, n);
	while (opts_next(&o, &t)) {
		const char *text = w[t.at].text;

		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			continue;
		if (len == 2 && t.letter == option[1])
			return t.at;
		k = strcspn(text, "=");
		if (t.letter == '\0' && k <= len &&
		    strncmp(text, option, k) == 0 &&
		    (k == len || (option[1] == '-' && k >= ABBREVIATION_MIN)))
			return t.at;
	}
	return 0;
}
