/* egress.c - see egress.h. */
#include "common/compat.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/text.h"
#include "sandbox/profile.h"
#include "worker/agent/egress.h"

int
egress_hand_out(int *listen_fd, int *ret_line, struct err *e)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	const char *dir = getenv("FORAY_LINK");
	int fd, r = 0;

	(void)snprintf(sun.sun_path, sizeof sun.sun_path, "%s/n",
	    dir != NULL && *dir != '\0' ? dir : IN_LINK);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 ||
	    connect(fd, (const struct sockaddr *)&sun, sizeof sun) < 0)
		r = -errno;
	else
		r = fd_pass(fd, "", 1, listen_fd, 1);
	fd_close(listen_fd);
	if (r < 0) {
		fd_close(&fd);
		return err_set(
		    e, r, "the network of a command: %s", err_str(r));
	}
	*ret_line = fd;
	return 0;
}

void
egress_refused(int line_fd, struct strv *ret)
{
	char text[EGRESS_TOLD_MAX + 1], *p = text;
	ssize_t n = recv(line_fd, text, sizeof text - 1, MSG_DONTWAIT);
	size_t len;

	strv_clear(ret);
	text[n > 0 ? n : 0] = '\0';
	for (; *p != '\0'; p += len + (p[len] == '\n')) {
		len = strcspn(p, "\n");
		if (len > 0)
			strv_addn(ret, p, len);
	}
}

/* The command was told in ways that it may not show. */
void
egress_say(const struct strv *hosts, struct buf *ret)
{
	char shown[128];
	size_t i;

	for (i = 0; i < hosts->n; i++) {
		text_escape_to(
		    shown, sizeof shown, hosts->v[i], strlen(hosts->v[i]));
		(void)buf_printf(ret, "%s%s",
		    i > 0 ? ", "
			  : "\n[network: not allowed by the person, so "
			    "refused: ",
		    shown);
	}
	if (hosts->n > 0)
		(void)buf_adds(ret, "]");
}
