/* judge_peel.c - what a command starts: shells and their texts, wrappers and
 * their words; see judge.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* --- shell text ----------------------------------------------------------- */

/* Is what the text runs open, or only what it runs it with? */
static bool
is_open(const char *text)
{
	struct sh_script *s = sh_parse(text, strlen(text));
	bool open = s->error[0] != '\0';
	size_t i;

	for (i = 0; i < s->n && !open; i++)
		open = s->cmds[i].n_words > 0 &&
		    (s->cmds[i].words[0].flags & SH_COMPUTED) != 0;
	sh_free(s);
	return open;
}

/* Is there something that a shell inside could read? */
bool
piece_has_input(const struct piece *p)
{
	const struct sh_cmd *c = p->cmd;
	size_t i;

	for (i = 0; c != NULL && i < c->n_redirs; i++) {
		const struct sh_redir *r = &c->redirs[i];

		if (r->op == SH_HEREDOC || r->op == SH_HERESTRING ||
		    ((r->op == SH_IN || r->op == SH_RDWR) &&
			(r->target.flags & SH_COMPUTED) != 0) ||
		    (r->op == SH_DUP && r->fd == 0 &&
			strcmp(r->target.text, "-") != 0))
			return true;
	}
	return c != NULL && c->piped;
}

void
piece_text(struct piece *p, const char *text, bool computed, const char *var,
    size_t at)
{
	const char *before = p->j->tainted;
	bool fed = p->j->fed;

	if (computed)
		piece_found(p, is_open(text) ? FIND_ASK : FIND_OPAQUE, at,
		    "shell text that is computed%s%.60s",
		    var != NULL ? " from $" : "", var != NULL ? var : "");
	/* What the assignment before it changes, changes it for all inside. */
	if (p->taint != NULL)
		p->j->tainted = p->taint;
	p->j->fed |= piece_has_input(p);
	judge_text(p->j, judge_keep(p->j, xstrdup(text)), strlen(text));
	p->j->tainted = before;
	p->j->fed = fed;
}

void
piece_named(struct piece *p, const char *text, size_t at)
{
	static const char *const marks[] = { "exec=", ":", "!", "shell " };
	bool before = p->j->only_blocks;
	size_t i;

	/* As tar, vi and gdb want it. */
	for (i = 0; i < nitems(marks); i++)
		if (text_starts(text, marks[i]))
			text += strlen(marks[i]);

	p->j->only_blocks = true;
	piece_text(p, text, false, NULL, at);
	p->j->only_blocks = before;
}

static void
text_of_words(struct piece *p, const struct sh_word *w, size_t n, size_t at)
{
	bool computed = false;
	const char *var = NULL;
	struct buf b;
	size_t i;

	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < n; i++) {
		(void)buf_printf(&b, "%s%s", i > 0 ? " " : "", w[i].text);
		computed |= (w[i].flags & SH_COMPUTED) != 0;
		if (var == NULL)
			var = w[i].var;
	}
	piece_text(p, buf_str(&b), computed, var, at);
	buf_clear(&b);
}

/* "3" of "/dev/fd/3", "/proc/self/fd/3" and the like; -1: it is none. */
static int
descriptor_in(const char *path)
{
	static const char *const before[] = { "/dev/fd/", "/proc/*/fd/" };
	const char *last = strrchr(path, '/');
	char dir[64];
	size_t i, n;

	if (strcmp(path, "/dev/stdin") == 0)
		return 0;
	n = last != NULL ? (size_t)(last - path) + 1 : 0;
	if (n == 0 || n >= sizeof dir || last[1] < '0' || last[1] > '9')
		return -1;
	(void)snprintf(dir, sizeof dir, "%.*s", (int)n, path);
	for (i = 0; i < nitems(before); i++)
		if (rule_star(before[i], dir, true))
			return (int)strtol(last + 1, NULL, 10);
	return -1;
}

int
piece_descriptor(const struct piece *p, const struct sh_word *w)
{
	const struct judge *j = p->j;
	int fd = -1;
	size_t i;
	char *s;

	if (strcmp(w->text, "-") == 0)
		return 0;
	for (i = 0; i < j->dirs.n && fd < 0; i++) {
		s = judge_path(w->text, false, j->dirs.v[i], j->where);
		fd = descriptor_in(s);
		free(s);
	}
	return fd;
}

