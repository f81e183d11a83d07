/* Snapshots from one store to another, and what is wrong with what comes. */
#include "common/compat.h"

#include "test_sandbox_bed.h"

#include <sys/statvfs.h>

#include "sandbox/snapshot_cache.h"
#include "sandbox/snapshot_import.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/stage.h"

static struct snapshot snap;

/* A source that answers from the store "store", or as a test wants. */
static struct source {
	struct snapshot_export *x;
	struct snapshot_range open[SNAPSHOT_WINDOW][SNAPSHOT_RANGES];
	size_t n[SNAPSHOT_WINDOW], first, asked;
	struct buf data;
	struct snapshot_facts facts;
	const char *manifest; /* instead of the real one */
	bool holes;           /* whole chunks are zeros, unread */
	/* Changes an answer; an error ends it. */
	int (*spoil)(const struct snapshot_range *r, struct buf *data);
	size_t asks, packs;
	uint64_t bytes, pack_bytes; /* of files; of packs */
	uint64_t done, total;
} src;

static const char zeros[SNAPSHOT_CHUNK];

static int
ask(const struct snapshot_range *r, size_t n, void *ctx unused_arg,
    struct err *e)
{
	struct snapshot_range back[SNAPSHOT_RANGES];
	struct buf b;
	size_t got, i;

	assert_in_range(src.asked - src.first, 0, SNAPSHOT_WINDOW - 1);
	i = src.asked++ % SNAPSHOT_WINDOW;
	buf_init(&b, BUF_NOMAX);
	snapshot_ranges_put(&b, r, n);
	assert_int_equal(b.len, n * SNAPSHOT_RANGE_BYTES);
	assert_int_equal(snapshot_ranges_get(b.data, b.len, back, &got, e), 0);
	assert_int_equal(got, n);
	memcpy(src.open[i], back, sizeof back);
	src.n[i] = n;
	src.asks++;
	src.packs += r->entry == SNAPSHOT_PACK;
	buf_clear(&b);
	return 0;
}

static int
answer(struct snapshot_answer *ret, void *ctx unused_arg, struct err *e)
{
	size_t i = src.first++ % SNAPSHOT_WINDOW;
	const struct snapshot_range *r = src.open[i];
	int rc = 0;

	buf_clear(&src.data);
	buf_init(&src.data, 2 * SNAPSHOT_CHUNK);
	if (r->entry == SNAPSHOT_MANIFEST && src.manifest != NULL) {
		src.facts.total = strlen(src.manifest);
		src.facts.owner = stage_uid();
		(void)buf_adds(&src.data, src.manifest);
	} else if (src.x == NULL) {
		rc = err_set(e, -ENOENT, "there is no such thing");
	} else if (src.holes && r->entry == 0 && r->len == SNAPSHOT_CHUNK &&
	    r->offset >> 20 != 4095) {
		ret->data = zeros;
		ret->len = r->len;
		return 0;
	} else {
		rc = snapshot_export_read(
		    src.x, r, src.n[i], &src.data, &src.facts, e);
	}
	if (rc == 0 && src.spoil != NULL) {
		rc = src.spoil(r, &src.data);
		if (rc < 0)
			err_set(e, rc, "the source has broken off");
	}
	if (r->entry < SNAPSHOT_INDEX)
		src.bytes += src.data.len;
	if (r->entry == SNAPSHOT_PACK)
		src.pack_bytes += src.data.len;
	ret->data = src.data.data;
	ret->len = src.data.len;
	ret->facts = src.facts;
	return rc;
}

static void
progress(uint64_t done, uint64_t total, void *ctx unused_arg)
{
	assert_in_range(done, 1, total);
	src.done = done;
	src.total = total;
}

static void
source_clear(void)
{
	snapshot_export_close(src.x);
	buf_clear(&src.data);
	memset(&src, 0, sizeof src);
}

static void
take(void)
{
	char *root = path_join(bed, "r"), *store = path_join(bed, "store");
	struct snapshot_opts o = { .store = store };
	struct err e;

	snapshot_clear(&snap);
	source_clear();
	if (snapshot_create(root, &o, &snap, &e) < 0)
		fail_msg("%s", e.text);
	setenv("S", snap.tree, 1);
	assert_int_equal(snapshot_export_open(store, snap.id, &src.x, &e), 0);
	free(root);
	free(store);
}

