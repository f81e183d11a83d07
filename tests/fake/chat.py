"""OpenAI Chat Completions.
https://platform.openai.com/docs/api-reference/chat"""
import openai_rules as o
from openai_rules import bad, error  # noqa: F401 (error is the api's)
from rules import Talk, cut, dump, opening, stop_word, text_of

NAME = "chat"
LIST = "messages"
KEYS = {"model", "messages", "tools", "tool_choice", "parallel_tool_calls",
        "stream", "stream_options", "max_tokens", "max_completion_tokens",
        "temperature", "top_p", "stop", "n", "seed", "user", "store",
        "reasoning_effort", "prompt_cache_key", "prompt_cache_retention",
        "response_format", "metadata", "service_tier", "verbosity",
        "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs",
        "logit_bias", "safety_identifier", "modalities"}
ROLES = ("system", "assistant", "user", "function", "tool", "developer")
MESSAGE_KEYS = {"role", "content", "name", "tool_calls", "tool_call_id",
                "refusal", "audio", "function_call", "annotations"}
PARTS = ("text", "image_url", "input_audio", "refusal", "audio", "file")
STOPS = {"end": "stop", "calls": "tool_calls", "length": "length",
         "filter": "content_filter"}


# ----------------------------------------------------------------- requests


def check(req, allowed=()):
    for key in req:
        if key not in KEYS and key not in allowed:
            bad("Unrecognized request argument supplied: " + key)
    o.common(req)
    if "messages" not in req:
        o.needed(req, "messages", list, "")
    o.not_empty(o.typed(req["messages"], list, "messages"), "messages")
    for i, m in enumerate(req["messages"]):
        check_message(o.typed(m, dict, "messages[%d]" % i), i, allowed)
    check_order(req["messages"])
    o.tools(req, check_tool)
    check_limits(req)


def check_limits(req):
    o.at_least(req, "max_tokens", 1)
    if o.at_least(req, "max_completion_tokens", 1) and req.get("max_tokens"):
        bad("Setting 'max_tokens' and 'max_completion_tokens' at the same time "
            "is not supported.", "max_tokens")
    if req.get("reasoning_effort") is not None:
        o.one_of(req["reasoning_effort"], o.EFFORTS, "reasoning_effort")
    options = o.optional(req, "stream_options", dict) or {}
    o.only(options, ("include_usage", "include_obfuscation"), "stream_options")


def check_tool(t, where):
    o.one_of(o.needed(t, "type", str, where), ("function", "custom"),
             where + ".type")
    o.only(t, ("type", "function"), where)
    f = o.needed(t, "function", dict, where)
    o.only(f, ("name", "description", "parameters", "strict"),
           where + ".function")
    o.function(f, where + ".function")
    return f["name"]


def check_message(m, i, allowed):
    where = "messages[%d]" % i
    role = o.one_of(o.needed(m, "role", str, where), ROLES, where + ".role")
    o.only(m, MESSAGE_KEYS | set(allowed), where)
    if role == "tool":
        o.needed(m, "tool_call_id", str, where)
    if "tool_calls" in m and role != "assistant":
        o.only(m, MESSAGE_KEYS - {"tool_calls"}, where)
    calls = o.optional(m, "tool_calls", list, where)
    if calls is not None:
        o.not_empty(calls, where + ".tool_calls")
        check_calls(calls, where + ".tool_calls")
    check_content(m, i, calls)


def check_calls(calls, where):
    seen = set()
    for k, call in enumerate(calls):
        at = "%s[%d]" % (where, k)
        o.typed(call, dict, at)
        o.only(call, ("id", "type", "function", "index"), at)
        o.at_most(o.needed(call, "id", str, at), 40, at + ".id")
        o.one_of(o.needed(call, "type", str, at), ("function", "custom"),
                 at + ".type")
        f = o.needed(call, "function", dict, at)
        o.name(o.needed(f, "name", str, at + ".function"),
               at + ".function.name")
        o.needed(f, "arguments", str, at + ".function")
        if call["id"] in seen:
            bad("Duplicate value for 'tool_call_id' of '%s' in %s." %
                (call["id"], where), at + ".id", "invalid_value")
        seen.add(call["id"])


def check_content(m, i, calls):
    content, where = m.get("content"), "messages[%d].content" % i
    if content is None:
        if m["role"] == "assistant" and (calls or m.get("refusal")):
            return
        if "content" not in m:
            o.needed(m, "content", str, "messages[%d]" % i)
        bad("Invalid value for 'content': expected a string, got null.",
            "messages.[%d].content" % i)
    if isinstance(content, str):
        return
    o.not_empty(o.typed(content, list, where), where)
    for k, part in enumerate(content):
        at = "%s[%d]" % (where, k)
        kind = o.needed(o.typed(part, dict, at), "type", str, at)
        o.one_of(kind, PARTS, at)
        if kind == "text":
            o.needed(part, "text", str, at)
            o.only(part, ("type", "text"), at)


