#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "orchestrator/run/terminal.h"
#include "orchestrator/view/plain.h"

struct terminal {
	struct loop *loop;
	int fd;
	void (*answered)(void *ctx, enum terminal_answer a);
	void *ctx;
	bool busy;
	struct loop_watch *watch, *timer;
	char line[64];
	size_t n;
};

static void
say(struct terminal *t, const char *s)
{
	/* A terminal that takes nothing must not hold up the run. */
	if (write(t->fd, s, strlen(s)) < 0)
		log_debug("terminal: %s", strerror(errno));
}

static void
end_question(struct terminal *t)
{
	loop_del(t->loop, t->timer);
	loop_del(t->loop, t->watch);
	t->timer = t->watch = NULL;
	t->busy = false;
}

static void
answer(struct terminal *t, enum terminal_answer a)
{
	end_question(t);
	t->answered(t->ctx, a);
}

/* What was typed before the question answers nothing. */
static bool
take_line(struct terminal *t)
{
	static const struct {
		const char *word;
		enum terminal_answer a;
	} words[] = {
		{ "y", TERMINAL_ONCE },
		{ "yes", TERMINAL_ONCE },
		{ "o", TERMINAL_ONCE },
		{ "once", TERMINAL_ONCE },
		{ "r", TERMINAL_RUN },
		{ "run", TERMINAL_RUN },
		{ "n", TERMINAL_DENY },
		{ "no", TERMINAL_DENY },
		{ "d", TERMINAL_DENY },
		{ "deny", TERMINAL_DENY },
	};
	size_t i;

	t->line[t->n] = '\0';
	t->n = 0;
	for (i = 0; i < nitems(words); i++)
		if (strcasecmp(t->line, words[i].word) == 0) {
			answer(t, words[i].a);
			return true;
		}
	say(t, "y (once), r (for this run) or n (deny)? ");
	return false;
}

static void
on_input(int fd, unsigned events unused_arg, void *ctx)
{
	struct terminal *t = ctx;
	char buf[256];
	ssize_t n = read(fd, buf, sizeof buf), i;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		answer(t, TERMINAL_DENY); /* hung up, or ^D */
		return;
	}
	for (i = 0; i < n; i++) {
		if (buf[i] == '\n' || buf[i] == '\r') {
			if (take_line(t))
				return;
		} else if (t->n + 1 < sizeof t->line && buf[i] != ' ') {
			t->line[t->n++] = buf[i];
		}
	}
}

static void
on_time(void *ctx)
{
	struct terminal *t = ctx;

	say(t, "\nno answer: denied\n");
	answer(t, TERMINAL_LATE);
}

struct terminal *
terminal_open(struct loop *l,
    void (*answered)(void *ctx, enum terminal_answer a), void *ctx)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct terminal *t;

	if (fd < 0)
		return NULL;
	if (isatty(fd) != 1 || tcgetpgrp(fd) != getpgrp()) {
		fd_close(&fd);
		return NULL;
	}
	t = xcalloc(1, sizeof *t);
	t->loop = l;
	t->fd = fd;
	t->answered = answered;
	t->ctx = ctx;
	return t;
}

void
terminal_close(struct terminal *t)
{
	if (t == NULL)
		return;
	end_question(t);
	fd_close(&t->fd);
	free(t);
}

void
terminal_ask(struct terminal *t, const char *text, uint64_t wait_ms)
{
	char span[32];

	(void)tcflush(t->fd, TCIFLUSH);
	t->n = 0;
	t->busy = true;
	say(t, plain_rewrites() ? "\r\033[K\n" : "\n");
	say(t, text);
	say(t, "y: once, r: for this run, n: deny (without an answer in ");
	say(t, num_fmt_ms(wait_ms, span, sizeof span));
	say(t, " it is denied)\n> ");
	t->watch = loop_fd_add(t->loop, t->fd, LOOP_IN, on_input, t);
	/* It repeats so that it is ours to delete. */
	t->timer = loop_timer_add(t->loop, wait_ms, wait_ms, on_time, t);
}

bool
terminal_busy(const struct terminal *t)
{
	return t->busy;
}

void
terminal_withdraw(struct terminal *t)
{
	if (!t->busy)
		return;
	say(t, "\n(the worker is gone)\n");
	end_question(t);
}
