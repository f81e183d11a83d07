/* What PATH leads to, in a made-up home, and once for real. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/probe.h"
#include "sandbox/profile.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"
#include "sandbox/toolchain.h"

static char top[] = "/tmp/foray-tools-XXXXXX";
static char *home;
static char *repo;

/* path below top; a file when it has text. */
static void
make(const char *path, const char *text)
{
	char *full = path_join(top, path), *dir = path_dir(full);

	assert_int_equal(path_mkdirs(text != NULL ? dir : full, 0755, NULL), 0);
	if (text != NULL)
		assert_int_equal(
		    file_write(full, text, strlen(text), 0755, NULL), 0);
	free(dir);
	free(full);
}

/* A PATH of entries below home, ':' between. */
static void
find(const char *entries, const char *tree, struct toolchain *ret)
{
	char *copy = xstrdup(entries), *save = NULL;
	struct buf b;

	buf_init(&b, 65536);
	for (char *s = strtok_r(copy, ":", &save); s != NULL;
	     s = strtok_r(NULL, ":", &save))
		assert_int_equal(
		    buf_printf(&b, "%s%s/%s", b.len > 0 ? ":" : "", home, s),
		    0);
	assert_int_equal(buf_adds(&b, ":/usr/bin:/bin"), 0);
	toolchain_find(buf_str(&b), home, tree, ret);
	buf_clear(&b);
	free(copy);
}

/* The entries of have, those below home by their rest, ' ' between. */
static void
expect_list(const struct strv *have, const char *want)
{
	struct buf b;
	const char *rel;

	buf_init(&b, 65536);
	for (size_t i = 0; i < have->n; i++) {
		rel = path_rel(have->v[i], home);
		assert_int_equal(buf_printf(&b, "%s%s", i > 0 ? " " : "",
				     rel != NULL ? rel : have->v[i]),
		    0);
	}
	assert_string_equal(buf_str(&b), want);
	buf_clear(&b);
}

static void
expect_path(const struct toolchain *t, const char *want)
{
	struct strv parts = { 0 };
	char *copy = xstrdup(t->path), *save = NULL;

	for (char *s = strtok_r(copy, ":", &save); s != NULL;
	     s = strtok_r(NULL, ":", &save))
		strv_add(&parts, s);
	expect_list(&parts, want);
	strv_clear(&parts);
	free(copy);
}

static void
check(const char *entries, const char *show, const char *path)
{
	struct toolchain t;

	find(entries, repo, &t);
	expect_list(&t.show, show);
	expect_path(&t, path);
	toolchain_clear(&t);
}

static void
test_prefixes(void **state)
{
	struct toolchain t;

	(void)state;
	/* a prefix; a bin by itself; a home's own bin; nothing */
	make("home/sdk/bin/x", "");
	make("home/sdk/lib/y", "");
	make("home/lone/bin/x", "");
	make("home/lone/diary", "");
	make("home/bin/x", "");
	make("home/lib/y", ""); /* still no prefix: it is a home */
	make("home/.docker/bin/x", "");
	make("home/.docker/lib/x", "");
	make("home/.docker/config.json", "");
	make("home/.nvm/versions/node/v20/bin/node", "");
	make("home/.nvm/versions/node/v20/lib/y", "");
	check("sdk/bin:lone/bin:bin:.docker/bin:gone/bin:sdk/bin",
	    "sdk lone/bin bin .docker/bin",
	    "sdk/bin lone/bin bin .docker/bin /usr/bin /bin");
	check(".nvm/versions/node/v20/bin", ".nvm/versions/node/v20",
	    ".nvm/versions/node/v20/bin /usr/bin /bin");
	/* a home, what is above it, "." and nothing: not in PATH either */
	toolchain_find(":.:bin:/:/home:/proc/self:/usr/bin", home, NULL, &t);
	expect_list(&t.show, "");
	assert_string_equal(t.path, "/usr/bin");
	toolchain_clear(&t);
	toolchain_find(home, home, NULL, &t);
	expect_list(&t.show, "");
	toolchain_clear(&t);
	toolchain_find(NULL, NULL, NULL, &t);
	expect_list(&t.show, "");
	assert_non_null(strstr(t.path, "/usr/bin"));
	toolchain_clear(&t);
}

