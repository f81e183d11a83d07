/* sse.c - see sse.h. */
#include "common/compat.h"

#include "orchestrator/gateway/sse.h"

static const char bom[] = "\xef\xbb\xbf";

void
sse_init(struct sse *s, sse_cb cb, void *ctx)
{
	*s = (struct sse){ .cb = cb, .ctx = ctx };
	buf_init(&s->line, SSE_EVENT_MAX);
	buf_init(&s->data, SSE_EVENT_MAX);
}

void
sse_clear(struct sse *s)
{
	buf_clear(&s->line);
	buf_clear(&s->data);
}

static void
give_out(struct sse *s)
{
	if (s->has_data)
		s->cb(s->ctx, s->event, buf_str(&s->data), s->data.len);
	buf_reset(&s->data);
	s->event[0] = '\0';
	s->has_data = false;
}

static int
field(struct sse *s, const char *name, size_t name_len, const char *value,
    size_t len)
{
	if (name_len == 4 && memcmp(name, "data", 4) == 0) {
		if (s->has_data && buf_addc(&s->data, '\n') < 0)
			return -1;
		s->has_data = true;
		return buf_add(&s->data, value, len) < 0 ? -1 : 0;
	}
	if (name_len == 5 && memcmp(name, "event", 5) == 0) {
		if (len >= sizeof s->event)
			len = sizeof s->event - 1;
		memcpy(s->event, value, len);
		s->event[len] = '\0';
	}
	return 0;
}

static int
take_line(struct sse *s)
{
	const char *p = buf_str(&s->line), *colon, *value, *end;
	size_t len = s->line.len;

	if (!s->started && len >= 3 && memcmp(p, bom, 3) == 0) {
		p += 3;
		len -= 3;
	}
	s->started = true;
	if (len == 0) {
		give_out(s);
		return 0;
	}
	end = p + len;
	colon = memchr(p, ':', len);
	value = colon == NULL ? end : colon + 1;
	if (value < end && *value == ' ')
		value++;
	return field(s, p, colon == NULL ? len : (size_t)(colon - p), value,
	    (size_t)(end - value));
}

static int
over(struct sse *s)
{
	s->over = true;
	return -1;
}

int
sse_feed(struct sse *s, const void *p, size_t len)
{
	const char *at = p, *end = at + len;
	size_t n;

	while (at < end && !s->over) {
		if (s->cr && *at == '\n') {
			s->cr = false;
			at++;
			continue;
		}
		s->cr = false;
		for (n = 0; at + n < end && at[n] != '\n' && at[n] != '\r';)
			n++;
		if (buf_add(&s->line, at, n) < 0)
			return over(s);
		at += n;
		if (at == end)
			break;
		s->cr = *at++ == '\r';
		if (take_line(s) < 0)
			return over(s);
		buf_reset(&s->line);
	}
	return s->over ? -1 : 0;
}

int
sse_end(struct sse *s)
{
	if (s->over)
		return -1;
	if (s->line.len > 0 && take_line(s) < 0)
		return over(s);
	buf_reset(&s->line);
	give_out(s);
	return 0;
}
