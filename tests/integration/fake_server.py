#!/usr/bin/env python3
"""The fake model server itself (tests/fake), by plain HTTP: the three APIs,
what it refuses, its faults, and what it counts as cached.

Not named fake.py: that would hide the package `fake` from its neighbours.
"""
import concurrent.futures
import copy
import http.client
import json
import socket
import sys

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

KEY = "sk-test"
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}},
          "required": ["command"]}
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses",
         "anthropic": "/v1/messages"}
APIS = sorted(PATHS)
SCRIPT = {
    "scripts": [
        {"match": r"flaky", "name": "flaky", "turns": [
            {"text": "there", "status": 418, "body": "teapot", "times": 2,
             "headers": {"X-Why": "script"}}]},
        {"match": r"forbidden", "turns": [
            {"status": 403, "headers": {"Retry-After": "3"}}]},
        {"match": r"usage (?P<how>\w+)", "turns": [{"usage": "zero"}],
         "on": "user", "end": {"text": "{{how}}", "usage": None}},
        {"match": r"fault (?P<kind>\w+)", "on": "user", "turns": [
            {"text": "never " * 20, "fault": "{{kind}}"}]},
        {"match": r"parallel", "turns": [
            {"calls": [{"name": "run", "arguments": {"n": 1}},
                       {"name": "run", "raw": "{\"n\": "}],
             "repeat": 2}], "end": {"text": "end", "stop": "length"}},
    ],
    "vars": {"hypothesis": r"Hypothesis: (.*)"},
    "turns": [
        {"text": "Let me see \u2013 \U0001f600.",
         "thinking": "What is it? " * 9,
         "calls": [{"name": "run", "arguments": {
             "command": "echo '{{hypothesis}}' \u00fc"}}]},
        {"text": "All done."}],
}
EDGE = "\u2013 \U0001f600"


# --------------------------------------------------------------- a client


class Answer:
    def __init__(self, status, headers, data):
        self.status, self.headers, self.data = status, headers, data

    @property
    def json(self):
        return json.loads(self.data)

    @property
    def error(self):
        return self.json["error"]["message"]


def headers_of(api, key=KEY):
    found = {"Content-Type": "application/json"}
    if api == "anthropic":
        found.update({"x-api-key": key, "anthropic-version": "2023-06-01"})
    else:
        found["Authorization"] = "Bearer " + key
    return found


def ask(server, api, body, path=None, method="POST", key=KEY, link=None,
        headers=None):
    """One request; body: an object, or bytes."""
    c = link or http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    data = body if isinstance(body, bytes) or body is None else \
        json.dumps(body).encode()
    c.request(method, path or PATHS[api], data,
              headers_of(api, key) if headers is None else headers)
    r = c.getresponse()
    answer = Answer(r.status, dict(r.getheaders()), r.read())
    if link is None:
        c.close()
    return answer


def events(data):
    """[(event, data)] by the rules for server-sent events."""
    text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    found, name, lines = [], None, []
    for line in text.split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            lines.append(value)
        elif not line and lines:
            found.append((name, "\n".join(lines)))
            name, lines = None, []
    return found


def first(api, text="Hypothesis: off by one", system="You fix bugs.", **more):
    """A request that begins a conversation."""
    tool = {"name": "run", "description": "Run.", "parameters": SCHEMA}
    user = {"role": "user", "content": text}
    if api == "chat":
        req = {"messages": [{"role": "system", "content": system}, user],
               "tools": [{"type": "function", "function": tool}]}
    elif api == "responses":
        req = {"instructions": system, "input": [user], "store": False,
               "tools": [dict(tool, type="function")],
               "include": ["reasoning.encrypted_content"]}
    else:
        tool["input_schema"] = tool.pop("parameters")
        req = {"system": system, "messages": [user], "tools": [tool],
               "max_tokens": 4096,
               "thinking": {"type": "enabled", "budget_tokens": 1024}}
    return dict(req, model="fake-model", **more)


