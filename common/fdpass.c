#include "common/compat.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/fdio.h"
#include "common/fdpass.h"

/* Aligned as its header wants it. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(FDPASS_MAX * sizeof(int))];
};

int
fd_pass(int sock, const void *p, size_t len, const int *fds, size_t n)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)p, .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control c;
	ssize_t done;

	if (n > FDPASS_MAX || len == 0)
		return -EINVAL;
	if (n > 0) {
		memset(&c, 0, sizeof c);
		m.msg_control = c.bytes;
		m.msg_controllen = CMSG_SPACE(n * sizeof *fds);
		c.head.cmsg_level = SOL_SOCKET;
		c.head.cmsg_type = SCM_RIGHTS;
		c.head.cmsg_len = CMSG_LEN(n * sizeof *fds);
		memcpy(CMSG_DATA(&c.head), fds, n * sizeof *fds);
	}
	do
		done = sendmsg(sock, &m, MSG_NOSIGNAL);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	return (size_t)done == len ? 0 : -EIO;
}

ssize_t
fd_take(int sock, void *p, size_t size, int *ret_fds, size_t max, size_t *ret_n)
{
	struct iovec iov = { .iov_base = p, .iov_len = size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[FDPASS_MAX];
	union control c;
	struct cmsghdr *h;
	size_t n = 0, k;
	ssize_t got;

	if (max > FDPASS_MAX)
		max = FDPASS_MAX;
	m.msg_control = c.bytes;
	m.msg_controllen = sizeof c.bytes;
	do
		got = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	for (h = CMSG_FIRSTHDR(&m); h != NULL; h = CMSG_NXTHDR(&m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		k = (h->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
		if (k > FDPASS_MAX - n)
			k = FDPASS_MAX - n; /* can't be: there is no room */
		memcpy(fds + n, CMSG_DATA(h), k * sizeof *fds);
		n += k;
	}
	/* What the kernel could not deliver it has closed. */
	if (n > max || (m.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0) {
		while (n > 0)
			fd_close(&fds[--n]);
		return -EMSGSIZE;
	}
	memcpy(ret_fds, fds, n * sizeof *fds);
	*ret_n = n;
	return got;
}
