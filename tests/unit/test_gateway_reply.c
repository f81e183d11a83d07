/*
 * test_gateway_reply.c - replies of three APIs: streams as servers send them,
 * what goes back to them, where they end, and what is no reply.
 */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/log.h"
#include "orchestrator/gateway/dialect.h"
#include "orchestrator/gateway/sse.h"

struct got {
	const struct dialect *d;
	struct reply r;
	json_t *m;
};

static void
on_event(void *ctx, const char *event, const char *data, size_t len)
{
	struct got *g = ctx;

	g->d->event(&g->r, event, data, len);
}

/* Each line of text is the data of an event. */
static void
stream(struct got *g, const struct dialect *d, const char *text)
{
	struct sse s;

	*g = (struct got){ .d = d };
	reply_init(&g->r);
	sse_init(&s, on_event, g);
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		assert_int_equal(sse_feed(&s, "data: ", 6), 0);
		assert_int_equal(sse_feed(&s, text, n), 0);
		assert_int_equal(sse_feed(&s, "\n\n", 2), 0);
		text += n + (text[n] == '\n');
	}
	assert_int_equal(sse_end(&s), 0);
	sse_clear(&s);
	d->end(&g->r);
	g->m = reply_message(&g->r, d->name, 3);
}

static void
whole(struct got *g, const struct dialect *d, const char *text)
{
	*g = (struct got){ .d = d };
	reply_init(&g->r);
	d->json(&g->r, text, strlen(text));
	g->m = reply_message(&g->r, d->name, 3);
}

static void
done(struct got *g)
{
	reply_clear(&g->r);
	json_decref(g->m);
}

static void
expect_message(const struct got *g, const char *want)
{
	char *s = json_text(g->m);

	assert_int_equal(g->r.fault.kind, FAULT_NONE);
	assert_true(g->r.done);
	assert_string_equal(s, want);
	free(s);
}

static void
expect_wire(const struct got *g, const char *want)
{
	struct wire w;
	struct err e;

	assert_int_equal(g->d->wire(g->m, &w, &e), 0);
	assert_string_equal(w.text, want);
	wire_clear(&w);
}

static const char *
call_str(const struct got *g, size_t i, const char *key)
{
	const json_t *c =
	    json_array_get(json_object_get(g->m, "tool_calls"), i);

	return json_string_value(json_object_get(c, key));
}

/* --- chat ----------------------------------------------------------------- */

#define CHAT(delta) "{\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n"
#define CHAT_END(why) \
	"{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" why \
	"\"}]}\n[DONE]\n"
#define PIECE(fields) CHAT("{\"tool_calls\":[{" fields "}]}")

static void
test_openrouter(void **state unused_arg)
{
	struct got g;

	stream(&g, &dialect_chat,
	    CHAT("{\"content\":\"\",\"reasoning\":\"ab\",\"reasoning_details\":"
		 "[{\"type\":\"reasoning.text\",\"text\":\"a\",\"index\":0,"
		 "\"format\":\"f\"}]}")
		CHAT(
		    "{\"reasoning\":\"b\",\"reasoning_details\":"
		    "[{\"type\":\"reasoning.text\",\"text\":\"b\",\"index\":0}]}")
		    CHAT("{\"reasoning_details\":[{\"type\":\"reasoning.text\","
			 "\"signature\":\"sig\",\"index\":0}]}")
			CHAT(
			    "{\"reasoning_details\":[{\"type\":\"reasoning.encrypted\","
			    "\"data\":\"xyz\",\"index\":1}]}")
			    PIECE(
				"\"index\":0,\"id\":\"t\",\"function\":{\"name\":\"n\","
				"\"arguments\":\"{}\"}") "{\"model\":\"x/y\",\"choices\":[{\"delta\":{},\"finish_reason\":"
							 "\"tool_calls\",\"native_finish_reason\":\"x\"}]}\n"
							 "{\"choices\":[],\"usage\":{\"prompt_tokens\":100,"
							 "\"completion_tokens\":20,\"cost\":0.0012341,"
							 "\"prompt_tokens_details\":{\"cached_tokens\":60,"
							 "\"cache_write_tokens\":30},\"completion_tokens_details\":"
							 "{\"reasoning_tokens\":5}}}\n[DONE]\n");
	expect_wire(&g,
	    "{\"role\":\"assistant\",\"content\":null,\"reasoning_details\":["
	    "{\"type\":\"reasoning.text\",\"index\":0,\"format\":\"f\","
	    "\"text\":\"ab\",\"signature\":\"sig\"},"
	    "{\"type\":\"reasoning.encrypted\",\"data\":\"xyz\",\"index\":1}],"
	    "\"tool_calls\":[{\"id\":\"t\",\"type\":\"function\",\"function\":"
	    "{\"name\":\"n\",\"arguments\":\"{}\"}}]}");
	assert_int_equal(g.r.usage.in_tokens, 100);
	assert_int_equal(g.r.usage.cached, 60);
	assert_int_equal(g.r.usage.cache_write, 30);
	assert_int_equal(g.r.usage.out_tokens, 20);
	assert_int_equal(g.r.usage.reasoning, 5);
	assert_true(g.r.usage.has_cost);
	assert_int_equal(g.r.usage.cost_micro, 1235);
	assert_string_equal(g.r.model, "x/y");
	done(&g);
}