/* Into "there", or another directory; $D is the tree. */
static int
import_to(const char *name, const char *id, struct err *e)
{
	const struct snapshot_source s = {
		.ask = ask, .answer = answer, .progress = progress
	};
	char *store = path_join(bed, name);
	char *tree = path_joinf(store, "%s/tree", id);
	int r;

	memset(e, 0, sizeof *e);
	src.asks = src.packs = src.asked = src.first = 0;
	src.bytes = src.pack_bytes = 0;
	setenv("D", tree, 1);
	r = snapshot_import(store, id, &s, e);
	free(tree);
	free(store);
	return r;
}

static void
bring(void)
{
	struct err e;

	if (import_to("there", snap.id, &e) < 0)
		fail_msg("%s", e.text);
}

/* Nothing but what begins so may be left in the store. */
static void
nothing_left(void)
{
	bed_expect("ls there", "by-path");
}

static void
refused(int code, const char *what)
{
	struct err e;

	assert_int_equal(import_to("there", snap.id, &e), code);
	if (strstr(e.text, what) == NULL)
		fail_msg("'%s' has no '%s'", e.text, what);
	nothing_left();
}

static int
teardown(void **state)
{
	snapshot_clear(&snap);
	source_clear();
	return bed_teardown(state);
}

#define LIST \
	"find . -path ./.git -prune -o -printf '%P|%y|%m|%l|%T@|%U\\n' | " \
	"LC_ALL=C sort; find . -path ./.git -prune -o -type f -print0 | " \
	"LC_ALL=C sort -z | xargs -0r sha256sum"

static void
same_tree(void)
{
	char *a = bed_read("cd \"$S\"; " LIST),
	     *b = bed_read("cd \"$D\"; " LIST);

	assert_string_equal(a, b);
	free(a);
	free(b);
}

static void
test_kinds(void **state unused_arg)
{
	bed_run(
	    "mkdir -p r/a/b r/empty r/deep; cd r; echo 1 >a/b/f; : >nothing; "
	    "echo x >'with blank'; echo y >\"$(printf 'new\\nline')\"; "
	    "printf z >\"$(printf 'caf\\351\\\\q\"')\"; "
	    "ln -s a/b/f link; ln -s /etc/passwd out; ln -s gone dangling; "
	    "ln -s b a/up; chmod 755 a/b/f; chmod 700 a; chmod 555 empty; "
	    "printf 'a\\000b' >bin; touch -d '2001-02-03 04:05:06.789' bin; "
	    "touch -d '1960-01-01' a; head -c 900001 /dev/urandom >large; "
	    "head -c 262144 /dev/urandom >chunk; truncate -s 3M hole; "
	    "printf end >>hole; head -c 200000 /dev/zero >zeros; "
	    "mkdir many; for i in $(seq 1300); do echo $i >many/$i; done; "
	    "chmod 400 many/7; chmod 1777 deep; chmod 711 .");
	take();
	bring();
	same_tree();
	assert_int_equal(src.packs, 0);
	assert_int_equal(src.done, src.total);
	bed_expect("test $(stat -c %b \"$D/hole\") -lt 64; "
		   "ls there | grep -v by-path | wc -l",
	    "1");
	/* It is there: nothing is asked. */
	bring();
	assert_int_equal(src.asks, 0);
	/* Damaged, it comes again. */
	bed_run("chmod 600 \"$D/a/b/f\"; echo 22 >>\"$D/a/b/f\"");
	bring();
	same_tree();
}

/* In $G. */
#define STATUS \
	BED_GIT "cd \"$G\"; g() { git -c safe.directory='*' \"$@\" 2>&1; }; " \
		"g status --porcelain --ignored; g log --format=%H\\ %s; " \
		"g ls-files -s; g fsck --full"

static char *
git_of(const char *tree)
{
	setenv("G", getenv(tree), 1);
	return bed_read(STATUS);
}

static void
same_git(void)
{
	char *a = git_of("S"), *b = git_of("D");

	assert_string_equal(a, b);
	assert_non_null(strstr(a, " two\n"));
	free(a);
	free(b);
}

