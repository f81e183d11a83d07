/* Snapshots of real trees and git repositories. */
#include "common/compat.h"

#include "test_sandbox_bed.h"

#include "sandbox/snapshot.h"
#include "sandbox/stage.h"

static struct snapshot snap;

static int
take_from(const char *name, struct err *e)
{
	char *root = path_join(bed, name), *store = path_join(bed, "store");
	struct snapshot_opts o = { .store = store };
	int r;

	snapshot_clear(&snap);
	memset(e, 0, sizeof *e);
	r = snapshot_create(root, &o, &snap, e);
	if (r == 0)
		setenv("S", snap.tree, 1);
	free(root);
	free(store);
	return r;
}

static void
take(void)
{
	struct err e;

	if (take_from("r", &e) < 0)
		fail_msg("%s", e.text);
}

/* Old enough to be trusted. */
static void
age(void)
{
	bed_run("find r -exec touch -h -d '1 hour ago' {} +; sleep 2.1");
}

static bool
is_skipped(const char *start)
{
	for (size_t i = 0; i < snap.skipped.n; i++) {
		if (strncmp(snap.skipped.v[i], start, strlen(start)) == 0)
			return true;
	}
	return false;
}

static int
teardown(void **state)
{
	snapshot_clear(&snap);
	return bed_teardown(state);
}

/* All of it, read back: names, kinds, contents, modes, times. */
#define LIST \
	"find . -path ./.git -prune -o -printf '%P|%y|%m|%l|%T@\\n' | " \
	"LC_ALL=C sort; find . -path ./.git -prune -o -type f -print0 | " \
	"LC_ALL=C sort -z | xargs -0r sha256sum"

static void
same_tree(void)
{
	char *a = bed_read("cd r; " LIST), *b = bed_read("cd \"$S\"; " LIST);

	assert_string_equal(a, b);
	free(a);
	free(b);
}

static void
test_plain(void **state unused_arg)
{
	char *id, *owner;

	bed_run(
	    "mkdir -p r/a/b r/empty; cd r; echo 1 >a/b/f; : >nothing; "
	    "echo x >'with blank'; echo y >\"$(printf 'new\\nline')\"; "
	    "printf z >\"$(printf 'caf\\351\\\\q\"')\"; "
	    "ln -s a/b/f link; ln -s /etc/passwd out; ln -s gone dangling; "
	    "ln a/b/f hard; chmod 755 a/b/f; chmod 700 a; chmod 555 empty; "
	    "printf 'a\\000b' >bin; touch -d '2001-02-03 04:05:06.789' bin; "
	    "touch -d '2002-01-01' a");
	take();
	same_tree();
	assert_false(snap.reused);
	assert_null(snap.commit);
	assert_int_equal(snap.files.n, 10);
	assert_string_equal(snap.files.v[0], "a/b/f");
	assert_int_equal(strlen(snap.id), 32);
	id = xstrdup(snap.id);
	owner = xasprintf("%u", stage_uid());
	bed_expect("find \"$S\" -printf '%U\\n' | sort -u", owner);
	take();
	assert_true(snap.reused);
	assert_string_equal(snap.id, id);
	assert_int_equal(snap.files.n, 10);
	bed_expect("ls store | wc -l", "2");
	free(id);
	free(owner);
}

static void
test_setuid(void **state unused_arg)
{
	bed_run("mkdir r; echo 1 >r/f; chmod 6755 r/f");
	take();
	bed_expect("stat -c %a \"$S/f\"", "755");
}

static void
test_special(void **state unused_arg)
{
	bed_run("mkdir r; mkfifo r/p; echo 1 >r/f; python3 -c '"
		"import socket; socket.socket(socket.AF_UNIX).bind(\"r/s\")'");
	take();
	assert_int_equal(snap.files.n, 1);
	assert_true(is_skipped("p: "));
	assert_true(is_skipped("s: "));
}

