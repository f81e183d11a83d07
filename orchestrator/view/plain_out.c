/* plain_out.c - how lines come to the screen; see plain.h. */
#include "common/compat.h"

#include <sys/ioctl.h>

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/view/plain_priv.h"

/* Nothing was said for so long: what goes on is said again. */
#define QUIET_S 10
#define WHO_WIDTH 9
#define INDENT 20 /* where text begins: "%7.2fs  %-9s " */

void
plain_clear(struct plain *p)
{
	if (p->status)
		(void)fputs("\r\033[K", p->out);
	p->status = false;
}

/* Columns of the terminal; a size that nobody could read is no size. */
static size_t
columns(const struct plain *p)
{
	struct winsize w;

	return ioctl(fileno(p->out), TIOCGWINSZ, &w) == 0 && w.ws_col >= 40
	    ? w.ws_col
	    : 80;
}

/* Broken between words, what follows below the text's begin. Bytes are taken
 * for columns: what is not ASCII only breaks early. */
static void
put_wrapped(struct plain *p, const char *text, size_t who_len)
{
	size_t width = columns(p), at = INDENT, n;
	bool first = true;

	if (who_len > WHO_WIDTH)
		at += who_len - WHO_WIDTH;
	while (*text != '\0') {
		n = strcspn(text, " ");
		if (!first && at + 1 + n > width) {
			(void)fprintf(p->out, "\n%*s", INDENT, "");
			at = INDENT;
		} else if (!first) {
			(void)fputc(' ', p->out);
			at++;
		}
		(void)fprintf(p->out, "%.*s", (int)n, text);
		at += n;
		text += n + (text[n] == ' ');
		first = false;
	}
	(void)fputc('\n', p->out);
}

void
plain_say(struct plain *p, double t, const char *who, const char *what)
{
	struct buf b;

	buf_init(&b, 64 << 10);
	(void)text_escape(&b, what, strlen(what));
	plain_clear(p);
	(void)fprintf(p->out, "%7.2fs  %-9s ", t, who);
	/* What a test wrote stays as it is, to be copied. */
	if (p->tty && !text_starts(what, "| "))
		put_wrapped(p, buf_str(&b), strlen(who));
	else
		(void)fprintf(p->out, "%s\n", buf_str(&b));
	p->said = t;
	p->again = false;
	buf_clear(&b);
}

void
plain_status(struct plain *p, double t, const char *text)
{
	struct buf b;

	buf_init(&b, 64 << 10);
	(void)text_escape(&b, text, strlen(text));
	plain_clear(p);
	(void)fprintf(p->out, "%7.2fs  %s", t, buf_str(&b));
	(void)fflush(p->out);
	p->status = true;
	p->last = t;
	buf_clear(&b);
}

void
plain_goes(struct plain *p, double t, const char *who, const char *doing)
{
	free(p->who);
	free(p->doing);
	p->who = doing != NULL ? xstrdup(who) : NULL;
	p->doing = doing != NULL ? xstrdup(doing) : NULL;
	p->since = t;
}

/* Something that goes on: on a terminal each time, elsewhere when nothing was
 * said for a while. */
static void
quietly(struct plain *p, double t, const char *who, const char *text)
{
	char *all;

	if (p->held)
		return;
	if (p->rewrites) {
		all = xasprintf("%s%s%s", who, *who != '\0' ? " " : "", text);
		if (t - p->last >= 0.1)
			plain_status(p, t, all);
		free(all);
	} else if (t - p->said >= (p->again ? PLAIN_STEADY_S : QUIET_S)) {
		plain_say(p, t, who, text);
		p->again = true;
		(void)fflush(p->out);
	}
}

void
plain_tick(struct plain *p, double t)
{
	char *text;

	if (p->doing == NULL || t - p->last < 0.9)
		return;
	text = xasprintf("%s, for %.0f s", p->doing, t - p->since);
	quietly(p, t, p->who, text);
	free(text);
}

void
plain_snapshot(struct plain *p, double t, uint64_t files, uint64_t bytes)
{
	char text[80];

	if (bytes == 0)
		(void)snprintf(text, sizeof text, "%llu files found so far",
		    (unsigned long long)files);
	else
		(void)snprintf(text, sizeof text,
		    "%llu files, %llu MiB taken so far",
		    (unsigned long long)files,
		    (unsigned long long)(bytes >> 20));
	quietly(p, t, "snapshot", text);
}
