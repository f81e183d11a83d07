#!/usr/bin/env python3
"""A model server that plays a script and refuses what the real ones refuse.

    server.py --script FILE [--port 0] [--port-file F] ...

OpenAI Chat Completions    POST .../chat/completions
OpenAI Responses           POST .../responses
Anthropic Messages         POST .../messages, .../messages/count_tokens
                           GET  .../models
                           GET  /_stats    {"sums": {}, "clock": s, "records": []}
                           GET  /_stats/sums

The turn comes out of the history in the request: a client that drops history
is seen to do so, and a server that was restarted carries on. script.py has the
script's format, faults.py the faults, stats.py the records, cache.py how
prefix caches are accounted for.
"""
import argparse
import asyncio
import dataclasses
import json
import os
import random
import signal
import sys
import time
import traceback

import cache
import chat
import faults
import messages
import responses
import script
import stats
import wire
from rules import Exchange, Refused, Usage, dump, tokens

APIS = {"/chat/completions": chat, "/responses": responses,
        "/messages": messages}
JSON = ("Content-Type", "application/json")
NO_JSON = ("We could not parse the JSON body of your request. (HINT: This "
           "likely means you aren't using your HTTP library correctly. The "
           "OpenAI API expects a JSON payload, but what was sent was not valid "
           "JSON.)")
GONE = (ConnectionError, asyncio.IncompleteReadError,
        asyncio.LimitOverrunError)


def api_of(request):
    """The API whose errors this client expects, and whether it is a call."""
    for end, api in APIS.items():
        if request.path.endswith(end):
            return api, True
    ours = "anthropic-version" in request.headers or \
        request.path.endswith("/count_tokens")
    return (messages if ours else chat), False