static void
test_git(void **state unused_arg)
{
	bed_run(BED_GIT
	    "mkdir -p r/d; cd r; git init -q; echo venv >.gitignore; "
	    "head -c 700000 /dev/urandom >d/noise; seq 5000 >f; seq 9 >g; "
	    "git add .; git commit -qm one; seq 10 >g; git commit -qam two; "
	    "mkdir venv; echo lib >venv/x; echo new >untracked; seq 11 >g; "
	    "git rm -q --cached f");
	take();
	bring();
	same_tree();
	same_git();
	assert_true(src.packs > 1);
	/* The index knows the files: nothing but what differs is read. */
	bed_expect(BED_GIT "cd \"$D\"; git -c safe.directory='*' "
			   "diff-files --name-only",
	    "g");
	/* Only what changed comes, the rest is the same file. */
	bed_run("echo 1 >>r/venv/x; cp -p r/f r/copy; touch -d 2020-01-01 "
		"r/untracked");
	take();
	bring();
	same_tree();
	same_git();
	assert_int_equal(src.packs, 0);
	assert_int_equal(src.bytes, strlen("lib\n1\n"));
	bed_expect(
	    "stat -c %h \"$D/d/noise\" \"$D/f\" \"$D/venv/x\"", "2\n3\n1");
	bed_expect("stat -c %h \"$D\"/.git/objects/pack/*.pack", "2");
	/* An earlier one that is damaged is no help, but no harm. */
	bed_run("for p in there/*/tree/.git/objects/pack/*.pack; do "
		"chmod 600 $p; : >$p; done; echo 3 >>r/venv/x");
	take();
	bring();
	same_tree();
	assert_true(src.packs > 0);
	same_git();
}

static void
test_git_kinds(void **state unused_arg)
{
	bed_run(BED_GIT "mkdir r; cd r; git init -q; echo 1 >f");
	take();
	bring();
	same_tree();
	assert_int_equal(src.packs, 0);
	bed_expect("cat \"$D/.git/HEAD\"", "ref: refs/heads/main");
	bed_run(
	    BED_GIT "rm -rf r/.git; cd r; git init -q --object-format=sha256; "
		    "git add .; git commit -qm two");
	take();
	bring();
	same_git();
	bed_run("rm -rf r/.git; echo none >r/.git");
	take();
	bring();
	same_tree();
	bed_run("test ! -e \"$D/.git\"");
}

/* --- hostile manifests ---------------------------------------------------- */

#define H "0000000000000000000000000000000000000000000000000000000000000000"

static char *
manifest_text(const char *id, const char *git, const char *lines)
{
	return xasprintf("{\"version\":1,\"id\":\"%s\",\"made_ns\":1,"
			 "\"git\":\"%s\",\"boot\":\"\"}\n%s",
	    id, git, lines);
}

/* Lines as they are, with the id that they have. */
static char *
manifest_of(const char *git, const char *lines)
{
	char *text = manifest_text("", git, lines);
	struct manifest m;

	assert_int_equal(manifest_read(text, strlen(text), &m), 0);
	free(snap.id);
	snap.id = manifest_id(&m, stage_uid());
	manifest_clear(&m);
	free(text);
	return manifest_text(snap.id, git, lines);
}

