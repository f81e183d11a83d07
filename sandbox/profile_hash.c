/* profile_hash.c - two machines find out whether they have the same profile. */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/profile_def.h"

void
profile_def_hash(const struct profile_def *d, char ret[HASH_HEX])
{
	/* What stands in no rule: names for people, values of one machine's
	 * environment. */
	static const char *const others[] = { "name", "description", "env" };
	json_t *j = profile_def_json(d);
	unsigned char h[HASH_LEN];
	char *text;
	size_t i;

	for (i = 0; i < nitems(others); i++)
		(void)json_object_del(j, others[i]);
	text = json_text_sorted(j);
	hash_bytes(text, strlen(text), h);
	hash_hex(h, ret);
	free(text);
	json_decref(j);
}
