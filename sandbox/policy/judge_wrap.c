/*
 * judge_wrap.c - programs whose operands are a command: where that begins; see
 * judge.h.
 *
 * An option that the table does not list may take a value, and an expansion may
 * be no word, one, or several. Then there is more than one reading: each is
 * judged, for what blocks it alone, and the strictest counts.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* xargs: words of its input behind, or in the place of a mark. */
static void
from_input(struct piece *p, const struct sh_word *w, size_t n, const char *mark,
    bool needs_cover)
{
	struct sh_word *names = NULL;
	const size_t n_names = mark == NULL ? piped_names(p, &names) : 0;
	struct sh_word *a = judge_words(p->j, n + 1 + n_names);
	struct sh_word *extra = &a[n];
	size_t i;

	memcpy(a, w, n * sizeof *w);
	if (n_names > 0) {
		memcpy(extra, names, n_names * sizeof *names);
		n += n_names - 1;
	} else if (mark == NULL) {
		extra->text = (char *)(uintptr_t) "$input";
		extra->len = strlen(extra->text);
		extra->flags = SH_COMPUTED;
		extra->var = (char *)(uintptr_t) "input";
	}
	for (i = 0; mark != NULL && i < n; i++)
		if (strstr(a[i].text, mark) != NULL) {
			a[i].flags |= SH_COMPUTED | SH_QUOTED;
			if (strcmp(a[i].text, mark) == 0)
				a[i].text = (char *)(uintptr_t) "$input";
			a[i].var = (char *)(uintptr_t) "input";
		}
	judge_argv(p, a, n + (mark == NULL), needs_cover);
}

/* env -S: its escapes are a shell's, but for "\_", a blank, and "\c", an end.
 */
static struct sh_word
split_string(struct piece *p, const struct sh_word *w)
{
	char *s = xstrdup(w->text);
	struct sh_word ret = *w;
	size_t i, k = 0;

	for (i = 0; s[i] != '\0'; i++) {
		if (s[i] == '\\' && s[i + 1] == 'c')
			break;
		if (s[i] == '\\' && s[i + 1] == '_') {
			s[k++] = ' ';
			i++;
			continue;
		}
		s[k++] = s[i];
		if (s[i] == '\\' && s[i + 1] != '\0')
			s[k++] = s[++i];
	}
	s[k] = '\0';
	ret.text = (char *)(uintptr_t)judge_keep(p->j, s);
	ret.len = k;
	return ret;
}

/* Where another reading goes on, and how many operands it still leaves out. */
struct reading {
	size_t i;
	unsigned skip;
};

#define READINGS_MAX 24
#define READING_WORK 256 /* they nest, and so would double with each level */

struct readings {
	struct reading v[READINGS_MAX];
	size_t n, done;
	bool full;
};

static void
read_also(struct readings *r, size_t i, unsigned skip)
{
	size_t k;

	for (k = 0; k < r->n; k++)
		if (r->v[k].i == i && r->v[k].skip == skip)
			return;
	if (r->n == READINGS_MAX)
		r->full = true;
	else
		r->v[r->n++] = (struct reading){ i, skip };
}

/* Expansions that are one number, and so neither an option nor a command. */
static bool
is_number(const char *s)
{
	static const char *const one[] = { "$(nproc)", "$?", "$#", "$$", "$!",
		"$UID", "$EUID", "$PPID", "$RANDOM", "$SECONDS", "$LINENO" };

	return text_is_one_of(s, one, nitems(one)) ||
	    (text_starts(s, "$((") && text_ends(s, "))"));
}

/* What its table does not say of the token, at its end o. */
static void
doubts(struct readings *r, const struct opts *o, const struct opt *t,
    unsigned skip)
{
	const struct sh_word *w = &o->w[t->at];
	const bool open = (t->value.flags & SH_COMPUTED) != 0 &&
	    (t->value.flags & SH_QUOTED) == 0;

	if (t->kind == OPT_FLAG && t->name[0] == '\0') {
		if (t->letter == '\0' && strchr(w->text, '=') != NULL)
			return;
		if (o->cluster != NULL)
			read_also(r, o->i, skip); /* "-xVALUE" */
		read_also(r, o->i + 1, skip);
	} else if (t->kind == OPT_COMPUTED && !is_number(w->text)) {
		read_also(r, o->i, skip);
		read_also(r, o->i + 1, skip);
		if (open && skip > 0) {
			read_also(r, o->i, 0);
			read_also(r, t->at, 0);
		}
	} else if (t->has_value && open && o->i == t->at + 2 &&
	    !is_number(t->value.text)) {
		/* the value of an option: none of it, or more than that */
		read_also(r, o->i + 1, skip);
		read_also(r, t->at + 1, 0);
	}
}