static void
test_hostile_manifest(void **state unused_arg)
{
#define D(p) "[\"" p "\",\"d\",493,0,0,0,0,\"\"]\n"
#define F(p) "[\"" p "\",\"f\",420,0,0,0,0,\"" H "\"]\n"
#define L(p, t) "[\"" p "\",\"l\",511,0,0,0,0,\"" t "\"]\n"
	static const struct {
		const char *lines, *what;
	} bad[] = {
		{ F("../x"), "is no path" },
		{ F(".."), "is no path" },
		{ F("."), "is no path" },
		{ F(""), "is no path" },
		{ F("/etc/x"), "is no path" },
		{ D("a") F("a//x"), "is no path" },
		{ D("a") F("a/../../x"), "is no path" },
		{ D("a") F("a/"), "is no path" },
		{ D(".git"), "is no path" },
		{ D("a") D("a/.git"), "is no path" },
		{ F("a/x"), "is not in a directory" },
		{ L("a", "/tmp") F("a/x"), "is not in a directory" },
		{ F("a") F("a/x"), "is not in a directory" },
		{ D("a") L("a/b", "..") F("a/b/x"), "is not in a directory" },
		{ D("a") F("a/b/c"), "is not in a directory" },
		{ D("a") F("aa/x"), "is not in a directory" },
		{ F("a") F("a"), "is not in order" },
		{ F("b") F("a"), "is not in order" },
		{ F("a") L("a", "x"), "is not in order" },
		{ L("a", ""), "is a link to nowhere" },
		{ "[\"a\",\"f\",2541,0,0,0,0,\"" H "\"]\n", "has a mode" },
		{ "[\"a\",\"d\",4095,0,0,0,0,\"\"]\n", "has a mode" },
		{ "[\"a\",\"f\",420,18446744073709551615,0,0,0,\"" H "\"]\n",
		    "has a size" },
		{ "[\"a\",\"f\",420,9223372036854775807,0,0,0,\"" H "\"]\n"
		  "[\"b\",\"f\",420,9223372036854775807,0,0,0,\"" H "\"]\n",
		    "together" },
	};
	char *text, *longest;
	struct err e;
	size_t i;

	for (i = 0; i < nitems(bad); i++) {
		text = manifest_of("none", bad[i].lines);
		src.manifest = text;
		refused(ERR_PROTO, bad[i].what);
		free(text);
	}
	longest = xasprintf("[\"%0256d\",\"d\",493,0,0,0,0,\"\"]\n", 1);
	text = manifest_of("none", longest);
	src.manifest = text;
	refused(ERR_PROTO, "is no path");
	free(text);
	free(longest);
	/* More than there can be room for. */
	text = manifest_of(
	    "none", "[\"a\",\"f\",420,9223372036854775807,0,0,0,\"" H "\"]\n");
	src.manifest = text;
	refused(-ENOSPC, "MiB must come");
	free(text);
	text = manifest_of("commit 12", F("a"));
	src.manifest = text;
	refused(ERR_PROTO, "unknown kind of repository");
	free(text);
	text = manifest_of("none", F("a"));
	src.manifest = text;
	snap.id[0] = snap.id[0] == '0' ? '1' : '0';
	refused(ERR_PROTO, "is of snapshot");
	free(text);
	src.manifest = "";
	refused(ERR_PROTO, "is no manifest");
	src.manifest = "{}\n";
	refused(ERR_PROTO, "is no manifest");
	assert_int_equal(import_to("there", "../x", &e), ERR_PROTO);
	nothing_left();
	bed_run("test ! -e x -a ! -e there/x");
	/* The good one of that kind is taken. */
	text = manifest_of(
	    "none", D("a") D("a/b") L("a/b/c", "../..") L("b", "/"));
	src.manifest = text;
	bring();
	free(text);
}

/* --- hostile bytes -------------------------------------------------------- */

static size_t spoil_in;
static uint32_t spoil_entry; /* the first entry of the answer, at least */

static bool
is_time(const struct snapshot_range *r)
{
	bool kind = spoil_entry < SNAPSHOT_INDEX ? r->entry < SNAPSHOT_INDEX
						 : r->entry == spoil_entry;

	return kind && spoil_in-- == 0;
}

static int
flip(const struct snapshot_range *r, struct buf *data)
{
	if (is_time(r))
		data->data[data->len / 2] ^= 1;
	return 0;
}

static int
cut(const struct snapshot_range *r, struct buf *data)
{
	if (is_time(r))
		data->len--;
	return 0;
}

static int
lengthen(const struct snapshot_range *r, struct buf *data)
{
	return is_time(r) ? buf_addc(data, 'x') : 0;
}

static int
break_off(const struct snapshot_range *r, struct buf *data unused_arg)
{
	return is_time(r) ? -ECONNRESET : 0;
}

static void
spoiled(int (*fn)(const struct snapshot_range *, struct buf *), uint32_t entry,
    size_t in, int code, const char *what)
{
	src.spoil = fn;
	spoil_entry = entry;
	spoil_in = in;
	refused(code, what);
	src.spoil = NULL;
}

