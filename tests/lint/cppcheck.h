/* Loop macros of the libraries, for cppcheck, which does not read them. */
#define TAILQ_FOREACH(a, b, c) \
	for (a = foreach_first(b); a != 0; a = foreach_next(a))
#define TAILQ_FOREACH_SAFE(a, b, c, d) TAILQ_FOREACH (a, b, c)
#define json_array_foreach(a, i, v) \
	for (i = 0; (v = json_array_get(a, i)) != 0; i++)
#define json_object_foreach(o, k, v) \
	for (k = next_key(o, 0); k != 0 && (v = get(o, k)); k = next_key(o, k))
#define RB_GENERATE_INTERNAL(a, b, c, d, e)
#define RB_FOREACH_SAFE(a, b, c, d) TAILQ_FOREACH (a, c, x)