def follow(api, req, answer, result="ok"):
    """The request after that answer (a plain one)."""
    req, reply = copy.deepcopy(req), answer.json
    if api == "chat":
        m = reply["choices"][0]["message"]
        req["messages"].append({k: m[k] for k in
                                ("role", "content", "tool_calls") if k in m})
        req["messages"] += [{"role": "tool", "tool_call_id": c["id"],
                             "content": result}
                            for c in m.get("tool_calls", [])]
    elif api == "responses":
        req["input"] += reply["output"]
        req["input"] += [{"type": "function_call_output",
                          "call_id": i["call_id"], "output": result}
                         for i in reply["output"]
                         if i["type"] == "function_call"]
    else:
        req["messages"] += [
            {"role": "assistant", "content": reply["content"]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": b["id"],
                 "content": result} for b in reply["content"]
                if b["type"] == "tool_use"]}]
    for items in (req.get("messages"), req.get("input")):
        for m in items or []:
            m.pop("annotations", None)
    return req


# What was said: (text, [(call id, name, arguments)], reasoning, usage)


def said(api, reply):
    return {"chat": said_chat, "responses": said_responses,
            "anthropic": said_anthropic}[api](reply)


def said_chat(reply):
    m = reply["choices"][0]["message"]
    calls = [(c["id"], c["function"]["name"], c["function"]["arguments"])
             for c in m.get("tool_calls", [])]
    return m["content"] or "", calls, "", reply.get("usage")


def said_responses(reply):
    by = {"message": "", "reasoning": ""}
    calls = []
    for i in reply["output"]:
        if i["type"] == "message":
            by["message"] += i["content"][0]["text"]
        elif i["type"] == "reasoning":
            by["reasoning"] = i["encrypted_content"]
        else:
            calls.append((i["call_id"], i["name"], i["arguments"]))
    return by["message"], calls, by["reasoning"], reply.get("usage")


def said_anthropic(reply):
    blocks = reply["content"]
    return ("".join(b.get("text", "") for b in blocks),
            [(b["id"], b["name"], json.dumps(b["input"], ensure_ascii=False))
             for b in blocks if b["type"] == "tool_use"],
            "".join(b.get("signature", "") for b in blocks),
            reply.get("usage"))


def joined(api, found):
    """The plain reply that a stream's events amount to."""
    return {"chat": join_chat, "responses": join_responses,
            "anthropic": join_anthropic}[api](found)


def join_chat(found):
    lib.equal(found[-1], (None, "[DONE]"), "chat: the stream ends in [DONE]")
    m, usage, reason = {"content": "", "tool_calls": []}, None, None
    for _, data in found[:-1]:
        c = json.loads(data)
        usage = c.get("usage") or usage
        for choice in c["choices"]:
            reason = choice["finish_reason"] or reason
            join_delta(m, choice["delta"])
    return {"choices": [{"message": m, "finish_reason": reason}],
            "usage": usage}


def join_delta(m, delta):
    m["content"] += delta.get("content") or ""
    for c in delta.get("tool_calls", []):
        if c["index"] == len(m["tool_calls"]):
            m["tool_calls"].append(copy.deepcopy(c))
        else:
            m["tool_calls"][c["index"]]["function"]["arguments"] += \
                c["function"]["arguments"]


def join_responses(found):
    data = [json.loads(d) for _, d in found]
    lib.equal([d["type"] for d in data], [n for n, _ in found],
              "responses: an event's name is its type")
    lib.equal([d["sequence_number"] for d in data], list(range(len(data))),
              "responses: sequence numbers")
    lib.equal(found[0][0], "response.created", "responses: the first event")
    for key in ("output_text", "function_call_arguments"):
        pieces, done = {}, {}
        for d in data:
            if d["type"] == "response.%s.delta" % key:
                pieces[d["item_id"]] = pieces.get(d["item_id"], "") + d["delta"]
            elif d["type"] == "response.%s.done" % key:
                done[d["item_id"]] = d.get("text", d.get("arguments"))
        lib.equal(pieces, done, "responses: deltas of " + key)
    items = [d["item"] for d in data
             if d["type"] == "response.output_item.done"]
    lib.equal(items, data[-1]["response"]["output"], "responses: items")
    return data[-1]["response"]


