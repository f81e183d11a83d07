#include "common/compat.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/text.h"
#include "orchestrator/metrics/endpoint.h"

#define BACKLOG 64
#define LOOPBACK "127.0.0.1"
#define HOST_MAX 255

struct place {
	const char *path; /* of a unix socket, in the text; NULL: none */
	char host[HOST_MAX + 1];
	char port[8];
};

static int
is_no_endpoint(const char *text, const char *why, struct err *e)
{
	return err_set(e, ERR_USAGE,
	    "--metrics %s: %s: give HOST:PORT, [ADDRESS]:PORT, :PORT (this "
	    "machine alone) or unix:/PATH",
	    text, why);
}

static int
parse(const char *text, struct place *ret, struct err *e)
{
	const char *colon = strrchr(text, ':'), *host = text;
	size_t len = colon != NULL ? (size_t)(colon - text) : 0;
	struct sockaddr_un un;
	uint64_t port;

	*ret = (struct place){ 0 };
	if (text_starts(text, "unix:")) {
		ret->path = text + strlen("unix:");
		if (ret->path[0] != '/')
			return is_no_endpoint(
			    text, "the path is not absolute", e);
		if (strlen(ret->path) >= sizeof un.sun_path)
			return is_no_endpoint(
			    text, "the path is longer than 107 bytes", e);
		return 0;
	}
	if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	} else if (memchr(host, ':', len) != NULL) {
		return is_no_endpoint(text,
		    "an IPv6 address stands in brackets, as in [::1]:9464", e);
	}
	if (len > HOST_MAX)
		return is_no_endpoint(text, "the host's name is too long", e);
	(void)snprintf(ret->host, sizeof ret->host, "%.*s", (int)len, host);
	if (num_u64(colon != NULL ? colon + 1 : text, 0, 65535, "the port",
		&port, e) < 0)
		return is_no_endpoint(
		    text, "there is no port of 0 to 65535", e);
	(void)snprintf(ret->port, sizeof ret->port, "%u", (unsigned)port);
	return 0;
}

int
endpoint_check(const char *text, struct err *e)
{
	struct place p;

	return parse(text, &p, e);
}

static int
cannot(const char *text, int error, struct err *e)
{
	const char *remedy = "name another endpoint";

	if (error == EADDRINUSE)
		remedy = "another program listens there: name another port, or "
			 "0 for one that is free";
	else if (error == EACCES)
		remedy = "ports below 1024 and others' directories are not for "
			 "everybody: name another one";
	else if (error == EADDRNOTAVAIL)
		remedy = "that is no address of this machine";
	return err_set(e, ERR_USAGE, "--metrics %s: %s: %s", text,
	    strerror(error), remedy);
}

static int
bind_and_listen(
    int fd, const struct sockaddr *sa, socklen_t len, int *ret_error)
{
	if (bind(fd, sa, len) < 0 || listen(fd, BACKLOG) < 0) {
		*ret_error = errno;
		return -1;
	}
	return 0;
}

/* Nobody listens there any more. */
static bool
is_dead(const struct sockaddr_un *un)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;
	bool dead;

	if (fd < 0)
		return false;
	dead = lstat(un->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    connect(fd, (const struct sockaddr *)un, sizeof *un) < 0 &&
	    errno == ECONNREFUSED;
	fd_close(&fd);
	return dead;
}

static int
listen_unix(const char *text, const char *path, int *ret_fd, struct err *e)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	mode_t mask;
	int fd, error = 0, r;

	(void)strlcpy(un.sun_path, path, sizeof un.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return cannot(text, errno, e);
	if (is_dead(&un))
		(void)unlink(path);
	mask = umask(0177);
	r = bind_and_listen(fd, (struct sockaddr *)&un, sizeof un, &error);
	(void)umask(mask);
	if (r < 0) {
		fd_close(&fd);
		return cannot(text, error, e);
	}
	*ret_fd = fd;
	return 0;
}

static int
listen_tcp(const char *text, const struct place *p, int *ret_fd, struct err *e)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV },
			*found;
	const char *host = p->host[0] != '\0' ? p->host : LOOPBACK;
	int r = getaddrinfo(host, p->port, &want, &found), one = 1, fd;
	int error = 0;

	if (r != 0)
		return err_set(e, ERR_USAGE,
		    "--metrics %s: %s: name an address of this machine", text,
		    gai_strerror(r));
	fd = socket(
	    found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		error = errno;
	else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0)
		error = errno;
	else
		(void)bind_and_listen(
		    fd, found->ai_addr, found->ai_addrlen, &error);
	freeaddrinfo(found);
	if (error != 0) {
		fd_close(&fd);
		return cannot(text, error, e);
	}
	*ret_fd = fd;
	return 0;
}

static char *
url_of(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof sa;
	char host[HOST_MAX + 1], port[8];

	if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&sa, len, host, sizeof host, port,
		sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return xstrdup("http://?/metrics");
	return xasprintf(sa.ss_family == AF_INET6 ? "http://[%s]:%s/metrics"
						  : "http://%s:%s/metrics",
	    host, port);
}

int
endpoint_listen(const char *text, int *ret_fd, char **ret_url, char **ret_path,
    struct err *e)
{
	struct place p;
	int r = parse(text, &p, e);

	if (r < 0)
		return r;
	if (p.path != NULL) {
		if ((r = listen_unix(text, p.path, ret_fd, e)) < 0)
			return r;
		*ret_url = xstrdup(text);
		*ret_path = xstrdup(p.path);
		return 0;
	}
	if ((r = listen_tcp(text, &p, ret_fd, e)) < 0)
		return r;
	*ret_url = url_of(*ret_fd);
	*ret_path = NULL;
	return 0;
}
