"""OpenAI Responses.
https://platform.openai.com/docs/api-reference/responses

Stateless (store has no effect): reasoning comes back sealed in
encrypted_content. A call's id says whether reasoning belongs to it ("...r"), so
that the loss of the reasoning item is seen.
"""
import openai_rules as o
from openai_rules import bad, error  # noqa: F401 (error is the api's)
from rules import Refused, Talk, cut, dump, opening, seal, text_of, unseal

NAME = "responses"
LIST = "input"
KEYS = {"model", "input", "instructions", "tools", "tool_choice",
        "parallel_tool_calls", "stream", "stream_options", "max_output_tokens",
        "temperature", "top_p", "user", "store", "reasoning", "include",
        "prompt_cache_key", "prompt_cache_retention", "text", "metadata",
        "service_tier", "truncation", "previous_response_id", "background",
        "max_tool_calls", "top_logprobs", "safety_identifier", "conversation",
        "prompt"}
MOVED = {"messages": "input", "max_tokens": "max_output_tokens",
         "max_completion_tokens": "max_output_tokens",
         "response_format": "text.format", "reasoning_effort":
         "reasoning.effort"}
ITEMS = ("message", "function_call", "function_call_output", "reasoning",
         "item_reference")
ROLES = ("assistant", "system", "developer", "user")
PREFIX = {"message": "msg", "function_call": "fc", "reasoning": "rs",
          "function_call_output": "fc"}
ITEM_KEYS = {
    "message": ("role", "content", "phase"),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id", "output"),
    "reasoning": ("summary", "encrypted_content", "content"),
}
REASONS = {"length": "max_output_tokens", "filter": "content_filter"}


# ----------------------------------------------------------------- requests


def check(req, allowed=()):
    for key in req:
        if key in MOVED:
            bad("Unsupported parameter: '%s'. In the Responses API, this "
                "parameter has moved to '%s'." % (key, MOVED[key]), key,
                "unsupported_parameter")
    o.only(req, KEYS | set(allowed))
    o.common(req)
    o.optional(req, "instructions", str)
    if req.get("previous_response_id") is not None:
        bad("Previous response with id '%s' not found." %
            req["previous_response_id"], "previous_response_id",
            "previous_response_not_found")
    if not isinstance(req.get("input"), str):
        check_items(o.needed(req, "input", list, ""), req)
    o.tools(req, check_tool)
    o.at_least(req, "max_output_tokens", 16)
    effort = (o.optional(req, "reasoning", dict) or {}).get("effort")
    if effort is not None:
        o.one_of(effort, o.EFFORTS, "reasoning.effort")
    o.only(o.optional(req, "stream_options", dict) or {},
           ("include_obfuscation",), "stream_options")
    o.optional(req, "include", list)


def check_tool(t, where):
    kind = o.needed(t, "type", str, where)
    o.one_of(kind, ("function",), where + ".type")
    o.needed(t, "name", str, where)
    o.only(t, ("type", "name", "description", "parameters", "strict"), where)
    o.function(t, where)
    return t["name"]


def check_items(items, req):
    o.not_empty(items, "input")
    ids = set()
    for i, item in enumerate(items):
        where = "input[%d]" % i
        kind = o.typed(item, dict, where).get("type", "message")
        o.one_of(kind, ITEMS, where)
        if kind == "item_reference":
            not_kept(item.get("id"))
        o.only(item, ITEM_KEYS[kind] + ("type", "id", "status"), where)
        check_id(item, kind, where, ids)
        CHECKS[kind](item, where, req)
    check_pairs(items)
    check_reasoning_kept(items)


def not_kept(ident):
    raise Refused(404, "Item with id '%s' not found. Items are not persisted "
                  "when `store` is set to false. Try again with `store` set to "
                  "true, or remove this item from your input." % ident,
                  param="input")


def check_id(item, kind, where, ids):
    ident = o.optional(item, "id", str, where)
    if ident is None:
        return
    if not ident.startswith(PREFIX[kind]):
        bad("Invalid '%s.id': '%s'. Expected an ID that begins with '%s'." %
            (where, ident, PREFIX[kind]), where + ".id", "invalid_value")
    if ident in ids:
        bad("Duplicate item found with id %s. Remove duplicate items from your "
            "input and try again." % ident, "input")
    ids.add(ident)


def check_text(item, where, req):
    role = o.one_of(o.needed(item, "role", str, where), ROLES, where + ".role")
    if isinstance(item.get("content"), str):
        return
    parts = o.needed(item, "content", list, where)
    kinds = ("output_text", "refusal") if role == "assistant" else \
        ("input_text", "input_image", "input_file")
    for k, part in enumerate(parts):
        at = "%s.content[%d]" % (where, k)
        kind = o.needed(o.typed(part, dict, at), "type", str, at)
        o.one_of(kind, kinds, at)
        if kind in ("input_text", "output_text"):
            o.needed(part, "text", str, at)