def join_anthropic(found):
    data = [json.loads(d) for _, d in found]
    lib.check("ping" in [d["type"] for d in data], "anthropic: a ping")
    lib.equal(data[-1], {"type": "message_stop"}, "anthropic: the last event")
    reply, partial = data[0]["message"], {}
    for d in data[1:]:
        if d["type"] == "content_block_start":
            reply["content"].append(d["content_block"])
        elif d["type"] == "content_block_delta":
            block, delta = reply["content"][d["index"]], d["delta"]
            for key in ("text", "thinking", "signature"):
                if key in delta:
                    block[key] += delta[key]
            partial[d["index"]] = partial.get(d["index"], "") + \
                delta.get("partial_json", "")
        elif d["type"] == "message_delta":
            reply.update({k: v for k, v in d["delta"].items()})
            reply["usage"].update(d["usage"])
    for i, block in enumerate(reply["content"]):
        if block["type"] == "tool_use":
            block["input"] = json.loads(partial[i])
    return reply


# ------------------------------------------------------------------- tests


def conversations(server):
    for api in APIS:
        req = first(api)
        plain = ask(server, api, req)
        lib.equal(plain.status, 200, api + ": a plain reply", plain.data)
        text, calls, secret, usage = said(api, plain.json)
        lib.equal(text, "Let me see %s." % EDGE, api + ": text")
        lib.equal(json.loads(calls[0][2])["command"],
                  "echo 'off by one' \u00fc", api + ": the call, filled in")
        lib.check(secret or api == "chat", api + ": reasoning")
        lib.check(usage, api + ": usage", plain.data)
        following(server, api, req, plain)
        streamed(server, api, req, plain)


def following(server, api, req, plain):
    second = follow(api, req, plain)
    end = ask(server, api, second)
    if not lib.equal(end.status, 200, api + ": the second turn", end.data):
        return
    lib.equal(said(api, end.json)[:2], ("All done.", []), api + ": the end")
    third = follow(api, second, end)
    if api == "anthropic":
        third["messages"][-1]["content"] = "go on"
    elif api == "chat":
        third["messages"].append({"role": "user", "content": "go on"})
    else:
        third["input"].append({"role": "user", "content": "go on"})
    end = ask(server, api, third)
    lib.equal(end.status, 200, api + ": the third turn", end.data)
    lib.equal(said(api, end.json)[0], "Done.", api + ": after the script")


def streamed(server, api, req, plain):
    more = {"stream_options": {"include_usage": True}} if api == "chat" else {}
    r = ask(server, api, dict(req, stream=True, **more))
    lib.check(r.headers["Content-Type"].startswith("text/event-stream"),
              api + ": the type of a stream", r.headers)
    got = said(api, joined(api, events(r.data)))
    want = said(api, plain.json)
    lib.equal(got[0], want[0], api + ": streamed text")
    lib.equal([c[1:] for c in got[1]], [c[1:] for c in want[1]],
              api + ": streamed calls")
    lib.equal(got[2], want[2], api + ": streamed reasoning")
    lib.check(got[3], api + ": streamed usage", r.data)
    if api == "chat":
        r = ask(server, api, dict(req, stream=True))
        lib.check(b'"usage"' not in r.data, "chat: usage only when asked for")


def chosen(server):
    """Scripts by match; repeat, raw arguments, usage, one-time replies."""
    req = first("chat", "parallel")
    for turn in range(2):
        r = ask(server, "chat", req)
        calls = said("chat", r.json)[1]
        lib.equal([c[2] for c in calls], ['{"n": 1}', '{"n": '],
                  "parallel: malformed arguments, turn %d" % turn)
        req = follow("chat", req, r)
    r = ask(server, "chat", req)
    lib.equal(r.json["choices"][0]["finish_reason"], "length", "length", r.data)
    r = ask(server, "chat", first("chat", "usage none"))
    lib.equal(r.json["usage"]["total_tokens"], 0, "usage of nothing")
    r = ask(server, "chat", follow("chat", first("chat", "usage none"), r))
    lib.equal((said("chat", r.json)[0], r.json.get("usage")), ("none", None),
              "no usage, and a group of match")
    got = [ask(server, "chat", first("chat", "flaky")) for _ in range(3)]
    lib.equal([r.status for r in got], [418, 418, 200], "twice, then well")
    lib.equal((got[0].data, got[0].headers["X-Why"]), (b"teapot", "script"),
              "its own body and headers")
    r = ask(server, "chat", first("chat", "forbidden"))
    lib.equal((r.status, r.error, r.headers["Retry-After"]),
              (403, "as the script says", "3"), "a status alone")


