#include "common/compat.h"

#include <inttypes.h>

#include "common/num.h"

#define MICRO 1000000u
#define MONEY_MAX 1000000000u /* whole units: far over any bill */
#define DURATION_MAX_MS (365ull * 24 * 3600 * 1000)

/* The digits at *s, moving *s behind them. False: no digit, or too large. */
static bool
digits(const char **s, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned d;

	if (**s < '0' || **s > '9')
		return false;
	for (; **s >= '0' && **s <= '9'; (*s)++) {
		d = (unsigned)(**s - '0');
		if (v > (UINT64_MAX - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*ret = v;
	return true;
}

int
num_u64(const char *s, uint64_t min, uint64_t max, const char *what,
    uint64_t *ret, struct err *e)
{
	const char *p = s;
	uint64_t v;

	if (!digits(&p, &v) || *p != '\0' || v < min || v > max)
		return err_set(e, ERR_USAGE,
		    "%s: want a whole number from %" PRIu64 " to %" PRIu64
		    ", not \"%.80s\"",
		    what, min, max, s);
	*ret = v;
	return 0;
}

int
num_duration_ms(const char *s, const char *what, uint64_t *ret, struct err *e)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {
		{ "", 1000 },
		{ "ms", 1 },
		{ "s", 1000 },
		{ "m", 60000 },
		{ "h", 3600000 },
		{ "d", 86400000 },
	};
	const char *p = s;
	uint64_t v;

	if (!digits(&p, &v))
		goto bad;
	for (size_t i = 0; i < nitems(units); i++) {
		if (strcmp(p, units[i].name) != 0)
			continue;
		if (v == 0 || v > DURATION_MAX_MS / units[i].ms)
			break;
		*ret = v * units[i].ms;
		return 0;
	}
bad:
	return err_set(e, ERR_USAGE,
	    "%s: want a time such as 90, 90s, 10m, 2h, 1d or 250ms, at most "
	    "365d, not \"%.80s\"",
	    what, s);
}

int
num_money_micro(const char *s, const char *what, uint64_t *ret, struct err *e)
{
	uint64_t whole, part = 0, unit = MICRO;
	const char *p = s;

	if (!digits(&p, &whole) || whole > MONEY_MAX)
		goto bad;
	if (*p == '.') {
		p++;
		if (*p < '0' || *p > '9')
			goto bad;
		for (; *p >= '0' && *p <= '9' && unit > 1; p++) {
			unit /= 10;
			part += (uint64_t)(*p - '0') * unit;
		}
	}
	if (*p != '\0')
		goto bad;
	*ret = whole * MICRO + part;
	return 0;
bad:
	return err_set(e, ERR_USAGE,
	    "%s: want an amount such as 5 or 1.25, with at most six decimals, "
	    "not \"%.80s\"",
	    what, s);
}

char *
num_fmt_ms(uint64_t ms, char *dst, size_t size)
{
	uint64_t s = ms / 1000;

	if (ms < 1000)
		snprintf(dst, size, "%" PRIu64 " ms", ms);
	else if (s < 60)
		snprintf(
		    dst, size, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
	else if (s < 3600)
		snprintf(
		    dst, size, "%" PRIu64 " m %" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(dst, size, "%" PRIu64 " h %" PRIu64 " m", s / 3600,
		    s % 3600 / 60);
	return dst;
}

#define USD_MAX 1000000

int
num_usd(const char *s, const char *what, uint64_t *ret, struct err *e)
{
	const char *p = *s == '$' ? s + 1 : s;
	uint64_t whole = 0, part = 0, unit = 1000000;
	size_t digits = strspn(p, "0123456789"), more = 0, i;

	for (i = 0; i < digits && whole <= USD_MAX; i++)
		whole = whole * 10 + (uint64_t)(p[i] - '0');
	p += digits;
	if (*p == '.') {
		more = strspn(++p, "0123456789");
		for (i = 0; i < more && unit > 1; i++) {
			unit /= 10;
			part += (uint64_t)(p[i] - '0') * unit;
		}
		p += more;
	}
	if (*p != '\0' || digits + more == 0 || more > 6 || whole > USD_MAX ||
	    whole + part == 0)
		return err_set(e, ERR_USAGE,
		    "%s: \"%.40s\" is no amount of dollars (0.000001 to %d)",
		    what, s, USD_MAX);
	*ret = whole * 1000000 + part;
	return 0;
}

int
num_size(const char *s, const char *what, uint64_t *ret, struct err *e)
{
	static const char units[] = "KMGT";
	const char *p = s, *unit;
	unsigned shift = 0;
	uint64_t v;

	if (digits(&p, &v)) {
		if (*p != '\0' && (unit = strchr(units, *p)) != NULL) {
			shift = 10 * (unsigned)(unit - units + 1);
			p++;
		}
		if (*p == '\0' && v > 0 && v <= (uint64_t)INT64_MAX >> shift) {
			*ret = v << shift;
			return 0;
		}
	}
	return err_set(e, ERR_USAGE,
	    "%s: want a size such as 512M, 4G or a number of bytes, not \"%.80s\"",
	    what, s);
}

char *
num_fmt_size(uint64_t n, char *dst, size_t size)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB",
		"TiB" };
	size_t i = 0;
	uint64_t unit = 1;

	while (i + 1 < nitems(units) && n >= unit * 1024) {
		unit *= 1024;
		i++;
	}
	if (n % unit == 0)
		(void)snprintf(dst, size, "%llu %s",
		    (unsigned long long)(n / unit), units[i]);
	else
		(void)snprintf(
		    dst, size, "%.1f %s", (double)n / (double)unit, units[i]);
	return dst;
}
