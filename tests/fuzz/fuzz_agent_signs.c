/* What is read in a hostile patch beside a hostile test, which is what stands
 * before the first "diff ": a few signs, each of a file, and the same again. A
 * line of the test that is named is one that it has. */
#include "common/compat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "worker/agent/signs.h"

#define SIGNS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const guarded[] = { "Makefile", "test_app.c", "test_app.py",
	"test_app.sh" };
static char dir[] = "/tmp/foray-fuzz-XXXXXX";
static struct agent a;
static int base_fd = -1, dir_fd;

static void
need(bool good)
{
	if (!good)
		abort();
}

static void
clear(void)
{
	strv_clear(&a.fs.guarded);
	close(base_fd);
	close(dir_fd);
	(void)path_rmtree(dir, NULL);
}

/* In place: it is done for each input. */
static void
put(const char *rel, const void *text, size_t len)
{
	int fd =
	    openat(dir_fd, rel, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	need(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
}

static void
check(const struct strv *v, size_t lines)
{
	unsigned long nr;
	const char *p;
	size_t i;

	need(v->n <= SIGNS);
	for (i = 0; i < v->n; i++) {
		need(v->v[i][0] != '\0');
		p = strstr(v->v[i], "has a case of its own for what test_app.");
		if (p != NULL && (p = strrchr(p, '.')) != NULL &&
		    sscanf(p, "%*[^:]:%lu asks", &nr) == 1)
			need(nr >= 1 && nr <= lines);
	}
}

static void
same(const struct strv *a1, const struct strv *a2)
{
	size_t i;

	need(a1->n == a2->n);
	for (i = 0; i < a1->n; i++)
		need(strcmp(a1->v[i], a2->v[i]) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char app[] = "import sys\nx = 1\n";
	const char *text = (const char *)data, *patch;
	struct signs s, again;
	size_t lines = 1, i;

	if (base_fd < 0) {
		need(mkdtemp(dir) != NULL);
		dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		put("app.py", app, sizeof app - 1);
		put("Makefile", "all:\n", 5);
		base_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		treefs_guard(&a.fs, guarded, nitems(guarded));
		(void)atexit(clear);
	}
	patch = size > 0 ? memmem(text, size, "diff ", 5) : NULL;
	if (patch == NULL)
		patch = text + size;
	for (i = 1; i < nitems(guarded); i++)
		put(guarded[i], text, (size_t)(patch - text));
	for (i = 0; text + i < patch; i++)
		lines += text[i] == '\n';
	size -= (size_t)(patch - text);
	signs_find(&a, base_fd, patch, size, &s);
	check(&s.grave, lines);
	check(&s.light, lines);
	signs_find(&a, base_fd, patch, size, &again);
	same(&s.grave, &again.grave);
	same(&s.light, &again.light);
	same(&s.exits, &again.exits);
	signs_clear(&s);
	signs_clear(&again);
	return 0;
}