def edit(req, path, value):
    """A copy with the value at that path (None: without it)."""
    req = copy.deepcopy(req)
    at = req
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return req


def refused(server, api, req, part, status=400, what=None, **more):
    r = ask(server, api, req, **more)
    what = "%s refuses: %s" % (api, what or part)
    if lib.equal(r.status, status, what, r.data):
        lib.check(part in r.error, what, r.data)


def refusals(server):
    pairs = {api: first(api) for api in APIS}
    after = {api: follow(api, r, ask(server, api, r))
             for api, r in pairs.items()}
    for api in APIS:
        refused(server, api, pairs[api], "key", 401, "a wrong key", key="no")
        refused(server, api, pairs[api], "v1/nothing" if api != "anthropic"
                else "Not Found", 404, "a path", path="/v1/nothing")
        refused(server, api, b"{\"model\": \xff}", "JSON", what="no UTF-8")
        refused(server, api, b"{\"model\": ", "JSON", what="cut JSON")
        refused(server, api, b"{\"model\": \"\\ud800\"}", "JSON",
                what="a lone surrogate")
        refused(server, api, b"[]", "", what="no object")
        refused(server, api, dict(pairs[api], foo=1), "foo")
        refused(server, api, edit(pairs[api], ["model"], None), "model")
        refused(server, api, edit(pairs[api], ["tools", 0], 5), "tools")
    refusals_chat(server, pairs["chat"], after["chat"])
    refusals_responses(server, pairs["responses"], after["responses"])
    refusals_anthropic(server, pairs["anthropic"], after["anthropic"])


def refusals_chat(server, req, after):
    def no(path, value, part, base=after):
        refused(server, "chat", edit(base, path, value), part,
                what="%s %s" % (path, value))
    call = ["messages", 2, "tool_calls", 0]
    other = dict(after["messages"][3], tool_call_id="call_x")
    no(["messages"], [], "empty array")
    no(["messages", 1, "role"], "robot", "Supported values")
    no(["messages", 1, "content"], [], "empty array")
    no(["messages", 1, "opaque"], {}, "Unknown parameter")
    no(["messages", 2, "tool_calls"], [], "empty array")
    no(call + ["function", "arguments"], {}, "expected a string, but got an "
       "object")
    no(call + ["id"], "c" * 41, "maximum length 40")
    no(call + ["function", "name"], "a b", "pattern")
    no(["messages", 3], None, "did not have response messages")
    no(["messages", 3], {"role": "user", "content": "x"}, "did not have")
    no(["messages", 3], other, "not found")
    no(["messages"], after["messages"] + [other], "not found")
    no(["messages"], after["messages"] + [after["messages"][3]], "not found")
    no(["messages", 2], None, "must be a response")
    calls = after["messages"][2]["tool_calls"]
    no(["messages", 2, "tool_calls"], calls * 2, "Duplicate")
    no(["tools", 0, "function", "parameters"], {"type": "string"}, "Invalid "
       "schema")
    no(["tools", 0, "function", "parameters", "properties", "a"],
       {"type": "array"}, "missing items")
    no(["tools", 0, "function", "strict"], True, "additionalProperties")
    no(["tools"], None, "only allowed when 'tools'",
       dict(req, parallel_tool_calls=True))
    no(["stream_options"], {"include_usage": True}, "when 'stream'")
    no(["prompt_cache_key"], "k" * 65, "maximum length 64")
    no(["messages", 1, "content"], "x" * 900000, "maximum context length")
    no(["max_tokens"], 999999, "too large")