/* What wraps, and where the command that it starts begins. */
struct peeled {
	size_t at; /* of the first word of the command; n: there is none */
	bool done; /* what it runs was judged */
	bool self; /* it starts nothing: judge it as it is */
	const char *mark; /* xargs -I */
};

static void
walk(struct piece *p, const struct wrapper *wr, const struct sh_word *w,
    size_t n, struct readings *r, struct peeled *ret)
{
	unsigned skip = r->v[r->done].skip;
	struct opts o;
	struct opt t;
	char name[64];
	size_t k;

	opts_begin(&o, wr->spec, w, n);
	o.i = r->v[r->done++].i;
	*ret = (struct peeled){ .at = n };
	while (opts_next(&o, &t)) {
		k = p->off + t.at;
		doubts(r, &o, &t, skip);
		switch ((int)t.kind) {
		case OPT_DRY:
			ret->self = true;
			break;
		case OPT_POWER_VALUE:
			piece_found(
			    p, FIND_POWER, k, "%s %s", wr->name, w[t.at].text);
			break;
		case OPT_WRITE:
			/* strace -o '|COMMAND' */
			if (t.has_value && strcmp(wr->name, "strace") == 0 &&
			    strcspn(t.value.text, "|!") == 0 && t.value.len > 0)
				piece_text(p, t.value.text + 1, false, NULL, k);
			else
				judge_write(p->j, &t.value, p->src, p->src_len);
			break;
		case OPT_READ:
			judge_read(p->j, &t.value, p->src, p->src_len);
			break;
		case OPT_REST:
			ret->at = t.at + 1;
			return;
		case OPT_SHELL:
			if (t.has_value && strcmp(wr->name, "env") == 0) {
				struct sh_word *a =
				    judge_words(p->j, n - o.i + 1);

				a[0] = split_string(p, &t.value);
				memcpy(a + 1, w + o.i, (n - o.i) * sizeof *w);
				piece_words(p, a, n - o.i + 1, k);
				ret->done = true;
				return;
			}
			if (t.has_value)
				piece_words(p, &t.value, 1, k);
			ret->done = t.has_value;
			break;
		case OPT_VALUE:
			if (t.letter == 'C' && t.has_value &&
			    strcmp(wr->name, "env") == 0)
				piece_chdir(p, &t.value, true);
			if (wr->kind == WRAP_INPUT && t.letter == 'I' &&
			    t.has_value)
				ret->mark = t.value.text;
			break;
		case OPT_MAYBE:
			if (wr->kind == WRAP_INPUT && t.letter != 'l' &&
			    !text_starts(w[t.at].text, "--max"))
				ret->mark = "{}";
			break;
		case OPT_OPERAND:
		case OPT_COMPUTED:
			if ((wr->flags & WRAP_ASSIGNS) != 0 &&
			    strchr(w[t.at].text, '=') != NULL) {
				piece_tmpdir(p, &w[t.at]);
				if (assign_is_dangerous(
					w[t.at].text, name, sizeof name)) {
					piece_taint(p, name, k);
					assign_command(p, &w[t.at]);
				}
				continue;
			}
			if (skip > 0) {
				skip--;
				continue;
			}
			/* "env - x" is "env -i x", "ssh host -- x" is x. */
			if (strcmp(w[t.at].text, "-") == 0 ||
			    strcmp(w[t.at].text, "--") == 0)
				continue;
			ret->at = t.at;
			return;
		default:
			break;
		}
	}
}

/* parallel: words of its input in the place of "{}", or behind. */
static void
text_with_input(struct piece *p, const struct sh_word *w, size_t n)
{
	static const char input[] = "$input";
	size_t at = (size_t)(w - p->w), i;
	const char *s, *mark;
	bool marked = false;
	struct buf b;

	if (n == 0) {
		piece_found(p, FIND_ASK, p->off,
		    "a shell that reads its commands from a pipe");
		return;
	}
	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < n; i++) {
		(void)buf_adds(&b, i > 0 ? " " : "");
		for (s = w[i].text; (mark = strstr(s, "{}")) != NULL;
		     s = mark + 2) {
			(void)buf_add(&b, s, (size_t)(mark - s));
			(void)buf_adds(&b, input);
			marked = true;
		}
		(void)buf_adds(&b, s);
	}
	if (!marked)
		(void)buf_printf(&b, " %s", input);
	piece_found(p, FIND_OPAQUE, at,
	    "shell text with words that come from its input");
	piece_text(p, buf_str(&b), false, NULL, at);
	buf_clear(&b);
}

