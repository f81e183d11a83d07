#include "common/compat.h"

#include <string.h>

#include "common/log.h"
#include "proto/label.h"

#define CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789._-/:="

static bool
is_in(const struct strv *v, const char *s)
{
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->v[i], s) == 0)
			return true;
	return false;
}

int
labels_add(struct strv *to, const char *text, const char *what, struct err *e)
{
	char one[LABEL_MAX + 1];
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (len == 0 || len > LABEL_MAX ||
		    strspn(text, CHARACTERS) < len)
			return err_set(e, ERR_USAGE,
			    "%s: \"%.*s\" is no label: 1 to %d letters, "
			    "digits and . _ - / : =, as in gpu or zone=a",
			    what, (int)(len < 80 ? len : 80), text, LABEL_MAX);
		memcpy(one, text, len);
		one[len] = '\0';
		if (!is_in(to, one) && to->n >= LABELS_MAX)
			return err_set(e, ERR_USAGE, "%s: %d labels at most",
			    what, LABELS_MAX);
		if (!is_in(to, one))
			strv_add(to, one);
		if (text[len] == '\0')
			return 0;
	}
}

bool
labels_in(const struct strv *want, const struct strv *have)
{
	for (size_t i = 0; i < want->n; i++)
		if (!is_in(have, want->v[i]))
			return false;
	return true;
}
