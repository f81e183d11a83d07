/* A spec from JSON, to arguments, and once round. */
#include "common/compat.h"

#include <assert.h>

#include "sandbox/bwrap_args.h"
#include "sandbox/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sandbox_spec s, again;
	struct strv a = { 0 }, b = { 0 };
	json_t *j, *k;

	if (json_parse((const char *)data, size, 1 << 20, &j, NULL) < 0)
		return 0;
	if (spec_from_json(j, &s, NULL) == 0) {
		k = spec_to_json(&s);
		assert(spec_from_json(k, &again, NULL) == 0);
		bwrap_args(&s, 3, 4, &a);
		bwrap_args(&again, 3, 4, &b);
		assert(a.n == b.n);
		for (size_t i = 0; i < a.n; i++)
			assert(strcmp(a.v[i], b.v[i]) == 0);
		strv_clear(&a);
		strv_clear(&b);
		spec_clear(&s);
		spec_clear(&again);
		json_decref(k);
	}
	json_decref(j);
	return 0;
}