static void
test_link_to_home(void **state)
{
	char *link = path_join(top, "link"), *path;
	struct toolchain t;

	(void)state;
	make("home/.bashrc", "");
	assert_int_equal(symlink(home, link), 0);
	path = path_join(link, "bin");
	toolchain_find(path, home, NULL, &t);
	assert_int_equal(t.show.n, 1); /* bin itself, not all of the link */
	assert_string_equal(t.show.v[0], path);
	toolchain_clear(&t);
	toolchain_find(link, home, NULL, &t);
	assert_int_equal(t.show.n, 0);
	toolchain_clear(&t);
	free(path);
	free(link);
}

static void
test_cargo(void **state)
{
	struct toolchain t;

	(void)state;
	make("home/.cargo/bin/cargo", "");
	make("home/.cargo/credentials.toml", "token");
	make("home/.rustup/toolchains/stable/bin/rustc", "");
	find(".cargo/bin", repo, &t);
	expect_list(&t.show, ".cargo .rustup");
	expect_list(&t.mask, ".cargo/credentials.toml");
	toolchain_clear(&t);
}

/* Its modules, wherever they are said to be, but nothing of a home. */
static void
test_go(void **state)
{
	struct toolchain t;
	char *path;

	(void)state;
	(void)unsetenv("GOPATH");
	(void)unsetenv("GOMODCACHE");
	make("home/sdk-go/go/bin/go", "");
	make("home/go/pkg/mod/cache/vcs/1/config", "url = https://u:p@h/");
	make("home/other/pkg/mod/a@v1/a.go", "");
	make("home/mods/a@v1/a.go", "");
	find("sdk-go/go/bin", repo, &t);
	expect_list(&t.show, "sdk-go/go/bin go/pkg/mod");
	expect_list(&t.empty, "go/pkg/mod/cache/vcs");
	assert_true(text_ends(t.go_modules, "/home/go/pkg/mod"));
	toolchain_clear(&t);

	path = path_joinf(home, "other:%s/go", home);
	(void)setenv("GOPATH", path, 1);
	free(path);
	find("sdk-go/go/bin", repo, &t);
	expect_list(&t.show, "sdk-go/go/bin other/pkg/mod");
	assert_int_equal(t.empty.n, 0);
	toolchain_clear(&t);

	path = path_join(home, "mods");
	(void)setenv("GOMODCACHE", path, 1);
	free(path);
	find("sdk-go/go/bin", repo, &t);
	expect_list(&t.show, "sdk-go/go/bin mods");
	toolchain_clear(&t);

	/* a home is no module cache */
	(void)setenv("GOMODCACHE", home, 1);
	find("sdk-go/go/bin", repo, &t);
	expect_list(&t.show, "sdk-go/go/bin");
	assert_null(t.go_modules);
	toolchain_clear(&t);
	(void)unsetenv("GOPATH");
	(void)unsetenv("GOMODCACHE");
	path = path_join(home, "go");
	assert_int_equal(path_rmtree(path, NULL), 0);
	free(path);
}

static void
test_local(void **state)
{
	(void)state;
	make("home/.local/bin/tool", "");
	make("home/.local/share/keyrings/login", "secret");
	make("home/.local/share/pipx/venvs/a/bin/a", "");
	make("home/.local/state/foray/runs/1", "secret");
	check(".local/bin", ".local/bin .local/share/pipx",
	    ".local/bin /usr/bin /bin");
	make("home/.local/lib/python3.11/site-packages/x.py", "");
	check("sdk/bin", "sdk .local/lib", "sdk/bin /usr/bin /bin");
}

static void
test_pyenv(void **state)
{
	char *local = path_join(home, ".local");

	(void)state;
	(void)unsetenv("PYENV_VERSION");
	assert_int_equal(path_rmtree(local, NULL), 0);
	free(local);
	make("home/.pyenv/shims/python3", "");
	make("home/.pyenv/bin/pyenv", "");
	make("home/.pyenv/versions/3.9.18/bin/python3", "");
	make("home/.pyenv/versions/3.11.2/bin/python3", "");
	make("home/.pyenv/versions/3.11.10/bin/python3", "");
	make("home/.pyenv/plugins/pyenv-virtualenv/shims/activate", "");
	make("home/.pyenv/version", "3.9.18\n");
	check(".pyenv/plugins/pyenv-virtualenv/shims:.pyenv/shims:.pyenv/bin",
	    ".pyenv",
	    ".pyenv/plugins/pyenv-virtualenv/shims "
	    ".pyenv/versions/3.9.18/bin .pyenv/shims .pyenv/bin "
	    "/usr/bin /bin");
	/* the tree's choice: a start of a version, the newest of that */
	make("repo/.python-version", "3.11\n");
	check(".pyenv/shims", ".pyenv",
	    ".pyenv/versions/3.11.10/bin .pyenv/shims /usr/bin /bin");
	/* several; one that is not there; one that wants out */
	make("repo/.python-version",
	    "system\n9.9.9\n../../secret\n3.11.2\n3.9.18\n");
	make("home/.pyenv/secret/bin/x", "");
	check(".pyenv/shims", ".pyenv",
	    ".pyenv/versions/3.11.2/bin .pyenv/versions/3.9.18/bin "
	    ".pyenv/shims /usr/bin /bin");
	(void)setenv("PYENV_VERSION", "3.11.10", 1);
	check(".pyenv/shims", ".pyenv",
	    ".pyenv/versions/3.11.10/bin .pyenv/shims /usr/bin /bin");
	(void)unsetenv("PYENV_VERSION");
}

