#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/repair/reading.h"
#include "orchestrator/repair/suspect.h"
#include "orchestrator/repair/token.h"
#include "orchestrator/repair/word.h"

#define SOURCES_MAX 40
#define TESTS_MAX 8
#define LISTED_MAX 20000
#define SCRIPTS_LISTED 2000 /* names without an extension: mostly data */
#define SCRIPTS_MAX 8       /* of them that nothing speaks of */
#define PAGES_MAX 200
#define WORDS sizeof(((struct reading *)0)->words)
#define PAIRS_MAX 4000000 /* of a file and a test's name, for one answer */
#define BYTES_MAX (600 * 1024)
#define CALLS_MAX 12
#define PAGE_LINES 1000

static bool
is_skipped(const char *path)
{
	static const char *const dirs[] = { "node_modules/", ".git/", "vendor/",
		"third_party/", "dist/", "__pycache__/", ".venv/", "venv/",
		"site-packages/", ".tox/", "target/", "coverage/", ".foray/",
		".cache/", "build/" };

	for (size_t i = 0; i < nitems(dirs); i++) {
		const char *hit = strstr(path, dirs[i]);

		if (hit != NULL && (hit == path || hit[-1] == '/'))
			return true;
	}
	return strstr(path, ".min.") != NULL || text_ends(path, ".d.ts");
}

/* A name without an extension may be a script: its first line tells. */
static bool
may_be_script(const char *path)
{
	const char *base = path_base(path);

	return strchr(base, '.') == NULL && *base >= 'a' && *base <= 'z';
}

/* Bits of r->words by the words of what the tests say. */
static size_t
bit_of(const char *s, size_t *ret_len)
{
	size_t n = 0;

	while (word_is_char(s[n]))
		n++;
	*ret_len = n;
	return word_hash(WORD_HASH_START, s, n) % (8 * WORDS);
}

static void
note_words(struct reading *r, const char *text)
{
	size_t n, bit;

	for (const char *p = text; *p != '\0'; p += n + (n == 0)) {
		bit = bit_of(p, &n);
		r->words[bit / 8] |= (unsigned char)(1u << bit % 8);
	}
}

/* "f1" is a word of most texts, and says nothing. */
static bool
is_spoken_of(const struct reading *r, const struct facts *f, const char *path)
{
	const char *base = path_base(path);
	size_t n, bit = bit_of(base, &n), len = strlen(base);

	return len > 2 && (r->words[bit / 8] >> bit % 8 & 1) != 0 &&
	    word_in_text(f->output, base, len);
}

static bool
is_guarded(const struct facts *f, const char *path)
{
	for (size_t i = 0; i < f->guarded.n; i++) {
		const char *g = f->guarded.v[i];
		size_t n = strlen(g);

		if (strcmp(g, path) == 0 || text_glob(g, path) ||
		    (n > 0 && g[n - 1] == '/' && text_starts(path, g)))
			return true;
	}
	return false;
}

/* What a test of x may be called: test_x, x_test, x.test. */
static size_t
stem_of(const char *path, const char **ret)
{
	const char *base = path_base(path);
	size_t n = strcspn(base, ".");

	if (n > 5 &&
	    (strncmp(base, "test_", 5) == 0 ||
		strncmp(base, "test-", 5) == 0)) {
		base += 5;
		n -= 5;
	} else if (n > 5 && strncmp(base + n - 5, "_test", 5) == 0) {
		n -= 5;
	}
	*ret = base;
	return n;
}

static bool
stem_in(const struct strv *names, size_t most, const char *stem, size_t len)
{
	for (size_t i = 0; i < names->n && i < most; i++) {
		if (len > 2 &&
		    memmem(names->v[i], strlen(names->v[i]), stem, len))
			return true;
	}
	return false;
}