static void
test_sparse(void **state unused_arg)
{
	char *a;

	bed_run("mkdir r; truncate -s 64M r/hole; "
		"printf x | dd of=r/hole bs=1 seek=20000000 conv=notrunc 2>&1; "
		"truncate -s 100K r/zeros");
	take();
	bed_run("cmp r/hole \"$S/hole\"; cmp r/zeros \"$S/zeros\"");
	bed_expect("[ $(stat -c %b \"$S/hole\") -lt 1000 ] && echo yes", "yes");
	/* Zeros that are data are the same content. */
	a = xstrdup(snap.id);
	bed_run("head -c 102400 /dev/zero >r/zeros");
	take();
	assert_string_equal(snap.id, a);
	free(a);
}

static void
test_deep(void **state unused_arg)
{
	bed_run("mkdir r; cd r; python3 -c '\n"
		"import os\n"
		"for i in range(600):\n"
		"    os.mkdir(\"deep-dir\"); open(\"f\", \"w\").close(); "
		"os.chdir(\"deep-dir\")\n'");
	take();
	/* What lies beyond PATH_MAX is said and left out. */
	assert_true(snap.files.n > 440);
	assert_true(is_skipped("deep-dir/deep-dir/"));
	bed_run("python3 -c '\n"
		"import os\n"
		"os.chdir(os.environ[\"S\"])\n"
		"for i in range(440):\n"
		"    os.stat(\"f\"); os.chdir(\"deep-dir\")\n'");
}

static void
test_unreadable(void **state unused_arg)
{
	bool root = geteuid() == 0;

	bed_run("mkdir r r/no; echo 1 >r/f; echo 2 >r/secret; echo 3 >r/no/x; "
		"chmod 000 r/secret r/no; sleep 2.1");
	take();
	assert_int_equal(snap.files.n, root ? 3 : 1);
	assert_int_equal(is_skipped("secret: "), !root);
	assert_int_equal(is_skipped("no: "), !root);
	take();
	assert_true(snap.reused);
	assert_int_equal(is_skipped("secret: "), !root);
	bed_run("chmod 600 r/secret");
	take();
	assert_int_equal(snap.files.n, root ? 3 : 2);
	bed_run("chmod 700 r/no");
}

static void
test_secrets(void **state unused_arg)
{
	bed_run(BED_GIT "git init -q r; cd r; mkdir c .ssh; echo K >.env; "
			"echo K >c/.env.local; echo K >.env.example; "
			"echo K >.netrc; "
			"echo K >.npmrc; echo K >.ssh/known; echo K >c/id_rsa; "
			"echo cert >cert.pem; echo '-----BEGIN RSA PRIVATE "
			"KEY-----' >key.pem; git add .npmrc; git add .env; "
			"git commit -qm x");
	take();
	bed_expect("cd \"$S\"; find . -path ./.git -prune -o -type f -print | "
		   "LC_ALL=C sort | tr '\\n' ' '",
	    "./.env.example ./.npmrc ./cert.pem ");
	assert_true(is_skipped(".env: "));
	assert_true(is_skipped("c/id_rsa: "));
	assert_true(is_skipped("key.pem: "));
	take();
	assert_true(snap.reused);
}

static void
test_change(void **state unused_arg)
{
	char *id, *tree, *ino;

	bed_run("mkdir -p r/d; echo 1 >r/d/a; echo 2 >r/b; echo 3 >r/c");
	age();
	take();
	id = xstrdup(snap.id);
	tree = xstrdup(snap.tree);
	ino = bed_read("stat -c %i \"$S/d/a\"");
	bed_run("echo 22 >r/b; rm r/c; chmod +x r/d");
	take();
	assert_false(snap.reused);
	assert_string_not_equal(snap.id, id);
	same_tree();
	bed_expect("stat -c %i \"$S/d/a\"", ino);
	/* The old one stays as it was. */
	setenv("OLD", tree, 1);
	bed_expect("cat \"$OLD/b\" \"$OLD/c\"", "2\n3");
	/* Back again: the first one, without a copy. */
	bed_run("echo 2 >r/b; echo 3 >r/c; chmod -x r/d; chmod u+x r/d");
	bed_run("chmod --reference=\"$OLD/d\" r/d");
	take();
	assert_true(snap.reused);
	assert_string_equal(snap.id, id);
	take();
	assert_true(snap.reused);
	free(id);
	free(tree);
	free(ino);
}