static void
test_hostile_bytes(void **state unused_arg)
{
	bed_run(BED_GIT
	    "mkdir r; cd r; git init -q; head -c 900000 /dev/urandom >a; "
	    "echo 2 >b; head -c 300000 /dev/urandom >c; git add .; "
	    "git commit -qm two");
	take();
	spoiled(flip, 0, 0, ERR_PROTO, "a has other content");
	spoiled(flip, 0, 3, ERR_PROTO, "has other content");
	spoiled(cut, 0, 1, ERR_PROTO, "bytes of the snapshot came");
	spoiled(lengthen, 0, 1, ERR_PROTO, "bytes of the snapshot came");
	spoiled(flip, SNAPSHOT_MANIFEST, 0, ERR_PROTO, "");
	spoiled(cut, SNAPSHOT_MANIFEST, 0, ERR_PROTO, "bytes of the snapshot");
	spoiled(flip, SNAPSHOT_PACK, 1, ERR_PROTO, "can't be used");
	spoiled(cut, SNAPSHOT_PACK, 0, ERR_PROTO, "bytes of the snapshot");
	spoiled(break_off, 0, 2, -ECONNRESET, "broken off");
	spoiled(break_off, SNAPSHOT_PACK, 2, -ECONNRESET, "broken off");
	bring();
	same_tree();
	same_git();
}

/* --- thin ----------------------------------------------------------------- */

/* A commit of which the host has the one before it: "there" as it was then is
 * in "before". */
static void
two_commits(const char *format)
{
	char *cmd = xasprintf(BED_GIT
	    "rm -rf r there; mkdir -p r/d; cd r; git init -q "
	    "--object-format=%s; "
	    "for i in $(seq 9); do head -c 100000 /dev/urandom >d/$i; done; "
	    "echo secret >later; git add .; git commit -qm later",
	    format);

	bed_run(cmd);
	take();
	bring();
	assert_true(src.pack_bytes > 900000);
	/* What is gone must not be found in the new one. */
	bed_run(BED_GIT "cp -a there before; cd r; git rm -q later; "
			"head -c 400000 /dev/urandom >more; seq 9 >d/9; "
			"git add .; git commit -qm two");
	take();
	free(cmd);
}

static void
afresh(void)
{
	bed_run("chmod -R u+w there; rm -rf there; cp -a before there");
}

/* The new one is here, whole and alone; was it thin? */
static void
is_thin(bool thin)
{
	same_tree();
	same_git();
	if (thin)
		assert_in_range(src.pack_bytes, 400000, 403000);
	else
		assert_true(src.pack_bytes > 1200000);
	/* Of no other commit, and of no other directory. */
	bed_expect(BED_GIT
	    "cd \"$D\"; git -c safe.directory='*' cat-file "
	    "--batch-all-objects --batch-check='%(objecttype)' | sort | "
	    "uniq -c | tr -s ' \\n' ' '; test ! -e .git/objects/info/alternates",
	    " 10 blob 1 commit 2 tree ");
	bed_expect("ls there | grep -v by-path | wc -l", "2");
}

static void
test_thin(void **state unused_arg)
{
	static const char *const formats[] = { "sha1", "sha256" };
	size_t i;

	for (i = 0; i < nitems(formats); i++) {
		bed_run("chmod -R u+w . ; rm -rf before");
		two_commits(formats[i]);
		bring();
		is_thin(true);
		/* And on from what was made so: only a mode, or a name. */
		bed_run(BED_GIT "cd r; git mv more most; git commit -qm two");
		take();
		bring();
		same_git();
		assert_in_range(src.pack_bytes, 100, 2000);
	}
}

