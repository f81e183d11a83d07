#include "common/compat.h"

#include "common/num.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/explain.h"

#define INDENT 16
#define WIDTH 79

struct out {
	struct buf *b;
	size_t col;
	bool begun; /* an item of this line was written */
};

/* A heading, then items that wrap. */
static void
begin(struct out *o, const char *heading)
{
	(void)buf_printf(o->b, "%-*s", INDENT, heading);
	o->col = INDENT;
	o->begun = false;
}

static void item(struct out *o, const char *fmt, ...) printflike(2, 3);

static void
item(struct out *o, const char *fmt, ...)
{
	char text[4096], clean[4096];
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	text_escape_to(clean, sizeof clean, text, strlen(text));
	len = strlen(clean);
	if (o->begun && o->col + 2 + len > WIDTH) {
		(void)buf_printf(o->b, ",\n%*s", INDENT, "");
		o->col = INDENT;
	} else if (o->begun) {
		(void)buf_adds(o->b, ", ");
		o->col += 2;
	}
	(void)buf_adds(o->b, clean);
	o->col += len;
	o->begun = true;
}

static void
end(struct out *o, const char *if_none)
{
	(void)buf_printf(o->b, "%s\n", o->begun ? "" : if_none);
}

/* A sentence below the heading. */
static void
note(struct out *o, const char *text)
{
	(void)buf_printf(o->b, "%*s%s\n", INDENT, "", text);
}

/* The last of them that covers path decides. */
static const struct sandbox_mount *
around(const struct sandbox_spec *s, size_t before, const char *path)
{
	for (size_t i = before; i > 0; i--) {
		if (s->mounts[i - 1].kind != MOUNT_REMOUNT_RO &&
		    path_is_below(path, s->mounts[i - 1].dst))
			return &s->mounts[i - 1];
	}
	return NULL;
}

static bool
is_mask(const struct sandbox_mount *m)
{
	return m->kind == MOUNT_RO && strcmp(m->src, "/dev/null") == 0;
}

/* A read-only part of something writable. */
static bool
is_guard(const struct sandbox_spec *s, size_t i)
{
	const struct sandbox_mount *m = &s->mounts[i], *up;

	if (m->kind != MOUNT_RO || is_mask(m))
		return false;
	up = around(s, i, m->dst);
	return up != NULL && up->kind == MOUNT_RW;
}

static bool
is_emptied(const struct sandbox_spec *s, size_t i)
{
	const struct sandbox_mount *m = &s->mounts[i];

	return m->kind == MOUNT_TMPFS && i + 1 < s->n_mounts &&
	    s->mounts[i + 1].kind == MOUNT_REMOUNT_RO &&
	    strcmp(s->mounts[i + 1].dst, m->dst) == 0;
}

static void
visible(struct out *o, const struct sandbox_spec *s)
{
	begin(o, "read");
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (s->mounts[i].kind == MOUNT_RO && !is_mask(&s->mounts[i]) &&
		    !is_guard(s, i))
			item(o, "%s", s->mounts[i].dst);
		else if (s->mounts[i].kind == MOUNT_SYMLINK)
			item(o, "%s (a link)", s->mounts[i].dst);
		else if (s->mounts[i].kind == MOUNT_DATA)
			item(o, "%s (its own)", s->mounts[i].dst);
	}
	end(o, "nothing");
}

static void
writable(struct out *o, const struct sandbox_spec *s, const char *tree)
{
	const struct sandbox_mount *m, *up;
	char size[32];

	begin(o, "write");
	for (size_t i = 0; i < s->n_mounts; i++) {
		m = &s->mounts[i];
		up = around(s, i, m->dst);
		/* not again what lies in one that was named */
		if (m->kind != MOUNT_RW || (up != NULL && up->kind == MOUNT_RW))
			continue;
		item(o, "%s%s", m->dst,
		    strcmp(m->dst, tree) != 0 ? ""
			: text_starts(m->src, "@merged")
			? " (a copy, thrown away)"
			: " (your tree)");
	}
	for (size_t i = 0; i < s->n_mounts; i++) {
		m = &s->mounts[i];
		if (m->kind == MOUNT_TMPFS && m->size > 0 && !is_emptied(s, i))
			item(o, "%s (empty, %s, gone afterwards)", m->dst,
			    num_fmt_size(m->size, size, sizeof size));
	}
	end(o, "nothing");
}

static void
guarded(struct out *o, const struct sandbox_spec *s)
{
	o->begun = false;
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (!is_guard(s, i))
			continue;
		if (!o->begun)
			begin(o, "  but not");
		item(o, "%s", s->mounts[i].dst);
	}
	if (o->begun)
		end(o, "");
}

static void
hidden(struct out *o, const struct sandbox_spec *s)
{
	begin(o, "hidden");
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (is_mask(&s->mounts[i]) || is_emptied(s, i))
			item(o, "%s", s->mounts[i].dst);
	}
	item(o, "everything that is not named here");
	end(o, "");
	note(o,
	    "home directories, /run and /var: sockets of docker, ssh-agent,");
	note(
	    o, "D-Bus and X11, keyrings, credentials of clouds and registries");
}

