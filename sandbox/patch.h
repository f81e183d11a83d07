/*
 * patch.h - a unified diff, read from hostile text into what it would do.
 *
 * Names lose their first component ("a/", "b/"), as with git apply -p1. Text
 * between files is skipped. What was read can be written again in one canonical
 * form, so that git apply sees exactly what was checked here and nothing else.
 */
#ifndef SANDBOX_PATCH_H
#define SANDBOX_PATCH_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

#define PATCH_FILES_MAX 20000
#define PATCH_LITERAL_MAX (256U << 20) /* one binary file, unpacked */

enum patch_verb {
	PATCH_CHANGE,
	PATCH_CREATE,
	PATCH_DELETE,
	PATCH_RENAME,
	PATCH_COPY
};

struct patch_file {
	enum patch_verb verb;
	char *from; /* NULL: created */
	char *to;   /* NULL: deleted */
	uint32_t old_mode,
	    new_mode; /* 0: not said; 0100644, 0100755, 0120000 */
	bool binary;
	const char *index; /* the index line, borrowed from the text; or NULL */
	size_t index_len;
	const char *body; /* hunks, or binary data; borrowed */
	size_t body_len;
};

struct gitpatch {
	struct patch_file *v;
	size_t n, size;
};

/* ERR_SYNTAX: no patch. ERR_DENIED: a path that is not a safe relative one, a
 * link that leads out, a submodule. ERR_LIMIT. The text must outlive ret. */
int gitpatch_parse(
    const char *text, size_t len, struct gitpatch *ret, struct err *e);
void gitpatch_clear(struct gitpatch *p);
/* -ENOBUFS when dst is too small. */
int gitpatch_write(const struct gitpatch *p, struct buf *dst);

/* ".git" as some file system may read it: any case, git~1, trailing dots and
 * blanks, streams, code points that HFS ignores. */
bool patch_is_dotgit(const char *name, size_t len);

/* patch_hunk.c: parts of the parser. */
struct patch_line {
	const char *s; /* borrowed */
	size_t len;    /* without its newline, and a \r before it */
	const char *next;
	bool is_end; /* there is no line */
};
struct patch_line patch_peek(const char *at, const char *end);
bool patch_starts(const struct patch_line *l, const char *prefix);
int patch_syntax(struct err *e, const char *what);
/* From the first "@@ -" or "GIT binary patch" on; *at moves behind it. */
int patch_hunks(
    const char **at, const char *end, struct patch_file *f, struct err *e);
int patch_binary(
    const char **at, const char *end, struct patch_file *f, struct err *e);
/* The link that f makes: its target is in the hunk. */
int patch_check_target(const struct patch_file *f, struct err *e);

/* patch_name.c: the rest of them. */
/* A C string in quotes at s; *ret_len is what it took with both quotes. NULL
 * when it is none, or holds a NUL. Yours. */
char *patch_unquote(const char *s, size_t len, size_t *ret_len);
/* The whole rest of a line as one name; a tab ends a plain one. Or NULL. Yours.
 */
char *patch_whole_name(const char *s, size_t len);
/* Two plain names with a blank between, equal but for their first component:
 * the rest of them. NULL when they are not. Yours. */
char *patch_same_names(const char *s, size_t len);
int patch_quote(struct buf *dst, const char *prefix, const char *name);
/* 0, or ERR_DENIED with the reason. */
int patch_check_path(const char *path, struct err *e);
int patch_check_link(
    const char *path, const char *target, size_t len, struct err *e);

#endif