/* One of another kind, or of which nothing is the same, is no help. */
static void
test_thin_not(void **state unused_arg)
{
	two_commits("sha1");
	bed_run("chmod -R u+w there; for p in there/*/tree/.git/objects/pack/*;"
		" do chmod 600 $p; : >$p; done");
	bring();
	is_thin(false);
	/* The index of the one that sends is lost. */
	afresh();
	bed_run("rm -f \"$S\"/.git/objects/pack/*.idx");
	source_clear();
	take();
	bring();
	same_tree();
	assert_true(src.pack_bytes > 1200000);
	bed_run("cd \"$D\"; git -c safe.directory='*' fsck --full; "
		"test ! -e \"$S\"/.git/objects/pack/*.idx");
	bed_run(BED_GIT "rm -rf r; mkdir r; cd r; git init -q "
			"--object-format=sha256; seq 9 >f; git add .; "
			"git commit -qm two");
	take();
	bring();
	same_git();
}

/* A pack with deltas, as others make them: its bytes are of no use alone. */
static void
test_thin_deltas(void **state unused_arg)
{
	two_commits("sha1");
	bed_run(BED_GIT "cd r; cp more d/like; echo x >>d/like; git add .; "
			"git commit -qm two");
	take();
	bed_run(BED_GIT "cd \"$S\"; rm -f .git/objects/pack/*; "
			"git --git-dir=$T/r/.git rev-parse HEAD | "
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=$T/r/.git/objects "
			"git -c safe.directory='*' pack-objects -q --revs "
			"--delta-base-offset .git/objects/pack/pack; "
			"git -c safe.directory='*' verify-pack -v "
			".git/objects/pack/*.idx | grep -q 'chain length = 1'");
	source_clear();
	take();
	bring();
	same_tree();
	same_git();
}

static size_t index_at;
static unsigned char index_to;

static int
write_index(const struct snapshot_range *r, struct buf *data)
{
	if (r->entry == SNAPSHOT_INDEX && r->offset == 0)
		data->data[index_at] = (char)index_to;
	return 0;
}

/* Whatever the index says, it ends with the right commit or an error. */
static void
test_thin_hostile(void **state unused_arg)
{
	static const struct {
		size_t at;
		unsigned char to;
	} bad[] = {
		{ 0, 0 },                         /* no index */
		{ 8 + 255 * 4, 0xff },            /* objects: too many */
		{ 8 + 255 * 4 + 3, 0 },           /* none */
		{ 8 + 255 * 4 + 3, 5 },           /* fewer */
		{ 8 + 256 * 4, 0x77 },            /* another id */
		{ 8 + 256 * 4 + 13 * 24, 0x80 },  /* an offset: of the large */
		{ 8 + 256 * 4 + 13 * 24, 0x70 },  /* behind the end */
		{ 8 + 256 * 4 + 13 * 24 + 3, 1 }, /* another one */
	};
	size_t i;

	two_commits("sha1");
	for (i = 0; i < nitems(bad); i++) {
		afresh();
		index_at = bad[i].at;
		index_to = bad[i].to;
		src.spoil = write_index;
		bring();
		same_tree();
		same_git();
		src.spoil = NULL;
	}
	/* The bytes themselves: then it is asked for whole. */
	afresh();
	src.spoil = flip;
	spoil_entry = SNAPSHOT_PACK;
	spoil_in = 1;
	bring();
	same_git();
	assert_true(src.pack_bytes > 1200000);
	src.spoil = NULL;
}

static void
test_thin_broken_off(void **state unused_arg)
{
	static const struct {
		uint32_t entry;
		size_t in;
	} at[] = { { SNAPSHOT_PACK, 0 }, { SNAPSHOT_PACK, 2 },
		{ SNAPSHOT_INDEX, 0 } };
	struct err e;
	size_t i;

	two_commits("sha1");
	for (i = 0; i < nitems(at); i++) {
		src.spoil = break_off;
		spoil_entry = at[i].entry;
		spoil_in = at[i].in;
		assert_int_equal(import_to("there", snap.id, &e), -ECONNRESET);
		src.spoil = NULL;
		/* Nothing of it is left, and it can be had afterwards. */
		bed_expect("ls there | wc -l", "2");
	}
	bring();
	is_thin(true);
}

/* The pack of the commit lacks what the commit names. */
static void
test_pack_lacks(void **state unused_arg)
{
	bed_run(BED_GIT "mkdir r; cd r; git init -q; echo 1 >a; git add .; "
			"git commit -qm two");
	take();
	bed_run(BED_GIT
	    "cd \"$S\"; export GIT_DIR=$T/r/.git; c=$(git rev-parse HEAD); "
	    "rm -f .git/objects/pack/*; "
	    "git rev-parse $c $c^{tree} | git pack-objects -q "
	    ".git/objects/pack/pack");
	refused(ERR_PROTO, "can't be used");
}

