#!/usr/bin/env python3
"""The clock of the machine jumps by weeks in the middle of a run: leases,
heartbeats, budgets and time limits don't care.

A shim between the programs and the C library moves CLOCK_REALTIME by what a
file says; that it does so is seen in the stamps of their logs.
"""
import datetime
import json
import os
import shutil

import lib
from fleet_keys import Fleet, end

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long
jump(void)
{
	const char *name = getenv("TEST_CLOCK");
	FILE *f = name != NULL ? fopen(name, "re") : NULL;
	long by = 0;

	if (f != NULL) {
		if (fscanf(f, "%ld", &by) != 1)
			by = 0;
		fclose(f);
	}
	return by;
}

int
clock_gettime(clockid_t c, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	int r;

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	r = real(c, t);
	if (c == CLOCK_REALTIME || c == CLOCK_REALTIME_COARSE)
		t->tv_sec += jump();
	return r;
}

time_t
time(time_t *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret != NULL)
		*ret = t.tv_sec;
	return t.tv_sec;
}

int
gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec t;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &t);
	tv->tv_sec = t.tv_sec;
	tv->tv_usec = t.tv_nsec / 1000;
	return 0;
}
"""
SLOW = lib.small(**{"test.sh": "sleep 1\n" + lib.SMALL["test.sh"]})
WEEKS = 3 * 7 * 86400


def stamps(text):
    """Of the lines of a log, in days from now."""
    now, found = datetime.datetime.now(datetime.timezone.utc), []
    for line in text.splitlines():
        try:
            stamp = json.loads(line)["time"]
        except (ValueError, KeyError, TypeError):
            continue
        t = datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00"))
        found.append((t - now).total_seconds() / 86400)
    return found


def jumps(box, shim):
    clock = os.path.join(box.dir, "clock")
    lib.write(clock, "%d\n" % WEEKS)
    # The sanitizer's runtime wants to come first, and need not.
    old = box.env.get("ASAN_OPTIONS", "")
    box.env.update(LD_PRELOAD=shim, TEST_CLOCK=clock, FORAY_LOG="json",
                   ASAN_OPTIONS=old + ":verify_asan_link_order=0")
    f = Fleet(box, "jumps", "--local", "0", "--max-time", "5m", files=SLOW)
    host = f.host("--name", "away", log=box.dir + "/away.log")
    lib.check(f.run.wait_event("worker_started", 60), "it has begun",
              f.run.events())
    for by in (0, -WEEKS, 40 * WEEKS, 0):
        lib.write(clock, "%d\n" % by)
        n = len(f.run.events())
        lib.wait_until(lambda: len(f.run.events()) > n + 1 or
                       f.run.process.poll() is not None, 3)
    lib.write(clock, "%d\n" % -WEEKS)
    r = f.finish("the clock jumps")
    lib.equal([e["reason"] for e in r.all("host_down")], [],
              "no host is lost")
    lib.equal([e["reason"] for e in r.all("worker_gone")
               if e["reason"] not in ("exited", "stopped")], [],
              "no worker is given up", r)
    times = [e["t"] for e in r.events]
    lib.check(times == sorted(times) and 0 <= times[-1] <= r.seconds + 1,
              "the run's own time goes on", times)
    end(host, "the clock jumps")
    for who, text in (("foray", r.err), ("the host", lib.read(host.log))):
        found = stamps(text)
        lib.check(any(d < -20 for d in found) or any(d > 20 for d in found),
                  "the clock of %s did jump" % who, found)
    for name in ("LD_PRELOAD", "TEST_CLOCK", "FORAY_LOG"):
        del box.env[name]
    box.env["ASAN_OPTIONS"] = old
    v = box.do("audit", "--verify")
    lib.equal(v.status, 0, "the audit is whole", v)


if shutil.which("gcc") is None:
    lib.skip("there is no gcc")
with lib.Box() as b:
    lib.write(b.dir + "/shim.c", SHIM)
    so = b.dir + "/shim.so"
    lib.equal(b.call(["gcc", "-shared", "-fPIC", "-o", so, b.dir + "/shim.c",
                      "-ldl"]).status, 0, "the shim is made")
    os.chmod(b.dir, 0o755)
    lib.equal(b.do("keys", "new", "fleet").status, 0, "keys")
    jumps(b, so)
lib.done()
