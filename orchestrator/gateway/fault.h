/*
 * fault.h - why a model request failed, and what follows from it. One table of
 * kinds; what a server said (status, headers, body) or curl reports becomes one
 * of them. Server text is untrusted: cleaned, in one line, and never holds the
 * key (fault_scrub).
 */
#ifndef ORCHESTRATOR_GATEWAY_FAULT_H
#define ORCHESTRATOR_GATEWAY_FAULT_H

#include "common/compat.h"

enum fault_kind {
	FAULT_NONE,
	/* the same request may succeed later */
	FAULT_RATE,     /* 429: too many requests */
	FAULT_OVERLOAD, /* 529, 503, or an overloaded_error in a stream */
	FAULT_SERVER,   /* other 5xx, an HTML page, an error event */
	FAULT_NETWORK,  /* no connection, DNS, reset before the reply */
	FAULT_BROKEN,   /* the stream ended early, stalled, or is no reply */
	/* the same request will fail again */
	FAULT_OVERFLOW, /* the context is too long: compact, then once more */
	FAULT_OUTPUT,   /* max_tokens is refused: lower it, then once more */
	FAULT_QUOTA,    /* credit or a long-term limit is used up */
	FAULT_AUTH,     /* 401, 403 */
	FAULT_FILTER,   /* refused by a content filter */
	FAULT_NOMODEL,  /* 404: no such model or path */
	FAULT_REQUEST,  /* other 4xx */
	FAULT_TLS,      /* the certificate does not fit */
	FAULT_TOOLARGE, /* the reply passes a cap: again, but twice at most */
	FAULT_CANCELLED
};

/* A wait of up to so many times max_wait_ms is kept when a server asks for it;
 * a longer one is no wait any more. */
#define FAULT_WAIT_TIMES 10

struct fault {
	enum fault_kind kind;
	long status; /* HTTP, 0: none */
	bool has_retry_after;
	uint64_t retry_after_ms;
	/* Tokens that the server named in its refusal, 0: none. Its word only.
	 */
	uint64_t context; /* the window: FAULT_OVERFLOW, FAULT_OUTPUT */
	uint64_t output;  /* the most for a reply: FAULT_OUTPUT */
	/* FAULT_REQUEST: max_tokens or max_completion_tokens is not known under
	 * that name. */
	bool output_name;
	char text[512]; /* one line for a person, from the server */
};

/* "rate_limited", "overloaded", "server_error", "network", "broken_stream",
 * "context_overflow", "output_limit", "quota_exhausted", "auth",
 * "content_filter", "no_such_model", "bad_request", "tls", "too_large",
 * "cancelled" */
const char *fault_name(enum fault_kind k);
bool fault_retryable(enum fault_kind k);

/* From a reply that is no 2xx, or whose body is an error object or no reply at
 * all. retry_after: the header's value (seconds, or an HTTP date; now_s: the
 * wall clock), or NULL; without it a wait named in the body counts ("try again
 * in 7.6s"). A wait of up to FAULT_WAIT_TIMES times max_wait_ms is to be waited
 * as asked; beyond it 429 is FAULT_QUOTA ("9 days"). The text begins with "HTTP
 * STATUS". */
void fault_from_http(struct fault *f, long status, const char *content_type,
    const char *retry_after, const char *body, size_t len, uint64_t max_wait_ms,
    int64_t now_s);
/* From an error object inside a stream or a 200 body: its type or code and its
 * message; either may be NULL. status 0. */
void fault_from_error(struct fault *f, const char *type, const char *message);
/* From a CURLcode and curl's error buffer. */
void fault_from_curl(struct fault *f, int code, const char *text);
void fault_set(struct fault *f, enum fault_kind k, const char *fmt, ...)
    printflike(3, 4);
/* Overwrite every occurrence of secret in text, one cut off at its end too, in
 * any case and as JSON may write it ("\/", "\"", "\u0073"). */
void fault_scrub(char *text, const char *secret);
/* The same for len bytes that were not cut (NULs are allowed). True: some were
 * overwritten. */
bool fault_scrub_whole(char *text, size_t len, const char *secret);
/* The longest wait that is kept for a server. */
uint64_t fault_wait_most(uint64_t max_wait_ms);
/* "9 days", "3 hours", "5 minutes", "7 s" into dst. Returns dst. */
char *fault_wait_words(uint64_t ms, char *dst, size_t size);

#endif
