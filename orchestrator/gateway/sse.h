/*
 * sse.h - server-sent events out of a byte stream, however it is cut into
 * pieces. https://html.spec.whatwg.org/multipage/server-sent-events.html:
 * lines end in LF, CR or CRLF; "data" lines of an event are joined by LF;
 * comments, ids and retry are ignored; a byte-order mark at the start is
 * skipped. An event is given out at its blank line; sse_end gives out a last
 * one that lacks it (servers that close right after it).
 */
#ifndef ORCHESTRATOR_GATEWAY_SSE_H
#define ORCHESTRATOR_GATEWAY_SSE_H

#include "common/buf.h"

#define SSE_EVENT_MAX ((size_t)2 << 20)

typedef void (*sse_cb)(
    void *ctx, const char *event, const char *data, size_t len);

struct sse {
	sse_cb cb;
	void *ctx;
	struct buf line, data;
	char event[64]; /* cut */
	bool cr;        /* the last byte was CR */
	bool started;
	bool has_data;
	bool over; /* a line or an event passed SSE_EVENT_MAX */
};

void sse_init(struct sse *s, sse_cb cb, void *ctx);
/* data given to cb ends in NUL (not counted). -1: over the cap. */
int sse_feed(struct sse *s, const void *p, size_t len);
int sse_end(struct sse *s);
void sse_clear(struct sse *s);

#endif
