/*
 * main.c - foray-host: runs workers in sandboxes for an orchestrator.
 */
#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "sandbox/cgroup.h"
#include "sandbox/container.h"
#include "sandbox/probe.h"
#include "worker/host/check.h"
#include "worker/host/host.h"
#include "worker/host/launch.h"
#include "worker/host/options.h"
#include "worker/host/place.h"
#include "worker/host/quota.h"

int
main(int argc, char **argv)
{
	struct options o;
	struct lifelines lines;
	struct place place;
	struct quota quota;
	struct err e;
	int status;

	log_init("foray-host");
	options_parse(&o, argc, argv);

	if (o.check)
		return check_machine(&o);
	if (o.backend == BACKEND_CONTAINER)
		log_warn("%s", container_warning());
	quota_init(&quota, o.slots);
	launch(o.lifeline_fd, o.backend, o.drain_ms, &quota.total, &lines,
	    &quota.group);
	/* Pid 1 from here on; without namespaces a subreaper. */
	status = place_prepare(&o, &place, &e);
	if (status < 0) {
		log_error("%s", e.text);
		/* It names the cause and the remedy. */
		if (status == ERR_SANDBOX && o.backend == BACKEND_BWRAP &&
		    probe_sandbox(&e) < 0)
			log_error("%s", e.text);
		exit(status == ERR_SANDBOX ? EXIT_SANDBOX : EXIT_CONFIG);
	}
	lifelines_arm(&lines);

	/* foray has tried it before it started us. */
	if (o.lifeline_fd < 0 &&
	    (o.backend == BACKEND_CONTAINER ? container_probe(&e)
					    : probe_sandbox(&e)) < 0) {
		log_error("%s", e.text);
		exit(EXIT_SANDBOX);
	}
	status = host_run(&o, &place, &quota, &lines);
	cgroup_forget(&quota.group); /* the launcher removes it */
	place_clear(&place);
	strv_clear(&o.labels);
	return status;
}
