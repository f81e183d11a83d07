/*
 * Narrowing a test command. The input: the command, a NUL, the names of failing
 * tests, one a line, a NUL, what the command wrote. What must hold of what
 * comes out: the shell reads it whole, it is as many commands as it was, with
 * the same one in front of the last, and nothing of a name became syntax.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/narrow.h"
#include "sandbox/policy/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t
computed(const struct sh_script *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->cmds[i].n_words; k++)
			n += (s->cmds[i].words[k].flags &
				 (SH_COMPUTED | SH_GLOB | SH_TILDE)) != 0;
	return n;
}

static void
check(const char *command, char *narrowed)
{
	struct sh_script *a, *b;

	if (narrowed == NULL)
		return;
	a = sh_parse(command, strlen(command));
	b = sh_parse(narrowed, strlen(narrowed));
	if (strlen(narrowed) > 2 * NARROW_COMMAND_MAX || b->error[0] != '\0' ||
	    a->n != b->n || strcmp(command, narrowed) == 0)
		abort();
	for (size_t i = 0; i < a->n; i++) {
		if (a->cmds[i].n_redirs != b->cmds[i].n_redirs ||
		    a->cmds[i].n_assigns != b->cmds[i].n_assigns ||
		    a->cmds[i].piped != b->cmds[i].piped)
			abort();
	}
	if (computed(b) > computed(a) ||
	    strcmp(a->cmds[a->n - 1].words[0].text,
		b->cmds[b->n - 1].words[0].text) != 0)
		abort();
	sh_free(a);
	sh_free(b);
	free(narrowed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xcalloc(1, size + 3), *names, *output, *p;
	struct strv failing = { 0 };

	memcpy(text, data, size);
	names = text + strlen(text) + 1;
	output = names + strlen(names) + 1;
	for (p = names; *p != '\0' && failing.n < 100; p += *p == '\n') {
		size_t n = strcspn(p, "\n");

		strv_addn(&failing, p, n);
		p += n;
	}
	check(text, narrow_tests(text, &failing, output));
	check(text, narrow_files(text, &failing, output));
	strv_clear(&failing);
	free(text);
	return 0;
}