static void
limits(struct out *o, const struct sandbox_spec *s)
{
	const struct sandbox_limits *l = &s->limits;
	char size[32];

	begin(o, "limits");
	if (l->memory_bytes > 0)
		item(o, "%s of memory",
		    num_fmt_size(l->memory_bytes, size, sizeof size));
	else
		item(o, "nine tenths of the machine's memory");
	if (l->data_bytes == LIMIT_UNLIMITED)
		item(o, "no limit on memory a process");
	else if (l->data_bytes > 0)
		item(o, "%s of memory a process",
		    num_fmt_size(l->data_bytes, size, sizeof size));
	if (l->cpu_milli > 0)
		item(o, "%.2f processors", (double)l->cpu_milli / 1000);
	if (l->file_bytes == LIMIT_UNLIMITED)
		item(o, "files of any size");
	else if (l->file_bytes > 0)
		item(o, "files of %s",
		    num_fmt_size(l->file_bytes, size, sizeof size));
	if (l->procs > 0)
		item(o, "%llu processes", (unsigned long long)l->procs);
	if (l->pids > 0)
		item(o, "%llu processes in all", (unsigned long long)l->pids);
	if (l->cpu_s > 0)
		item(o, "%llu s of processor time a process",
		    (unsigned long long)l->cpu_s);
	if (l->nofile > 0)
		item(o, "%llu open files", (unsigned long long)l->nofile);
	if (l->disk_bytes > 0)
		item(o, "%s more in a worker's tree",
		    num_fmt_size(l->disk_bytes, size, sizeof size));
	if (l->output_bytes > 0)
		item(o, "%s of output to a worker",
		    num_fmt_size(l->output_bytes, size, sizeof size));
	end(o, "none");
}

static void
environment(struct out *o, const struct sandbox_spec *s)
{
	const char *value;

	begin(o, "environment");
	for (size_t i = 0; i < s->env.n; i++)
		item(o, "%.*s", (int)strcspn(s->env.v[i], "="), s->env.v[i]);
	end(o, "empty");
	note(o, "nothing else of yours; HOME is a directory of its own");
	value = strv_getenv(&s->env, "LSAN_OPTIONS");
	if (value != NULL && strcmp(value, "detect_leaks=0") == 0)
		note(o,
		    "LeakSanitizer is off: it needs ptrace (--profile debug)");
}

static void
network(struct out *o, const struct explain_net *net)
{
	begin(o, "network");
	for (size_t i = 0; i < net->hosts.n; i++)
		item(o, "%s", net->hosts.v[i]);
	end(o, "none");
	(void)buf_printf(o->b,
	    net->own != NULL
		? "%*sby a proxy; servers of the command's own are at %s\n"
		: "%*sby a proxy; %s is the sandbox's own\n",
	    INDENT, "", net->own != NULL ? net->own : "127.0.0.1");
}

static void
reach(
    struct out *o, const struct sandbox_spec *s, const struct explain_net *net)
{
	if (s->backend == BACKEND_CONTAINER) {
		(void)buf_adds(o->b,
		    "network         none: no sockets, not to 127.0.0.1 either\n"
		    "processes       others can be seen, not signalled (Linux "
		    "6.12)\n");
		note(o, "one layer less: SECURITY.md says what is weaker");
		note(o, "/etc/passwd and the host name are the machine's");
		return;
	}
	if (s->egress && net != NULL)
		network(o, net);
	else
		(void)buf_adds(o->b,
		    s->egress
			? "network         hosts of network.allow and "
			  "--allow-net, by a proxy;\n"
			  "                127.0.0.1 is the sandbox's own\n"
			: "network         none; 127.0.0.1 is the sandbox's "
			  "own\n");
	(void)buf_adds(
	    o->b, "processes       it sees and signals its own only\n");
}

void
explain(const struct profile_def *d, const struct sandbox_spec *s,
    const char *tree, const struct explain_net *net, struct buf *ret)
{
	const bool bare = s->backend == BACKEND_CONTAINER;
	struct out o = { .b = ret };

	begin(&o, "profile");
	item(&o, "%s", d->name != NULL ? d->name : "of the settings");
	end(&o, "");
	if (d->about != NULL && *d->about != '\0')
		note(&o, d->about);
	visible(&o, s);
	writable(&o, s, tree);
	guarded(&o, s);
	hidden(&o, s);
	reach(&o, s, net);
	(void)buf_printf(ret,
	    "system calls    refused: %smounts, namespaces,\n",
	    s->ptrace && !bare ? "" : "ptrace, ");
	note(&o, "keyctl, bpf, perf, userfaultfd, io_uring, kernel modules,");
	note(&o,
	    bare ? "set-uid files, typing into the terminal, sockets"
		 : "set-uid files, typing into the terminal, sockets other "
		   "than");
	if (!bare)
		note(&o, "unix, IP and netlink");
	if (s->ptrace && !bare)
		note(&o, "allowed: ptrace of what it starts itself");
	limits(&o, s);
	environment(&o, s);
}
