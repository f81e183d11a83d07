/* test_sandbox_bed.h - small trees and git repositories for tests. */
#ifndef TESTS_UNIT_TEST_SANDBOX_BED_H
#define TESTS_UNIT_TEST_SANDBOX_BED_H

#include <sys/stat.h>
#include <sys/wait.h>

#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "sandbox/probe.h"

/* A directory of this test, resolved; $T of the commands. */
static char *bed;

static inline int
bed_setup(void **state unused_arg)
{
	/* Where an overlay can lie on. */
	const char *top =
	    probe_layout("/tmp") == LAYOUT_OVERLAY ? "/tmp" : "/dev/shm";
	char *name = path_join(top, "foray-test-XXXXXX"), *sub;

	assert_non_null(mkdtemp(name));
	bed = realpath(name, NULL);
	free(name);
	setenv("T", bed, 1);
	/* The user's own, for what the code takes from there. */
	sub = path_join(bed, "xdg");
	setenv("XDG_STATE_HOME", sub, 1);
	setenv("XDG_CACHE_HOME", sub, 1);
	free(sub);
	return 0;
}

static inline int
bed_teardown(void **state unused_arg)
{
	struct err e;

	if (path_rmtree(bed, &e) < 0)
		fail_msg("%s", e.text);
	free(bed);
	bed = NULL;
	return 0;
}

/* sh -c in the bed; what it wrote, without the last newline. Yours. */
static inline char *
bed_read(const char *script)
{
	struct strv argv = { 0 };
	struct spawn s = { .argv = &argv, .cwd = bed };
	struct spawn_result res;
	struct buf out;
	char *text;

	buf_init(&out, 1 << 20);
	strv_addl(&argv, "sh", "-e", "-c", script, (char *)NULL);
	s.out = s.err = &out;
	assert_int_equal(spawn_run(&s, &res, NULL), 0);
	if (res.status != 0)
		fail_msg(
		    "%s: status %d: %s", script, res.status, buf_str(&out));
	if (out.len > 0 && out.data[out.len - 1] == '\n')
		out.data[--out.len] = '\0';
	text = buf_detach(&out, NULL);
	strv_clear(&argv);
	return text;
}

/* The sandbox does not work here, or can't be tried. */
static inline void
bed_skip(void)
{
	if (getenv("FORAY_SANDBOX_MUST_WORK") != NULL)
		fail_msg("the sandbox must work here");
	skip();
}

static inline void
bed_run(const char *script)
{
	free(bed_read(script));
}

static inline void
bed_expect(const char *script, const char *expected)
{
	char *got = bed_read(script);

	assert_string_equal(got, expected);
	free(got);
}

#define BED_GIT \
	"export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 " \
	"GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a " \
	"GIT_COMMITTER_EMAIL=a@b; "

#endif
