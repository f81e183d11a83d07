/*
 * syntax.c - see syntax.h.
 *
 * The file comes as stdin, so that nothing is written (no .pyc) and the base's
 * text can be tried the same way.
 */
#include "common/compat.h"

#include <fcntl.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "worker/agent/command.h"
#include "worker/agent/exec.h"
#include "worker/agent/output.h"
#include "worker/agent/syntax.h"

#define LIMIT_MS 20000
#define FILE_LIMIT ((size_t)4 << 20)

struct checker {
	const char *suffix;
	const char *tool; /* must exist */
	const char *command;
};

static const struct checker checkers[] = {
	{ ".py", "python3",
	    "python3 -c 'import ast, sys; ast.parse(sys.stdin.buffer.read())'" },
	{ ".js", "node", "node --check -" },
	{ ".cjs", "node", "node --check -" },
	{ ".mjs", "node", "node --input-type=module --check -" },
	{ ".sh", "sh", "sh -n" },
	{ ".json", "python3", "python3 -m json.tool" },
	{ ".c", "gcc", "gcc -w -fsyntax-only -x c -" },
};

static const struct checker *
checker_for(const char *rel)
{
	size_t i;

	for (i = 0; i < nitems(checkers); i++) {
		if (text_ends(rel, checkers[i].suffix))
			return &checkers[i];
	}
	return NULL;
}

/* 1 parses, 0 does not, -1 can't tell. */
static int
run(struct agent *a, const struct checker *c, const struct buf *text, char *why,
    size_t size)
{
	struct exec x = { .timeout_ms = LIMIT_MS };
	struct sandbox_spec spec;
	struct buf raw;
	char *cmd;
	int r = -1;

	cmd = xasprintf("command -v %s >/dev/null 2>&1 || exit 127; exec %s",
	    c->tool, c->command);
	command_spec(a, &a->cfg.inner, cmd, &spec);
	x.spec = &spec;
	x.input = buf_str(text);
	x.input_len = text->len;
	buf_init(&raw, BUF_NOMAX);
	if (exec_run(&x, NULL) == 0 && !x.timed_out && x.status < 126) {
		r = x.status == 0;
		(void)exec_text(&x, &raw);
		output_last_line(buf_str(&raw), raw.len, why, size);
	}
	buf_clear(&raw);
	exec_clear(&x);
	spec_clear(&spec);
	free(cmd);
	return r;
}

static bool
read_at(const char *dir, const char *rel, struct buf *b)
{
	char *path = path_join(dir, rel);
	bool ok = file_read(path, true, b, NULL) >= 0;

	free(path);
	return ok;
}

bool
syntax_check(struct agent *a, const char *rel, char *why, size_t size)
{
	const struct checker *c = checker_for(rel);
	struct buf now, before;
	char ignored[8];
	bool ok = true;

	if (c == NULL)
		return true;
	buf_init(&now, FILE_LIMIT);
	buf_init(&before, FILE_LIMIT);
	if (!read_at(a->cfg.root, rel, &now))
		goto out;
	/* A file with headers of its own needs its build's options. */
	if (strcmp(c->suffix, ".c") == 0 && now.len > 0 &&
	    memmem(buf_str(&now), now.len, "#include \"", 10) != NULL)
		goto out;
	if (run(a, c, &now, why, size) != 0)
		goto out;
	ok = read_at(a->cfg.base, rel, &before) &&
	    run(a, c, &before, ignored, sizeof ignored) == 0;
out:
	buf_clear(&now);
	buf_clear(&before);
	return ok;
}
