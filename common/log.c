/* Includes the x* allocators: they need only fatal(). */
#include "common/compat.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/text.h"

#define LINE_MAX_LEN (8 * 1024)
/* A message of quotes, ids of them, a program's name. */
#define JSON_MAX_LEN (2 * LINE_MAX_LEN + 4096)
/* How long a reader may take for the first line that has no room. */
#define UNREAD_MS 200
#define BUDGET_S 10
#define EXIT_FATAL 70 /* EX_SOFTWARE of sysexits.h */

static const char *log_name;
static enum log_level log_level = LOG_LVL_INFO;
static int log_fd = STDERR_FILENO;
static unsigned unread; /* lines that nobody took */
static bool log_json;
static struct log_ids log_ids;
static struct log_budget *budget;

void
log_init(const char *name)
{
	const char *debug = getenv("FORAY_DEBUG");
	const char *form = getenv("FORAY_LOG");

	log_name = name;
	log_level = LOG_LVL_INFO;
	if (debug != NULL && debug[0] != '\0')
		log_level = LOG_LVL_DEBUG;
	log_json = form != NULL && strcmp(form, "json") == 0;
	if (form != NULL && !log_json && form[0] != '\0' &&
	    strcmp(form, "text") != 0)
		log_warn("FORAY_LOG=%s: text and json are known", form);
}

bool
log_is_json(void)
{
	return log_json;
}

void
log_id(enum log_id which, const char *value)
{
	(void)strlcpy(log_ids.v[which], value != NULL ? value : "",
	    sizeof log_ids.v[which]);
}

void
log_id_number(enum log_id which, const char *prefix, uint64_t n)
{
	log_ids.v[which][0] = '\0';
	if (n != 0)
		(void)snprintf(log_ids.v[which], sizeof log_ids.v[which],
		    "%.32s%" PRIu64, prefix, n);
}

void
log_ids_get(struct log_ids *ret)
{
	*ret = log_ids;
}

void
log_ids_set(const struct log_ids *ids)
{
	log_ids = *ids;
}

void
log_set_level(enum log_level level)
{
	log_level = level;
}

void
log_set_fd(int fd)
{
	log_fd = fd;
}

/* "key":"value", where value goes through text_escape_to() first: what is left
 * to be escaped are quotes and backslashes. */
static size_t
put_member(char *dst, const char *key, const char *value)
{
	char clean[LINE_MAX_LEN];
	size_t len, i;

	text_escape_to(clean, sizeof clean, value, strlen(value));
	len = (size_t)snprintf(
	    dst, 16, "%s\"%s\":\"", dst[-1] == '{' ? "" : ",", key);
	for (i = 0; clean[i] != '\0'; i++) {
		if (clean[i] == '"' || clean[i] == '\\')
			dst[len++] = '\\';
		dst[len++] = clean[i];
	}
	dst[len++] = '"';
	return len;
}

static size_t
json_line(char *line, enum log_level level, const char *text)
{
	static const char *const levels[] = { "debug", "info", "warning",
		"error" };
	static const char *const keys[] = { "run", "host", "subtask", "attempt",
		"worker", "call" };
	struct timespec now = { 0 };
	char date[32], stamp[48];
	struct tm tm;
	size_t len = 0, i;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &tm);
	(void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(
	    stamp, sizeof stamp, "%s.%03ldZ", date, now.tv_nsec / 1000000);
	line[len++] = '{';
	len += put_member(line + len, "time", stamp);
	len += put_member(line + len, "level", levels[level]);
	if (log_name != NULL)
		len += put_member(line + len, "program", log_name);
	for (i = 0; i < LOG_IDS; i++)
		if (log_ids.v[i][0] != '\0')
			len += put_member(line + len, keys[i], log_ids.v[i]);
	len += put_member(line + len, "message", text);
	line[len++] = '}';
	return len;
}

static size_t
text_line(char *line, const char *text)
{
	size_t len = 0;

	if (log_name != NULL) {
		len =
		    text_escape_to(line, 256, log_name, strnlen(log_name, 255));
		line[len++] = ':';
		line[len++] = ' ';
	}
	return len +
	    text_escape_to(
		line + len, LINE_MAX_LEN - len - 1, text, strlen(text));
}