static void
test_full(void **state unused_arg)
{
	struct err e;

	if (geteuid() != 0)
		skip();
	bed_run("mkdir r small; head -c 3000000 /dev/urandom >r/a; "
		"mount -t tmpfs -o size=1M none small");
	take();
	assert_int_equal(import_to("small/s", snap.id, &e), -ENOSPC);
	assert_non_null(strstr(e.text, "small/s: 3 MiB must come"));
	/* A file that is committed comes twice: that is known beforehand. */
	bed_run(BED_GIT "umount small; mount -t tmpfs -o size=5M none small; "
			"cd r; git init -q; git add .; git commit -qm one");
	take();
	assert_int_equal(import_to("small/s", snap.id, &e), -ENOSPC);
	assert_non_null(strstr(e.text, ": 6 MiB must come, "));
	assert_true(src.bytes == 0 && src.pack_bytes <= 1);
	bed_run("rm -rf r/.git");
	/* Inodes, which nobody counts beforehand. */
	bed_run("umount small; mount -t tmpfs -o nr_inodes=20 none small; "
		"for i in $(seq 40); do echo $i >r/$i; done");
	take();
	assert_int_equal(import_to("small/s", snap.id, &e), -ENOSPC);
	bed_run("test \"$(ls small/s)\" = by-path; umount small");
}

/* Over 4 GiB, nearly all of it a hole. */
static void
test_large(void **state unused_arg)
{
	struct statvfs fs;

	if (statvfs(bed, &fs) < 0 || fs.f_bavail * fs.f_frsize >> 20 < 5000)
		skip();
	bed_run("mkdir r; truncate -s 4296M r/f; printf end >>r/f; "
		"printf at | dd of=r/f bs=1 seek=4294967290 conv=notrunc "
		"status=none");
	take();
	src.holes = true;
	bring();
	bed_run("test $(stat -c %s \"$D/f\") = 4504682499; "
		"test $(stat -c %b \"$D/f\") -lt 1000; tail -c 3 \"$D/f\" | "
		"grep -q end");
}

/* --- who asks ------------------------------------------------------------- */

static int
get(uint32_t entry, uint64_t offset, uint32_t len, struct buf *b)
{
	const struct snapshot_range r = { entry, offset, len };
	struct snapshot_facts facts;
	struct err e;

	return snapshot_export_read(src.x, &r, 1, b, &facts, &e);
}

