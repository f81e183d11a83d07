#include "common/compat.h"

#include <curl/curl.h>

#include "orchestrator/gateway/fault_read.h"

#define WAIT_MAX_MS ((uint64_t)100 * 365 * 86400 * 1000)

/* Digits at s, with no sign; what does not fit is the largest. */
bool
number_at(const char *s, uint64_t *ret)
{
	uint64_t v = 0;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (v > (UINT64_MAX - 9) / 10)
			v = (UINT64_MAX - 9) / 10;
		v = v * 10 + (uint64_t)(*s - '0');
	}
	*ret = v;
	return true;
}

bool
number_after(const char *s, const char *anchor, uint64_t *ret)
{
	const char *at = strcasestr(s, anchor);

	return at != NULL && number_at(at + strlen(anchor), ret);
}

bool
number_before(const char *s, const char *anchor, uint64_t *ret)
{
	const char *at = strcasestr(s, anchor);

	while (at != NULL && at > s && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at != NULL && number_at(at, ret);
}

/* "7", "0.5", "6m0s", "1h2m3.5s", "250ms", "9 days"; a bare number counts
 * seconds. */
static bool
wait_at(const char *s, uint64_t *ret_ms)
{
	uint64_t total = 0, whole, part, unit;
	bool any = false;

	while (number_at(s, &whole)) {
		part = 0;
		unit = 1000;
		s += strspn(s, "0123456789");
		if (*s == '.') {
			uint64_t scale = 100;

			for (s++; *s >= '0' && *s <= '9'; s++, scale /= 10)
				part += (uint64_t)(*s - '0') * scale;
		}
		s += strspn(s, " ");
		if (strncmp(s, "ms", 2) == 0)
			unit = 1;
		else if (*s == 'm')
			unit = 60 * 1000;
		else if (*s == 'h')
			unit = 3600 * 1000;
		else if (*s == 'd')
			unit = 86400 * 1000;
		if (whole > WAIT_MAX_MS / unit)
			whole = WAIT_MAX_MS / unit;
		total += whole * unit + part * unit / 1000;
		if (total > WAIT_MAX_MS)
			total = WAIT_MAX_MS;
		any = true;
		s += unit == 1 ? 2 : strspn(s, "smhd") > 0;
	}
	*ret_ms = total;
	return any;
}

bool
fault_wait_header(const char *value, int64_t now_s, uint64_t *ret_ms)
{
	time_t t;

	while (*value == ' ' || *value == '\t')
		value++;
	if (value[strspn(value, "0123456789.")] == '\0')
		return wait_at(value, ret_ms);
	t = curl_getdate(value, NULL);
	if (t == (time_t)-1)
		return false;
	*ret_ms = 0;
	if ((int64_t)t > now_s)
		*ret_ms = ((uint64_t)t - (uint64_t)now_s) > WAIT_MAX_MS / 1000
		    ? WAIT_MAX_MS
		    : ((uint64_t)t - (uint64_t)now_s) * 1000;
	return true;
}

bool
fault_wait_message(const char *s, uint64_t *ret_ms)
{
	static const char *const anchors[] = { "try again in ", "retry in ",
		"resets in ", "\"retryDelay\":\"", "\"retryDelay\": \"" };
	const char *at;

	for (size_t i = 0; i < nitems(anchors); i++) {
		at = strcasestr(s, anchors[i]);
		if (at != NULL && wait_at(at + strlen(anchors[i]), ret_ms))
			return true;
	}
	return false;
}