def refusals_responses(server, req, after):
    def no(path, value, part, status=400):
        refused(server, "responses", edit(after, path, value), part, status,
                "%s %s" % (path, value))
    # input: user, reasoning, message, call, output
    items = after["input"]
    no(["input", 4], None, "No tool output found")
    no(["input", 3], None, "No tool call found")
    no(["input", 1], None, "required 'reasoning' item")
    no(["input"], items[:2], "required following item")
    no(["input"], items + [items[4]], "No tool call found")
    no(["input"], items + [items[3]], "Duplicate item")
    no(["input", 3, "arguments"], {}, "expected a string")
    no(["input", 3, "id"], "call_1", "begins with 'fc'")
    no(["input", 1, "summary"], None, "summary")
    no(["input", 1, "encrypted_content"], None, "not found", 404)
    no(["input", 1, "encrypted_content"],
       items[1]["encrypted_content"][:-8] + "AAAAAAA=", "could not be verified")
    no(["input", 0], {"role": "user", "content": [
        {"type": "output_text", "text": "x"}]}, "Supported values are")
    no(["input", 2, "content", 0, "type"], "input_text", "Supported values")
    no(["tools", 0, "name"], None, "tools[0].name")
    no(["max_tokens"], 10, "moved")
    no(["max_output_tokens"], 2, ">= 16")
    no(["previous_response_id"], "resp_1", "not found")
    no(["instructions"], "x" * 900000, "context window")


def refusals_anthropic(server, req, after):
    def no(path, value, part, base=after):
        refused(server, "anthropic", edit(base, path, value), part,
                what="%s %s" % (path, value))
    # messages: user, assistant (thinking, text, tool_use), user (tool_result)
    content = ["messages", 1, "content"]
    result = after["messages"][2]["content"][0]
    text = {"type": "text", "text": "x"}
    mark = {"type": "ephemeral"}
    no(["max_tokens"], None, "max_tokens: Field required")
    no(["messages"], [], "at least one message")
    no(["messages", 0, "role"], "system", "top-level `system`")
    no(["messages", 0, "role"], "robot", "'user' or 'assistant'")
    no(["messages", 0, "content"], "", "non-empty content")
    no(["messages", 0, "content"], " ", "non-whitespace")
    no(["messages", 0, "content"], [dict(text, text="")], "non-empty")
    no(["system"], [dict(text, text="")], "non-empty")
    no(["messages", 0], None, "first message")
    no(content + [0, "thinking"], "other", "Invalid `signature`")
    no(content + [0, "signature"], "", "Invalid `signature`")
    no(content + [0, "signature"], None, "Field required")
    no(content + [0], None, "Expected `thinking`")
    no(content + [2, "input"], "{}", "valid dictionary")
    no(content + [2, "id"], "a b", "should match pattern")
    no(content + [2, "opaque"], 1, "Extra inputs")
    no(content + [2], None, "unexpected `tool_use_id`")
    no(["messages", 2], None, "without `tool_result`")
    no(["messages", 2, "content"], "x", "without `tool_result`")
    no(["messages", 2, "content"], [text, result], "without `tool_result`")
    no(["messages", 2, "content"], [result, result], "single result")
    no(content, after["messages"][1]["content"] +
       after["messages"][1]["content"][2:], "must be unique")
    no(["tools", 0, "input_schema"], None, "Field required")
    no(["tools"], req["tools"] * 2, "unique")
    no(["thinking", "budget_tokens"], 5000, "must be greater than")
    no(["system"], [dict(text, cache_control=mark)] * 5, "Found 5")
    no(["messages", 0, "content"], "x" * 900000, "prompt is too long")
    refused(server, "anthropic", req, "anthropic-version", headers={
        "x-api-key": KEY, "Content-Type": "application/json"})
    fine = edit(after, ["messages", 2, "content"], [result, text])
    fine["messages"].append({"role": "user", "content": "and more"})
    lib.equal(ask(server, "anthropic", fine).status, 200,
              "anthropic: text after a result, and neighbours of one role")