static void
test_reasoning_content(void **state unused_arg)
{
	struct got g;

	stream(&g, &dialect_chat,
	    CHAT("{\"reasoning_content\":\"I \"}")
		CHAT("{\"reasoning_content\":\"think\"}")
		    CHAT("{\"content\":\"x\"}") CHAT_END("stop"));
	expect_wire(&g,
	    "{\"role\":\"assistant\",\"content\":\"x\","
	    "\"reasoning_content\":\"I think\"}");
	/* Another API does not get it. */
	g.d = &dialect_anthropic;
	expect_wire(&g, "{\"type\":\"text\",\"text\":\"x\"}");
	done(&g);
}

static void
test_signed_call(void **state unused_arg)
{
	struct got g;

	stream(&g, &dialect_chat,
	    PIECE("\"index\":0,\"id\":\"t\",\"function\":{\"name\":\"n\","
		  "\"arguments\":\"{}\"},\"extra_content\":{\"google\":"
		  "{\"thought_signature\":\"S\"}}") CHAT_END("tool_calls"));
	expect_wire(&g,
	    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
	    "\"t\",\"type\":\"function\",\"function\":{\"name\":\"n\","
	    "\"arguments\":\"{}\"},\"extra_content\":{\"google\":"
	    "{\"thought_signature\":\"S\"}}}]}");
	done(&g);
}

static void
test_call_pieces(void **state unused_arg)
{
	struct got g;

	/* A new id for each piece (vLLM), and the name again. */
	stream(&g, &dialect_chat,
	    PIECE("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"n\"}")
		PIECE("\"index\":0,\"id\":\"b\",\"function\":{\"arguments\":"
		      "\"{\\\"x\\\"\"}")
		    PIECE(
			"\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"n\","
			"\"arguments\":\":1}\"}") CHAT_END("tool_calls"));
	expect_message(&g,
	    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":"
	    "\"a\",\"name\":\"n\",\"arguments\":\"{\\\"x\\\":1}\"}]}");
	done(&g);
	/* Neither ids nor indexes; and an index without ids. */
	stream(&g, &dialect_chat,
	    PIECE("\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}") PIECE(
		"\"function\":{\"name\":\"a\",\"arguments\":{\"k\":1}}")
		PIECE("\"index\":0,\"function\":{\"name\":\"b\",\"arguments\":"
		      "\"{\\\"k\\\":1}\"}")
		    PIECE(
			"\"index\":0,\"function\":{\"name\":\"b\",\"arguments\":"
			"\"{\\\"k\\\":2}\"}") CHAT_END("tool_calls"));
	assert_int_equal(g.r.n_calls, 4);
	assert_string_equal(call_str(&g, 1, "arguments"), "{\"k\":1}");
	assert_string_equal(call_str(&g, 3, "arguments"), "{\"k\":2}");
	assert_string_equal(call_str(&g, 3, "id"), "call_3_4");
	done(&g);
	/* One index for all (Ollama), in pieces. */
	stream(&g, &dialect_chat,
	    PIECE("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"n\"}") PIECE(
		"\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"n\"}")
		PIECE(
		    "\"index\":0,\"function\":{\"arguments\":\"{\\\"k\\\":2}\"}")
		    CHAT_END("tool_calls"));
	assert_int_equal(g.r.n_calls, 2);
	assert_string_equal(call_str(&g, 0, "arguments"), "{}");
	assert_string_equal(call_str(&g, 1, "arguments"), "{\"k\":2}");
	done(&g);
	/* A placeholder before the arguments; a name in two pieces. */
	stream(&g, &dialect_chat,
	    PIECE("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"read_\","
		  "\"arguments\":\"\"}")
		PIECE("\"index\":0,\"function\":{\"name\":\"file\","
		      "\"arguments\":\"{}\"}")
		    PIECE(
			"\"index\":0,\"function\":{\"arguments\":\"{\\\"k\\\":1}\"}")
			CHAT_END("tool_calls"));
	assert_string_equal(call_str(&g, 0, "name"), "read_file");
	assert_string_equal(call_str(&g, 0, "arguments"), "{\"k\":1}");
	done(&g);
}

