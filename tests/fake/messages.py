"""Anthropic Messages. https://docs.anthropic.com/en/api/messages

A call's id says whether thinking came before it ("...t"), so that its loss is
seen. Thinking is signed with its text; what was altered is refused.
"""
import json
import re

from rules import Refused, Talk, cut, dump, opening, seal, sign, \
    stop_word, text_of, unseal

NAME = "anthropic"
LIST = "messages"
KEYS = {"model", "messages", "max_tokens", "system", "tools", "tool_choice",
        "stream", "temperature", "top_p", "top_k", "stop_sequences",
        "metadata", "thinking", "service_tier", "cache_control",
        "output_config", "container", "context_management", "mcp_servers"}
ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
BLOCKS = {
    "text": {"text": str},
    "image": {"source": dict},
    "document": {"source": dict},
    "thinking": {"thinking": str, "signature": str},
    "redacted_thinking": {"data": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str},
}
OPTIONAL = {"text": {"citations"}, "tool_use": {"caller"},
            "tool_result": {"content", "is_error"},
            "document": {"title", "context", "citations"}}
BY_ROLE = {
    "user": {"text", "image", "document", "tool_result"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use"},
}
TYPES = {str: "string", dict: "dictionary", list: "list", int: "integer",
         bool: "boolean"}
STOPS = {"end": "end_turn", "calls": "tool_use", "length": "max_tokens",
         "filter": "refusal", "pause": "pause_turn"}


# ----------------------------------------------------------------- requests


def bad(message):
    raise Refused(400, message)


def error(r):
    return {"type": "error", "error": {"type": r.kind, "message": r.message}}


def field(obj, key, kind, where):
    """The value of a field that there has to be."""
    at = where + "." + key if where else key
    if key not in obj:
        bad(at + ": Field required")
    return typed(obj[key], kind, at)


def typed(value, kind, at):
    if type(value) is not kind:
        bad("%s: Input should be a valid %s" % (at, TYPES[kind]))
    return value


def maybe(obj, key, kind, where=""):
    return field(obj, key, kind, where) if obj.get(key) is not None else None


def only(obj, keys, where):
    for key in obj:
        if key not in keys:
            bad("%s: Extra inputs are not permitted" %
                (where + "." + key if where else key))


def check(req, allowed=()):
    only(req, KEYS | set(allowed), "")
    field(req, "model", str, "")
    most = field(req, "max_tokens", int, "")
    if most < 1:
        bad("max_tokens: must be greater than or equal to 1")
    maybe(req, "stream", bool)
    check_thinking(req, most)
    check_tools(req)
    check_system(req.get("system"))
    if not field(req, "messages", list, ""):
        bad("messages: at least one message is required")
    for i, m in enumerate(req["messages"]):
        check_message(m, i, i == len(req["messages"]) - 1)
    check_first_and_last(req["messages"])
    turns = merged(req["messages"])
    check_results(turns)
    check_thinking_kept(req, turns)
    check_marks(req)


def check_thinking(req, most):
    t = maybe(req, "thinking", dict)
    if t is None:
        return
    kind = field(t, "type", str, "thinking")
    if kind not in ("enabled", "disabled", "adaptive"):
        bad("thinking: Input tag '%s' found using 'type' does not match any of "
            "the expected tags: 'adaptive', 'disabled', 'enabled'" % kind)
    if kind != "enabled":
        return
    budget = field(t, "budget_tokens", int, "thinking.enabled")
    if budget < 1024:
        bad("thinking.enabled.budget_tokens: Input should be greater than or "
            "equal to 1024")
    if budget >= most:
        bad("`max_tokens` must be greater than `thinking.budget_tokens`. "
            "Please consult our documentation at https://docs.claude.com/en/"
            "docs/build-with-claude/extended-thinking")
    if req.get("temperature", 1) != 1:
        bad("`temperature` may only be set to 1 when thinking is enabled.")


def check_tools(req):
    names = []
    for i, t in enumerate(maybe(req, "tools", list) or []):
        where = "tools.%d.custom" % i
        typed(t, dict, "tools.%d" % i)
        name = field(t, "name", str, where)
        if not TOOL_NAME.match(name):
            bad(where + ".name: String should match pattern "
                "'^[a-zA-Z0-9_-]{1,128}$'")
        names.append(name)
        maybe(t, "description", str, where)
        schema = field(t, "input_schema", dict, where)
        if field(schema, "type", str, where + ".input_schema") != "object":
            bad(where + ".input_schema.type: Input should be 'object'")
        only(t, ("name", "description", "input_schema", "cache_control",
                 "type", "strict", "eager_input_streaming"), where)
    if len(set(names)) != len(names):
        bad("tools: Tool names must be unique.")
    check_choice(req, names)


def check_choice(req, names):
    choice = maybe(req, "tool_choice", dict)
    if choice is None:
        return
    kind = field(choice, "type", str, "tool_choice")
    if kind not in ("auto", "any", "tool", "none"):
        bad("tool_choice: Input tag '%s' found using 'type' does not match any "
            "of the expected tags: 'auto', 'any', 'tool', 'none'" % kind)
    if not names:
        bad("tool_choice: may only be specified while providing tools")
    if kind == "tool" and choice.get("name") not in names:
        bad("Tool '%s' not found in provided tools" % choice.get("name"))
    if kind in ("any", "tool") and req.get("thinking", {}).get("type") == \
            "enabled":
        bad("Thinking may not be enabled when tool_choice forces tool use.")


def check_system(system):
    if system is None or isinstance(system, str):
        return
    for i, b in enumerate(typed(system, list, "system")):
        where = "system.%d" % i
        if field(typed(b, dict, where), "type", str, where) != "text":
            bad(where + ".type: Input should be 'text'")
        if not field(b, "text", str, where):
            bad("system: text content blocks must be non-empty")
        only(b, ("type", "text", "cache_control", "citations"), where)


def check_message(m, i, last):
    where = "messages.%d" % i
    role = field(typed(m, dict, where), "role", str, where)
    if role == "system":
        bad("messages: Unexpected role \"system\". The Messages API accepts a "
            "top-level `system` parameter, not \"system\" as an input message "
            "role.")
    if role not in BY_ROLE:
        bad(where + ".role: Input should be 'user' or 'assistant'")
    only(m, ("role", "content"), where)
    if "content" not in m:
        field(m, "content", list, where)
    content = m["content"]
    if not content and not (last and role == "assistant"):
        bad("%s: all messages must have non-empty content except for the "
            "optional final assistant message" % where)
    if isinstance(content, str):
        check_words(content)
        return
    for k, block in enumerate(typed(content, list, where + ".content")):
        check_block(block, role, "%s.content.%d" % (where, k))


def check_words(text):
    if not text:
        bad("messages: text content blocks must be non-empty")
    if not text.strip():
        bad("messages: text content blocks must contain non-whitespace text")


def check_block(b, role, where):
    kind = field(typed(b, dict, where), "type", str, where)
    if kind not in BLOCKS:
        bad("%s: Input tag '%s' found using 'type' does not match any of the "
            "expected tags: %s" % (where, kind, ", ".join(
                "'%s'" % k for k in sorted(BLOCKS))))
    if kind not in BY_ROLE[role]:
        bad("messages: `%s` blocks can only be in `%s` messages" % (
            kind, "assistant" if role == "user" else "user"))
    at = where + "." + kind
    for key, of in BLOCKS[kind].items():
        field(b, key, of, at)
    only(b, {"type", "cache_control"} | BLOCKS[kind].keys() |
         OPTIONAL.get(kind, set()), at)
    if kind in CHECKS:
        CHECKS[kind](b, where)


def check_text(b, where):
    check_words(b["text"])


def check_use(b, where):
    if not ID.match(b["id"]):
        bad(where + ".tool_use.id: String should match pattern "
            "'^[a-zA-Z0-9_-]+$'")
    if not TOOL_NAME.match(b["name"]):
        bad(where + ".tool_use.name: String should match pattern "
            "'^[a-zA-Z0-9_-]{1,128}$'")


def check_result(b, where):
    content = b.get("content")
    if content is None or isinstance(content, str):
        return
    at = where + ".tool_result.content"
    for k, part in enumerate(typed(content, list, at)):
        kind = field(typed(part, dict, at), "type", str, "%s.%d" % (at, k))
        if kind == "text":
            check_words(field(part, "text", str, "%s.%d" % (at, k)))
        elif kind not in ("image", "document"):
            bad("%s.%d: Input tag '%s' found using 'type' does not match any "
                "of the expected tags" % (at, k, kind))


def check_signature(b, where):
    no_mark(b, where)
    if b["signature"] != sign(b["thinking"]):
        bad(where + ": Invalid `signature` in `thinking` block")


def check_redacted(b, where):
    no_mark(b, where)
    if unseal(b["data"]) is None:
        bad(where + ": Invalid `data` in `redacted_thinking` block")


def no_mark(b, where):
    if "cache_control" in b:
        bad("%s.%s.cache_control: Extra inputs are not permitted" %
            (where, b["type"]))


CHECKS = {"text": check_text, "tool_use": check_use,
          "tool_result": check_result, "thinking": check_signature,
          "redacted_thinking": check_redacted}


def blocks(m):
    if isinstance(m["content"], str):
        return [{"type": "text", "text": m["content"]}] if m["content"] else []
    return m["content"]


def check_first_and_last(messages):
    if messages[0]["role"] != "user":
        bad("messages: first message must use the \"user\" role")
    final = blocks(messages[-1])
    if messages[-1]["role"] == "assistant" and final and \
            final[-1].get("text", "").rstrip() != final[-1].get("text", ""):
        bad("messages: final assistant content cannot end with trailing "
            "whitespace")


def merged(messages):
    """[(role, index, blocks)]: neighbours of one role are one turn."""
    turns = []
    for i, m in enumerate(messages):
        if turns and turns[-1][0] == m["role"]:
            turns[-1][2].extend(blocks(m))
        else:
            turns.append((m["role"], i, list(blocks(m))))
    return turns


def check_results(turns):
    uses, seen, asked_at = [], set(), 0
    for role, i, content in turns + [("user", None, [])]:
        results = leading_results(content) if role == "user" else []
        missing = [u for u in uses if u not in results]
        if missing:
            bad("messages.%d: `tool_use` ids were found without `tool_result` "
                "blocks immediately after: %s. Each `tool_use` block must have "
                "a corresponding `tool_result` block in the next message." %
                (asked_at, ", ".join(missing)))
        check_known(content, i, uses)
        uses, asked_at = [], i
        for k, b in enumerate(content):
            if b["type"] == "tool_use":
                if b["id"] in seen:
                    bad("messages.%d.content.%d: `tool_use` ids must be unique"
                        % (i, k))
                seen.add(b["id"])
                uses.append(b["id"])


def leading_results(content):
    found = []
    for b in content:
        if b["type"] != "tool_result":
            break
        found.append(b["tool_use_id"])
    return found


def check_known(content, i, uses):
    results = set()
    for k, b in enumerate(content):
        if b["type"] != "tool_result":
            continue
        ident = b["tool_use_id"]
        if ident not in uses:
            bad("messages.%d.content.%d: unexpected `tool_use_id` found in "
                "`tool_result` blocks: %s. Each `tool_result` block must have "
                "a corresponding `tool_use` block in the previous message." %
                (i, k, ident))
        if ident in results:
            bad("messages.%d.content.%d: each tool_use must have a single "
                "result. Found multiple `tool_result` blocks with id: %s" %
                (i, k, ident))
        results.add(ident)


def check_thinking_kept(req, turns):
    """In a tool loop the last reply has its thinking still."""
    if (req.get("thinking") or {}).get("type") != "enabled":
        return
    for role, i, content in reversed(turns):
        kinds = [b["type"] for b in content]
        if role == "user" and "tool_result" not in kinds:
            return
        if role == "assistant" and kinds and kinds[0] not in (
                "thinking", "redacted_thinking") and any(
                b["type"] == "tool_use" and b["id"].endswith("t")
                for b in content):
            bad("messages.%d.content.0.type: Expected `thinking` or "
                "`redacted_thinking`, but found `%s`. When `thinking` is "
                "enabled, a final `assistant` message must start with a "
                "thinking block (preceeding the lastmost set of `tool_use` and "
                "`tool_result` blocks)." % (i, kinds[0]))


def check_marks(req):
    count = 0
    for where, b in marked(req):
        mark = typed(b["cache_control"], dict, where + ".cache_control")
        if mark.get("type") != "ephemeral":
            bad(where + ".cache_control.type: Input should be 'ephemeral'")
        if mark.get("ttl", "5m") not in ("5m", "1h"):
            bad(where + ".cache_control.ttl: Input should be '5m' or '1h'")
        count += 1
    if count > 4:
        bad("A maximum of 4 blocks with cache_control may be provided. Found "
            "%d." % count)


def marked(req):
    for where, b in prompt(req):
        if b.get("cache_control") is not None:
            yield where, b
    if req.get("cache_control") is not None:
        yield "", req


def prompt(req):
    """(where, block) in the order in which the cache sees them."""
    for i, t in enumerate(req.get("tools") or []):
        yield "tools.%d" % i, t
    system = req.get("system") or []
    if isinstance(system, str):
        system = [{"type": "text", "text": system}]
    for i, b in enumerate(system):
        yield "system.%d" % i, b
    for i, m in enumerate(req["messages"]):
        for k, b in enumerate(blocks(m)):
            yield "messages.%d.content.%d" % (i, k), dict(b, role=m["role"])


def read(req):
    whole_prompt = list(prompt(req))
    pieces = [dump({k: v for k, v in b.items() if k != "cache_control"})
              for _, b in whole_prompt]
    marks = [n for n, (_, b) in enumerate(whole_prompt)
             if b.get("cache_control") is not None]
    if req.get("cache_control") is not None:
        marks.append(len(pieces) - 1)
    head = sum(not w.startswith("messages") for w, _ in whole_prompt)
    settings = {k: req[k] for k in ("tool_choice", "thinking") if k in req}
    if settings and head < len(pieces):
        # These belong to the messages' part of the key, not to the system's.
        pieces[head] = dump(settings) + pieces[head]
    messages = req["messages"]
    replies = [m for m in messages if m["role"] == "assistant"]
    return Talk(
        pieces=pieces, marks=marks, head=head,
        system=text_of(req.get("system"), "text"),
        first=opening([(m["role"], text_of(blocks(m), "text"))
                       for m in messages]),
        last="\n".join(block_text(b) for b in blocks(messages[-1])),
        turn=len(replies),
        ids=[b["id"] for m in replies for b in blocks(m)
             if b["type"] == "tool_use"])


def block_text(b):
    if b["type"] == "tool_result":
        return text_of(b.get("content"), "text")
    return b.get("text", "")


def most_output(req):
    return req.get("max_tokens")


# ------------------------------------------------------------------ replies


def usage(u):
    return {"input_tokens": u.prompt - u.cached - u.written,
            "cache_creation_input_tokens": u.written,
            "cache_read_input_tokens": u.cached,
            "cache_creation": {"ephemeral_5m_input_tokens": u.written,
                               "ephemeral_1h_input_tokens": 0},
            "output_tokens": u.output, "service_tier": "standard"}


def thinks(req):
    return (req.get("thinking") or {}).get("type") in ("enabled", "adaptive")


def blocks_of(x):
    """[(block, text of its deltas)]."""
    found = []
    if x.thinking:
        found.append(({"type": "thinking", "thinking": x.thinking,
                       "signature": sign(x.thinking)}, x.thinking))
    if thinks(x.req) and x.redacted:
        found.append(({"type": "redacted_thinking", "data": seal(x.redacted)},
                      ""))
    if x.text:
        found.append(({"type": "text", "text": x.text}, x.text))
    for c in x.calls:
        found.append(({"type": "tool_use", "id": c.id, "name": c.name,
                       "input": object_of(c.arguments)}, c.arguments))
    return found


def object_of(arguments):
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def message(x):
    return {"id": "msg_" + x.ident, "type": "message", "role": "assistant",
            "model": x.req["model"], "content": [b for b, _ in blocks_of(x)],
            "stop_reason": stop_word(x, STOPS), "stop_sequence": None}


def whole(x):
    reply = message(x)
    if x.usage:
        reply["usage"] = usage(x.usage)
    return reply


def events(x):
    for name, data in steps(x):
        yield name, {"type": name, **data}


def steps(x):
    start = dict(message(x), content=[], stop_reason=None)
    if x.usage:
        start["usage"] = dict(usage(x.usage), output_tokens=1)
    yield "message_start", {"message": start}
    for at, (block, text) in enumerate(blocks_of(x)):
        yield "content_block_start", {"index": at,
                                      "content_block": opened(block)}
        if at == 0:
            yield "ping", {}
        for delta in deltas(block, text, x.rng):
            yield "content_block_delta", {"index": at, "delta": delta}
        yield "content_block_stop", {"index": at}
    end = {"delta": {"stop_reason": stop_word(x, STOPS),
                     "stop_sequence": None}}
    if x.usage:
        end["usage"] = {k: v for k, v in usage(x.usage).items()
                        if k.endswith("_tokens")}
    yield "message_delta", end
    yield "message_stop", {}


def opened(block):
    empty = {"thinking": {"thinking": "", "signature": ""},
             "text": {"text": ""}, "tool_use": {"input": {}},
             "redacted_thinking": {}}
    return dict(block, **empty[block["type"]])


def deltas(block, text, rng):
    kind = block["type"]
    if kind == "tool_use":
        yield {"type": "input_json_delta", "partial_json": ""}
    name, key = {"thinking": ("thinking_delta", "thinking"),
                 "text": ("text_delta", "text"),
                 "redacted_thinking": ("", ""),
                 "tool_use": ("input_json_delta", "partial_json")}[kind]
    for piece in cut(text, rng):
        yield {"type": name, key: piece}
    if kind == "thinking":
        yield {"type": "signature_delta", "signature": block["signature"]}


def error_event(kind, message):
    return "error", {"type": "error",
                     "error": {"type": kind, "message": message}}
