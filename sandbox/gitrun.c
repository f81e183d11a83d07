/* gitrun.c - see gitrun.h. */
#include "common/compat.h"

#include <errno.h>

#include "common/path.h"
#include "common/spawn.h"
#include "common/text.h"
#include "sandbox/gitrun.h"

#define TIMEOUT_MS (10 * 60 * 1000)

static const char *const config[] = { "core.fsmonitor=false",
	"core.hooksPath=/dev/null", "core.attributesFile=/dev/null",
	"core.excludesFile=/dev/null", "core.alternateRefsCommand=false",
	"commit.gpgSign=false", "core.pager=cat", "core.askPass=true",
	"protocol.allow=never", "safe.directory=*", "gc.auto=0",
	"maintenance.auto=false", "core.untrackedCache=false" };

static void
make_argv(const struct gitrun *g, struct strv *argv)
{
	char *git = NULL;
	size_t i;

	/* Not found: spawn_run() says so. */
	(void)path_system("git", &git);
	strv_add(argv, git != NULL ? git : "git");
	free(git);
	strv_addl(argv, "--no-pager", "--no-optional-locks",
	    "--no-replace-objects", "--literal-pathspecs", (char *)NULL);
	for (i = 0; i < nitems(config); i++)
		strv_addl(argv, "-c", config[i], (char *)NULL);
	strv_extend(argv, &g->args);
}

/* What tells git who they are; none of it is a key. */
static void
persons_env(struct strv *env)
{
	static const char *const kept[] = { "HOME", "XDG_CONFIG_HOME", "LANG",
		"TZ", "USER", "LOGNAME", "EMAIL", "GIT_AUTHOR_NAME",
		"GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME",
		"GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
		"GIT_CONFIG_NOSYSTEM" };
	size_t i;

	for (i = 0; i < nitems(kept); i++)
		if (getenv(kept[i]) != NULL)
			strv_setenv(env, kept[i], getenv(kept[i]));
}

static void
deaf_env(struct strv *env)
{
	strv_setenv(env, "HOME", "/dev/null");
	strv_setenv(env, "XDG_CONFIG_HOME", "/dev/null");
	strv_setenv(env, "LC_ALL", "C");
	strv_setenv(env, "TZ", "UTC");
	strv_setenv(env, "GIT_DIR", "/dev/null/git");
	strv_setenv(env, "GIT_CONFIG_NOSYSTEM", "1");
	strv_setenv(env, "GIT_CONFIG_SYSTEM", "/dev/null");
	strv_setenv(env, "GIT_CONFIG_GLOBAL", "/dev/null");
	strv_setenv(env, "GIT_ATTR_NOSYSTEM", "1");
}

static void
make_env(const struct gitrun *g, struct strv *env)
{
	const char *path = getenv("PATH");
	size_t i;

	strv_setenv(
	    env, "PATH", path != NULL ? path : "/usr/local/bin:/usr/bin:/bin");
	if (g->persons)
		persons_env(env);
	else
		deaf_env(env);
	strv_setenv(env, "GIT_NO_LAZY_FETCH", "1");
	strv_setenv(env, "GIT_NO_REPLACE_OBJECTS", "1");
	strv_setenv(env, "GIT_ALLOW_PROTOCOL", "none");
	strv_setenv(env, "GIT_TERMINAL_PROMPT", "0");
	strv_setenv(env, "GIT_OPTIONAL_LOCKS", "0");
	strv_setenv(env, "GIT_ASKPASS", "true");
	strv_setenv(env, "GIT_SSH_COMMAND", "false");
	for (i = 0; i < g->env.n; i++) {
		const char *eq = strchr(g->env.v[i], '=');
		char *name = strndup(g->env.v[i], (size_t)(eq - g->env.v[i]));

		if (name != NULL)
			strv_setenv(env, name, eq + 1);
		free(name);
	}
}

/* Its complaints in one line. */
static void
take_said(struct gitrun *g, const struct buf *raw)
{
	struct buf clean;
	char *line, *save = NULL;
	size_t len;
	char *text;

	buf_init(&clean, 16384);
	(void)text_clean(&clean, buf_str(raw), raw->len, 400);
	text = buf_detach(&clean, NULL);
	g->said[0] = '\0';
	for (line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		if (text_starts(line, "warning:") || text_starts(line, "hint:"))
			continue;
		if (text_starts(line, "error: ") ||
		    text_starts(line, "fatal: "))
			line += 7;
		len = strlen(g->said);
		snprintf(g->said + len, sizeof g->said - len, "%s%s",
		    len > 0 ? "; " : "", line);
	}
	free(text);
}

int
gitrun(struct gitrun *g, struct err *e)
{
	struct spawn_result res = { 0 };
	struct strv argv = { 0 }, env = { 0 };
	struct spawn s = { .argv = &argv, .env = &env };
	struct buf said;
	int r;

	buf_init(&said, 8192);
	make_argv(g, &argv);
	make_env(g, &env);
	s.cwd = g->cwd;
	s.input = g->input;
	s.input_len = g->input_len;
	s.out = g->out;
	s.err = &said;
	s.timeout_ms = g->timeout_ms > 0 ? g->timeout_ms : TIMEOUT_MS;
	r = spawn_run(&s, &res, e);
	take_said(g, &said);
	if (r < 0)
		goto out;
	r = res.status;
	if (res.timed_out)
		r = err_set(e, -ETIMEDOUT, "git %s took too long",
		    g->args.n > 0 ? g->args.v[0] : "");
	else if (res.truncated && g->out != NULL && g->out->len >= g->out->max)
		r = err_set(e, ERR_LIMIT, "git %s wrote more than %zu bytes",
		    g->args.n > 0 ? g->args.v[0] : "", g->out->max);
out:
	buf_clear(&said);
	strv_clear(&argv);
	strv_clear(&env);
	return r;
}

void
gitrun_clear(struct gitrun *g)
{
	strv_clear(&g->args);
	strv_clear(&g->env);
}

int
gitrun_failed(const struct gitrun *g, int status, struct err *e)
{
	return err_set(e, -EIO, "git %s: %s (status %d)",
	    g->args.n > 0 ? g->args.v[0] : "",
	    g->said[0] != '\0' ? g->said : "failed", status);
}
