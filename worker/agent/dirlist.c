/* dirlist.c - see dirlist.h. */
#include "common/compat.h"

#include <dirent.h>
#include <fcntl.h>

#include "common/fdio.h"
#include "worker/agent/dirlist.h"

int
dirlist(const struct treefs *fs, const struct treefs_name *n, struct strv *ret,
    struct err *e)
{
	struct dirent *d;
	struct stat st;
	DIR *dir;
	int fd;

	fd = treefs_fd(fs, n, O_DIRECTORY, e);
	if (fd < 0)
		return fd;
	if ((dir = fdopendir(fd)) == NULL) {
		fd_close(&fd);
		return err_set(e, ERR_USAGE, "%s can't be listed", n->rel);
	}
	while ((d = readdir(dir)) != NULL && ret->n < DIRLIST_MAX) {
		const char *mark = "";

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
		    0) {
			if (S_ISDIR(st.st_mode))
				mark = "/";
			else if (S_ISLNK(st.st_mode))
				mark = "@";
		}
		strv_addf(ret, "%s%s", d->d_name, mark);
	}
	closedir(dir);
	return 0;
}