static void
test_same_ids(void **state unused_arg)
{
	struct got g;

	stream(&g, &dialect_chat,
	    PIECE("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"n\"}")
		PIECE("\"index\":1,\"id\":\"a\",\"function\":{\"name\":\"n\"}")
		    PIECE(
			"\"index\":2,\"id\":\"call_3_2\",\"function\":{\"name\":"
			"\"n\"}") CHAT_END("tool_calls"));
	assert_string_equal(call_str(&g, 0, "id"), "a");
	assert_string_equal(call_str(&g, 1, "id"), "call_3_2_2");
	assert_string_equal(call_str(&g, 2, "id"), "call_3_2");
	done(&g);
}

static void
test_chat_ends(void **state unused_arg)
{
	struct got g;

	stream(&g, &dialect_chat, CHAT("{\"content\":\"x\"}"));
	assert_false(g.r.done);
	done(&g);
	stream(&g, &dialect_chat, CHAT("{\"content\":\"x\"}") "[DONE]\n");
	assert_false(g.r.done);
	done(&g);
	stream(&g, &dialect_chat,
	    "{\"choices\":[{\"delta\":{\"content\":\"x\"},"
	    "\"finish_reason\":\"eos\"}]}\n");
	assert_true(g.r.done);
	assert_int_equal(g.r.stop, STOP_END);
	done(&g);
	stream(
	    &g, &dialect_chat, CHAT("{\"content\":\"x\"}") CHAT_END("error"));
	assert_false(g.r.done);
	assert_int_equal(g.r.fault.kind, FAULT_BROKEN);
	done(&g);
	stream(&g, &dialect_chat, CHAT_END("content_filter"));
	assert_string_equal(
	    json_string_value(json_object_get(g.m, "stop")), "filter");
	done(&g);
	/* Cut before the arguments began. */
	stream(&g, &dialect_chat,
	    PIECE("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"n\"}")
		CHAT_END("length"));
	assert_true(json_is_true(json_object_get(
	    json_array_get(json_object_get(g.m, "tool_calls"), 0), "cut")));
	done(&g);
}

static void
expect_fault(const struct dialect *d, const char *text, enum fault_kind kind)
{
	struct got g;

	stream(&g, d, text);
	assert_false(g.r.done);
	assert_int_equal(g.r.fault.kind, kind);
	done(&g);
}

static void
test_chat_errors(void **state unused_arg)
{
	struct got g;

	expect_fault(&dialect_chat,
	    "{\"error\":{\"code\":429,\"message\":\"slow down\"},\"choices\":["
	    "{\"delta\":{},\"finish_reason\":\"error\"}]}\n",
	    FAULT_RATE);
	expect_fault(&dialect_chat,
	    "{\"error\":{\"code\":\"context_length_exceeded\",\"type\":"
	    "\"invalid_request_error\",\"message\":\"too long\"}}\n",
	    FAULT_OVERFLOW);
	expect_fault(&dialect_chat,
	    "{\"object\":\"error\",\"message\":\"oops\",\"code\":500}\n",
	    FAULT_SERVER);
	expect_fault(&dialect_chat, "[1]\n", FAULT_BROKEN);
	expect_fault(&dialect_chat, "<html>\n", FAULT_BROKEN);
	whole(&g, &dialect_chat, "{\"choices\":[]}");
	assert_int_equal(g.r.fault.kind, FAULT_BROKEN);
	done(&g);
	whole(&g, &dialect_chat, "");
	assert_int_equal(g.r.fault.kind, FAULT_BROKEN);
	assert_false(g.r.done);
	done(&g);
}