def other_paths(server):
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    for api in APIS * 2:
        r = ask(server, api, None, "/v1/models", "GET", link=link)
        lib.equal(r.json["data"][0]["id"], "fake-model", api + ": models")
    r = ask(server, "anthropic", edit(first("anthropic"), ["max_tokens"], 9999),
            "/v1/messages/count_tokens", link=link)
    lib.check(r.json["input_tokens"] > 20, "count_tokens", r.data)
    records = server.stats()["records"][-7:]
    lib.equal(len({r["connection"] for r in records}), 1, "connections stay")
    lib.equal(ask(server, "chat", None, method="GET").status, 405, "a method")


BROKEN = (http.client.HTTPException, ConnectionError, socket.timeout)
STATUS = {"429": 429, "529": 529, "500": 500, "503": 503, "quota": 429,
          "html502": 502}


def faulty(server):
    """Each kind once by the script; the next request is well."""
    for api in APIS:
        for kind in ("429", "529", "html502", "quota"):
            r = ask(server, api, first(api, "fault " + kind))
            want = 503 if kind == "529" and api != "anthropic" else STATUS[kind]
            lib.equal(r.status, want, "%s: %s" % (api, kind), r.data)
            lib.equal(r.headers.get("Retry-After"),
                      "0" if kind == "429" else None, kind + ": Retry-After")
        for kind in ("reset", "close", "cut", "resetmid", "stall", "truncated",
                     "nodone", "empty", "badjson", "wrongtype", "overlong",
                     "flood", "errevent", "nostream"):
            broken(server, api, kind)
    sums = server.sums()
    lib.equal(sums["faults"]["cut"], 3, "faults are counted", sums)


def broken(server, api, kind):
    req = dict(first(api, "fault " + kind), stream=True)
    try:
        r = ask(server, api, req)
    except BROKEN as e:
        lib.check(kind in ("reset", "close", "cut", "resetmid", "stall"),
                  "%s: %s" % (api, kind), repr(e))
    else:
        lib.check(kind not in ("reset", "close", "cut", "resetmid", "stall"),
                  "%s: %s ends the connection" % (api, kind), r.data[:2000])
        looks(api, kind, r)
    again = ask(server, api, req)
    lib.equal(len(said(api, joined(api, events(again.data)))[0]), 120,
              "%s: well after %s" % (api, kind), again.data[:2000])


def looks(api, kind, r):
    what = "%s: %s" % (api, kind)
    last = {"chat": "[DONE]", "responses": "response.completed",
            "anthropic": "message_stop"}[api].encode()
    if kind in ("truncated", "nodone", "empty", "errevent"):
        lib.check(last not in r.data, what, r.data[-200:])
    elif kind in ("overlong", "flood"):
        lib.check(len(r.data) > 3000000, what, len(r.data))
    elif kind == "nostream":
        lib.check(said(api, r.json)[0], what, r.data)


def by_chance():
    """The same seed, the same faults."""
    seen = []
    for _ in range(2):
        with FakeServer({"turns": []}, faults="429:0.3,500:0.2", seed=7,
                        retry_after=1) as s:
            link = http.client.HTTPConnection("127.0.0.1", s.port)
            got = [ask(s, "chat", first("chat"), link=link)
                   for _ in range(40)]
            seen.append([r.status for r in got])
            hints = {r.headers.get("Retry-After") for r in got
                     if r.status == 429}
            lib.equal(hints, {"1"}, "Retry-After")
            lib.equal(s.sums()["faults"],
                      {"429": seen[-1].count(429), "500": seen[-1].count(500)},
                      "faults are counted")
            lib.equal(s.errors(), "", "nothing on stderr")
    lib.equal(seen[0], seen[1], "a seed decides")
    lib.check(5 < seen[0].count(429) < 20, "about as often as asked", seen[0])


LONG = "A long system prompt. " * 600   # 13200 bytes, 3300 tokens


