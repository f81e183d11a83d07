/* signs_shadow.c - new files that would be taken for something of the system's
 * or of the test runner's; see signs.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <fcntl.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "worker/agent/signs.h"

/* sys.stdlib_module_names and what pytest is made of; sorted. */
static const char *const modules[] = {
	"_collections_abc",
	"_io",
	"_pytest",
	"_sitebuiltins",
	"_thread",
	"_weakrefset",
	"abc",
	"aifc",
	"argparse",
	"array",
	"ast",
	"asynchat",
	"asyncio",
	"asyncore",
	"atexit",
	"audioop",
	"base64",
	"bdb",
	"binascii",
	"bisect",
	"builtins",
	"bz2",
	"cProfile",
	"calendar",
	"cgi",
	"cgitb",
	"chunk",
	"cmath",
	"cmd",
	"code",
	"codecs",
	"codeop",
	"collections",
	"colorsys",
	"compileall",
	"concurrent",
	"configparser",
	"contextlib",
	"contextvars",
	"copy",
	"copyreg",
	"crypt",
	"csv",
	"ctypes",
	"curses",
	"dataclasses",
	"datetime",
	"dbm",
	"decimal",
	"difflib",
	"dis",
	"distutils",
	"doctest",
	"email",
	"encodings",
	"ensurepip",
	"enum",
	"errno",
	"faulthandler",
	"fcntl",
	"filecmp",
	"fileinput",
	"fnmatch",
	"fractions",
	"ftplib",
	"functools",
	"gc",
	"genericpath",
	"getopt",
	"getpass",
	"gettext",
	"glob",
	"graphlib",
	"grp",
	"gzip",
	"hashlib",
	"heapq",
	"hmac",
	"html",
	"http",
	"hypothesis",
	"imaplib",
	"imghdr",
	"imp",
	"importlib",
	"iniconfig",
	"inspect",
	"io",
	"ipaddress",
	"itertools",
	"json",
	"keyword",
	"linecache",
	"locale",
	"logging",
	"lzma",
	"mailbox",
	"mailcap",
	"marshal",
	"math",
	"mimetypes",
	"mmap",
	"modulefinder",
	"multiprocessing",
	"netrc",
	"nis",
	"nntplib",
	"nose",
	"nose2",
	"numbers",
	"opcode",
	"operator",
	"optparse",
	"os",
	"ossaudiodev",
	"pathlib",
	"pdb",
	"pickle",
	"pickletools",
	"pipes",
	"pkgutil",
	"platform",
	"plistlib",
	"pluggy",
	"poplib",
	"posix",
	"posixpath",
	"pprint",
	"profile",
	"pstats",
	"pty",
	"pwd",
	"py",
	"py_compile",
	"pyclbr",
	"pydoc",
	"pydoc_data",
	"pyexpat",
	"pytest",
	"queue",
	"quopri",
	"random",
	"re",
	"readline",
	"reprlib",
	"resource",
	"rlcompleter",
	"runpy",
	"sched",
	"secrets",
	"select",
	"selectors",
	"shelve",
	"shlex",
	"shutil",
	"signal",
	"site",
	"smtpd",
	"smtplib",
	"sndhdr",
	"socket",
	"socketserver",
	"spwd",
	"sqlite3",
	"sre_compile",
	"sre_constants",
	"sre_parse",
	"ssl",
	"stat",
	"statistics",
	"string",
	"stringprep",
	"struct",
	"subprocess",
	"sunau",
	"symtable",
	"sys",
	"sysconfig",
	"syslog",
	"tabnanny",
	"tarfile",
	"telnetlib",
	"tempfile",
	"termios",
	"textwrap",
	"threading",
	"time",
	"timeit",
	"tkinter",
	"token",
	"tokenize",
	"tomllib",
	"trace",
	"traceback",
	"tracemalloc",
	"tty",
	"types",
	"typing",
	"unicodedata",
	"unittest",
	"urllib",
	"uu",
	"uuid",
	"venv",
	"warnings",
	"wave",
	"weakref",
	"webbrowser",
	"wsgiref",
	"xdrlib",
	"xml",
	"xmlrpc",
	"zipapp",
	"zipfile",
	"zipimport",
	"zlib",
	"zoneinfo",
};

/* Of C's library and of POSIX. */
static const char *const headers[] = { "assert.h", "ctype.h", "err.h",
	"errno.h", "fcntl.h", "limits.h", "math.h", "pthread.h", "setjmp.h",
	"signal.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h",
	"stdlib.h", "string.h", "strings.h", "time.h", "unistd.h", "cmocka.h",
	"check.h" };

static const char *const programs[] = { "ar", "as", "bash", "c++", "cargo",
	"cc", "clang", "cmake", "cmp", "cpp", "ctest", "diff", "env", "false",
	"g++", "gcc", "git", "go", "grep", "jest", "ld", "make", "mocha",
	"node", "npm", "npx", "nosetests", "perl", "prove", "pytest", "python",
	"python3", "ruby", "rustc", "sed", "sh", "test", "timeout", "true",
	"valgrind", "vitest" };

static int
cmp_name(const void *key, const void *elem)
{
	return strcmp(key, *(const char *const *)elem);
}

static bool
is_one_of(const char *const *v, size_t n, const char *s)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (strcmp(v[i], s) == 0)
			return true;
	}
	return false;
}

/* A directory that is no package may be one that imports start from. */
static bool
is_top(int base_fd, const char *dir)
{
	char *init = path_join(dir, "__init__.py");
	struct stat st;
	bool top = fstatat(base_fd, init, &st, AT_SYMLINK_NOFOLLOW) < 0;

	free(init);
	return top;
}

static bool
is_module(int base_fd, const char *rel)
{
	const char *base = path_base(rel);
	char *dir = path_dir(rel), *up, *name;
	bool found;

	if (strcmp(base, "__init__.py") == 0) {
		name = xstrdup(path_base(dir));
		up = path_dir(dir);
	} else {
		name = xstrndup(base, strcspn(base, "."));
		up = xstrdup(dir);
	}
	found = text_ends(rel, ".py") &&
	    bsearch(name, modules, nitems(modules), sizeof *modules,
		cmp_name) != NULL &&
	    is_top(base_fd, up);
	free(name);
	free(up);
	free(dir);
	return found;
}

const char *
signs_shadow(int base_fd, const char *rel, unsigned mode)
{
	const char *base = path_base(rel);

	if (is_module(base_fd, rel))
		return "stands before Python's own module of that name";
	if (is_one_of(headers, nitems(headers), base))
		return "stands before the system's own header";
	if ((mode & 0111) != 0 && is_one_of(programs, nitems(programs), base))
		return "is a program named as a tool is";
	return NULL;
}
