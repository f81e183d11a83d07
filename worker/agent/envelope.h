/*
 * envelope.h - patches as models write them, parsed and applied. Pure.
 *
 * Two forms: a unified diff (plain or git's, with wrong line counts forgiven),
 * and the envelope
 *
 *	*** Begin Patch
 *	*** Update File: PATH      *** Add File: PATH      *** Delete File: PATH
 *	*** Move to: PATH
 *	@@ a line above the place
 *	 context
 *	-old
 *	+new
 *	*** End of File
 *	*** End Patch
 *
 * An update writes only its "+" lines: context stays as the file has it, and so
 * do line ends, a byte-order mark and the newline at the end. A place that is
 * not found, or is found twice with nothing to tell them apart, is an error.
 */
#ifndef WORKER_AGENT_ENVELOPE_H
#define WORKER_AGENT_ENVELOPE_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

#define ENVELOPE_MAX ((size_t)1 << 20)
#define ENVELOPE_MAX_FILES 500

struct hunk_line {
	char tag; /* ' ', '+' or '-' */
	char *text;
};

struct hunk {
	struct strv anchors; /* lines to pass first, in order */
	uint64_t line;       /* 1-based hint of a unified diff; 0: none */
	struct hunk_line *v;
	size_t n;
	bool at_end; /* "*** End of File" */
	bool old_no_newline;
	bool new_no_newline;
};

enum patch_kind {
	PATCH_ADD,
	PATCH_UPDATE,
	PATCH_DELETE
};

struct patch_file {
	enum patch_kind kind;
	char *path;
	char *move_to; /* NULL: stays */
	bool exec;     /* "new file mode 100755" */
	struct hunk *v;
	size_t n;
};

struct patch {
	struct patch_file *v;
	size_t n;
};

int patch_parse(const char *s, size_t len, struct patch *ret, struct err *e);
void patch_clear(struct patch *p);

struct patch_count {
	size_t added, removed;
};

/* The new text of a file: from src for an update, from nothing for an add. */
int patch_file_apply(const struct patch_file *f, const char *src, size_t len,
    struct buf *ret, struct patch_count *count, struct err *e);

/* unified.c: the other form, for envelope.c. */
int unified_parse(const char *s, size_t len, struct patch *ret, struct err *e);
struct patch_file *patch_add_file(
    struct patch *p, enum patch_kind kind, const char *path, size_t len);
struct hunk *patch_add_hunk(struct patch_file *f);
void hunk_add(struct hunk *h, char tag, const char *s, size_t len);
/* "@@ -12,3 +12,4 @@ ..." */
bool hunk_header(const char *s, size_t len, uint64_t *old_line, uint64_t *old_n,
    uint64_t *new_n);

#endif
