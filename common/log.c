/* Includes the x* allocators: they need only fatal(). */
#include "common/compat.h"

#include <errno.h>
#include <unistd.h>

#include "common/log.h"
#include "common/text.h"

#define LINE_MAX_LEN (8 * 1024)
#define EXIT_FATAL 70 /* EX_SOFTWARE of sysexits.h */

static const char *log_name;
static enum log_level log_level = LOG_LVL_INFO;
static int log_fd = STDERR_FILENO;

void
log_init(const char *name)
{
	const char *debug = getenv("FORAY_DEBUG");

	log_name = name;
	log_level = LOG_LVL_INFO;
	if (debug != NULL && debug[0] != '\0')
		log_level = LOG_LVL_DEBUG;
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

static void log_line(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));

/* No allocation: this must work when memory is out. */
static void
log_line(const char *fmt, va_list ap)
{
	char text[LINE_MAX_LEN];
	char line[LINE_MAX_LEN];
	int saved = errno;
	size_t len = 0;
	ssize_t n;

	if (log_name != NULL) {
		len =
		    text_escape_to(line, 256, log_name, strnlen(log_name, 255));
		line[len++] = ':';
		line[len++] = ' ';
	}
	if (vsnprintf(text, sizeof text, fmt, ap) < 0)
		text[0] = '\0';
	len += text_escape_to(
	    line + len, sizeof line - len - 1, text, strlen(text));
	line[len++] = '\n';
	do
		n = write(log_fd, line, len);
	while (n < 0 && errno == EINTR);
	errno = saved;
}

void
log_debug(const char *fmt, ...)
{
	va_list ap;

	if (log_level > LOG_LVL_DEBUG)
		return;
	va_start(ap, fmt);
	log_line(fmt, ap);
	va_end(ap);
}

void
log_info(const char *fmt, ...)
{
	va_list ap;

	if (log_level > LOG_LVL_INFO)
		return;
	va_start(ap, fmt);
	log_line(fmt, ap);
	va_end(ap);
}

void
log_warn(const char *fmt, ...)
{
	va_list ap;

	if (log_level > LOG_LVL_WARN)
		return;
	va_start(ap, fmt);
	log_line(fmt, ap);
	va_end(ap);
}

void
log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(fmt, ap);
	va_end(ap);
}

void
fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(fmt, ap);
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
