/* signs_code.c - what a line of code does to what is not its own: imports under
 * names that it makes, objects written through their addresses, builtins that
 * are replaced, and macros that take a function's place; see signs_priv.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/text.h"
#include "worker/agent/signs_priv.h"

#define FILES_MAX 4000 /* of a tree, looked into for a function */
#define DEPTH_MAX 16
#define SOURCE_MAX ((size_t)1 << 20)

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The word, whole at its beginning. NULL: it is not there. */
static const char *
word(const char *p, size_t len, const char *what)
{
	const char *hit = p, *end = p + len;

	while ((hit = memmem(hit, (size_t)(end - hit), what, strlen(what))) !=
	    NULL) {
		if (hit == p || (!is_name(hit[-1]) && hit[-1] != '.'))
			return hit;
		hit++;
	}
	return NULL;
}

static bool
holds(const char *p, size_t len, const char *what)
{
	return memmem(p, len, what, strlen(what)) != NULL;
}

/* --- Python --------------------------------------------------------------- */

/* The first argument of a call, up to the comma or the parenthesis behind it.
 */
static size_t
argument(const char *p, size_t len)
{
	size_t i, depth = 0;
	char quote = 0;

	for (i = 0; i < len; i++) {
		if (quote != 0) {
			i += p[i] == '\\';
			quote = i < len && p[i] == quote ? 0 : quote;
		} else if (p[i] == '"' || p[i] == '\'') {
			quote = p[i];
		} else if (strchr("([{", p[i]) != NULL) {
			depth++;
		} else if (strchr(")]}", p[i]) != NULL && depth-- == 0) {
			break;
		} else if (p[i] == ',' && depth == 0) {
			break;
		}
	}
	return i < len ? i : len;
}

/* "a.b" alone, or "pack." with more behind it: what a loader of plugins has. */
static bool
is_plain(const char *p, size_t len)
{
	const char *dot;

	if (len > 0 && *p == 'f') {
		p++;
		len--;
	}
	if (len == 0)
		return true;
	if (*p != '"' && *p != '\'')
		return memchr(p, '"', len) == NULL &&
		    memchr(p, '\'', len) == NULL && memchr(p, '+', len) == NULL;
	dot = memchr(p + 1, *p, len - 1);
	if (dot == NULL)
		return false;
	if (dot + 1 == p + len)
		return true;
	/* "plugins." + name */
	return dot[-1] == '.' &&
	    memchr(dot + 1, '"', (size_t)(p + len - dot) - 1) == NULL &&
	    memchr(dot + 1, '\'', (size_t)(p + len - dot) - 1) == NULL;
}

static const char *
imports(const char *p, size_t len, enum weight *ret)
{
	static const char *const calls[] = { "import_module(", "__import__(",
		"spec_from_file_location(" };
	const char *hit, *end = p + len;
	size_t i, n;

	for (i = 0; i < nitems(calls); i++) {
		hit = memmem(p, len, calls[i], strlen(calls[i]));
		if (hit == NULL)
			continue;
		hit += strlen(calls[i]);
		n = argument(hit, (size_t)(end - hit));
		while (n > 0 && hit[n - 1] == ' ')
			n--;
		if (is_plain(hit, n) &&
		    (n == 0 || *hit == '"' || *hit == '\'' ||
			(n > 2 && *hit == 'f' && hit[2] != '{')))
			continue;
		*ret = is_plain(hit, n) ? LIGHT : GRAVE;
		return "imports what it makes the name of";
	}
	return NULL;
}

bool
signs_has_id(const char *p, size_t len)
{
	return word(p, len, "id(") != NULL;
}

static const char *
pokes(const char *p, size_t len, bool ids)
{
	static const char *const writes[] = { "memmove(", "memset(",
		"from_address(", "POINTER(" };
	size_t i;

	for (i = 0; ids && i < nitems(writes); i++)
		if (holds(p, len, writes[i]))
			return "writes to objects by their addresses";
	if (holds(p, len, "get_referents(") && holds(p, len, "__dict__"))
		return "writes to objects by their addresses";
	return NULL;
}

/* --- builtins ------------------------------------------------------------- */

static const char replaces[] = "replaces what the language has built in";

/* "X.prototype.at = ", "X['max'] =", behind the X; with "||=" and "??=", which
 * put in what lacks, it is light. */
static bool
is_set(const char *q, const char *end, enum weight *ret)
{
	if (q >= end || (*q != '.' && *q != '['))
		return false;
	while (q < end && (is_name(*q) || strchr(".[]'\"", *q) != NULL))
		q++;
	while (q < end && *q == ' ')
		q++;
	*ret = GRAVE;
	if (q + 2 < end && strchr("|?", *q) != NULL && q[1] == *q &&
	    q[2] == '=') {
		*ret = LIGHT;
		return true;
	}
	return q + 1 < end && *q == '=' && q[1] != '=' && q[1] != '>';
}