static void
test_hostile_host(void **state unused_arg)
{
	struct snapshot_range r[SNAPSHOT_RANGES];
	unsigned char many[(SNAPSHOT_RANGES + 1) * SNAPSHOT_RANGE_BYTES] = {
		0
	};
	struct snapshot_export *none;
	struct buf b;
	struct err e;
	char *store = path_join(bed, "store");
	size_t n;

	bed_run("mkdir -p r/d; echo 1234 >r/f; ln -s /etc/passwd r/l; "
		"echo secret >secret");
	take();
	buf_init(&b, SNAPSHOT_CHUNK);
	assert_int_equal(get(1, 1, 3, &b), 0);
	assert_string_equal(buf_str(&b), "234");
	assert_int_equal(get(1, 0, 6, &b), ERR_PROTO);
	assert_int_equal(get(1, 6, 0, &b), ERR_PROTO);
	assert_int_equal(get(1, UINT64_MAX, 1, &b), ERR_PROTO);
	assert_int_equal(get(0, 0, 1, &b), ERR_PROTO); /* a directory */
	assert_int_equal(get(2, 0, 1, &b), ERR_PROTO); /* a link */
	assert_int_equal(get(3, 0, 1, &b), ERR_PROTO);
	assert_int_equal(get(SNAPSHOT_PACK, 0, 1, &b), ERR_PROTO);
	assert_int_equal(get(SNAPSHOT_MANIFEST, 1 << 20, 1, &b), ERR_PROTO);
	assert_int_equal(b.len, 3);
	/* In the damaged store: no link is followed. */
	bed_run("rm -f \"$S/f\"; ln -s $T/secret \"$S/f\"");
	source_clear();
	assert_int_equal(snapshot_export_open(store, snap.id, &src.x, &e), 0);
	assert_true(get(1, 0, 5, &b) < 0);
	assert_int_equal(b.len, 3);
	assert_int_equal(
	    snapshot_export_open(store, "../r", &none, &e), ERR_NOTFOUND);
	assert_int_equal(
	    snapshot_ranges_get(many, sizeof many, r, &n, &e), ERR_PROTO);
	assert_int_equal(snapshot_ranges_get(many, 0, r, &n, &e), ERR_PROTO);
	assert_int_equal(snapshot_ranges_get(many, 17, r, &n, &e), ERR_PROTO);
	many[13] = 4; /* 256 KiB, and one more */
	assert_int_equal(snapshot_ranges_get(many, 16, r, &n, &e), 0);
	many[15] = 1;
	assert_int_equal(snapshot_ranges_get(many, 16, r, &n, &e), ERR_PROTO);
	memset(many, 0xff, 4);
	many[13] = 0;
	assert_int_equal(snapshot_ranges_get(many, 16, r, &n, &e), 0);
	assert_int_equal(snapshot_ranges_get(many, 32, r, &n, &e), ERR_PROTO);
	/* The pack in parts, with nothing else. */
	many[3] = 0xfe;
	memcpy(many + 16, many, 4);
	assert_int_equal(snapshot_ranges_get(many, 32, r, &n, &e), 0);
	many[19] = 0xfd;
	assert_int_equal(snapshot_ranges_get(many, 32, r, &n, &e), ERR_PROTO);
	many[16] = 0;
	assert_int_equal(snapshot_ranges_get(many, 32, r, &n, &e), ERR_PROTO);
	buf_clear(&b);
	free(store);
}

/* --- the cache ------------------------------------------------------------ */

static void
test_sweep(void **state unused_arg)
{
	char *id[4], *store = path_join(bed, "there");
	uint64_t all, bytes;
	struct err e;
	int hold, none;
	size_t i;

	for (i = 0; i < 4; i++) {
		bed_run("mkdir -p r; head -c 1000000 /dev/urandom >r/own; "
			"test -e r/shared || "
			"head -c 3000000 /dev/urandom >r/shared");
		take();
		bring();
		id[i] = xstrdup(snap.id);
		/* Used in this order. */
		bed_run("touch -d \"2020-01-01 + $(ls there | wc -l) days\" "
			"\"$(dirname \"$D\")\"");
	}
	assert_int_equal(snapshot_sweep(store, UINT64_MAX, &all, &e), 0);
	assert_in_range(all, 7000000, 7200000);
	assert_int_equal(snapshot_hold(store, id[0], &hold, &e), 0);
	/* The oldest was used just now; the second is the one to go. */
	assert_int_equal(snapshot_sweep(store, all - 1, &bytes, &e), 0);
	assert_in_range(bytes, 6000000, 6200000);
	assert_int_equal(snapshot_hold(store, id[1], &none, &e), ERR_NOTFOUND);
	bed_expect("ls there | wc -l", "4");
	/* What is held stays, whatever the limit. */
	assert_int_equal(snapshot_sweep(store, 1, &bytes, &e), 0);
	assert_in_range(bytes, 4000000, 4200000);
	bed_expect("ls there | wc -l", "2");
	fd_close(&hold);
	assert_int_equal(snapshot_sweep(store, 1, &bytes, &e), 0);
	assert_int_equal(bytes, 0);
	nothing_left();
	bring();
	same_tree();
	for (i = 0; i < 4; i++)
		free(id[i]);
	free(store);
}

#define T(f) cmocka_unit_test_setup_teardown(f, bed_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = { T(test_kinds), T(test_git),
		T(test_git_kinds), T(test_hostile_manifest),
		T(test_hostile_bytes), T(test_pack_lacks), T(test_full),
		T(test_large), T(test_hostile_host), T(test_sweep),
		T(test_thin), T(test_thin_not), T(test_thin_deltas),
		T(test_thin_hostile), T(test_thin_broken_off) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
