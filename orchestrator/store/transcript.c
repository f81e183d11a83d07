#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common/fdio.h"
#include "common/path.h"
#include "orchestrator/store/transcript.h"

char *
transcript_path(const struct store *s, const char *worker)
{
	return path_joinf(store_dir(s), "sessions/%s.jsonl", worker);
}

int
transcript_add(struct store *s, const char *worker, double t, unsigned turn,
    const json_t *message, struct err *e)
{
	json_t *line = json_pack("{s:f, s:i}", "t", t, "turn", (int)turn);
	char *path = transcript_path(s, worker);
	char *text = NULL;
	struct buf b;
	int fd = -1, r = 0;

	buf_init(&b, BUF_NOMAX);
	if (json_object_update_missing(line, (json_t *)(uintptr_t)message) < 0)
		r = err_set(e, -EINVAL, "a message is no object");
	if (r < 0)
		goto out;
	text = json_text(line);
	(void)buf_printf(&b, "%s\n", text);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		r = err_set(e, -errno, "%s: %s", path, strerror(errno));
	else if ((r = fd_write_all(fd, b.data, b.len)) < 0)
		r = err_set(e, r, "%s: %s", path, err_str(r));
out:
	fd_close(&fd);
	buf_clear(&b);
	free(text);
	free(path);
	json_decref(line);
	return r;
}
