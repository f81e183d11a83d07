/* A profile from JSON, and once round. */
#include "common/compat.h"

#include <assert.h>

#include "sandbox/profile_def.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile_def d = { 0 }, again = { 0 };
	json_t *j, *k, *l;
	struct err e;

	if (json_parse((const char *)data, size, 1 << 20, &j, NULL) < 0)
		return 0;
	if (profile_def_apply(&d, j, "fuzz", &e) == 0) {
		k = profile_def_json(&d);
		assert(k != NULL);
		assert(profile_def_apply(&again, k, "again", &e) == 0);
		l = profile_def_json(&again);
		assert(json_equal(k, l));
		json_decref(k);
		json_decref(l);
	}
	profile_def_clear(&d);
	profile_def_clear(&again);
	json_decref(j);
	return 0;
}