const struct sh_redir *
piece_redir(const struct piece *p, int *fd)
{
	const struct sh_cmd *c = p->cmd;
	size_t i;

	for (i = c != NULL ? c->n_redirs : 0; i-- > 0;) {
		const struct sh_redir *r = &c->redirs[i];
		bool in = r->op == SH_IN || r->op == SH_RDWR ||
		    r->op == SH_HEREDOC || r->op == SH_HERESTRING;

		if (r->fd != *fd && !(in && r->fd < 0 && *fd == 0))
			continue;
		if (r->op != SH_DUP)
			return r;
		if (r->target.text[0] == '-')
			return r; /* closed */
		*fd = (int)strtol(r->target.text, NULL, 10);
	}
	return NULL;
}

/* A shell that reads its commands from a descriptor. */
bool
piece_input(struct piece *p, int fd)
{
	const struct sh_redir *r = piece_redir(p, &fd);
	const struct sh_cmd *c = p->cmd;
	bool text =
	    r != NULL && (r->op == SH_HEREDOC || r->op == SH_HERESTRING);

	if (text)
		piece_text(p, r->target.text,
		    (r->target.flags & SH_COMPUTED) != 0, r->target.var,
		    UNSPELLED);
	else if (r != NULL && (r->target.flags & SH_COMPUTED) != 0)
		piece_found(p, FIND_ASK, UNSPELLED,
		    "a shell that reads its commands from what is computed");
	else if (r == NULL && fd > 0)
		piece_found(p, FIND_ASK, UNSPELLED,
		    "a shell that reads its commands from descriptor %d", fd);
	else if (r == NULL && ((c != NULL && c->piped) || p->j->fed))
		piece_found(p, FIND_ASK, UNSPELLED,
		    "a shell that reads its commands from a pipe");
	return text;
}

void
piece_startup(struct piece *p, const struct sh_word *file, size_t at)
{
	if ((file->flags & (SH_COMPUTED | SH_GLOB)) != 0 ||
	    text_starts(file->text, "<(") || piece_descriptor(p, file) >= 0)
		piece_found(p, FIND_OPAQUE, at,
		    "a shell that first runs what is computed");
	judge_read(p->j, file, p->src, p->src_len);
}

/* A shell's own options: "-c" and "+c" are flags wherever they stand in a
 * cluster, "-o" and "-O" take the next word whatever follows them. */
struct shell_options {
	size_t operand; /* the first word that is none; n: there is none */
	bool text;      /* -c */
	bool input;     /* -s */
	bool computed;  /* something in between may be an option, or nothing */
};

static size_t
long_option(struct piece *p, const struct sh_word *w, size_t n, size_t i)
{
	const char *s = w[i].text;

	if (text_starts(s, "--command=")) {
		piece_text(p, s + 10, (w[i].flags & SH_COMPUTED) != 0, w[i].var,
		    p->off + i);
		return i + 1;
	}
	if (strcmp(s, "--command") == 0 || strcmp(s, "--init-command") == 0) {
		if (i + 1 < n)
			text_of_words(p, &w[i + 1], 1, p->off + i);
		return i + 2;
	}
	if (strcmp(s, "--rcfile") != 0 && strcmp(s, "--init-file") != 0)
		return i + 1;
	piece_found(p, FIND_POWER, p->off + i, "%s", s);
	if (i + 1 < n)
		piece_startup(p, &w[i + 1], p->off + i + 1);
	return i + 2;
}

static void
shell_options(struct piece *p, const struct sh_word *w, size_t n,
    struct shell_options *ret)
{
	size_t i = 1, k;

	*ret = (struct shell_options){ .operand = n };
	while (i < n) {
		const char *s = w[i].text;

		if (text_starts(s, "<("))
			break;
		if ((w[i].flags & (SH_COMPUTED | SH_GLOB)) != 0) {
			/* The one script of a loop over scripts is harmless. */
			if (ret->text)
				break;
			if ((w[i].flags & SH_QUOTED) == 0 || i + 1 < n ||
			    piece_has_input(p))
				piece_found(p, FIND_OPAQUE, p->off + i,
				    "a shell whose script is computed");
			ret->computed = true;
			i++;
			continue;
		}
		if (strcmp(s, "--") == 0 || strcmp(s, "-") == 0) {
			i++;
			break;
		}
		if (text_starts(s, "--")) {
			i = long_option(p, w, n, i);
			continue;
		}
		if (s[0] != '-' && s[0] != '+')
			break;
		i++;
		for (k = 1; s[k] != '\0'; k++) {
			ret->text |= s[k] == 'c';
			ret->input |= s[k] == 's' && s[0] == '-';
			if ((s[k] == 'o' || s[k] == 'O') && i < n &&
			    w[i].text[0] != '-' && w[i].text[0] != '+')
				i++;
			else if (s[k] == 'C' && i < n)
				text_of_words(p, &w[i], 1, p->off + i);
		}
	}
	ret->operand = i < n ? i : n;
}

