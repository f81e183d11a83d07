/* cmd_door.c - the process that door/door.h starts; not for people, and not in
 * the list of commands. */
#include "common/compat.h"

#include "orchestrator/cmd.h"
#include "orchestrator/door/door.h"

static int
cmd_door_main(int argc, char **argv)
{
	door_main(argc, argv);
}

const struct cmd cmd_door = {
	.name = "door",
	.run = cmd_door_main,
};
