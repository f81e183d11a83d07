/*
 * options.h - the command line, option by option.
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include "common/compat.h"

#include <getopt.h>

/* getopt_long() that takes no abbreviations of long options: "--all" would be
 * "--allow-net" where there is no --all, and its value the next word. Such a
 * one is '?', as any that is not known: argv[optind - 1], optopt 0. */
int options_next(int argc, char *const *argv, const char *short_options,
    const struct option *long_options);

#endif
