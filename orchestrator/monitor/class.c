#include "common/compat.h"

#include <stdlib.h>
#include <strings.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/monitor/class.h"
#include "sandbox/policy/guard.h"
#include "sandbox/policy/rules.h"

static const struct {
	const char *name;
	enum monitor_class c;
} names[] = {
	{ "secret-path", CLASS_SECRET },
	{ "test-path", CLASS_TEST },
	{ "outside", CLASS_OUTSIDE },
	{ "delete", CLASS_DELETE },
	{ "network", CLASS_NETWORK },
	{ "credential", CLASS_CREDENTIAL },
	{ "history", CLASS_HISTORY },
	{ "payload", CLASS_PAYLOAD },
	{ "runs-later", CLASS_LATER },
	{ "probe", CLASS_PROBE },
};

unsigned
class_of_name(const char *name)
{
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].c;
	return 0;
}

const char *
class_names(void)
{
	return "secret-path, test-path, outside, delete, network, credential, "
	       "history, payload, runs-later, probe";
}

void
monitor_place_clear(struct monitor_place *p)
{
	free(p->root);
	free(p->workdir);
	strv_clear(&p->guarded);
	strv_clear(&p->own);
	*p = (struct monitor_place){ 0 };
}

char *
place_path(const struct monitor_place *p, const char *dir, const char *word)
{
	char *joined, *clean, *ret;
	const char *rel;

	if (*word == '~' || *word == '$')
		return path_normal(word);
	joined = *word == '/' ? xstrdup(word) : path_join(dir, word);
	clean = path_normal(joined);
	rel = path_rel(clean, p->root);
	ret = xstrdup(rel == NULL ? clean : *rel == '\0' ? "." : rel);
	free(joined);
	free(clean);
	return ret;
}

/* --- lists ---------------------------------------------------------------- */

static bool
any(const char *const *globs, size_t n, const char *s)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rule_star(globs[i], s, true))
			return true;
	return false;
}

/* Has a directory on the way, or the last component, one of these names? */
static bool
has_component(const char *path, const char *const *globs, size_t n)
{
	char part[256];
	const char *s = path;
	size_t len;

	for (; *s != '\0'; s += len + (s[len] == '/')) {
		len = strcspn(s, "/");
		if (len == 0 || len >= sizeof part)
			continue;
		memcpy(part, s, len);
		part[len] = '\0';
		if (any(globs, n, part))
			return true;
	}
	return false;
}

/* "*.pem" and the like: among tests they are fixtures, and ".key" is a word of
 * many languages. */
static bool
is_key_file(const char *path)
{
	static const char *const globs[] = { "*.pem", "*.key", "*.p12", "*.pfx",
		"*.kdbx", "*.jks", "*.keystore" };
	const char *base = path_base(path);

	return base[0] != '.' && any(globs, nitems(globs), base) &&
	    !guard_is_builtin(path);
}

bool
path_is_secret(const char *path)
{
	static const char *const bases[] = { ".env", ".env.*", "*.env.local",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc",
		"_netrc", ".pgpass", ".my.cnf", ".git-credentials", ".pypirc",
		".htpasswd", ".vault-token", ".dockercfg", "credentials.json",
		"client_secret*.json", "service-account*.json",
		"service_account*.json", "secrets.yml", "secrets.yaml",
		"secrets.json", "secrets.toml", "kubeconfig" };
	static const char *const samples[] = { "*.example", "*.sample",
		"*.template", "*.dist", "*.test", "*.defaults", "*.md",
		"*.pub" };
	static const char *const dirs[] = { ".ssh", ".aws", ".gnupg", ".kube",
		".azure" };
	static const char *const whole[] = { "*/.docker/config.json",
		"*/.config/gcloud/*", "*/.config/gh/*", "*/.config/foray/*",
		"/run/secrets/*", "/var/run/secrets/*", "/proc/*/environ",
		"/proc/*/mem", "/proc/kcore", "/etc/shadow*", "/etc/gshadow*",
		"/etc/sudoers*", "/etc/ssl/private/*", "*/credentials",
		"*/.npmrc", "/etc/ssh/*_key" };
	const char *base = path_base(path);

	if (any(samples, nitems(samples), base))
		return false;
	return any(bases, nitems(bases), base) || is_key_file(path) ||
	    has_component(path, dirs, nitems(dirs)) ||
	    /* An .npmrc of the tree is its registry. */
	    ((path[0] == '/' || path[0] == '~' || path[0] == '$') &&
		any(whole, nitems(whole), path));
}

