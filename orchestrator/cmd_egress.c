/* cmd_egress.c - the proxy process that egress/server.h starts; not for people,
 * and not in the list of commands. */
#include "common/compat.h"

#include "orchestrator/cmd.h"
#include "orchestrator/egress/server.h"

static int
cmd_egress_main(int argc, char **argv)
{
	egress_main(argc, argv);
}

const struct cmd cmd_egress = {
	.name = "egress-proxy",
	.run = cmd_egress_main,
};