static void
rate(const struct facts *f, const struct reading *r, struct reading_file *file)
{
	const char *base = path_base(file->path), *stem;
	size_t n = stem_of(file->path, &stem), most = PAIRS_MAX / r->n_file;
	bool script = may_be_script(file->path);
	int score = 100;

	if (strstr(f->output, file->path) != NULL)
		score += 60;
	else if (script ? is_spoken_of(r, f, base)
			: strstr(f->output, base) != NULL)
		score += 40;
	if (stem_in(&f->failing, most, stem, n))
		score += 30;
	if (stem_in(&f->tests, most, stem, n))
		score += 20;
	for (size_t i = 0; i < r->n_read && !(script && n < 3); i++) {
		const struct reading_file *t = &r->file[r->read[i]];

		if (t == file || !t->test || t->text.len == 0)
			continue;
		if (word_in_text(buf_str(&t->text), stem, n)) {
			score += 25;
			break;
		}
	}
	file->related = score > 100;
	for (const char *p = file->path; *p != '\0'; p++)
		score -= *p == '/' ? 2 : 0;
	if (script)
		score -= 20;
	if (text_ends(file->path, ".h") || strcmp(base, "setup.py") == 0 ||
	    strstr(base, ".config.") != NULL)
		score -= 25;
	file->score = score;
}

static int
by_score(const void *va, const void *vb)
{
	const struct reading_file *a = va, *b = vb;

	if (a->test != b->test)
		return a->test ? -1 : 1;
	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	return strcmp(a->path, b->path);
}

/* Where path stands in the index, or would. */
static size_t
slot_of(const struct reading *r, const char *path)
{
	size_t k =
	    word_hash(WORD_HASH_START, path, strlen(path)) % r->index_size;

	while (r->index[k] != 0 &&
	    strcmp(r->file[r->index[k] - 1].path, path) != 0)
		k = (k + 1) % r->index_size;
	return k;
}

static struct reading_file *
find_file(struct reading *r, const char *path)
{
	size_t k;

	if (text_starts(path, "./"))
		path += 2;
	if (r->index_size == 0)
		return NULL;
	k = slot_of(r, path);
	return r->index[k] != 0 ? &r->file[r->index[k] - 1] : NULL;
}

static void
add_file(struct reading *r, const struct facts *f, char *path)
{
	size_t i;

	if (2 * (r->n_file + 1) > r->index_size) {
		r->index_size = r->index_size == 0 ? 256 : r->index_size * 2;
		free(r->index);
		r->index = xcalloc(r->index_size, sizeof *r->index);
		r->file =
		    xreallocarray(r->file, r->index_size / 2, sizeof *r->file);
		for (i = 0; i < r->n_file; i++)
			r->index[slot_of(r, r->file[i].path)] = (uint32_t)i + 1;
	}
	r->index[slot_of(r, path)] = (uint32_t)r->n_file + 1;
	r->file[r->n_file] = (struct reading_file){ .path = path,
		.next = 1,
		.test = is_guarded(f, path) || suspect_is_test(path) };
	buf_init(&r->file[r->n_file++].text, SOURCE_MAX_BYTES);
}

static void
take_list(struct reading *r, const struct facts *f, const char *text)
{
	const char *more = strstr(text, "\n[... ");
	unsigned long next;

	for (const char *p = text; *p != '\0' && r->n_file < LISTED_MAX;) {
		size_t len = strcspn(p, "\n");
		char *path = xstrndup(p, len);
		bool script = may_be_script(path),
		     bad = len == 0 || len > 400 ||
		    (path[0] == '[' && path[len - 1] == ']') ||
		    path[len - 1] == '/' || is_skipped(path) ||
		    (dialect_of(path, NULL, 0) == DIALECT_NONE &&
			(!script ||
			    (r->n_script >= SCRIPTS_LISTED &&
				!is_spoken_of(r, f, path))));

		if (!bad && text_starts(path, "./"))
			memmove(path, path + 2, len - 1);
		/* Names with newlines in them can look alike. */
		bad = bad || find_file(r, path) != NULL;
		p += len;
		p += *p == '\n';
		if (bad) {
			free(path);
			continue;
		}
		r->n_script += script;
		add_file(r, f, path);
	}
	r->pages++;
	/* "[... N more left out; offset M goes on]" */
	if (more != NULL && r->n_file < LISTED_MAX && r->pages < PAGES_MAX &&
	    (more = strstr(more, "; offset ")) != NULL &&
	    sscanf(more, "; offset %lu", &next) == 1 && next > r->list_next)
		r->list_next = next;
	else
		r->listed = true;
}