/* "Array.prototype.at = ", "Object.is = ", "Math['max'] = " */
static const char *
patches_js(const char *p, size_t len, enum weight *ret)
{
	static const char *const own[] = { "Array", "Object", "String",
		"Number", "Boolean", "Function", "Map", "Set", "WeakMap",
		"Promise", "RegExp", "Date", "Symbol", "BigInt", "JSON", "Math",
		"Reflect", "Error.prototype", "Iterator", "AssertionError" };
	static const char *const by[] = { "Object.defineProperty(",
		"Object.defineProperties(", "Object.assign(", "Reflect.set(",
		"Reflect.defineProperty(", "Object.setPrototypeOf(" };
	const char *hit, *end = p + len, *from;
	size_t i, k, n;

	for (i = 0; i < nitems(own); i++) {
		n = strlen(own[i]);
		for (k = 0; k < nitems(by); k++) {
			hit = memmem(p, len, by[k], strlen(by[k]));
			from = hit != NULL ? hit + strlen(by[k]) : NULL;
			if (from == NULL || (size_t)(end - from) <= n ||
			    strncmp(from, own[i], n) != 0 ||
			    strchr(".,", from[n]) == NULL)
				continue;
			*ret = GRAVE;
			return replaces;
		}
		for (from = p;
		     (hit = word(from, (size_t)(end - from), own[i])) != NULL;
		     from = hit + n)
			if (is_set(hit + n, end, ret)) {
				/* if (!Array.prototype.at) ... */
				if (holds(p, len, "if (!") ||
				    holds(p, len, "if (typeof"))
					*ret = LIGHT;
				return replaces;
			}
	}
	return NULL;
}

/* Names that every file of a package has, taken by one of it. */
static const char *
patches_go(const char *raw, size_t raw_len, const char *p, size_t len)
{
	static const char *const names[] = { "true", "false", "nil", "len",
		"cap", "append", "copy", "panic", "recover", "string", "int",
		"error", "bool", "float64", "byte", "delete", "make", "new" };
	static const char *const before[] = { "func ", "var ", "const ",
		"type " };
	size_t i, k, n, m;

	if (raw_len > 13 && strncmp(raw, "//go:linkname", 13) == 0)
		return "takes the place of another package's function";
	if (holds(p, len, "syscall.Mprotect") || holds(p, len, "unix.Mprotect"))
		return "changes what is loaded into programs";
	if (raw_len == 0 || *raw == '\t' || *raw == ' ')
		return NULL;
	for (k = 0; k < nitems(before); k++) {
		m = strlen(before[k]);
		if (len <= m || strncmp(p, before[k], m) != 0)
			continue;
		for (i = 0; i < nitems(names); i++) {
			n = strlen(names[i]);
			if (len > m + n && strncmp(p + m, names[i], n) == 0 &&
			    !is_name(p[m + n]))
				return replaces;
		}
	}
	return NULL;
}

const char *
signs_code(unsigned langs, const char *raw, size_t raw_len, const char *p,
    size_t len, bool ids, enum weight *ret)
{
	const char *what = NULL;

	*ret = GRAVE;
	if ((langs & PY) != 0 && (what = pokes(p, len, ids)) == NULL)
		what = imports(p, len, ret);
	if ((langs & JS) != 0 && what == NULL)
		what = patches_js(p, len, ret);
	if ((langs & GO) != 0 && what == NULL)
		what = patches_go(raw, raw_len, p, len);
	return what;
}

/* --- macros --------------------------------------------------------------- */

size_t
signs_macro(const char *p, size_t len, const char **ret)
{
	static const char mark[] = "#define ";
	size_t n = strlen(mark), k;

	if (len <= n || strncmp(p, mark, n) != 0)
		return 0;
	for (k = n; k < len && is_name(p[k]); k++)
		continue;
	*ret = p + n;
	return k - n;
}

/* A line that declares or defines the function: at its beginning, as most
 * styles have it. */
static bool
declares(const char *p, size_t len, const char *name, bool same)
{
	const char *hit;
	size_t n = strlen(name);

	if (len == 0 || (!is_name(*p)) || strncmp(p, "return", 6) == 0 ||
	    strncmp(p, "typedef", 7) == 0 ||
	    (!same && strncmp(p, "static ", 7) == 0))
		return false;
	hit = word(p, len, name);
	if (hit == NULL)
		return false;
	/* nothing but types before it */
	for (const char *q = p; q < hit; q++)
		if (!is_name(*q) && strchr(" *\t", *q) == NULL)
			return false;
	for (hit += n; hit < p + len && *hit == ' '; hit++)
		continue;
	return hit < p + len && *hit == '(';
}

static bool
file_declares(int dir, const char *file, const char *name, bool same)
{
	const char *p, *nl;
	struct buf b;
	bool yes = false;

	buf_init(&b, SOURCE_MAX);
	if (file_read_at(dir, file, true, &b, NULL) >= 0)
		for (p = buf_str(&b); *p != '\0' && !yes; p = nl) {
			nl = p + strcspn(p, "\n");
			yes = declares(p, (size_t)(nl - p), name, same);
			nl += *nl == '\n';
		}
	buf_clear(&b);
	return yes;
}

struct walk {
	const char *name;
	size_t left; /* files */
};

static bool
tree_declares(struct walk *w, int at, const char *rel, unsigned depth)
{
	int fd = openat(at, *rel != '\0' ? rel : ".",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	struct stat st;
	bool yes = false;

	if (d == NULL) {
		fd_close(&fd);
		return false;
	}
	while (!yes && w->left > 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' ||
		    strcmp(e->d_name, "node_modules") == 0 ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			yes = tree_declares(w, dirfd(d), e->d_name, depth + 1);
		if (!S_ISREG(st.st_mode) || (signs_lang(e->d_name) & C) == 0)
			continue;
		w->left--;
		yes = file_declares(dirfd(d), e->d_name, w->name, false);
	}
	(void)closedir(d);
	return yes;
}

bool
signs_is_function(int base_fd, const char *rel, const char *name, size_t len)
{
	struct walk w = { .left = FILES_MAX };
	char *s = xstrndup(name, len);
	bool yes;

	w.name = s;
	yes = file_declares(base_fd, rel, s, true) ||
	    tree_declares(&w, base_fd, "", 0);
	free(s);
	return yes;
}