/* Same size, same mtime, at once: only the content tells. */
static void
test_racy(void **state unused_arg)
{
	bed_run("mkdir r; echo 1 >r/a; touch -r r/a ref");
	take();
	bed_run("echo 2 >r/a; touch -r ref r/a");
	take();
	bed_expect("cat \"$S/a\"", "2");
	/* Written in place within the tick of the file system's clock. */
	for (int i = 0; i < 5; i++) {
		bed_run("echo 3 >r/a");
		take();
		bed_run("echo 4 >r/a");
		take();
		bed_expect("cat \"$S/a\"", "4");
	}
}

static void
test_same_content(void **state unused_arg)
{
	struct err e;
	char *id;

	bed_run("mkdir r; echo 1 >r/a; cp -r r r2; touch -d 2001-01-01 r2/a");
	take();
	id = xstrdup(snap.id);
	assert_int_equal(take_from("r2", &e), 0);
	assert_string_equal(snap.id, id);
	assert_true(snap.reused);
	bed_expect("ls store | wc -l", "2");
	/* Each path remembers its own times. */
	bed_run("sleep 2.1");
	take();
	take();
	bed_run("mv r/a x; mv x r/a");
	take();
	assert_true(snap.reused);
	free(id);
}

static void
test_store_inside(void **state unused_arg)
{
	char *root, *store;
	struct snapshot_opts o = { 0 };
	struct err e;

	bed_run("mkdir r; echo 1 >r/a; mkdir -p r/xdg/foray; "
		"echo state >r/xdg/foray/x");
	root = path_join(bed, "r");
	bed_run("ln -s r/xdg alias");
	store = path_join(bed, "alias");
	setenv("XDG_STATE_HOME", store, 1);
	free(store);
	store = path_join(bed, "r/cache/snapshots");
	o.store = store;
	for (int i = 0; i < 3; i++) {
		snapshot_clear(&snap);
		assert_int_equal(snapshot_create(root, &o, &snap, &e), 0);
		assert_int_equal(snap.files.n, 1);
	}
	assert_true(snap.reused);
	free(root);
	root = snap.tree;
	snap.tree = NULL;
	assert_int_equal(snapshot_create(root, &o, &snap, &e), ERR_USAGE);
	free(root);
	free(store);
}

static void
test_sweep(void **state unused_arg)
{
	bed_run("mkdir -p r store/tmp-1-0123456789ab/snap/tree/x; "
		": >store/tmp-1-0123456789ab/lock; "
		"mkdir -p store/tmp-2-0123456789ab; "
		": >store/tmp-2-0123456789ab/lock; "
		"mkdir -p store/tmp-keep; echo 1 >r/a; "
		"chmod 000 store/tmp-1-0123456789ab/snap/tree/x");
	bed_run(
	    "flock store/tmp-2-0123456789ab/lock sleep 30 >/dev/null 2>&1 & "
	    "echo $! >pid; while flock -n store/tmp-2-0123456789ab/lock true; "
	    "do sleep 0.05; done");
	take();
	bed_expect("ls -d store/tmp-* | xargs -n1 basename | tr '\\n' ' '",
	    "tmp-2-0123456789ab tmp-keep ");
	/* Nothing is to be stored, yet it is cleared away. */
	age();
	take();
	bed_run("mkdir -p store/tmp-3-0123456789ab/swept; "
		": >store/tmp-3-0123456789ab/lock");
	take();
	assert_true(snap.reused);
	bed_expect("ls -d store/tmp-* | xargs -n1 basename | tr '\\n' ' '",
	    "tmp-2-0123456789ab tmp-keep ");
	bed_run("kill $(cat pid); pkill -P $(cat pid) 2>/dev/null || true");
}