static void
test_thinking_in_text(void **state unused_arg)
{
	static const char *const texts[][2] = {
		{ "<think>\\na</think>\\n\\nb", "b" },
		{ "a</think>b", "b" },
		{ "<think>never ends", "" },
		{ "b <think>a</think>", "b <think>a</think>" },
		{ " b ", " b " },
	};
	struct got g;
	char *s;

	for (size_t i = 0; i < nitems(texts); i++) {
		s = xasprintf("{\"choices\":[{\"message\":{\"content\":\"%s\"},"
			      "\"finish_reason\":\"stop\"}]}",
		    texts[i][0]);
		whole(&g, &dialect_chat, s);
		assert_true(g.r.done);
		assert_string_equal(
		    json_string_value(json_object_get(g.m, "content")),
		    texts[i][1]);
		done(&g);
		free(s);
	}
}

static void
test_content_parts(void **state unused_arg)
{
	struct got g;

	whole(&g, &dialect_chat,
	    "{\"choices\":[{\"message\":{\"content\":[{\"type\":\"thinking\","
	    "\"thinking\":[]},{\"type\":\"text\",\"text\":\"hi\"}]}}]}");
	expect_message(&g, "{\"role\":\"assistant\",\"content\":\"hi\"}");
	done(&g);
}

/* --- responses ------------------------------------------------------------ */

static const char reasoning_item[] =
    "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],"
    "\"encrypted_content\":\"gAAA==\"}";
static const char message_item[] =
    "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\","
    "\"status\":\"completed\",\"phase\":\"commentary\",\"content\":[{\"type\":"
    "\"output_text\",\"text\":\"Look.\",\"annotations\":[]}]}";

#define FC(n, args, status) \
	"{\"id\":\"fc_" n "\",\"type\":\"function_call\",\"status\":\"" status \
	"\",\"call_id\":\"call_" n "\",\"name\":\"read_file\",\"arguments\":" \
	"\"" args "\"}"
#define ITEM(when, index, item) \
	"{\"type\":\"response.output_item." when "\",\"output_index\":" index \
	",\"item\":" item "}\n"

static char *
response_events(const char *reasoning)
{
	return xasprintf(
	    "{\"type\":\"response.created\",\"response\":{"
	    "\"model\":\"gpt-x\",\"status\":\"in_progress\"}}\n"
	    "%s"
	    "{\"type\":\"response.output_text.delta\","
	    "\"output_index\":1,\"delta\":\"Look.\"}\n" ITEM(
		"done", "1", "%s") ITEM("added", "2",
		FC("1", "", "in_progress")) ITEM("added", "3",
		FC("2", "",
		    "in_progress")) "{\"type\":\"response.function_call_arguments.delta\","
				    "\"output_index\":3,\"delta\":\"{\\\"path\\\":\"}\n"
				    "{\"type\":\"response.function_call_arguments.delta\","
				    "\"output_index\":2,\"delta\":\"{}\"}\n"
				    "{\"type\":\"response.function_call_arguments.done\","
				    "\"output_index\":3,\"arguments\":\"{\\\"path\\\":\\\"b\\\"}\"}\n" ITEM(
					"done", "2",
					FC("1", "{}", "completed")) ITEM("done",
					"3",
					FC("2", "{\\\"path\\\":\\\"b\\\"}",
					    "completed")) "{\"type\":\"response.something.new\",\"delta\":\"x\"}\n"
							  "{\"type\":\"response.completed\",\"response\":{\"status\":"
							  "\"completed\",\"output\":[],\"usage\":{\"input_tokens\":10,"
							  "\"output_tokens\":7,\"input_tokens_details\":{\"cached_tokens\":"
							  "4},\"output_tokens_details\":{\"reasoning_tokens\":3}}}}\n",
	    reasoning, message_item);
}