static int
str_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool
path_is_test(const struct monitor_place *p, const char *path)
{
	if (path[0] == '/' || path[0] == '~' || path[0] == '$')
		return false;
	if (!p->guarded_known)
		return guard_is_builtin(path);
	if (p->guarded.n > 0 &&
	    bsearch(&path, p->guarded.v, p->guarded.n, sizeof *p->guarded.v,
		str_cmp) != NULL)
		return true;
	/* A new one of these decides how the others run. */
	return guard_is_setup(path);
}

bool
path_is_outside(const char *path)
{
	/* The system, and where people keep compilers and packages. */
	static const char *const open[] = { "/tmp", "/tmp/*", "/var/tmp*",
		"/dev/*", "/usr*", "/bin*", "/sbin*", "/lib*", "/opt*", "/etc*",
		"/proc*", "/sys*", "/nix/*", "/snap/*", "/gnu/*", "/" };
	static const char *const tools[] = { ".cache", ".npm", ".cargo",
		".rustup", ".local", ".m2", ".gradle", ".pyenv", ".nvm",
		".rbenv", "go", "node_modules", "site-packages", ".venv",
		"venv", ".ivy2", ".sbt", ".nuget", ".pub-cache" };

	if (path[0] != '/' && path[0] != '~')
		return false;
	return !any(open, nitems(open), path) &&
	    !has_component(path, tools, nitems(tools));
}

/* The directory for temporary files, which is the worker's own and goes with
 * it. */
static bool
is_temporary(const char *path)
{
	static const char *const dirs[] = { "/tmp/", "$TMPDIR/",
		"${TMPDIR:-/tmp}/" };

	for (size_t i = 0; i < nitems(dirs); i++)
		if (text_starts(path, dirs[i]))
			return strstr(path, "/../") == NULL;
	return false;
}

bool
path_is_later(const char *path)
{
	static const char *const bases[] = { ".bashrc", ".bash_profile",
		".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".envrc", "authorized_keys", ".gitconfig" };
	/* Run by every Python that is told to look there: how tests are traced,
	 * where the directory is a temporary one. */
	static const char *const python[] = { "sitecustomize.py",
		"usercustomize.py" };
	static const char *const whole[] = { ".git/hooks/*", "*/.git/hooks/*",
		".git/config", "*/.git/config", ".vscode/tasks.json",
		".vscode/launch.json", ".vscode/settings.json", ".husky/*",
		".githooks/*", ".idea/runConfigurations/*",
		"*/.config/autostart/*", "*/.config/systemd/user/*",
		"/etc/cron*", "/var/spool/cron*", "/etc/profile*",
		"/etc/systemd/*", "/etc/ld.so.preload", ".claude/settings*",
		".foray/settings.json" };

	return any(bases, nitems(bases), path_base(path)) ||
	    (any(python, nitems(python), path_base(path)) &&
		!is_temporary(path)) ||
	    any(whole, nitems(whole), path);
}

bool
path_is_probe(const char *path)
{
	static const char *const whole[] = { "/proc/1/*", "/proc/*/root",
		"/proc/*/root/*", "/proc/sys/kernel/core_pattern",
		"/proc/sysrq-trigger", "*/release_agent", "*/docker.sock",
		"*/containerd.sock", "*/podman.sock", "/dev/mem", "/dev/kmem",
		"/dev/kmsg", "/proc/kcore", "/proc/kallsyms", "/sys/kernel/*",
		"/sys/fs/cgroup/*", "/proc/*/ns/*" };

	return any(whole, nitems(whole), path);
}

bool
path_is_scratch(const char *path)
{
	static const char *const dirs[] = { "build", "dist", "out", "target",
		"node_modules", "__pycache__", ".pytest_cache", ".mypy_cache",
		".ruff_cache", ".cache", "coverage", "htmlcov", ".tox", ".nox",
		".venv", "venv", "tmp", "temp", "obj", ".eggs", "*.egg-info",
		"cmake-build-*", ".gradle", ".nyc_output", ".next", "*.dSYM" };
	static const char *const bases[] = { "*.o", "*.obj", "*.a", "*.so",
		"*.pyc", "*.pyo", "*.class", "*.log", "*.tmp", "*.out", "*.bak",
		"*.orig", "*.rej", "*.swp", "*~", "*.gcda", "*.gcno", "*.d",
		".coverage*", "a.out", "core", "*.pid", "*.lock" };

	if (text_starts(path, "/tmp/") || text_starts(path, "/var/tmp/") ||
	    text_starts(path, "/dev/") || text_starts(path, "$TMPDIR"))
		return true;
	return any(bases, nitems(bases), path_base(path)) ||
	    has_component(path, dirs, nitems(dirs));
}
