/*
 * gate.c - how long verdicts take.
 *
 *	gate FILE       prints, for each line of FILE, the microseconds that the
 *	                verdict on it takes under a dozen rules: the best of 20
 */
#include "common/compat.h"

#include <time.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/policy/judge.h"

static const char policy[] =
    "{\"deny\": [\"Bash(curl:*)\", \"Bash(rm -rf /*)\", \"Edit(/db/**)\","
    " \"Read(~/.ssh/**)\", \"Bash(* --force)\"],"
    " \"ask\": [\"Bash(git push *)\", \"Bash(npm publish:*)\"],"
    " \"allow\": [\"Bash(git log *)\", \"Bash(ls:*)\", \"Bash(make *)\","
    " \"Bash(npm test:*)\", \"Edit(/src/**)\"],"
    " \"write_outside_workspace\": \"ask\"}";

static double
one(const struct rules *r, const char *command)
{
	static const struct judge_place place = { "/ws", "/ws", "/home/u" };
	struct timespec a, b;
	struct verdict v;
	double us, best = 1e9;

	for (int i = 0; i < 20; i++) {
		(void)clock_gettime(CLOCK_MONOTONIC, &a);
		judge_command(r, command, &place, &v);
		verdict_clear(&v);
		(void)clock_gettime(CLOCK_MONOTONIC, &b);
		us = (double)(b.tv_sec - a.tv_sec) * 1e6 +
		    (double)(b.tv_nsec - a.tv_nsec) / 1e3;
		best = us < best ? us : best;
	}
	return best;
}

int
main(int argc, char **argv)
{
	struct rules *r = rules_create();
	json_t *j = NULL;
	char *text, *at, *line;
	struct buf b;
	struct err e;

	log_init("bench");
	buf_init(&b, 1 << 20);
	if (argc != 2)
		fatal("usage: gate FILE");
	if (file_read(argv[1], false, &b, &e) < 0 ||
	    json_parse(policy, sizeof policy - 1, 4096, &j, &e) < 0 ||
	    rules_add(r, LAYER_USER, "bench", j, &e) < 0)
		fatal("%s", e.text);
	text = buf_detach(&b, NULL);
	for (at = text; (line = strsep(&at, "\n")) != NULL;)
		if (*line != '\0' && strncmp(line, "##", 2) != 0)
			printf("%.2f\n", one(r, line));
	json_decref(j);
	rules_free(r);
	free(text);
	return 0;
}