static void
test_responses(void **state unused_arg)
{
	struct got g;
	char *item = xasprintf(ITEM("done", "0", "%s"), reasoning_item);
	char *s = response_events(item), *want;

	stream(&g, &dialect_responses, s);
	assert_true(g.r.done);
	assert_int_equal(g.r.stop, STOP_CALLS);
	assert_int_equal(g.r.usage.in_tokens, 10);
	assert_int_equal(g.r.usage.cached, 4);
	assert_int_equal(g.r.usage.reasoning, 3);
	assert_string_equal(g.r.model, "gpt-x");
	assert_string_equal(
	    json_string_value(json_object_get(g.m, "content")), "Look.");
	assert_string_equal(call_str(&g, 0, "id"), "call_1");
	assert_string_equal(call_str(&g, 1, "arguments"), "{\"path\":\"b\"}");
	want = xasprintf("%s,%s,{\"type\":\"function_call\",\"id\":\"fc_1\","
			 "\"call_id\":\"call_1\",\"name\":\"read_file\","
			 "\"arguments\":\"{}\"},{\"type\":\"function_call\","
			 "\"id\":\"fc_2\",\"call_id\":\"call_2\",\"name\":"
			 "\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"b\\\""
			 "}\"}",
	    reasoning_item, message_item);
	expect_wire(&g, want);
	free(want);
	free(s);
	free(item);
	done(&g);
}

static void
test_responses_without_reasoning(void **state unused_arg)
{
	struct got g;
	char *s = response_events("");

	stream(&g, &dialect_responses, s);
	assert_true(g.r.done);
	assert_null(json_object_get(g.m, "opaque"));
	expect_wire(&g,
	    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Look.\""
	    "},{\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":"
	    "\"read_file\",\"arguments\":\"{}\"},{\"type\":\"function_call\","
	    "\"call_id\":\"call_2\",\"name\":\"read_file\",\"arguments\":"
	    "\"{\\\"path\\\":\\\"b\\\"}\"}");
	done(&g);
	free(s);
}

static void
test_responses_ends(void **state unused_arg)
{
	struct got g;
	char *s;

	stream(&g, &dialect_responses,
	    "{\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n");
	assert_false(g.r.done);
	done(&g);
	stream(&g, &dialect_responses,
	    "{\"type\":\"response.incomplete\",\"response\":{\"status\":"
	    "\"incomplete\",\"incomplete_details\":{\"reason\":"
	    "\"max_output_tokens\"}}}\n");
	assert_true(g.r.done);
	assert_int_equal(g.r.stop, STOP_LENGTH);
	done(&g);
	expect_fault(&dialect_responses,
	    "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\","
	    "\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}}}"
	    "\n",
	    FAULT_RATE);
	expect_fault(&dialect_responses,
	    "{\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":"
	    "\"x\",\"param\":null}\n",
	    FAULT_RATE);
	expect_fault(&dialect_responses,
	    "{\"type\":\"response.cancelled\",\"response\":{\"status\":"
	    "\"cancelled\"}}\n",
	    FAULT_BROKEN);
	/* Only the last event holds the items. */
	s = xasprintf("{\"status\":\"completed\",\"output\":[%s,%s]}",
	    message_item, FC("1", "{}", "completed"));
	whole(&g, &dialect_responses, s);
	expect_message(&g,
	    "{\"role\":\"assistant\",\"content\":\"Look.\",\"tool_calls\":[{"
	    "\"id\":\"call_1\",\"name\":\"read_file\",\"arguments\":\"{}\"}]}");
	done(&g);
	free(s);
	whole(&g, &dialect_responses, "{\"x\":1}");
	assert_int_equal(g.r.fault.kind, FAULT_BROKEN);
	done(&g);
	whole(&g, &dialect_responses, " ");
	assert_int_equal(g.r.fault.kind, FAULT_BROKEN);
	assert_false(g.r.done);
	done(&g);
}