static void
test_venv(void **state)
{
	struct toolchain t;
	char *text;

	(void)state;
	/* a Python of its own, named by a virtual environment */
	make("home/py/bin/python3", "");
	make("home/py/lib/python3.12/os.py", "");
	text = xasprintf("home = %s/py/bin\nversion = 3.12\n", home);
	make("repo/.venv/pyvenv.cfg", text);
	free(text);
	find("sdk/bin", repo, &t);
	expect_list(&t.show, "sdk py");
	toolchain_clear(&t);

	/* a repository that wants to see keys */
	make("home/.ssh/bin/python3", "");
	make("home/.ssh/id_rsa", "secret");
	text = xasprintf("x\nhome=%s/.ssh/bin\r\n", home);
	make("repo/.venv/pyvenv.cfg", text);
	free(text);
	text = xasprintf("home = %s\n", home);
	make("repo/venv/pyvenv.cfg", text);
	free(text);
	find("sdk/bin", repo, &t);
	expect_list(&t.show, "sdk");
	toolchain_clear(&t);
}

/* The tree's own programs are in the tree. */
static void
test_in_repo(void **state)
{
	char *path = path_join(repo, "node_modules/.bin");
	struct toolchain t;

	(void)state;
	make("repo/node_modules/.bin/x", "");
	toolchain_find(path, home, repo, &t);
	expect_list(&t.show, "");
	assert_string_equal(t.path, path);
	toolchain_clear(&t);
	free(path);
}

/* The person's own Python, wherever it is, in a sandbox. */
static void
test_for_real(void **state)
{
	struct toolchain t;
	struct profile p = { .root = "/tmp/t", .tree_src = "/usr/share" };
	struct sandbox_spec spec;
	struct sandbox_run run = { .timeout_ms = 30000 };
	struct sandbox_result res;
	struct buf out;
	char *real = NULL;
	struct err e;

	(void)state;
	if (path_search("python3", NULL, &real) < 0 || probe_sandbox(&e) < 0) {
		free(real);
		if (getenv("FORAY_SANDBOX_MUST_WORK") != NULL)
			fail_msg("no python3, or no sandbox");
		fprintf(stderr, "SKIPPED: no python3, or no sandbox\n");
		skip();
	}
	free(real);
	assert_int_equal(path_home(&real, &e), 0);
	toolchain_find(getenv("PATH"), real, NULL, &t);
	free(real);
	p.tools = &t;
	profile_direct(&p, &spec);
	strv_addl(&spec.argv, "python3", "-c",
	    "import sys, json, ssl, sqlite3; print(sys.executable)",
	    (char *)NULL);
	buf_init(&out, 65536);
	run.start = (struct sandbox_start){ .spec = &spec, .stage = true };
	run.out = &out;
	if (sandbox_run(&run, &res, &e) < 0)
		fail_msg("%s", e.text);
	print_message("# %d ms, %s", (int)res.ms, buf_str(&out));
	assert_int_equal(res.status, 0);
	assert_null(strstr(buf_str(&out), "shims"));
	buf_clear(&out);
	spec_clear(&spec);
	toolchain_clear(&t);
}

static int
set_up(void **state)
{
	(void)state;
	if (mkdtemp(top) == NULL)
		return -1;
	make("home", NULL);
	make("repo", NULL);
	home = path_join(top, "home");
	repo = path_join(top, "repo");
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	free(home);
	free(repo);
	return path_rmtree(top, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_link_to_home),
		cmocka_unit_test(test_cargo),
		cmocka_unit_test(test_go),
		cmocka_unit_test(test_local),
		cmocka_unit_test(test_pyenv),
		cmocka_unit_test(test_venv),
		cmocka_unit_test(test_in_repo),
		cmocka_unit_test(test_for_real),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
