/* A command is read in both ways, whatever it is; all that is in it belongs to
 * it. */
#include "common/compat.h"

#include <assert.h>

#include "sandbox/policy/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const struct sh_word *w)
{
	assert(w->text != NULL);
	assert(w->text[w->len] == '\0');
}

static void
check_script(struct sh_script *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sh_cmd *c = &s->cmds[i];

		for (size_t k = 0; k < c->n_words; k++)
			check(&c->words[k]);
		for (size_t k = 0; k < c->n_assigns; k++)
			check(&c->assigns[k]);
		for (size_t k = 0; k < c->n_redirs; k++)
			check(&c->redirs[k].target);
		for (size_t k = 0; k < c->src_len; k++)
			assert(c->src[k] != '\0');
	}
	assert(!s->refused || s->error[0] != '\0');
	sh_free(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_script(sh_parse((const char *)data, size));
	check_script(sh_parse_plain((const char *)data, size));
	return 0;
}