/* --- anthropic ------------------------------------------------------------ */

#define START(i, block) \
	"{\"type\":\"content_block_start\",\"index\":" i \
	",\"content_block\":" block "}\n"
#define DELTA(i, delta) \
	"{\"type\":\"content_block_delta\",\"index\":" i ",\"delta\":" delta \
	"}\n"
#define STOP(i) "{\"type\":\"content_block_stop\",\"index\":" i "}\n"
#define ANTHROPIC_END(why) \
	"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" why \
	"\"},\"usage\":{\"output_tokens\":9}}\n{\"type\":\"message_stop\"}\n"

static const char anthropic_stream[] =
    "{\"type\":\"message_start\",\"message\":{\"model\":\"claude-x\","
    "\"usage\":{\"input_tokens\":3,\"cache_read_input_tokens\":100,"
    "\"cache_creation_input_tokens\":20,\"output_tokens\":1}}}\n" START("0",
	"{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}") DELTA("0",
	"{\"type\":\"thinking_delta\",\"thinking\":\"plan \"}") DELTA("0",
	"{\"type\":\"thinking_delta\",\"thinking\":\" A\\n\"}") DELTA("0",
	"{\"type\":\"signature_delta\",\"signature\":\"sig==\"}") STOP("0")
	START("1", "{\"type\":\"redacted_thinking\",\"data\":\"R\"}") STOP(
	    "1") START("2", "{\"type\":\"text\",\"text\":\"\"}") DELTA("2",
	    "{\"type\":\"text_delta\",\"text\":\"Look.\"}") STOP("2") START("3",
	    "{\"type\":\"tool_use\",\"id\":\"u1\",\"name\":\"a\","
	    "\"input\":{}}") DELTA("3",
	    "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"k\"}")
	    DELTA("3",
		"{\"type\":\"input_json_delta\",\"partial_json\":\"\\\":1}\"}")
		STOP("3") START("4",
		    "{\"type\":\"tool_use\",\"id\":\"u2\",\"name\":\"b\","
		    "\"input\":{\"z\":0}}") STOP("4") ANTHROPIC_END("tool_use");

static void
test_anthropic(void **state unused_arg)
{
	struct got g;

	stream(&g, &dialect_anthropic, anthropic_stream);
	assert_true(g.r.done);
	assert_int_equal(g.r.usage.in_tokens, 123);
	assert_int_equal(g.r.usage.cached, 100);
	assert_int_equal(g.r.usage.cache_write, 20);
	assert_int_equal(g.r.usage.out_tokens, 9);
	assert_string_equal(call_str(&g, 0, "arguments"), "{\"k\":1}");
	assert_string_equal(call_str(&g, 1, "arguments"), "{\"z\":0}");
	expect_wire(&g,
	    "{\"type\":\"thinking\",\"thinking\":\"plan  A\\n\",\"signature\":"
	    "\"sig==\"},{\"type\":\"redacted_thinking\",\"data\":\"R\"},"
	    "{\"type\":\"text\",\"text\":\"Look.\"},{\"type\":\"tool_use\","
	    "\"id\":\"u1\",\"name\":\"a\",\"input\":{\"k\":1}},{\"type\":"
	    "\"tool_use\",\"id\":\"u2\",\"name\":\"b\",\"input\":{\"z\":0}}");
	/* Another API does not get it. */
	g.d = &dialect_chat;
	expect_wire(&g,
	    "{\"role\":\"assistant\",\"content\":\"Look.\",\"tool_calls\":[{"
	    "\"id\":\"u1\",\"type\":\"function\",\"function\":{\"name\":\"a\","
	    "\"arguments\":\"{\\\"k\\\":1}\"}},{\"id\":\"u2\",\"type\":"
	    "\"function\",\"function\":{\"name\":\"b\",\"arguments\":"
	    "\"{\\\"z\\\":0}\"}}]}");
	done(&g);
}

