/*
 * curl_loop.c - the floor of the model path: libcurl alone sends the same
 * request bodies and reads the streams to their end.
 *
 *	curl_loop URL N TIMES FILE...
 *
 * Each FILE is a body, sent TIMES times, N requests at a time. Prints one JSON
 * object: requests, seconds, cpu_s (of this process), bytes_in, bytes_out.
 */
#include "common/compat.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <time.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"

#define PARALLEL_MAX 1024
#define TIMES_MAX 100000

struct run {
	const char *url;
	struct curl_slist *headers;
	struct buf *bodies;
	size_t n_bodies, sent, end; /* requests */
	double bytes_in, bytes_out;
};

static size_t
on_data(char *p unused_arg, size_t size, size_t n, void *ctx)
{
	struct run *r = ctx;

	r->bytes_in += (double)(size * n);
	return size * n;
}

static void
send_next(struct run *r, CURLM *multi, CURL *easy)
{
	const struct buf *b = &r->bodies[r->sent++ % r->n_bodies];

	(void)curl_easy_setopt(easy, CURLOPT_URL, r->url);
	(void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, r->headers);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, r);
	(void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(
	    easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)b->len);
	(void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, buf_str(b));
	r->bytes_out += (double)b->len;
	if (curl_multi_add_handle(multi, easy) != CURLM_OK)
		fatal("libcurl takes no request");
}

static void
harvest(struct run *r, CURLM *multi)
{
	CURLMsg *m;
	CURL *easy;
	long status;
	int left;

	while ((m = curl_multi_info_read(multi, &left)) != NULL) {
		easy = m->easy_handle;
		status = 0;
		(void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
		if (m->data.result != CURLE_OK || status != 200)
			fatal("%s, status %ld",
			    curl_easy_strerror(m->data.result), status);
		(void)curl_multi_remove_handle(multi, easy);
		if (r->sent < r->end)
			send_next(r, multi, easy);
		else
			curl_easy_cleanup(easy);
	}
}

static double
seconds(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
run_all(struct run *r, size_t parallel)
{
	CURLM *multi = curl_multi_init();
	int running = 1;

	for (size_t i = 0; i < parallel && r->sent < r->end; i++)
		send_next(r, multi, curl_easy_init());
	while (running > 0 || r->sent < r->end) {
		(void)curl_multi_perform(multi, &running);
		harvest(r, multi);
		if (running > 0)
			(void)curl_multi_poll(multi, NULL, 0, 1000, NULL);
	}
	harvest(r, multi);
	(void)curl_multi_cleanup(multi);
}

static uint64_t
number(const char *s, uint64_t max)
{
	uint64_t n;
	struct err e;

	if (num_u64(s, 1, max, "argument", &n, &e) < 0)
		fatal("%s", e.text);
	return n;
}

int
main(int argc, char **argv)
{
	struct run r = { 0 };
	double wall, cpu;
	struct err e;

	log_init("bench");
	if (argc < 5)
		fatal("usage: curl_loop URL N TIMES FILE...");
	r.url = argv[1];
	r.n_bodies = (size_t)argc - 4;
	r.end = r.n_bodies * number(argv[3], TIMES_MAX);
	r.bodies = xcalloc(r.n_bodies, sizeof *r.bodies);
	for (size_t i = 0; i < r.n_bodies; i++) {
		buf_init(&r.bodies[i], BUF_NOMAX);
		if (file_read(argv[4 + i], false, &r.bodies[i], &e) < 0)
			fatal("%s", e.text);
	}
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	r.headers = curl_slist_append(NULL, "Content-Type: application/json");
	r.headers = curl_slist_append(r.headers, "Expect:");
	wall = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	run_all(&r, number(argv[2], PARALLEL_MAX));
	printf("{\"requests\": %zu, \"seconds\": %.6f, \"cpu_s\": %.6f, "
	       "\"bytes_in\": %.0f, \"bytes_out\": %.0f}\n",
	    r.end, seconds(CLOCK_MONOTONIC) - wall,
	    seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, r.bytes_in, r.bytes_out);
	for (size_t i = 0; i < r.n_bodies; i++)
		buf_clear(&r.bodies[i]);
	free(r.bodies);
	curl_slist_free_all(r.headers);
	curl_global_cleanup();
	return 0;
}