/* "PATH (lines A-B of N)" and then B - A + 1 lines. */
static bool
take_page(struct reading *r, struct reading_file *f, const char *text)
{
	size_t head = strcspn(text, "\n");
	const char *p = NULL, *q = text;
	unsigned long a, b, n;

	while (
	    (q = memmem(q, head - (size_t)(q - text), " (lines ", 8)) != NULL)
		p = q++;
	if (p == NULL || sscanf(p, " (lines %lu-%lu of %lu)", &a, &b, &n) != 3)
		return false;
	f->total = n;
	if (n == 0 || b < a) {
		f->next = n + 1;
		return true;
	}
	if (a != f->next)
		return false;
	p = text + head;
	p += *p == '\n';
	for (unsigned long k = a; k <= b && *p != '\0'; k++) {
		size_t len = strcspn(p, "\n");

		if (buf_add(&f->text, p, len) < 0 ||
		    buf_addc(&f->text, '\n') < 0) {
			f->failed = true;
			return true;
		}
		r->bytes += len + 1;
		p += len;
		p += *p == '\n';
	}
	f->next = b + 1;
	return true;
}

static void
note_read(struct reading *r, const struct reading_file *file)
{
	if (!file->asked && r->n_read < nitems(r->read))
		r->read[r->n_read++] = (uint32_t)(file - r->file);
}

void
reading_scan(
    struct reading *r, const json_t *conv, const struct facts *f, bool hurry)
{
	const json_t *msg;
	size_t i;

	*r = (struct reading){ 0 };
	note_words(r, f->output);
	json_array_foreach (conv, i, msg) {
		const char *text = dialog_str(msg, "content"), *name;
		struct reading_file *file = NULL;
		json_t *args;

		if (!dialog_is(msg, "tool"))
			continue;
		name = dialog_answered(conv, i, &args);
		if (strcmp(name, "read_file") == 0)
			file = find_file(r, dialog_str(args, "path"));
		if (dialog_is_error(text)) {
			r->errors++;
			free(r->error);
			r->error = xstrdup(text);
			if (file != NULL)
				file->asked = file->failed = true;
		} else if (strcmp(name, "list_dir") == 0 && !r->listed) {
			take_list(r, f, text);
		} else if (file != NULL) {
			note_read(r, file);
			file->asked = true;
			if (!take_page(r, file, text))
				file->failed = true;
		}
		json_decref(args);
	}
	r->listed |= hurry && r->pages > 0;
	for (i = 0; i < r->n_file && r->listed; i++)
		rate(f, r, &r->file[i]);
	if (r->n_file > 1 && r->listed)
		qsort(r->file, r->n_file, sizeof *r->file, by_score);
	/* They point to where the files were. */
	r->n_read = r->index_size = 0;
}

size_t
reading_more(struct reading *r, const json_t *conv, json_t *reply)
{
	size_t calls = 0, tests = 0, sources = 0, scripts = 0;

	if (!r->listed) {
		dialog_call(reply, conv, "list_dir",
		    json_pack("{s:s, s:b, s:I}", "path", ".", "recursive", 1,
			"offset",
			(json_int_t)(r->list_next > 0 ? r->list_next : 1)));
		return 1;
	}
	for (size_t i = 0; i < r->n_file && calls < CALLS_MAX; i++) {
		struct reading_file *f = &r->file[i];

		if (!f->test && !f->related && may_be_script(f->path) &&
		    scripts++ >= SCRIPTS_MAX)
			continue;
		if (f->test ? tests++ >= TESTS_MAX : sources++ >= SOURCES_MAX)
			continue;
		if (f->failed || (f->asked && f->next > f->total) ||
		    r->bytes > BYTES_MAX)
			continue;
		dialog_call(reply, conv, "read_file",
		    json_pack("{s:s, s:I, s:i}", "path", f->path, "offset",
			(json_int_t)f->next, "limit", PAGE_LINES));
		calls++;
	}
	return calls;
}

void
reading_clear(struct reading *r)
{
	for (size_t i = 0; i < r->n_file; i++) {
		free(r->file[i].path);
		buf_clear(&r->file[i].text);
	}
	free(r->file);
	free(r->index);
	free(r->error);
	*r = (struct reading){ 0 };
}