/* True: what it runs is told by its parts. */
static bool
shell(struct piece *p, const struct sh_word *w, size_t n)
{
	struct shell_options o;
	const char *s;
	int fd;

	shell_options(p, w, n, &o);
	s = o.operand < n ? w[o.operand].text : NULL;
	if (o.text) {
		if (s != NULL)
			text_of_words(p, &w[o.operand], 1, p->off + o.operand);
		return true;
	}
	if (s != NULL && text_starts(s, "<(")) {
		piece_found(p, FIND_ASK, p->off + o.operand,
		    "a shell that runs what a process writes");
		return false;
	}
	fd = s != NULL && !o.input ? piece_descriptor(p, &w[o.operand]) : 0;
	if (fd < 0) {
		judge_read(p->j, &w[o.operand], p->src, p->src_len);
		/* A rule about the script by its own name counts. */
		judge_argv(p, w + o.operand, n - o.operand, false);
		if (!o.computed)
			return false;
	}
	return piece_input(p, fd < 0 ? 0 : fd) && !o.computed;
}

/* --- wrappers ------------------------------------------------------------- */

/* xargs: words of its input behind, or in the place of a mark. */
static void
from_input(struct piece *p, const struct sh_word *w, size_t n, const char *mark)
{
	struct sh_word *a = judge_words(p->j, n + 1), *extra = &a[n];
	size_t i;

	memcpy(a, w, n * sizeof *w);
	if (mark == NULL) {
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
	judge_argv(p, a, n + (mark == NULL), p->needs_cover);
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

/* What wraps, and where the command that it starts begins. */
struct peeled {
	size_t at; /* of the first word of the command; n: there is none */
	bool done; /* what it runs was judged */
	bool self; /* it starts nothing: judge it as it is */
	const char *mark; /* xargs -I */
};

static void
walk(struct piece *p, const struct wrapper *wr, const struct sh_word *w,
    size_t n, struct peeled *ret)
{
	size_t skip = wr->skip, subs = 0, k;
	const char *s;
	struct opts o;
	struct opt t;
	char name[64];

	for (s = wr->sub; s != NULL && *s != '\0'; subs++)
		s += strcspn(s, " ") + strspn(s + strcspn(s, " "), " ");
	opts_begin(&o, wr->spec, w, n);
	o.i = 1 + subs;
	*ret = (struct peeled){ .at = n };
	while (opts_next(&o, &t)) {
		k = p->off + t.at;
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
				text_of_words(p, a, n - o.i + 1, k);
				ret->done = true;
				return;
			}
			if (t.has_value)
				text_of_words(p, &t.value, 1, k);
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
		text_of_words(p, w, end, (size_t)(w - p->w));
	/* It runs in the shell itself. */
	if (strcmp(wr->name, "eval") == 0 && p->j->moved)
		p->j->dir_unknown = true;
	for (i = 0; (wr->flags & WRAP_EACH) != 0 && i < end; i++)
		if (w[i].text[0] != '-')
			text_of_words(p, &w[i], 1, (size_t)(w - p->w) + i);
}

bool
piece_peel(struct piece *p, const struct wrapper *wr)
{
	const struct sh_word *w = p->w + p->off;
	size_t n = p->n - p->off;
	struct peeled in;

	if ((wr->flags & WRAP_POWER) != 0)
		piece_found(p, FIND_POWER, p->off, "%s, which starts others,",
		    wr->name);
	if ((wr->flags & WRAP_PRIV) != 0)
		piece_found(p, FIND_ASK, p->off, "%s", wr->name);
	if (wr->kind == WRAP_SH) {
		if (shell(p, w, n))
			p->needs_cover = false;
		return false;
	}
	walk(p, wr, w, n, &in);
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
		from_input(p, w + in.at, n - in.at, in.mark);
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