/* Does the reader take a piece within ms? What is not a pipe, a socket or a
 * terminal always does. */
static bool
is_taken(int ms)
{
	struct pollfd p = { .fd = log_fd, .events = POLLOUT };
	int r;

	do
		r = poll(&p, 1, ms);
	while (r < 0 && errno == EINTR);
	return r != 0;
}

/* A pipe that can be written to takes PIPE_BUF bytes without waiting. */
static bool
put(const char *line, size_t len)
{
	size_t piece;
	ssize_t n;

	while (len > 0) {
		piece = len < PIPE_BUF ? len : PIPE_BUF;
		if (!is_taken(UNREAD_MS))
			return false;
		do
			n = write(log_fd, line, piece);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return errno != EAGAIN;
		line += n;
		len -= (size_t)n;
	}
	return true;
}

static void
put_line(enum log_level level, const char *text)
{
	char line[JSON_MAX_LEN];
	size_t len =
	    log_json ? json_line(line, level, text) : text_line(line, text);

	line[len++] = '\n';
	if (!put(line, len))
		unread++;
}

static void
say_unread(void)
{
	char text[96];

	(void)snprintf(text, sizeof text,
	    "%u lines are left out here: nobody read them", unread);
	unread = 0;
	put_line(LOG_LVL_WARN, text);
}

static void log_line(enum log_level level, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* No allocation: this must work when memory is out. */
static void
log_line(enum log_level level, const char *fmt, va_list ap)
{
	char text[LINE_MAX_LEN];
	int saved = errno;

	if (vsnprintf(text, sizeof text, fmt, ap) < 0)
		text[0] = '\0';
	if (unread > 0 && !is_taken(0)) {
		unread++;
	} else {
		if (unread > 0)
			say_unread();
		put_line(level, text);
	}
	errno = saved;
}

void
log_debug(const char *fmt, ...)
{
	va_list ap;

	if (log_level > LOG_LVL_DEBUG)
		return;
	va_start(ap, fmt);
	log_line(LOG_LVL_DEBUG, fmt, ap);
	va_end(ap);
}

void
log_budget(struct log_budget *b)
{
	budget = b;
}

static bool
is_within_budget(void)
{
	struct log_budget *b = budget;
	struct timespec now = { 0 };
	unsigned unsaid;

	if (b == NULL)
		return true;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (b->since_s == 0 || now.tv_sec - b->since_s >= BUDGET_S) {
		unsaid = b->unsaid;
		*b = (struct log_budget){ .since_s = now.tv_sec };
		if (unsaid > 0) {
			budget = NULL;
			log_warn("%u more lines about the same peer", unsaid);
			budget = b;
		}
	}
	if (b->said >= LOG_BUDGET) {
		b->unsaid++;
		return false;
	}
	b->said++;
	return true;
}

void
log_info(const char *fmt, ...)
{
	va_list ap;

	if (log_level > LOG_LVL_INFO || !is_within_budget())
		return;
	va_start(ap, fmt);
	log_line(LOG_LVL_INFO, fmt, ap);
	va_end(ap);
}

void
log_warn(const char *fmt, ...)
{
	va_list ap;

	if (log_level > LOG_LVL_WARN || !is_within_budget())
		return;
	va_start(ap, fmt);
	log_line(LOG_LVL_WARN, fmt, ap);
	va_end(ap);
}

void
log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_LVL_ERROR, fmt, ap);
	va_end(ap);
}

void
fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_LVL_ERROR, fmt, ap);
	va_end(ap);
	exit(EXIT_FATAL);
}

void *
xmalloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	if (p == NULL)
		fatal("out of memory (%zu bytes)", size);
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	void *p;

	if (n == 0 || size == 0)
		n = size = 1;
	p = calloc(n, size);
	if (p == NULL)
		fatal("out of memory (%zu times %zu bytes)", n, size);
	return p;
}

void *
xreallocarray(void *p, size_t n, size_t size)
{
	if (n == 0 || size == 0)
		n = size = 1;
	p = reallocarray(p, n, size);
	if (p == NULL)
		fatal("out of memory (%zu times %zu bytes)", n, size);
	return p;
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *
xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = xmalloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		fatal("out of memory (text)");
	return s;
}
