/* opens.c - see opens.h. */
#include "common/compat.h"

#include <sys/inotify.h>

#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "worker/agent/opens.h"

/* Between two opens that do not overlap stands a close: they are not taken for
 * one. */
#define EVENTS (IN_OPEN | IN_CLOSE | IN_DONT_FOLLOW)

void
opens_begin(struct opens *o, int root_fd, const struct strv *names)
{
	size_t i;
	char *at;

	*o = (struct opens){ .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
		.files = names->n };
	o->watches = xcalloc(names->n + 1, sizeof *o->watches);
	o->n = xcalloc(names->n + 1, sizeof *o->n);
	for (i = 0; i < names->n; i++) {
		at = xasprintf("/proc/self/fd/%d/%s", root_fd, names->v[i]);
		o->watches[i] =
		    o->fd < 0 ? -1 : inotify_add_watch(o->fd, at, EVENTS);
		free(at);
	}
}

static bool
take(struct opens *o, const struct inotify_event *e)
{
	size_t i;

	for (i = 0; (e->mask & IN_OPEN) != 0 && i < o->files; i++)
		o->n[i] += o->watches[i] == e->wd;
	return (e->mask & IN_Q_OVERFLOW) == 0;
}

void
opens_end(struct opens *o)
{
	char text[8192]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *e;
	bool good = o->fd >= 0;
	ssize_t n = 0;
	size_t at;

	while (good && (n = read(o->fd, text, sizeof text)) > 0)
		for (at = 0; good && at < (size_t)n; at += sizeof *e + e->len) {
			e = (const void *)(text + at);
			good = take(o, e);
		}
	if (!good)
		memset(o->n, 0, o->files * sizeof *o->n);
	fd_close(&o->fd);
}

void
opens_clear(struct opens *o)
{
	if (o->watches == NULL)
		return;
	fd_close(&o->fd);
	free(o->watches);
	free(o->n);
	*o = (struct opens){ .fd = -1 };
}