static int
stop(uint64_t files unused_arg, uint64_t bytes unused_arg, void *ctx)
{
	return ++*(int *)ctx > 1;
}

static void
test_interrupt(void **state unused_arg)
{
	char *root = path_join(bed, "r"), *store = path_join(bed, "store");
	int n = 0;
	struct snapshot_opts o = {
		.store = store, .progress = stop, .ctx = &n
	};
	struct err e;

	bed_run("mkdir r; for i in $(seq 300); do echo $i >r/$i; done");
	assert_int_equal(snapshot_create(root, &o, &snap, &e), -EINTR);
	bed_expect("ls store", "by-path");
	free(root);
	free(store);
}

/* Two at once, of trees that come and go. */
static void
test_concurrent(void **state unused_arg)
{
	struct err e;
	pid_t pid[4];
	int status;

	bed_run("mkdir r; for i in $(seq 400); do echo $i >r/$i; done");
	for (int i = 0; i < 4; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			_exit(take_from("r", &e) == 0 ? 0 : 1);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	take();
	assert_true(snap.reused);
	bed_expect("ls store | wc -l", "2");
}

static void
test_moving(void **state unused_arg)
{
	struct err e;

	bed_run("mkdir r; for i in $(seq 2000); do echo $i >r/$i; done");
	bed_run("(trap 'exit 0' TERM; while :; do for i in $(seq 1500 1600); "
		"do rm -rf r/$i; mkdir r/$i; ln -s /etc r/$i/x; rm -rf r/$i; "
		"ln -s /etc/passwd r/$i; done; echo $$ >>r/log; done) "
		">/dev/null 2>&1 & echo $! >pid");
	for (int i = 0; i < 5; i++) {
		assert_int_equal(take_from("r", &e), 0);
		bed_expect(
		    "find \"$S\" -type f -exec grep -l root: {} + || :", "");
	}
	bed_run("kill $(cat pid); i=0; while kill -0 $(cat pid) 2>/dev/null && "
		"[ $i -lt 100 ]; do sleep 0.05; i=$((i + 1)); done");
}

/* --- git
 * ---------------------------------------------------------------------- */

#define REPO \
	BED_GIT \
	"git init -q -b topic r; cd r; echo 1 >a; mkdir d; echo 2 >d/b; " \
	"git add -A; git commit -qm one; echo later >a; git add -A; " \
	"git commit -qm two; "

#define GIT_STATE \
	"cd r; find .git -printf '%P|%y|%m|%s|%T@|%C@|%i\\n' | LC_ALL=C sort; " \
	"find .git -type f -exec sha256sum {} +"

static void
test_git(void **state unused_arg)
{
	char *before, *after, *head;

	bed_run(REPO "git remote add origin https://user:pw@example.com/x; "
		     "echo new >u; echo dirty >>a; git tag v1; git branch old");
	before = bed_read(GIT_STATE);
	take();
	after = bed_read(GIT_STATE);
	assert_string_equal(before, after);
	head = bed_read("git -C r rev-parse HEAD");
	assert_string_equal(snap.commit, head);
	same_tree();
	bed_expect("cd \"$S\"; export GIT_CONFIG_COUNT=1 "
		   "GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'; "
		   "git --no-optional-locks status --porcelain; "
		   "git log --format=%s --all; git remote; git tag; "
		   "git fsck --full 2>/dev/null; cat .git/HEAD",
	    " M a\n?? u\ntwo\nref: refs/heads/main");
	/* The index is fresh: no content need be read. */
	bed_expect("cd \"$S\"; export GIT_CONFIG_COUNT=1 "
		   "GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'; "
		   "git --no-optional-locks diff-files --name-only",
	    "a");
	/* What came before is not there (I-005). */
	bed_expect("cd r; git --no-optional-locks rev-list --objects HEAD~1 "
		   "--not HEAD >../never; o=$(git rev-parse HEAD~1); "
		   "cd \"$S\"; export GIT_CONFIG_COUNT=1 "
		   "GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'; "
		   "git cat-file -e $o 2>/dev/null || echo absent",
	    "absent");
	free(before);
	free(after);
	free(head);
}

/* Build outputs, alone and as a whole directory, are told from the rest. */
static void
test_ignored(void **state unused_arg)
{
	struct strv files = { 0 };

	bed_run(
	    REPO "printf '*.o\\nout/\\n' >.gitignore; mkdir out; "
		 "echo 1 >out/x; echo 2 >test_a.o; echo 3 >new; "
		 "echo 4 >tracked.o; git add -f tracked.o; git commit -qm o");
	take();
	assert_int_equal(snapshot_unignored(&snap, &files, NULL), 0);
	assert_true(strv_has(&files, "new"));
	assert_true(strv_has(&files, ".gitignore"));
	assert_false(strv_has(&files, "out/x"));
	assert_false(strv_has(&files, "test_a.o"));
	assert_true(strv_has(&snap.files, "test_a.o"));
	strv_clear(&files);
}

static void
test_git_reuse(void **state unused_arg)
{
	char *first, *links;

	bed_run(REPO "echo x >c");
	age();
	take();
	first = xstrdup(snap.commit);
	bed_run("echo y >r/c");
	take();
	assert_false(snap.reused);
	assert_string_equal(snap.commit, first);
	links = bed_read("stat -c %h \"$S\"/.git/objects/pack/*.pack");
	assert_string_equal(links, "2");
	bed_expect("cd \"$S\"; export GIT_CONFIG_COUNT=1 "
		   "GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'; "
		   "git --no-optional-locks status --porcelain",
	    "?? c");
	/* Another commit with the same files is another snapshot. */
	bed_run(BED_GIT "cd r; git add c; git commit -qm three");
	take();
	assert_false(snap.reused);
	assert_string_not_equal(snap.commit, first);
	free(first);
	free(links);
}

/* Everything that a repository can have git run. */
static void
test_git_hostile(void **state unused_arg)
{
	bed_run(REPO "cat >$T/evil <<'X'\n#!/bin/sh\n: >$T/pwned\nX\n"
		     "chmod +x $T/evil; "
		     "for k in core.fsmonitor core.pager core.editor "
		     "core.sshCommand core.askPass diff.external "
		     "credential.helper core.gitProxy "
		     "uploadpack.packObjectsHook gpg.program; do "
		     "git config $k $T/evil; done; "
		     "git config core.hooksPath $T/hooks; mkdir $T/hooks; "
		     "for h in post-index-change post-checkout pre-commit "
		     "reference-transaction; do cp $T/evil $T/hooks/$h; "
		     "cp $T/evil .git/hooks/$h; done; "
		     "git config filter.x.clean $T/evil; "
		     "git config filter.x.smudge $T/evil; "
		     "git config filter.x.process $T/evil; "
		     "git config diff.x.textconv $T/evil; "
		     "git config extensions.partialClone o; "
		     "git config remote.o.url \"ext::$T/evil\"; "
		     "git config remote.o.promisor true; "
		     "git config protocol.ext.allow always; "
		     "echo '* filter=x diff=x' >.gitattributes; "
		     "echo K >.netrc; rm -f $T/pwned");
	take();
	assert_non_null(snap.commit);
	bed_expect("ls $T | grep -c pwned || true", "0");
	bed_expect("grep -c evil \"$S/.git/config\" || true", "0");
	bed_expect("ls \"$S/.git/hooks\" | wc -l", "0");
}

static void
test_git_shapes(void **state unused_arg)
{
	struct err e;

	/* no commit */
	bed_run("git init -q r; echo 1 >r/a");
	take();
	assert_null(snap.commit);
	bed_run("test -f \"$S/.git/HEAD\"");
	/* linked worktree */
	bed_run("rm -rf r; " REPO "git worktree add -q ../wt HEAD~1");
	assert_int_equal(take_from("wt", &e), 0);
	assert_non_null(snap.commit);
	bed_expect("cat \"$S/a\"", "1");
	/* submodule */
	bed_run(BED_GIT "git init -q super; cd super; "
			"git -c protocol.file.allow=always submodule --quiet "
			"add $T/r sub; git commit -qm s");
	assert_int_equal(take_from("super/sub", &e), 0);
	assert_non_null(snap.commit);
	assert_int_equal(take_from("super", &e), 0);
	assert_non_null(snap.commit);
	bed_expect("ls -A \"$S/sub\" | tr '\\n' ' '", "a d ");
	bed_expect("cd \"$S\"; export GIT_CONFIG_COUNT=1 "
		   "GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'; "
		   "git --no-optional-locks status --porcelain",
	    "");
	/* a directory apart */
	bed_run(BED_GIT "git init -q --separate-git-dir=apart sep; cd sep; "
			"echo 1 >a; git add a; git commit -qm x");
	assert_int_equal(take_from("sep", &e), 0);
	assert_non_null(snap.commit);
	/* sha256 */
	bed_run(BED_GIT "git init -q --object-format=sha256 s2; cd s2; "
			"echo 1 >a; git add a; git commit -qm x");
	assert_int_equal(take_from("s2", &e), 0);
	assert_int_equal(strlen(snap.commit), 64);
	bed_expect("cd \"$S\"; export GIT_CONFIG_COUNT=1 "
		   "GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'; "
		   "git --no-optional-locks status --porcelain; "
		   "git log --format=%s",
	    "x");
	/* detached, packed, with a strange name; a clone that borrows its
	 * objects is not followed, nor are links to another's refs */
	bed_run(BED_GIT "cd r; git checkout -q --detach; git gc -q; cd ..; "
			"mv r 'r: \"q'; git clone -q --shared './r: \"q' cl");
	assert_int_equal(take_from("cl", &e), 0);
	assert_null(snap.commit);
	assert_true(is_skipped(".git: it borrows objects"));
	assert_int_equal(take_from("r: \"q", &e), 0);
	assert_non_null(snap.commit);
	bed_run(BED_GIT "git init -q li; rmdir li/.git/refs/heads; "
			"ln -s ../../../'r: \"q'/.git/refs/heads li/.git/refs");
	assert_int_equal(take_from("li", &e), 0);
	assert_null(snap.commit);
	assert_true(is_skipped(".git: symbolic links"));
}

static void
test_git_broken(void **state unused_arg)
{
	struct err e;

	bed_run(REPO "rm -f .git/objects/$(git rev-parse HEAD:d/b | "
		     "sed 's,..,&/,')");
	take();
	assert_null(snap.commit);
	assert_true(is_skipped(".git: "));
	bed_run("test ! -e \"$S/.git\"");
	take();
	assert_true(snap.reused);
	/* not a repository after all */
	bed_run("mkdir x x/.git; echo 1 >x/a");
	assert_int_equal(take_from("x", &e), 0);
	assert_true(is_skipped(".git: "));
	bed_run("mkdir y; echo 'gitdir: /nonexistent' >y/.git; echo 1 >y/a");
	assert_int_equal(take_from("y", &e), 0);
	assert_true(is_skipped(".git: "));
	bed_run("mkfifo z || true; mkdir w; mkfifo w/.git; echo 1 >w/a");
	assert_int_equal(take_from("w", &e), 0);
	assert_null(snap.commit);
}

/* A tree from elsewhere must not have us read another repository. */
static void
test_git_foreign(void **state unused_arg)
{
	static const char *const ways[] = { "echo 'gitdir: ../r/.git' >t/.git",
		"ln -s ../r/.git t/.git",
		"git init -q t; rm -r t/.git/refs; ln -s $T/r/.git/refs t/.git; "
		"ln -s $T/r/.git/packed-refs t/.git; "
		"echo 'ref: refs/heads/topic' >t/.git/HEAD",
		"git init -q t; echo $T/r/.git >t/.git/commondir; "
		"echo 'ref: refs/heads/topic' >t/.git/HEAD",
		"mkdir t/g; echo 'gitdir: g' >t/.git; "
		"echo 'ref: refs/heads/topic' >t/g/HEAD; "
		"echo $T/r/.git >t/g/commondir; echo $T/t/.git >t/g/gitdir" };
	struct err e;

	bed_run(REPO);
	for (size_t i = 0; i < nitems(ways); i++) {
		bed_run("rm -rf t; mkdir t; echo 1 >t/mine");
		bed_run(ways[i]);
		assert_int_equal(take_from("t", &e), 0);
		if (snap.commit != NULL)
			fail_msg("way %zu", i);
		assert_true(is_skipped(".git: "));
	}
}

static void
test_toplevel(void **state unused_arg)
{
	char *top, *dir = path_join(bed, "r/d"), *bare = path_join(bed, "b");
	char *none = path_join(bed, "n"), *in = path_join(bed, "r/.git/refs");
	char *r = path_join(bed, "r");
	struct err e;

	bed_run(REPO "cd ..; git init -q --bare b; mkdir n");
	assert_int_equal(snapshot_toplevel(dir, &top, &e), 0);
	assert_string_equal(top, r);
	free(top);
	assert_int_equal(snapshot_toplevel(none, &top, &e), 0);
	assert_null(top);
	assert_int_equal(snapshot_toplevel(bare, &top, &e), ERR_USAGE);
	assert_int_equal(snapshot_toplevel(in, &top, &e), ERR_USAGE);
	assert_int_equal(snapshot_toplevel("/proc/none", &top, &e), -ENOENT);
	free(dir);
	free(bare);
	free(none);
	free(in);
	free(r);
}

/* As root, on a file system of its own. */
static void
test_full(void **state unused_arg)
{
	struct snapshot_opts o = { 0 };
	char *root, *store;
	struct err e;

	if (geteuid() != 0)
		skip();
	root = path_join(bed, "r");
	store = path_join(bed, "small/s");
	o.store = store;
	bed_run("mkdir r small; head -c 3000000 /dev/urandom >r/a; "
		"mount -t tmpfs -o size=1M none small");
	assert_int_equal(snapshot_create(root, &o, &snap, &e), -ENOSPC);
	assert_non_null(strstr(e.text, store));
	assert_non_null(strstr(e.text, "MiB"));
	bed_run("test \"$(ls small/s)\" = by-path; umount small");
	/* A bind mount belongs to the tree, /proc does not. */
	bed_run("mkdir r/m r/p src; echo in >src/f; mount --bind src r/m; "
		"mount -t proc none r/p");
	take();
	bed_run("umount r/m r/p");
	assert_int_equal(snap.files.n, 2);
	assert_true(is_skipped("p: "));
	free(root);
	free(store);
}

#define T(f) cmocka_unit_test_setup_teardown(f, bed_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = { T(test_plain), T(test_setuid),
		T(test_special), T(test_sparse), T(test_deep),
		T(test_unreadable), T(test_secrets), T(test_change),
		T(test_racy), T(test_same_content), T(test_store_inside),
		T(test_sweep), T(test_interrupt), T(test_concurrent),
		T(test_moving), T(test_git), T(test_ignored), T(test_git_reuse),
		T(test_git_hostile), T(test_git_shapes), T(test_git_broken),
		T(test_git_foreign), T(test_toplevel), T(test_full) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
