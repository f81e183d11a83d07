/* tests_reason.c - see tests_reason.h. */
#include "common/compat.h"

#include <ctype.h>

#include "common/tests_reason.h"
#include "common/text.h"

#define BLANK " \t\r"

/* "# duration_ms 3.1" */
static bool
is_count(const char *line)
{
	static const char tap[] = "# ", spec[] = "\xe2\x84\xb9 ";
	static const char *const words[] = { "tests ", "suites ", "pass ",
		"fail ", "cancelled ", "skipped ", "todo ", "duration_ms " };

	if (text_starts(line, tap))
		line += strlen(tap);
	else if (text_starts(line, spec))
		line += strlen(spec);
	else
		return false;
	for (size_t i = 0; i < nitems(words); i++)
		if (text_starts(line, words[i]) &&
		    isdigit((unsigned char)line[strlen(words[i])]))
			return true;
	return false;
}

static bool
is_counted(const char *text)
{
	bool yes = false;

	for (const char *p = text; p != NULL; p = strchr(p, '\n')) {
		p += *p == '\n';
		yes |= is_count(p);
	}
	return yes;
}

static bool
is_reason(const char *line)
{
	size_t len = strcspn(line, "\n");

	return text_starts(line, "error: ") ||
	    memmem(line, len, "Error: ", 7) != NULL ||
	    memmem(line, len, "Error [", 7) != NULL;
}

const char *
tests_reason(const char *text)
{
	const char *last = NULL;

	if (!is_counted(text))
		return NULL;
	for (const char *p = text; *p != '\0';) {
		p += strspn(p, BLANK);
		/* What is below a stack is said by the reason above it. */
		if (is_reason(p) && !text_starts(p, "at "))
			last = p;
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	return last;
}

/* Keys of the block that the reason stands in, or a stack. */
static bool
is_end(const char *line)
{
	return text_starts(line, "code: ") || text_starts(line, "at ") ||
	    text_starts(line, "stack: ") || text_starts(line, "name: ") ||
	    text_starts(line, "...") || is_count(line);
}

void
tests_reason_line(const char *reason, char *dst, size_t size)
{
	size_t n = 0;

	for (const char *p = reason; *p != '\0' && n + 1 < size;) {
		size_t len;

		p += strspn(p, BLANK);
		if (p != reason && is_end(p))
			break;
		if (p == reason && text_starts(p, "error: "))
			p += strlen("error: ");
		if (text_starts(p, "|-\n"))
			p += 2;
		len = strcspn(p, "\n");
		if (len > 0 && n > 0)
			dst[n++] = ' ';
		len = text_cut(p, len, size - 1 - n);
		memcpy(dst + n, p, len);
		n += len;
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	dst[n] = '\0';
}
