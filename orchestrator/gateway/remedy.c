#include "common/compat.h"

#include "common/text.h"
#include "orchestrator/gateway/remedy.h"

static void
words(const struct endpoint *m, enum fault_kind kind, char *dst, size_t size)
{
	switch (kind) {
	case FAULT_AUTH:
		if (m->key_from == NULL)
			(void)snprintf(dst, size,
			    " (no key was sent: providers.%.80s names none)",
			    m->provider);
		else if (m->key == NULL)
			(void)snprintf(dst, size,
			    " (no key was sent: %.120s is not set)",
			    m->key_from);
		else
			(void)snprintf(dst, size,
			    " (the key is that of %.120s)", m->key_from);
		break;
	case FAULT_NOMODEL:
		(void)snprintf(dst, size,
		    " (-m names the model, %.120s the server)", m->url_from);
		break;
	case FAULT_NETWORK:
	case FAULT_TLS:
	case FAULT_BROKEN:
		(void)snprintf(
		    dst, size, " (%.120s names the server)", m->url_from);
		break;
	default:
		break;
	}
}

void
remedy_add(struct fault *f, const struct endpoint *m)
{
	char more[256] = "";
	size_t len = strlen(f->text), room;

	if (m->url_from == NULL)
		return;
	words(m, f->kind, more, sizeof more);
	room = sizeof f->text - 1 - strlen(more);
	if (len > room)
		len = text_cut(f->text, len, room);
	(void)strlcpy(f->text + len, more, sizeof f->text - len);
}