class Server:
    def __init__(self, options, played):
        self.options, self.script = options, played
        self.faults = faults.parse(options.faults)
        log = open(options.log, "a", encoding="utf-8") if options.log else None
        self.stats = stats.Stats(log)
        self.bodies = stats.Bodies(options.keep_bodies, options.keep) \
            if options.keep_bodies else None
        self.caches = {chat: cache.Automatic(), responses: cache.Automatic(),
                       messages: cache.Breakpoints()}
        self.began = time.monotonic()
        self.times = {}         # (conversation, turn): faults of it so far
        self.n_calls = 0
        self.last_second = []   # when calls were let through
        self.stopping = asyncio.Event()

    def setting(self, name, default=None):
        value = getattr(self.options, name, None)
        return self.script.spec.get(name, default) if value is None else value

    # ---------------------------------------------------------- connections

    async def connection(self, reader, writer):
        self.stats.sums["connections"] += 1
        number = self.stats.sums["connections"]
        try:
            while await self.one(reader, writer, number):
                pass
        except GONE:
            pass
        except asyncio.CancelledError:
            pass        # the server ends; asyncio 3.11 would print a traceback
        finally:
            writer.close()

    async def one(self, reader, writer, connection):
        """One request; whether another may follow."""
        try:
            request = await wire.read_request(reader, writer,
                                              self.options.max_body)
        except wire.BadRequest as e:
            out = wire.Reply(reader, writer, "whole", None)
            refused = Refused(e.status, str(e), code="bad_request")
            await self.refuse(out, chat, refused)
            return False
        if request is None:
            return False
        rng = random.Random("%s/%s" % (self.options.seed, connection))
        out = wire.Reply(reader, writer, self.options.chunk, rng)
        if request.path in ("/_stats", "/_stats/sums"):
            await self.show_stats(request, out)
        else:
            await self.recorded(request, out, connection)
        return request.keep_alive and not out.closed

    async def show_stats(self, request, out):
        data = {"sums": self.stats.sums, "clock": self.clock()}
        if request.path == "/_stats":
            data["records"] = self.stats.records
        await out.body(200, [JSON], dump(data))

    async def recorded(self, request, out, connection):
        record = self.new_record(request, connection)
        try:
            await self.answer(request, out, record)
        except GONE:
            record.update(error="the client went away", accepted=False)
            raise
        except asyncio.CancelledError:
            record["error"] = "the server was stopped"
            raise
        except Exception:
            traceback.print_exc()
            record["error"] = "in the fake server, see its stderr"
            raise
        finally:
            self.stats.in_flight -= 1
            record["bytes_out"] = out.bytes
            record["seconds"] = round(self.clock() - record["start"], 6)
            self.stats.add(record)

    def clock(self):
        return time.monotonic() - self.began

    def new_record(self, request, connection):
        number = len(self.stats.records) + self.stats.entered()
        if self.bodies and request.body:
            self.bodies.keep(number, request.body)
        return {"request": number, "path": request.path, "status": 0,
                "method": request.method, "connection": connection,
                "header_names": sorted(request.headers),
                "bytes_in": request.size, "start": round(self.clock(), 6),
                "sha256": stats.sha256(request.body), "error": None,
                "in_flight": self.stats.in_flight}

    # -------------------------------------------------------------- routing

    async def answer(self, request, out, record):
        api, is_call = api_of(request)
        try:
            record["auth"] = self.auth(request, api)
            self.check_auth(record["auth"], request, api)
            if is_call and request.method == "POST":
                await self.call(request, api, out, record)
            else:
                await self.other(request, api, out)
                record["status"] = 200
        except Refused as e:
            record.update(status=e.status, error=e.message)
            await self.refuse(out, api, e)
        except script.ScriptError as e:
            print("fake server: %s" % e, file=sys.stderr, flush=True)
            record.update(status=500, error=str(e))
            await self.refuse(out, api, Refused(500, str(e), "api_error"))

    async def refuse(self, out, api, e):
        body = api.error(e)
        if api is messages:
            body["request_id"] = "req_fake"
        await out.body(e.status, [JSON] + list(e.headers), dump(body))

    def auth(self, request, api):
        given = request.headers.get("authorization", "")
        given = given[7:] if given.lower().startswith("bearer ") else ""
        if api is messages:
            given = request.headers.get("x-api-key", given)
        if not given:
            return "missing"
        wanted = self.options.key
        return "right" if wanted is None or given == wanted else "wrong"

    def check_auth(self, auth, request, api):
        if api is messages and "anthropic-version" not in request.headers:
            raise Refused(400, "anthropic-version: header is required")
        if self.options.key is None or auth == "right":
            return
        if api is messages:
            raise Refused(401, "invalid x-api-key" if auth == "wrong" else
                          "x-api-key header is required",
                          "authentication_error")
        raise Refused(401, "Incorrect API key provided: fake***. You can find "
                      "your API key at https://platform.openai.com/account/"
                      "api-keys." if auth == "wrong" else
                      "You didn't provide an API key.",
                      code="invalid_api_key" if auth == "wrong" else None)

    async def other(self, request, api, out):
        if request.path.endswith("/count_tokens") and request.method == "POST":
            req = self.parse(request, api)[0]
            req.setdefault("max_tokens", 1)
            api.check(req, self.setting("allow", ()))
            size = sum(map(len, api.read(req).pieces))
            await out.body(200, [JSON], dump({"input_tokens": tokens(size)}))
        elif request.path.endswith("/models") and request.method == "GET":
            await out.body(200, [JSON], dump(self.models(api)))
        elif api_of(request)[1]:
            raise Refused(405, "Not allowed to %s on %s." %
                          (request.method, request.path),
                          code="method_not_supported")
        else:
            raise Refused(404, "Not Found" if api is messages else
                          "Invalid URL (%s %s)" %
                          (request.method, request.path),
                          "not_found_error" if api is messages else
                          "invalid_request_error")

    def models(self, api):
        names = self.setting("models") or ["fake-model"]
        if api is messages:
            return {"data": [{"type": "model", "id": n, "display_name": n,
                              "created_at": "2025-01-01T00:00:00Z"}
                             for n in names],
                    "has_more": False, "first_id": names[0],
                    "last_id": names[-1]}
        return {"object": "list", "data": [
            {"id": n, "object": "model", "created": 1700000000,
             "owned_by": "fake"} for n in names]}

    # ---------------------------------------------------------- model calls

    def parse(self, request, api):
        """The request's object and its text."""
        try:
            text = request.body.decode()
            req = json.loads(text, parse_constant=lambda c: 1 // 0)
            json.dumps(req, ensure_ascii=False).encode()
        except (ValueError, ZeroDivisionError, RecursionError) as e:
            raise Refused(400, "The request body is not valid JSON: %s" % e
                          if api is messages else NO_JSON) from None
        if not isinstance(req, dict):
            raise Refused(400, "Input should be a valid dictionary"
                          if api is messages else NO_JSON)
        kind = request.headers.get("content-type", "")
        if kind.split(";")[0].strip().lower() != "application/json":
            raise Refused(400, "Unsupported content type: '%s'. This API "
                          "method only accepts 'application/json' requests, "
                          "but you specified the header 'Content-Type: %s'." %
                          (kind, kind), code="unsupported_content_type")
        return req, text

    async def call(self, request, api, out, record):
        record.update(api=api.NAME, fault=None, accepted=False, usage={},
                      prompt_bytes=0, prefix_bytes=0, new_bytes=0,
                      continues=None, seq=self.n_calls)
        self.n_calls += 1
        self.check_rate()
        req, text = self.parse(request, api)
        self.check_model(req, api)
        api.check(req, self.setting("allow", ()))
        talk = api.read(req)
        usage, entries = self.look(request, api, req, talk)
        self.check_size(api, req, usage)
        role, found = self.script.find(talk)
        number = role.number(talk)
        base = self.conversation(api, talk)
        whose = base if "_" in base else "%s_%d" % (base, record["seq"])
        record.update(model=req["model"], conversation=whose, turn=number,
                      script=role.name, stream=bool(req.get("stream")),
                      tools=len(req.get("tools") or ()),
                      cache_key=req.get("prompt_cache_key"))
        self.stats.repetition(record, talk)
        self.stats.continuation(record, request.body, text, api.LIST)
        turn = script.fill(role.turn(number), script.values(
            role, found, talk, {"turn": number, "request": record["seq"],
                                "conversation": whose,
                                "model": req["model"]}))
        x = self.exchange(api, req, turn, usage, whose, number, record)
        await asyncio.sleep(turn.get("latency", self.options.latency) / 1000)
        fault = self.pick_fault(turn, base, number, record)
        if await self.fail(fault, turn, api, out, record):
            return
        # From now on the reply has begun.
        self.caches[api].add(*entries)
        record["status"] = 200
        await self.send(x, api, fault, turn, out)
        record["accepted"] = fault is None

    def look(self, request, api, req, talk):
        """-> (Usage, what to give to the cache's add())"""
        key = request.headers.get("x-api-key",
                                  request.headers.get("authorization"))
        who = (req["model"], key)
        usage, entries = self.caches[api].look(who, talk)
        return usage, (who, entries)

    def conversation(self, api, talk):
        """Who asks: after the first reply our ids say it. Before, all that
        begin alike are one, so that their faults are counted together."""
        for ident in talk.ids:
            ours = script.OUR_ID.match(ident)
            if ours:
                return ours[1]
        return stats.sha256("\n".join(
            (api.NAME, talk.system, talk.first)).encode())[:8]

    def check_rate(self):
        most, now = self.options.per_second, self.clock()
        self.last_second = [t for t in self.last_second if t > now - 1]
        if most is not None and len(self.last_second) >= most:
            status, kind, code, message = faults.INSTEAD["429"]
            raise Refused(status, message, kind, code=code,
                          headers=[("Retry-After",
                                    self.options.retry_after or "1")])
        self.last_second.append(now)

    def check_model(self, req, api):
        names = self.setting("models")
        name = req.get("model")
        if names and isinstance(name, str) and name not in names:
            raise Refused(404, "model: %s" % name, "not_found_error") \
                if api is messages else Refused(
                    404, "The model `%s` does not exist or you do not have "
                    "access to it." % name, code="model_not_found")
        for key in self.setting("refuse", ()):
            if key in req and api is messages:
                raise Refused(400, key + ": Extra inputs are not permitted")
            if key in req:
                raise Refused(400, "Unsupported parameter: '%s' is not "
                              "supported with this model." % key, param=key,
                              code="unsupported_parameter")

    def check_size(self, api, req, usage):
        most = self.setting("max_output", 128000)
        asked = api.most_output(req) or 0
        if asked > most:
            raise Refused(400, "max_tokens: %d > %d, which is the maximum "
                          "allowed number of output tokens for %s" %
                          (asked, most, req["model"])) \
                if api is messages else Refused(
                    400, "max_tokens is too large: %d. This model supports at "
                    "most %d completion tokens, whereas you provided %d." %
                    (asked, most, asked), param="max_tokens",
                    code="invalid_value")
        window = self.setting("window", 200000)
        if usage.prompt > window:
            raise self.overflow(api, usage.prompt, window)
        if api is messages and usage.prompt + asked > window:
            raise Refused(400, "input length and `max_tokens` exceed context "
                          "limit: %d + %d > %d, decrease input length or "
                          "`max_tokens` and try again" %
                          (usage.prompt, asked, window))

    def overflow(self, api, size, window):
        if api is messages:
            return Refused(400, "prompt is too long: %d tokens > %d maximum" %
                           (size, window))
        if api is responses:
            return Refused(400, "Your input exceeds the context window of this "
                           "model. Please adjust your input and try again.",
                           param="input", code="context_length_exceeded")
        return Refused(400, "This model's maximum context length is %d tokens. "
                       "However, your messages resulted in %d tokens. Please "
                       "reduce the length of the messages." % (window, size),
                       param="messages", code="context_length_exceeded")

    def exchange(self, api, req, turn, usage, whose, number, record):
        """What the turn says; its usage is counted and recorded."""
        thinking = turn.get("thinking") or ""
        if api is messages and not messages.thinks(req):
            thinking = ""
        ident = "%s_%d" % (whose, number)
        x = Exchange(
            req=req, text=turn.get("text") or "", thinking=thinking,
            redacted=turn.get("redacted") or "", stop=turn.get("stop"),
            calls=script.calls(turn, "toolu" if api is messages else "call",
                               ident, "t" if thinking else ""),
            usage=usage, ident=ident, now=int(time.time()),
            rng=random.Random("%s/%s" % (self.options.seed, ident)),
            reasoning_content=bool(self.setting("reasoning_content")))
        usage.reasoning = spoken(thinking)
        usage.output = max(1, usage.reasoning + spoken(x.text) + sum(
            spoken(c.name + c.arguments) for c in x.calls))
        record["usage"] = dataclasses.asdict(usage)
        if "usage" in turn:
            x.usage = usage_instead(turn["usage"], usage)
        return x

    # --------------------------------------------------------------- faults

    def pick_fault(self, turn, base, number, record):
        """The turn's own fault while it lasts, else one by chance."""
        fault = None
        if {"fault", "status", "body"} & turn.keys():
            place = (base, number)
            self.times[place] = self.times.get(place, 0) + 1
            if self.times[place] <= turn.get("times", 1):
                fault = turn.get("fault", "scripted")
        else:
            fault = faults.draw(self.faults, self.options.seed, record["seq"])
        record["fault"] = fault
        return fault

    async def fail(self, fault, turn, api, out, record):
        """Whether the fault stands instead of a reply."""
        if fault in faults.INSTEAD:
            raise faults.refusal(fault, api, self.setting("retry_after", 0))
        if fault == "scripted" and "body" not in turn:
            raise Refused(turn["status"], "as the script says",
                          headers=(turn.get("headers") or {}).items())
        if fault == "scripted":
            body = turn.get("body", "")
            body = body.encode() if isinstance(body, str) else dump(body)
            record["status"] = turn.get("status", 200)
            headers = turn.get("headers") or {"Content-Type": JSON[1]}
            await out.body(record["status"], headers.items(), body)
        elif fault == "html502":
            record["status"] = 502
            await out.body(502, [("Content-Type", "text/html")], faults.HTML)
        elif fault == "reset":
            out.reset()
        elif fault == "close":
            out.closed = True
        else:
            return False
        return True

    async def send(self, x, api, fault, turn, out):
        ending = faults.ENDINGS.get(fault, "whole")
        if fault == "flood":
            x.text = "x" * self.options.overlong
        headers = [("request-id" if api is messages else "x-request-id",
                    "req_" + x.ident)]
        if not x.req.get("stream") or fault == "nostream":
            body = self.plain(x, api, fault)
            return await out.body(200, [JSON] + headers, body, ending,
                                  self.options.stall)
        events = list(api.events(x))
        if fault:
            events = faults.spoil(fault, events, api, x.rng,
                                  self.options.overlong)
        blocks = wire.frames(events, out.mode, out.rng)
        if ending == "cut" and len(blocks) > 1:
            blocks[-1] = blocks[-1][:len(blocks[-1]) // 2]
        await out.stream(headers, blocks, turn.get("pace", self.options.pace),
                         ending, self.options.stall)

    def plain(self, x, api, fault):
        """The body of a reply that is no stream."""
        body = api.whole(x)
        if fault == "wrongtype":
            body = faults.retype(body, x.rng)
        elif fault == "errevent":
            body = api.error_event("server_error", "Overloaded")[1]
        elif fault == "overlong":
            body["pad"] = "x" * self.options.overlong
        data = dump(body)
        if fault in ("badjson", "truncated", "nodone"):
            data = data[:-2]
        return b"" if fault == "empty" else data


def spoken(text):
    return tokens(len(text.encode("utf-8", "surrogatepass")) + 3)


def usage_instead(how, usage):
    if how is None:
        return None
    return Usage() if how == "zero" else dataclasses.replace(usage, **how)


# --------------------------------------------------------------------- main


def parse_options(args):
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--script", required=True)
    p.add_argument("--port", type=int, default=0, help="0: a free one")
    p.add_argument("--port-file", help="the port, once it listens")
    p.add_argument("--log", help="a JSON line for each request")
    p.add_argument("--faults", help="kind:probability,...")
    p.add_argument("--seed", default="1")
    p.add_argument("--chunk", choices=wire.MODES, default="event")
    p.add_argument("--latency", type=float, default=0, help="ms to the reply")
    p.add_argument("--pace", type=float, default=0, help="ms between events")
    p.add_argument("--key", help="what the client has to send")
    p.add_argument("--window", type=int, help="tokens")
    p.add_argument("--max-output", type=int, help="tokens")
    p.add_argument("--retry-after", help="seconds, with 429")
    p.add_argument("--per-second", type=float, help="requests; more are 429")
    p.add_argument("--stall", type=float, default=30, help="seconds")
    p.add_argument("--overlong", type=int, default=20 << 20, help="bytes")
    p.add_argument("--max-body", type=int, default=32 << 20, help="bytes")
    p.add_argument("--keep-bodies", metavar="DIR")
    p.add_argument("--keep", type=int, default=200, help="bodies at most")
    p.add_argument("--until-eof", action="store_true",
                   help="end when stdin does")
    return p.parse_args(args)


def tell_port(path, port):
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write("%d\n" % port)
    os.rename(path + ".new", path)


async def serve(options, played):
    server = Server(options, played)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stopping.set)
    if options.until_eof:
        loop.add_reader(0, lambda: os.read(0, 4096) or server.stopping.set())
    listener = await asyncio.start_server(
        server.connection, "127.0.0.1", options.port, limit=1 << 20,
        backlog=512)
    port = listener.sockets[0].getsockname()[1]
    if options.port_file:
        tell_port(options.port_file, port)
    print("listening on 127.0.0.1:%d" % port, flush=True)
    await server.stopping.wait()


def main(args):
    given = parse_options(args)
    asyncio.run(serve(given, script.load(given.script)))


if __name__ == "__main__":
    main(sys.argv[1:])
