/*
 * profile_def.h - a sandbox's strictness as data.
 *
 * A profile is a JSON file. Four are supplied (sandbox/profiles/: strict,
 * default, build, debug) and part of the programs; a person's own are
 * $XDG_CONFIG_HOME/foray/profiles/NAME.json or any file named with a slash.
 *
 *	{"extends": "default",        another profile to start from; null: none;
 *				      left out in a person's own: "default"
 *	 "about": "one sentence",
 *	 "show": ["/data", "~/.m2"],  visible, read-only, at the same path
 *	 "write": ["~/out"],          visible and writable: foray sandbox only
 *	 "hide": ["/etc/secret"],     covered by an empty file or directory
 *	 "toolchains": true,          what PATH leads to (toolchain.h)
 *	 "cache": false,              ~/.cache lasts and is shared
 *	 "ptrace": false,             debuggers may trace
 *	 "pass_env": ["LANG"],        variables of the caller's
 *	 "env": {"NAME": "value"},    variables
 *	 "tmp": "2G", "shm": "512M",  /tmp and /dev/shm
 *	 "limits": {...}}
 *
 * Limits, all optional; what is left out, or 0, is the program's default:
 *
 *	"memory": "4G"          all that runs in a sandbox together, tmpfs and
 *	                        page cache included (without control groups:
 *	                        of each process)
 *	"process_memory": "2G"  RLIMIT_DATA of each process, or "unlimited": not
 *	                        even where there are no control groups
 *	"processes": 512        of a command
 *	"all_processes": 1024   of a worker with all its commands
 *	"cpus": 1.5             processors at once
 *	"cpu": "10m"            processor time of a process
 *	"file": "4G"            the largest one, or "unlimited"
 *	"disk": "8G"            what a worker's tree may grow by
 *	"output": "1G"          of a command
 *	"open_files": 1024
 *	"call": "2m"            wall time of a worker's command
 *	"subtask": "1h"         wall time of a worker
 *
 * The settings' "sandbox" has the same shape, with "profile" for "extends".
 * Lists are added to those of the profile below; anything else replaces. Paths
 * are absolute or begin with "~/"; what does not exist is passed over. Unknown
 * keys are refused, since a misspelt limit is no limit.
 */
#ifndef SANDBOX_PROFILE_DEF_H
#define SANDBOX_PROFILE_DEF_H

#include "common/hash.h"
#include "common/json.h"
#include "sandbox/spec.h"

#define PROFILE_MAX_BYTES ((size_t)256 << 10)

struct profile_def {
	char *name, *about;
	struct strv show, write, hide; /* clean absolute paths, or "~/..." */
	struct strv pass_env;
	struct strv env; /* NAME=value */
	bool toolchains, cache, ptrace;
	uint64_t tmp_bytes, shm_bytes;
	struct sandbox_limits limits;
	uint64_t call_ms, subtask_ms;
};

/* The supplied ones. */
struct profile_supplied {
	const char *name, *text;
};
extern const struct profile_supplied profile_supplied[]; /* ends with NULL */

/* A supplied profile, one of the person's, or a file. ERR_NOTFOUND lists the
 * names; ERR_SYNTAX names file and key. */
int profile_def_load(const char *name, struct profile_def *ret, struct err *e);
/* An object of that shape on top. what names it in errors. */
int profile_def_apply(
    struct profile_def *d, const json_t *j, const char *what, struct err *e);
/* All of it, without "extends": for a file that another process reads. */
json_t *profile_def_json(const struct profile_def *d);
/* Of all its rules: equal on two machines when these are. */
void profile_def_hash(const struct profile_def *d, char ret[HASH_HEX]);
void profile_def_clear(struct profile_def *d);

#endif