def check_call(item, where, req):
    o.at_most(o.needed(item, "call_id", str, where), 64, where + ".call_id")
    o.name(o.needed(item, "name", str, where), where + ".name")
    o.needed(item, "arguments", str, where)


def check_output(item, where, req):
    o.needed(item, "call_id", str, where)
    if not isinstance(item.get("output"), list):
        o.needed(item, "output", str, where)


def check_reasoning(item, where, req):
    ident = o.needed(item, "id", str, where)
    o.needed(item, "summary", list, where)
    sealed = o.optional(item, "encrypted_content", str, where)
    if sealed is None:
        not_kept(ident)
    if unseal(sealed) is None:
        bad("The encrypted content %s... could not be verified. Reason: "
            "Encrypted content could not be decrypted or parsed." % sealed[:8],
            where, "invalid_encrypted_content")


CHECKS = {"message": check_text, "function_call": check_call,
          "function_call_output": check_output, "reasoning": check_reasoning}


def check_pairs(items):
    """Each call has one output, after it and before a person's next word."""
    open_ids, seen = [], set()
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            if item["call_id"] in seen:
                bad("Duplicate function call with call_id %s." %
                    item["call_id"], "input")
            seen.add(item["call_id"])
            open_ids.append(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in open_ids:
                bad("No tool call found for function call output with call_id "
                    "%s." % item["call_id"], "input")
            open_ids.remove(item["call_id"])
        elif kind == "message" and item["role"] != "assistant":
            no_output(open_ids)
    no_output(open_ids)


def no_output(open_ids):
    if open_ids:
        bad("No tool output found for function call %s." % open_ids[0], "input")


def check_reasoning_kept(items):
    """Reasoning and what came of it are sent back together or not at all."""
    known, after = set(), None
    for item in items + [{"type": "message", "role": "user"}]:
        kind, ident = item.get("type", "message"), item.get("id") or ""
        ours = kind == "function_call" or item.get("role") == "assistant"
        if after and not ours:
            bad("Item '%s' of type 'reasoning' was provided without its "
                "required following item." % after, "input")
        after = ident if kind == "reasoning" else None
        known.add(ident)
        owner = "rs_" + ident.split("_", 1)[-1].rsplit("-", 1)[0]
        if ours and ident.endswith("r") and owner not in known:
            bad("Item '%s' of type '%s' was provided without its required "
                "'reasoning' item: '%s'." % (ident, kind, owner), "input")


def read(req):
    head = [dump(t) for t in req.get("tools") or []]
    system = req.get("instructions") or ""
    if system:
        head.append(dump(system))
    items = req["input"]
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    texts = [("assistant" if i.get("type") == "function_call" else
              i.get("role", ""), item_text(i)) for i in items]
    more = [t for r, t in texts if r in ("system", "developer")]
    return Talk(
        pieces=head + [dump(i) for i in items], head=len(head),
        system="\n".join([system] + more),
        first=opening(texts),
        last=texts[-1][1], turn=replies(items),
        ids=[i["call_id"] for i in items if i.get("type") == "function_call"])


def item_text(item):
    content = item.get("content", item.get("output"))
    return text_of(content, "input_text", "output_text")


def replies(items):
    """Runs of items that a model made: its reasoning, words and calls."""
    count, inside = 0, False
    for item in items:
        made = item.get("type") in ("reasoning", "function_call") or \
            item.get("role") == "assistant"
        count += made and not inside
        inside = made
    return count


def most_output(req):
    return req.get("max_output_tokens")


# ------------------------------------------------------------------ replies


def usage(u):
    return {"input_tokens": u.prompt,
            "input_tokens_details": {"cached_tokens": u.cached},
            "output_tokens": u.output,
            "output_tokens_details": {"reasoning_tokens": u.reasoning},
            "total_tokens": u.prompt + u.output}


def response(x, status, output):
    req = x.req
    reply = {
        "id": "resp_" + x.ident, "object": "response", "created_at": x.now,
        "status": status, "background": False, "error": None,
        "incomplete_details": None, "instructions": req.get("instructions"),
        "max_output_tokens": req.get("max_output_tokens"),
        "max_tool_calls": None, "model": req["model"], "output": output,
        "parallel_tool_calls": req.get("parallel_tool_calls", True),
        "previous_response_id": None,
        "prompt_cache_key": req.get("prompt_cache_key"),
        "reasoning": req.get("reasoning") or {"effort": None, "summary": None},
        "safety_identifier": None, "service_tier": "default",
        "store": req.get("store", True),
        "temperature": req.get("temperature", 1.0),
        "text": req.get("text") or {"format": {"type": "text"}},
        "tool_choice": req.get("tool_choice", "auto"),
        "tools": req.get("tools") or [], "top_logprobs": 0,
        "top_p": req.get("top_p", 1.0),
        "truncation": req.get("truncation", "disabled"), "usage": None,
        "user": req.get("user"), "metadata": req.get("metadata") or {}}
    return reply


def finished(x):
    """The whole response and the name of the event that brings it."""
    status = "incomplete" if x.stop in REASONS else "completed"
    reply = response(x, status, items_of(x))
    if x.stop in REASONS:
        reply["incomplete_details"] = {"reason": REASONS[x.stop]}
    if x.usage:
        reply["usage"] = usage(x.usage)
    else:
        del reply["usage"]
    return "response." + status, reply


def whole(x):
    return finished(x)[1]


def items_of(x):
    flag = "r" if x.thinking else "n"
    items = []
    if x.thinking:
        items.append(reasoning_item(x))
    if x.text or not x.calls:
        items.append({
            "id": "msg_%s-0%s" % (x.ident, flag), "type": "message",
            "status": "completed", "role": "assistant", "content": [
                {"type": "output_text", "annotations": [], "logprobs": [],
                 "text": x.text}]})
    for i, call in enumerate(x.calls):
        items.append({
            "id": "fc_%s-%d%s" % (x.ident, i + 1, flag),
            "type": "function_call", "status": "completed",
            "arguments": call.arguments, "call_id": call.id,
            "name": call.name})
    return items


def reasoning_item(x):
    item = {"id": "rs_" + x.ident, "type": "reasoning", "summary": []}
    if "reasoning.encrypted_content" in (x.req.get("include") or ()):
        item["encrypted_content"] = seal(x.thinking)
    if (x.req.get("reasoning") or {}).get("summary"):
        item["summary"] = [{"type": "summary_text", "text": x.thinking}]
    return item


def events(x):
    start = response(x, "in_progress", [])
    number = 0
    for name, data in steps(x, start):
        yield name, {"type": name, "sequence_number": number, **data}
        number += 1


def steps(x, start):
    yield "response.created", {"response": start}
    yield "response.in_progress", {"response": start}
    for at, item in enumerate(items_of(x)):
        yield from STEPS[item["type"]](x, at, item)
        yield "response.output_item.done", {"output_index": at, "item": item}
    name, reply = finished(x)
    yield name, {"response": reply}


def hidden(x, data):
    if (x.req.get("stream_options") or {}).get("include_obfuscation") \
            is not False:
        data["obfuscation"] = "x" * x.rng.randint(0, 12)
    return data


def reasoning_steps(x, at, item):
    yield "response.output_item.added", {
        "output_index": at, "item": dict(item, summary=[])}
    for n, part in enumerate(item["summary"]):
        place = {"item_id": item["id"], "output_index": at,
                 "summary_index": n}
        name = "response.reasoning_summary_"
        yield name + "part.added", dict(place, part=dict(part, text=""))
        for piece in cut(part["text"], x.rng):
            yield name + "text.delta", hidden(x, dict(place, delta=piece))
        yield name + "text.done", dict(place, text=part["text"])
        yield name + "part.done", dict(place, part=part)


def message_steps(x, at, item):
    place = {"item_id": item["id"], "output_index": at, "content_index": 0}
    part = item["content"][0]
    yield "response.output_item.added", {
        "output_index": at,
        "item": dict(item, status="in_progress", content=[])}
    yield "response.content_part.added", dict(place, part=dict(part, text=""))
    for piece in cut(part["text"], x.rng):
        yield "response.output_text.delta", hidden(
            x, dict(place, delta=piece, logprobs=[]))
    yield "response.output_text.done", dict(place, text=part["text"],
                                            logprobs=[])
    yield "response.content_part.done", dict(place, part=part)


def call_steps(x, at, item):
    place = {"item_id": item["id"], "output_index": at}
    yield "response.output_item.added", {
        "output_index": at,
        "item": dict(item, status="in_progress", arguments="")}
    for piece in cut(item["arguments"], x.rng):
        yield "response.function_call_arguments.delta", hidden(
            x, dict(place, delta=piece))
    yield "response.function_call_arguments.done", dict(
        place, arguments=item["arguments"])


STEPS = {"reasoning": reasoning_steps, "message": message_steps,
         "function_call": call_steps}


def error_event(kind, message):
    """Servers send "error" or "response.failed"; the latter is the newer."""
    code = {"overloaded_error": "server_is_overloaded"}.get(kind, kind)
    return "response.failed", {
        "type": "response.failed", "sequence_number": 99,
        "response": {"id": "resp_failed", "object": "response",
                     "status": "failed", "output": [], "usage": None,
                     "error": {"code": code, "message": message}}}
