/* replay.c - main for a fuzzer's source without libFuzzer: runs each file. */
#include "common/compat.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/fdio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
main(int argc, char **argv)
{
	struct err e = { 0 };
	struct buf b;
	int i;

	for (i = 1; i < argc; i++) {
		buf_init(&b, 16 << 20);
		if (file_read(argv[i], false, &b, &e) < 0) {
			(void)fprintf(stderr, "%s\n", e.text);
			return 1;
		}
		/* A heap block of exactly that size: overruns show. */
		uint8_t *copy = malloc(b.len > 0 ? b.len : 1);

		if (copy == NULL)
			return 1;
		for (size_t k = 0; k < b.len; k++)
			copy[k] = (uint8_t)b.data[k];
		(void)LLVMFuzzerTestOneInput(copy, b.len);
		free(copy);
		buf_clear(&b);
	}
	return 0;
}