def check_order(messages):
    """Each call is answered, once, before anything else is said."""
    open_ids, asked = [], False
    for i, m in enumerate(messages):
        if m["role"] != "tool":
            unanswered(open_ids, i)
            open_ids = [c["id"] for c in m.get("tool_calls") or []]
            asked = bool(open_ids)
        elif not asked:
            bad("Invalid parameter: messages with role 'tool' must be a "
                "response to a preceeding message with 'tool_calls'.",
                "messages.[%d].role" % i)
        elif m["tool_call_id"] not in open_ids:
            bad("Invalid parameter: 'tool_call_id' of '%s' not found in "
                "'tool_calls' of previous message." % m["tool_call_id"],
                "messages.[%d].tool_call_id" % i)
        else:
            open_ids.remove(m["tool_call_id"])
    unanswered(open_ids, len(messages))


def unanswered(ids, i):
    if ids:
        bad("An assistant message with 'tool_calls' must be followed by tool "
            "messages responding to each 'tool_call_id'. The following "
            "tool_call_ids did not have response messages: " + ", ".join(ids),
            "messages.[%d].role" % i)


def read(req):
    head = [dump(t) for t in req.get("tools") or []]
    messages = req["messages"]
    texts = [(m["role"], text_of(m.get("content"), "text")) for m in messages]
    replies = [m for m in messages if m["role"] == "assistant"]
    return Talk(
        pieces=head + [dump(m) for m in messages], head=len(head),
        system="\n".join(t for r, t in texts if r in ("system", "developer")),
        first=opening(texts),
        last=texts[-1][1], turn=len(replies),
        ids=[c["id"] for m in replies for c in m.get("tool_calls") or []])


def most_output(req):
    return req.get("max_completion_tokens") or req.get("max_tokens")


# ------------------------------------------------------------------ replies


def usage(u):
    return {"prompt_tokens": u.prompt, "completion_tokens": u.output,
            "total_tokens": u.prompt + u.output,
            "prompt_tokens_details": {"cached_tokens": u.cached,
                                      "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": u.reasoning, "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0}}


def base(x, kind):
    return {"id": "chatcmpl-" + x.ident, "object": kind, "created": x.now,
            "model": x.req["model"], "service_tier": "default",
            "system_fingerprint": "fp_50cad350e4"}


def whole(x):
    message = {"role": "assistant", "content": x.text or None, "refusal": None,
               "annotations": []}
    if x.calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function",
             "function": {"name": c.name, "arguments": c.arguments}}
            for c in x.calls]
    elif not x.text:
        message["content"] = ""
    if x.thinking and x.reasoning_content:
        message["reasoning_content"] = x.thinking
    reply = dict(base(x, "chat.completion"), choices=[
        {"index": 0, "message": message, "logprobs": None,
         "finish_reason": stop_word(x, STOPS)}])
    if x.usage:
        reply["usage"] = usage(x.usage)
    return reply


def events(x):
    options = x.req.get("stream_options") or {}
    counted = options.get("include_usage")
    hide = options.get("include_obfuscation") is not False

    def chunk(delta, reason=None):
        c = dict(base(x, "chat.completion.chunk"), choices=[
            {"index": 0, "delta": delta, "logprobs": None,
             "finish_reason": reason}])
        if counted:
            c["usage"] = None
        if hide:
            c["obfuscation"] = "x" * x.rng.randint(0, 12)
        return None, c

    for delta in deltas(x):
        yield chunk(delta)
    yield chunk({}, stop_word(x, STOPS))
    if counted and x.usage:
        yield None, dict(base(x, "chat.completion.chunk"), choices=[],
                         usage=usage(x.usage))
    yield None, "[DONE]"


def deltas(x):
    start = {"role": "assistant", "content": "" if x.text or not x.calls
             else None, "refusal": None}
    if x.thinking and x.reasoning_content:
        yield start
        start = {}
        for piece in cut(x.thinking, x.rng):
            yield {"reasoning_content": piece}
    if x.text or not x.calls:
        if start:
            yield start
        start = {}
        for piece in cut(x.text, x.rng):
            yield {"content": piece}
    for i, call in enumerate(x.calls):
        yield dict(start, tool_calls=[
            {"index": i, "id": call.id, "type": "function",
             "function": {"name": call.name, "arguments": ""}}])
        start = {}
        for piece in cut(call.arguments, x.rng):
            yield {"tool_calls": [{"index": i,
                                   "function": {"arguments": piece}}]}


def error_event(kind, message):
    return None, {"error": {"message": message, "type": kind, "param": None,
                            "code": None}}