def cached_of(api, r):
    u = r.json["usage"]
    return {"chat": lambda: u["prompt_tokens_details"]["cached_tokens"],
            "responses": lambda: u["input_tokens_details"]["cached_tokens"],
            "anthropic": lambda: u["cache_read_input_tokens"]}[api]()


def marked(api, req):
    """With breakpoints after the system prompt and the last block."""
    if api != "anthropic":
        return req
    req = copy.deepcopy(req)
    if isinstance(req["system"], str):
        req["system"] = [{"type": "text", "text": req["system"],
                          "cache_control": {"type": "ephemeral"}}]
    for m in req["messages"]:
        if isinstance(m["content"], str):
            m["content"] = [{"type": "text", "text": m["content"]}]
        for b in m["content"]:
            b.pop("cache_control", None)
    req["messages"][-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return req


def caches(server):
    for api in APIS:
        req = marked(api, first(api, "Hypothesis: one", LONG + api))
        one = ask(server, api, req)
        lib.equal(cached_of(api, one), 0, api + ": nothing cached at first")
        two = ask(server, api, marked(api, follow(api, req, one, "r" * 3000)))
        lib.check(cached_of(api, two) >= 3200, api + ": the prefix is cached",
                  two.data)
        sibling = ask(server, api, marked(api, first(
            api, "Hypothesis: two", LONG + api)))
        lib.check(3200 <= cached_of(api, sibling), api + ": a sibling hits",
                  sibling.data)
        lib.check(cached_of(api, sibling) < cached_of(api, two) + 1,
                  api + ": not more than is common", sibling.data)
        early = ask(server, api, marked(api, first(
            api, "Hypothesis: one", "B" + LONG + api)))
        lib.equal(cached_of(api, early), 0, api + ": a changed early byte")
        counted(api, one, two)
    steps = ask(server, "chat", first("chat", "Hypothesis: one", LONG + "chat"))
    lib.equal(cached_of("chat", steps) % 128, 0, "chat: steps of 128")
    unmarked(server)
    look_back(server)
    continued(server)


def counted(api, one, two):
    if api != "anthropic":
        return
    u1, u2 = one.json["usage"], two.json["usage"]
    lib.check(u1["cache_creation_input_tokens"] > 3200, "anthropic: written")
    lib.equal(u2["cache_read_input_tokens"], u1["cache_creation_input_tokens"],
              "anthropic: what was written is read")
    lib.check(700 < u2["cache_creation_input_tokens"] < 1500,
              "anthropic: only what is new is written", u2)
    lib.equal(u2["input_tokens"], 0, "anthropic: all lies before the mark")


def unmarked(server):
    for _ in range(2):
        r = ask(server, "anthropic", first("anthropic", "none", LONG + "none"))
        u = r.json["usage"]
        lib.equal((u["cache_read_input_tokens"],
                   u["cache_creation_input_tokens"]), (0, 0),
                  "anthropic: no breakpoint, no cache")


def look_back(server):
    """A mark finds what ended within 20 blocks before it."""
    for more, hits in ((15, True), (25, False)):
        text = [{"type": "text", "text": "b%d " % more + "x" * 8000}]
        req = first("anthropic", text)
        req = edit(req, ["messages", 0, "content", 0, "cache_control"],
                   {"type": "ephemeral"})
        ask(server, "anthropic", req)
        blocks = text + [{"type": "text", "text": "block %d" % i}
                         for i in range(more)]
        blocks[-1]["cache_control"] = {"type": "ephemeral"}
        r = ask(server, "anthropic", first("anthropic", blocks))
        lib.equal(cached_of("anthropic", r) > 0, hits,
                  "anthropic: %d blocks back" % more, r.data)


def continued(server):
    """The records tell whether a body grew at its end only."""
    req = first("chat", "Hypothesis: grow")
    r = ask(server, "chat", req)
    ask(server, "chat", follow("chat", req, r))
    changed = follow("chat", req, r)
    changed["messages"][0]["content"] = "other"
    ask(server, "chat", changed)
    records = server.stats()["records"][-3:]
    lib.equal([x["continues"] for x in records], [None, True, False],
              "continues", records)
    lib.equal(len({x["conversation"] for x in records}), 1, "one conversation")
    lib.equal([x["turn"] for x in records], [0, 1, 1], "turns")
    lib.check(records[1]["prefix_bytes"] == records[0]["prompt_bytes"],
              "what was repeated", records)


def at_once():
    """Siblings that are sent at once don't find each other's prefix; 64 streams
    at a time."""
    with FakeServer(SCRIPT, latency=300) as s, \
            concurrent.futures.ThreadPoolExecutor(64) as pool:
        req = first("chat", system=LONG, stream=True,
                    stream_options={"include_usage": True})
        got = list(pool.map(lambda _: ask(s, "chat", req), range(64)))
        replies = [joined("chat", events(r.data)) for r in got]
        lib.equal({said("chat", r)[0] for r in replies},
                  {"Let me see %s." % EDGE}, "64 streams at once")
        hits = [r["usage"]["prompt_tokens_details"]["cached_tokens"]
                for r in replies]
        lib.check(hits.count(0) > 8, "siblings at once don't hit", hits)
        sums = s.sums()
        lib.equal(sums["accepted"], 64, "all accepted", sums)
        lib.check(sums["max_in_flight"] > 16, "at once", sums)
        lib.equal(s.errors(), "", "nothing on stderr")


def chunkings():
    """However the bytes are cut, the events are the same."""
    seen = {}
    for mode in ("event", "whole", "byte", "random", "hostile"):
        with FakeServer(SCRIPT, chunk=mode) as s:
            for api in APIS:
                r = ask(s, api, dict(first(api), stream=True))
                found = [(n, untimed(d)) for n, d in events(r.data)]
                lib.equal(found, seen.setdefault(api, found),
                          "%s: chunked by %s" % (api, mode))
            lib.equal(s.errors(), "", "nothing on stderr")


def untimed(data):
    if data == "[DONE]":
        return data
    found = json.loads(data)
    for where in (found, found.get("response", {})):
        for key in ("created", "created_at"):
            where.pop(key, None)
    return found


def broken_off():
    """A server that ends, or a client that leaves, in the middle of a stream
    is no accident."""
    script = {"turns": [{"text": "slow " * 100, "pace": 50}]}
    with FakeServer(script) as s:
        c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=120)
        for leaves in (True, False):
            c.request("POST", PATHS["chat"], json.dumps(dict(
                first("chat"), stream=True)), headers_of("chat"))
            r = c.getresponse()
            r.read(100)
            if leaves:
                r.close()
                c.close()
        lib.wait_until(lambda: s.sums()["requests"], 5)
        lib.equal(s.log()[0]["error"], "the client went away", "a client left")
        s.stop()
        c.close()
        lib.equal([x["accepted"] for x in s.log()], [False, False], "the log")
        lib.equal(s.errors(), "", "nothing on stderr")


def restarted():
    """State is in the requests; a server's death breaks nothing."""
    with FakeServer(SCRIPT, key=KEY) as s:
        port = s.port
        answers = {api: ask(s, api, first(api)) for api in APIS}
        s.stop()
        s.start(port)
        for api in APIS:
            r = ask(s, api, follow(api, first(api), answers[api]))
            lib.equal(r.status, 200, api + ": after a restart", r.data)
        lib.equal(len(s.log()), 6, "the log goes on")
        record = s.log()[0]
        lib.equal(record["auth"], "right", "the log tells of the key")
        lib.check(KEY not in json.dumps(s.log()), "the log doesn't hold it")
        lib.check(all(k in record for k in (
            "header_names", "sha256", "usage", "conversation", "connection")),
            "a record's fields", record)


def main():
    with FakeServer(SCRIPT, key=KEY, stall=0.1, overlong=4 << 20,
                    window=200000) as server:
        conversations(server)
        chosen(server)
        refusals(server)
        other_paths(server)
        caches(server)
        faulty(server)
        lib.equal(server.errors(), "", "nothing on the server's stderr")
    by_chance()
    at_once()
    chunkings()
    broken_off()
    restarted()
    lib.done()


main()
