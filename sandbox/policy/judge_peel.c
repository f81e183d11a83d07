/* judge_peel.c - what a command starts as text: shells, and what they read; see
 * judge.h, and judge_wrap.c for those that start words. */
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

void
piece_words(struct piece *p, const struct sh_word *w, size_t n, size_t at)
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
	else if (r != NULL && r->op != SH_DUP &&
	    (r->target.flags & SH_COMPUTED) == 0)
		piece_written(p, &r->target, UNSPELLED);
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
			piece_words(p, &w[i + 1], 1, p->off + i);
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
				piece_words(p, &w[i], 1, p->off + i);
		}
	}
	ret->operand = i < n ? i : n;
}

static const struct sh_word *
without(struct piece *p, const struct sh_word *w, size_t n, size_t at)
{
	struct sh_word *a = judge_words(p->j, n - 1);

	memcpy(a, w, at * sizeof *w);
	memcpy(a + at, w + at + 1, (n - at - 1) * sizeof *w);
	return a;
}

bool
piece_shell(struct piece *p, const struct sh_word *w, size_t n)
{
	static const char *const other[] = { "elvish", "fish", "nu", "xonsh" };
	struct shell_options o;
	const char *s;
	int fd;

	shell_options(p, w, n, &o);
	/* fish -d 3 -c TEXT: others than those of POSIX have options that take
	 * the word behind them. */
	if (!o.text && o.operand > 1 && o.operand + 1 < n &&
	    w[o.operand - 1].text[0] == '-' &&
	    text_is_one_of(rule_base(w[0].text), other, nitems(other)))
		judge_argv(p, without(p, w, n, o.operand), n - 1, false);
	s = o.operand < n ? w[o.operand].text : NULL;
	if (o.text) {
		if (s != NULL)
			piece_words(p, &w[o.operand], 1, p->off + o.operand);
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
		piece_written(p, &w[o.operand], p->off + o.operand);
		if (!o.computed)
			return false;
	}
	return piece_input(p, fd < 0 ? 0 : fd) && !o.computed;
}