static void
test_anthropic_ends(void **state unused_arg)
{
	struct got g;

	stream(&g, &dialect_anthropic,
	    START("0", "{\"type\":\"text\",\"text\":\"x\"}") STOP(
		"0") "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
		     "\"end_turn\"}}\n");
	assert_false(g.r.done);
	assert_int_equal(g.r.fault.kind, FAULT_NONE);
	done(&g);
	stream(&g, &dialect_anthropic, ANTHROPIC_END("max_tokens"));
	assert_int_equal(g.r.stop, STOP_LENGTH);
	done(&g);
	stream(&g, &dialect_anthropic, ANTHROPIC_END("pause_turn"));
	assert_string_equal(
	    json_string_value(json_object_get(g.m, "stop")), "pause");
	done(&g);
	stream(&g, &dialect_anthropic, ANTHROPIC_END("refusal"));
	assert_int_equal(g.r.stop, STOP_FILTER);
	done(&g);
	expect_fault(&dialect_anthropic,
	    "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
	    "\"message\":\"Overloaded\"}}\n",
	    FAULT_OVERLOAD);
	whole(&g, &dialect_anthropic, "{\"type\":\"message\"}");
	assert_int_equal(g.r.fault.kind, FAULT_BROKEN);
	done(&g);
}

/* --- caps ----------------------------------------------------------------- */

static void
flood(const struct dialect *d, const char *event)
{
	struct reply r;

	reply_init(&r);
	for (size_t i = 0; i < 30000 && r.fault.kind == FAULT_NONE; i++)
		d->event(&r, "", event, strlen(event));
	assert_int_equal(r.fault.kind, FAULT_TOOLARGE);
	assert_false(fault_retryable(r.fault.kind));
	assert_true(r.bytes <= REPLY_TEXT_MAX);
	d->end(&r);
	assert_false(r.done);
	reply_clear(&r);
}

static void
test_caps(void **state unused_arg)
{
	/* Said again, it counts once. */
	static const char again[] =
	    "{\"type\":\"response.function_call_arguments.done\","
	    "\"output_index\":0,\"arguments\":\"0123456789\"}";
	struct reply r;

	reply_init(&r);
	assert_non_null(reply_call_new(&r, 0));
	for (unsigned i = 0; i < 100; i++)
		dialect_responses.event(&r, "", again, strlen(again));
	assert_int_equal(r.bytes, 10);
	reply_clear(&r);
#define LONG "0123456789012345678901234567890123456789"
	flood(&dialect_chat, CHAT("{\"content\":\"" LONG "\"}"));
	flood(&dialect_chat, CHAT("{\"reasoning\":\"" LONG "\"}"));
	flood(&dialect_chat,
	    CHAT("{\"reasoning_details\":[{\"type\":\"reasoning.text\","
		 "\"text\":\"" LONG "\"}]}"));
	flood(&dialect_chat,
	    CHAT("{\"reasoning_details\":[{\"type\":\"x\",\"d\":\"" LONG
		 "\"}]}"));
	flood(&dialect_chat,
	    PIECE("\"index\":0,\"function\":{\"arguments\":\"" LONG "\"}"));
	flood(&dialect_chat, PIECE("\"function\":{\"name\":\"" LONG "\"}"));
	flood(&dialect_anthropic,
	    START(
		"0", "{\"type\":\"redacted_thinking\",\"data\":\"" LONG "\"}"));
	flood(&dialect_anthropic,
	    START(
		"0", "{\"type\":\"tool_use\",\"input\":{\"a\":\"" LONG "\"}}"));
	flood(&dialect_responses,
	    ITEM("done", "0",
		"{\"type\":\"reasoning\","
		"\"encrypted_content\":\"" LONG "\"}"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openrouter),
		cmocka_unit_test(test_reasoning_content),
		cmocka_unit_test(test_signed_call),
		cmocka_unit_test(test_call_pieces),
		cmocka_unit_test(test_same_ids),
		cmocka_unit_test(test_chat_ends),
		cmocka_unit_test(test_chat_errors),
		cmocka_unit_test(test_thinking_in_text),
		cmocka_unit_test(test_content_parts),
		cmocka_unit_test(test_responses),
		cmocka_unit_test(test_responses_without_reasoning),
		cmocka_unit_test(test_responses_ends),
		cmocka_unit_test(test_anthropic),
		cmocka_unit_test(test_anthropic_ends),
		cmocka_unit_test(test_caps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