static void
shell_wrapper(struct piece *p, const struct wrapper *wr,
    const struct sh_word *w, size_t n)
{
	size_t end = n, i;

	if ((wr->flags & WRAP_LISTED) != 0) {
		for (end = 0; end < n && strncmp(w[end].text, ":::", 3) != 0;)
			end++;
		text_with_input(p, w, end);
		return;
	}
	if ((wr->flags & WRAP_FIRST) != 0)
		end = 1;
	p->j->moved = false;
	if ((wr->flags & WRAP_EACH) == 0)
		piece_words(p, w, end, (size_t)(w - p->w));
	/* It runs in the shell itself. */
	if (strcmp(wr->name, "eval") == 0 && p->j->moved)
		p->j->dir_unknown = true;
	for (i = 0; (wr->flags & WRAP_EACH) != 0 && i < end; i++)
		if (w[i].text[0] != '-')
			piece_words(p, &w[i], 1, (size_t)(w - p->w) + i);
}

/* The others than the first, for what blocks them. */
static void
other_readings(struct piece *p, const struct wrapper *wr,
    const struct sh_word *w, size_t n, struct readings *r)
{
	const bool only = p->j->only_blocks, unknown = p->j->dir_unknown;
	struct strv dirs = { 0 };
	struct peeled in;

	strv_copy(&dirs, &p->j->dirs);
	p->j->only_blocks = true;
	while (r->done < r->n && !r->full) {
		r->full = !judge_spend(p->j, READING_WORK);
		walk(p, wr, w, n, r, &in);
		if (in.done || in.at >= n ||
		    (in.self && (wr->flags & WRAP_LOOKUP) != 0))
			continue;
		if (wr->kind == WRAP_SHELL)
			shell_wrapper(p, wr, w + in.at, n - in.at);
		else if (wr->kind == WRAP_INPUT)
			from_input(p, w + in.at, n - in.at, in.mark, false);
		else
			judge_argv(p, w + in.at, n - in.at, false);
	}
	if (r->full)
		piece_found(p, FIND_ASK, p->off,
		    "so many ways to read the options of %s", wr->name);
	p->j->only_blocks = only;
	strv_clear(&p->j->dirs);
	p->j->dirs = dirs;
	p->j->dir_unknown = unknown;
}

/* Words behind the name that make it a wrapper. */
static size_t
n_subs(const struct wrapper *wr)
{
	const char *s = wr->sub;
	size_t n;

	for (n = 0; s != NULL && *s != '\0'; n++)
		s += strcspn(s, " ") + strspn(s + strcspn(s, " "), " ");
	return n;
}

bool
piece_peel(struct piece *p, const struct wrapper *wr)
{
	const struct sh_word *w = p->w + p->off;
	size_t n = p->n - p->off;
	struct readings r = { .v = { { 1 + n_subs(wr), wr->skip } }, .n = 1 };
	struct peeled in;

	if ((wr->flags & WRAP_POWER) != 0)
		piece_found(p, FIND_POWER, p->off, "%s, which starts others,",
		    wr->name);
	if ((wr->flags & WRAP_PRIV) != 0)
		piece_found(p, FIND_ASK, p->off, "%s", wr->name);
	if (wr->kind == WRAP_SH) {
		if (piece_shell(p, w, n))
			p->needs_cover = false;
		return false;
	}
	walk(p, wr, w, n, &r, &in);
	if (r.n > 1)
		other_readings(p, wr, w, n, &r);
	if (in.done && (wr->flags & (WRAP_OWN | WRAP_POWER)) == 0)
		p->needs_cover = false;
	/* parallel alone: each line of its input is shell text. */
	if ((wr->flags & WRAP_LISTED) != 0 && in.at >= n && !in.self)
		text_with_input(p, w + n, 0);
	if (in.done || in.at >= n ||
	    (in.self && (wr->flags & WRAP_LOOKUP) != 0))
		return false;
	if (wr->kind == WRAP_SHELL) {
		if ((wr->flags & WRAP_FIRST) == 0 ||
		    (w[in.at].text[0] != '\0' &&
			strcmp(w[in.at].text, "-") != 0))
			shell_wrapper(p, wr, w + in.at, n - in.at);
		if ((wr->flags & WRAP_OWN) == 0)
			p->needs_cover = false;
		return false;
	}
	if (wr->kind == WRAP_INPUT) {
		from_input(p, w + in.at, n - in.at, in.mark, p->needs_cover);
		p->needs_cover = false;
		return false;
	}
	if ((wr->flags & WRAP_OWN) != 0) {
		judge_argv(p, w + in.at, n - in.at, false);
		return false;
	}
	p->off += in.at;
	return true;
}
