/* options.c - see options.h. */
#include "common/compat.h"

#include <stdio.h>

#include "common/options.h"

int
options_next(int argc, char *const *argv, const char *short_options,
    const struct option *long_options)
{
	int at = -1, opt, word;

	opt = getopt_long(argc, argv, short_options, long_options, &at);
	if (opt == -1 || opt == '?' || opt == ':' || at < 0)
		return opt;
	/* The value may be a word of its own. */
	word = optind - 1;
	if (optarg != NULL && optarg == argv[word])
		word--;
	if (strcspn(argv[word] + 2, "=") == strlen(long_options[at].name))
		return opt;
	if (opterr != 0)
		(void)fprintf(stderr, "%s: unrecognized option '%s'\n", argv[0],
		    argv[word]);
	optind = word + 1;
	optopt = 0;
	return '?';
}
