#!/usr/bin/env python3
"""Whole runs with a model behind each of the three APIs: plain, with faults on
a fifth of all replies, over budget, killed and resumed, replayed offline."""
import glob
import http.server
import json
import os
import socket
import sqlite3
import ssl
import sys
import threading
import time

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

CERTIFICATE = os.path.join(lib.TESTS, "fake/localhost.pem")
KEY = "sk-canary-8d1f04c7"
MODELS = {"chat": "openai/fake-model", "responses": "resp/fake-model",
          "anthropic": "anthropic/fake-model"}
FAULTS = "429:0.05,529:0.04,html502:0.03,reset:0.03,cut:0.03,badjson:0.02"
FIX = {"path": "max.sh", "old": "-lt", "new": "-gt"}


def call(tool, **arguments):
    return {"name": tool, "arguments": arguments}


def finish(verdict, *findings):
    return {"text": "", "calls": [call(
        "finish", verdict=verdict, findings=list(findings))]}


def session(turns=20):
    """Read, run and look about, mend, check, finish."""
    out = [{"text": "Turn {{turn}}.", "calls": [
        call("run_command", command="echo turn %d; sh test.sh" % n),
        call("read_file", path="max.sh")]} for n in range(turns - 3)]
    return {"turns": out + [
        {"text": "It is the comparison.", "calls": [call("edit_file", **FIX)]},
        {"text": "", "calls": [call("run_command", command="sh test.sh")]},
        finish("fixed", "the comparison was the wrong way round")]}


def search(hypotheses=8, right=8, steps=4):
    """A planner, then workers of whom the last one has it."""
    plan = [{"statement": "guess number %d is the fault" % n,
             "place": "max.sh:%d" % n, "refuted_by": "test %d passes" % n}
            for n in range(1, hypotheses + 1)]
    plan.insert(1, dict(plan[0], statement="Guess number 1 -- is the FAULT"))
    look = [{"text": "{{id}} looks.", "calls": [
        call("run_command", command="echo {{id}} step %d; cat max.sh" % n)]}
        for n in range(steps)]
    return {"scripts": [
        {"match": "Plan the search", "turns": [
            {"text": "", "calls": [call("read_file", path="max.sh")]},
            {"calls": [call("finish", verdict="done")]},  # refused
            {"calls": [call("finish", verdict="done", hypotheses=plan)]}]},
        {"match": r"Your hypothesis \((?P<id>H%d)\)" % right, "turns": look + [
            {"text": "", "calls": [call("edit_file", **FIX)]},
            finish("fixed", "{{id}} holds")]},
        {"match": r"Your hypothesis \((?P<id>H\d+)\)",
         "turns": look + [finish("refuted", "{{id}} does not hold")]}]}


def settings(box, server, price=None):
    providers = {"resp": {"api": "openai-responses",
                          "base_url": server.base("openai"),
                          "key_env": "OPENAI_API_KEY"}}
    if price:
        for name, api, url in (("resp", "openai-responses", "openai"),
                               ("priced", "openai-chat", "openai")):
            providers[name] = {
                "api": api, "base_url": server.base(url),
                "key_env": "OPENAI_API_KEY", "parallel": 64,
                "models": {"fake-model": {
                    "context": 100000, "max_output": 1000, "price": price}}}
    lib.write(os.path.join(box.home, ".config/foray/settings.json"),
              json.dumps({"providers": providers}))


def exchanges(run_dir):
    db = sqlite3.connect("file:%s/run.db?mode=ro" % run_dir, uri=True)
    rows = db.execute("SELECT subtask, turn, in_tokens, out_tokens,"
                      " cached_tokens, micro FROM exchange WHERE status='ok'"
                      ).fetchall()
    db.close()
    return rows


def bill(box, server, what):
    """The record has each accepted reply once, with the server's numbers."""
    rows, sums = exchanges(box.runs()[-1]), server.stats()["sums"]
    lib.equal(len(rows), sums["accepted"], what + ": accepted replies")
    lib.equal(len({r[:2] for r in rows}), len(rows), what + ": none twice")
    for name, column in (("prompt", 2), ("output", 3), ("cached", 4)):
        lib.equal(sum(r[column] for r in rows), sums[name],
                  "%s: %s tokens" % (what, name))


def connections(server):
    return len({e["connection"] for e in server.log()})


def fixed(box, repo, server, api, what, *args):
    settings(box, server)
    r = box.run(repo, "-t", lib.SMALL_TEST, "-m", MODELS[api], *args,
                env=server.env(), timeout=120)
    lib.equal(r.status, 0, what + ": fixed", r)
    lib.equal(server.errors(), "", what + ": the server is fine")
    bill(box, server, what)
    return r


def sessions(box):
    for api in MODELS:
        repo = box.repo("session-" + api, lib.SMALL)
        with FakeServer(session(), key=KEY, chunk="hostile") as s:
            r = fixed(box, repo, s, api, api + ", 20 turns", "--topology",
                      "single")
            lib.equal(len(r.all("model_call")), 20, api + ": 20 calls", r)
            lib.equal(connections(s), 1, api + ": one connection")
        with FakeServer(session(10), key=KEY, faults=FAULTS, seed=7,
                        retry_after=0, stall=1) as s:
            fixed(box, repo, s, api, api + ", 10 turns, faults", "--topology",
                  "single")
            lib.check(s.stats()["sums"]["faults"],
                      api + ": there were faults", s.stats()["sums"])


def fleets(box):
    for api in MODELS:
        repo = box.repo("fleet-" + api, lib.SMALL)
        for faults in (None, FAULTS) if api == "chat" else (FAULTS,):
            what = api + ", 8 workers" + (", faults" if faults else "")
            with FakeServer(search(), key=KEY, faults=faults, seed=3,
                            retry_after=0) as s:
                r = fixed(box, repo, s, api, what, "-n", "8", "--topology",
                          "hypotheses")
                planned = r.all("planned")[0]["hypotheses"]
                lib.equal([h["id"] for h in planned],
                          ["H%d" % n for n in range(1, 9)],
                          what + ": hypotheses, each once", r)
                lib.equal(planned[1]["hypothesis"], "guess number 2 is the "
                          "fault (max.sh:2); refuted if test 2 passes",
                          what + ": with place and test")


class Tls:
    """TLS in front of a plain server, with a certificate that nobody trusts."""

    def __init__(self, port):
        self.to, self.heard = port, []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        plain = socket.create_server(("127.0.0.1", 0))
        self.port = plain.getsockname()[1]
        self.socket = context.wrap_socket(
            plain, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            conn, _ = self.socket.accept()
            threading.Thread(target=self.talk, args=(conn,),
                             daemon=True).start()

    def talk(self, conn):
        try:
            conn.do_handshake()
            out = socket.create_connection(("127.0.0.1", self.to))
            threading.Thread(target=self.copy, args=(out, conn),
                             daemon=True).start()
            self.copy(conn, out, self.heard)
        except OSError:
            conn.close()

    @staticmethod
    def copy(a, b, heard=None):
        try:
            while data := a.recv(65536):
                if heard is not None:
                    heard.append(data)
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def tls(box):
    """A certificate that does not fit ends the run before the key is sent."""
    repo = box.repo("tls", lib.SMALL)
    with FakeServer(session(4), key=KEY) as s:
        front = Tls(s.port)
        for name, host in (("named", "localhost"), ("other", "127.0.0.1")):
            lib.write(os.path.join(box.home, ".config/foray/settings.json"),
                      json.dumps({"providers": {"tls": {
                          "api": "openai-chat", "key_env": "OPENAI_API_KEY",
                          "base_url": "https://%s:%d/v1" % (host, front.port)}}}))
            for trust in ("", CERTIFICATE):
                good = trust and name == "named"
                r = box.run(repo, "-t", lib.SMALL_TEST, "-m", "tls/fake-model",
                            "--topology", "single",
                            env=dict(s.env(), SSL_CERT_FILE=trust))
                what = "TLS to %s, %strusted" % (host, "" if trust else "not ")
                lib.equal(r.status, 0 if good else 5, what, r)
                if not good:
                    lib.check("certificate" in r.text, what + ": says so", r)
                    lib.equal(front.heard, [], what + ": nothing was sent")
                front.heard.clear()


def canary(box):
    """The key is nowhere but in the orchestrator's memory."""
    repo = box.repo("canary", lib.SMALL)
    script = session(12)
    for turn in script["turns"]:
        turn["latency"] = 60
    found, seen = [], set()
    with FakeServer(script, key=KEY) as s:
        settings(box, s)
        live = box.start(repo, "-t", lib.SMALL_TEST, "-m", MODELS["chat"],
                         "--topology", "single", env=s.env())
        while live.process.poll() is None:
            for p in lib.descendants(live.pid):
                seen.add(p.name)
                for name in ("environ", "cmdline"):
                    if KEY.encode() in p.read(name):
                        found.append((p, name))
            own = lib.Process(live.pid) if live.process.poll() is None else None
            # Its environment shows until main() has begun.
            if own and seen and KEY.encode() in own.read("cmdline") + \
                    own.read("environ"):
                found.append((own, "its own"))
            time.sleep(0.01)
        r = live.wait(60)
    lib.equal(r.status, 0, "canary: fixed", r)
    lib.check({"foray-host"} & seen and len(seen) > 2,
              "canary: children were seen", seen)
    lib.equal(found, [], "canary: no child has the key")
    lib.check(KEY not in r.text, "canary: not printed")
    for path in glob.glob(box.state + "/**", recursive=True) + \
            glob.glob(box.cache + "/**", recursive=True):
        if os.path.isfile(path) and KEY.encode() in lib.read(path).encode():
            lib.check(False, "canary: the key is in " + path)


def refused_key(box):
    """A wrong key ends the run at once, and is not shown."""
    repo = box.repo("refused", lib.SMALL)
    with FakeServer(session(), key="sk-right") as s:
        settings(box, s)
        r = box.run(repo, "-t", lib.SMALL_TEST, "-m", MODELS["chat"],
                    env=dict(s.env(), OPENAI_API_KEY=KEY))
        lib.equal(r.status, 5, "a wrong key: status", r)
        lib.check(KEY not in r.text, "a wrong key: not shown", r)
        lib.equal(len(s.log()), 1, "a wrong key: one request", s.log())


def no_server(box):
    repo = box.repo("nobody", lib.SMALL)
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    lib.write(os.path.join(box.home, ".config/foray/settings.json"), json.dumps(
        {"providers": {"gone": {"api": "openai-chat", "max_retries": 1,
                                "base_url": "http://127.0.0.1:9/v1",
                                "key_env": "OPENAI_API_KEY"}}}))
    r = box.run(repo, "-t", lib.SMALL_TEST, "-m", "gone/m", "--topology",
                "single", env=env)
    lib.equal(r.status, 5, "no server: status", r)
    lib.check("127.0.0.1" in r.text, "no server: the message names it", r)
    r = box.run(repo, "-t", lib.SMALL_TEST, env=env)
    lib.equal(r.status, 2, "a key and no model: status", r)
    lib.check("openai/" in r.err and "builtin" in r.err,
              "a key and no model: the choices", r)


class Nonsense(http.server.BaseHTTPRequestHandler):
    """A server that is none of a model's."""
    asked = 0

    def do_POST(self):
        Nonsense.asked += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "14")
        self.end_headers()
        self.wfile.write(b"hello nonsense")

    def log_message(self, *args):
        pass


def nonsense(box):
    """What can't be read is charged: its tokens and its calls alike."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nonsense)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lib.write(os.path.join(box.home, ".config/foray/settings.json"), json.dumps(
        {"providers": {"odd": {"api": "openai-chat", "max_retries": 1,
                               "base_url": "http://127.0.0.1:%d/v1" %
                               server.server_port}}}))
    repo = box.repo("nonsense", lib.SMALL)
    for limit, status, calls in ((["--max-tokens", "900000"], 5, 2),
                                 (["--max-tokens", "900000", "--max-calls",
                                   "1"], 3, 1)):
        Nonsense.asked = 0
        r = box.run(repo, "-t", lib.SMALL_TEST, "-m", "odd/m", "--no-builtin",
                    "--topology", "single", *limit)
        usage = r.finished.get("usage", {})
        lib.equal((r.status, usage.get("calls"), Nonsense.asked),
                  (status, calls, calls), "nonsense: calls", r)
        lib.check(usage.get("in_tokens", 0) > 0, "nonsense: tokens", r)
        if status == 5:
            lib.check("providers.odd.base_url" in r.text,
                      "nonsense: which server it is", r)
            show = box.do("show", r.finished["run"])
            lib.check("calls    2\n" in show.out, "nonsense: on record", show)
    server.shutdown()
    server.server_close()


def within(box, what, value, limit, most, spent):
    """32 workers at once pass a limit by one request at most: a prompt of some
    thousand tokens and 1000 of output."""
    repo = box.repo("budgets", lib.SMALL)
    price = {"in": 10, "cached": 1, "out": 100}
    script = search(hypotheses=32, right=99, steps=30)
    with FakeServer(script, key=KEY, latency=20) as s:
        settings(box, s, price)
        r = box.run(repo, "-t", lib.SMALL_TEST, "-m", "priced/fake-model",
                    "-n", "32", "--topology", "hypotheses", what, value,
                    env=s.env(), timeout=120)
    usage = r.finished.get("usage", {"in_tokens": 0, "out_tokens": 0,
                                     "cost_usd": 0})
    lib.equal(r.status, 3, what + ": status", r)
    lib.equal(r.finished.get("status"), "budget", what + ": status", r)
    lib.check(limit * 0.8 < spent(usage) <= limit + most,
              "%s: %s spent of %s" % (what, spent(usage), limit), r)
    lib.check([e for e in r.all("summary") if e["verdict"] == "budget"],
              what + ": partial summaries", r)
    lib.check(r.all("planned")[0].get("ceiling_usd", 0) > 0,
              what + ": the ceiling is told", r)


def budget_usd(box):
    within(box, "--max-usd", "2", 2.0, 0.25, lambda u: u["cost_usd"])


def budget_tokens(box):
    within(box, "--max-tokens", "150000", 150000, 12000,
           lambda u: u["in_tokens"] + u["out_tokens"])


def replayed(box):
    repo = box.repo("replayed", lib.SMALL)
    with FakeServer(search(), key=KEY) as s:
        r = fixed(box, repo, s, "chat", "to be replayed", "-n", "4",
                  "--topology", "hypotheses")
        asked = len(s.log())
        patch = lib.read(r.finished["patch"])
        # Nobody may be asked, though somebody would answer.
        again = box.do("replay", "--json", r.finished["run"], env=s.env())
        lib.equal(again.status, 0, "replay: status", again)
        lib.equal(len(s.log()), asked, "replay: no request")
    again = box.do("replay", "--json", r.finished["run"])
    lib.equal(again.status, 0, "replay, no server: status", again)
    lib.equal(again.finished.get("status"), "fixed", "replay: fixed", again)
    lib.equal(lib.read(again.finished.get("patch", "/dev/null")), patch,
              "replay: the same patch")
    lib.equal(again.finished.get("usage", {}).get("calls"), 0,
              "replay: nothing is spent", again)
    one = box.run(repo, "-m", "replay:" + box.runs()[0])
    lib.equal(one.status, 0, "-m replay:FILE", one)


def resumed(box):
    """kill -9 at some moments; what was answered is not asked again."""
    script = search(hypotheses=4, right=4, steps=5)
    for turn in [t for role in script["scripts"] for t in role["turns"]]:
        turn["latency"] = 30
    for n, calls in enumerate((1, 3, 9, 15)):
        repo = box.repo("resumed%d" % n, lib.SMALL)
        what = "killed after %d calls" % calls
        with FakeServer(script, key=KEY) as s:
            settings(box, s)
            live = box.start(repo, "-t", lib.SMALL_TEST, "-m", MODELS["chat"],
                             "-n", "2", "--topology", "hypotheses",
                             env=s.env())
            lib.check(live.wait_event("model_call", 30, calls),
                      what + ": it came so far")
            live.signal(9)
            live.wait(10)
            below = [p for p in lib.descendants() if p.name != "python3"]
            lib.equal(lib.left_alive(below, 5), [], what + ": all is gone")
            run = os.path.basename(box.runs()[-1])
            r = box.do("resume", "--json", run, env=s.env(), timeout=60)
            lib.equal(r.status, 0, what + ": resumed and fixed", r)
            rows = exchanges(box.runs()[-1])
            lib.equal(len({x[:2] for x in rows}), len(rows),
                      what + ": no turn is recorded twice")
            # Those under way at the kill are lost: one a worker.
            lib.check(len(rows) <= s.stats()["sums"]["accepted"] <=
                      len(rows) + 3, what + ": none is asked again",
                      (len(rows), s.stats()["sums"]["accepted"]))
            lib.equal(box.do("audit", "--verify", run).status, 0,
                      what + ": the audit chain holds")


def reviewed(box):
    """With "review" a second model can object to what the tests let pass."""
    repo = box.repo("reviewed", lib.SMALL)
    other = dict(FIX, new="-ge")
    script = {"scripts": [
        {"match": r"Review it[\s\S]*\n\+.*-gt", "turns": [
            {"calls": [call("run_command", command="cat max.sh")]},
            {"calls": [call("finish", verdict="refuted",
                            reason="equal values, max.sh:2")]}]},
        {"match": "Review it", "turns": [finish("done")]},
        {"match": "did not hold: equal values", "turns": [
            {"calls": [call("edit_file", **other)]}, finish("fixed", "b")]},
        {"match": ".", "turns": [
            {"calls": [call("edit_file", **FIX)]}, finish("fixed", "a")]}]}
    with FakeServer(script, key=KEY) as s:
        settings(box, s)
        path = os.path.join(box.home, ".config/foray/settings.json")
        lib.write(path, json.dumps(dict(json.loads(lib.read(path)),
                                        review=True)))
        r = box.run(repo, "-t", lib.SMALL_TEST, "-m", MODELS["chat"],
                    "--topology", "single", env=s.env())
        lib.equal(r.status, 0, "reviewed: fixed", r)
        lib.equal([e["ok"] for e in r.all("reviewed")], [False, True],
                  "reviewed: an objection, then none", r)
        lib.check("-ge" in lib.read(r.finished["patch"]),
                  "reviewed: the second patch is it", r)
        log = box.do("log", "w4").out
        lib.check('if [ "$1" -gt' in log, "reviewed: the patch is in place", log)
        lib.equal(s.errors(), "", "reviewed: the server is fine")
        bill(box, s, "reviewed")
    again = box.do("replay", "--json")
    lib.equal([e["ok"] for e in again.all("reviewed")], [False, True],
              "reviewed: replay has the same", again)


def raised(box):
    """What a budget ended goes on with a larger one: nothing is asked twice."""
    for n, (topology, limit) in enumerate((("single", 4), ("escalate", 8),
                                           ("hypotheses", 6))):
        repo = box.repo("raised%d" % n, lib.SMALL)
        script = search(hypotheses=2, right=2, steps=4)
        script["turns"] = session(8)["turns"]
        what = topology + ", raised"
        with FakeServer(script, key=KEY) as s:
            settings(box, s)
            r = box.run(repo, "-t", lib.SMALL_TEST, "-m", MODELS["chat"], "-n",
                        "2", "--topology", topology, "--max-calls", str(limit),
                        env=s.env())
            lib.equal(r.status, 3, what + ": the budget ends it", r)
            again = box.do("resume", "--json", env=s.env())
            lib.equal(again.status, 3, what + ": without more it stays", again)
            asked = len(s.log())
            lib.check(asked <= limit, what + ": no more than that", asked)
            r = box.do("resume", "--json", "--max-calls", "60", env=s.env())
            lib.equal(r.status, 0, what + ": goes on and fixes it", r)
            bill(box, s, what)


def failed(box):
    """What the provider's failure ended asks again, and for no more than the
    one request that failed; so does a run with a hint."""
    step = call("run_command", command="cat max.sh")
    bad = {"text": "", "calls": [step], "fault": "html502", "times": 2}
    look = {"text": "Look.", "calls": [step]}
    mend = [{"text": "", "calls": [call("edit_file", **FIX)]},
            finish("fixed", "the comparison")]
    plan = {"calls": [call("finish", verdict="done", hypotheses=[
        {"statement": "the comparison", "place": "max.sh:1",
         "refuted_by": "no"}])]}
    for what, topology, more, script in (
            ("attempt", "single", [], [
                {"match": ".", "turns": [look, bad] + mend}]),
            ("plan", "hypotheses", [], [
                {"match": "Plan the search", "turns": [look, bad, plan]},
                {"match": ".", "turns": [look] + mend}]),
            ("hypothesis", "hypotheses", [], [
                {"match": "Plan the search", "turns": [plan]},
                {"match": ".", "turns": [look, bad] + mend}]),
            ("hint", "single", ["the sign is the wrong way round"], [
                {"match": "wrong way round", "turns": [look] + mend},
                {"match": ".", "turns": [look, dict(bad, times=4)]}])):
        repo = box.repo("failed-" + what, lib.SMALL)
        what += ", failed"
        with FakeServer({"scripts": script}, key=KEY) as s:
            settings(box, s)
            path = os.path.join(box.home, ".config/foray/settings.json")
            given = json.loads(lib.read(path))
            given["providers"]["resp"]["max_retries"] = 1
            lib.write(path, json.dumps(given))
            r = box.run(repo, "-t", lib.SMALL_TEST, "-m", MODELS["responses"],
                        "--no-builtin", "--topology", topology, env=s.env())
            lib.equal(r.status, 5, what + ": the failure ends it", r)
            asked = len(s.log())
            again = box.do("resume", "--json", *more, env=s.env())
            lib.equal(again.status, 0, what + ": goes on and fixes it", again)
            lib.check(len(s.log()) > asked, what + ": it asked")
            bill(box, s, what)
            lib.equal(box.do("audit", "--verify").status, 0,
                      what + ": the audit chain holds")


def overrun(box):
    """Replies that are thrown away are paid for, too: no limit is passed by
    more than one request."""
    price = {"in": 10, "cached": 1, "out": 100}
    for fault in ("empty", "cut", "badjson"):
        repo = box.repo("overrun-" + fault, lib.SMALL)
        with FakeServer(session(60), key=KEY, faults=fault + ":0.5",
                        seed=5) as s:
            settings(box, s, price)
            r = box.run(repo, "-t", lib.SMALL_TEST, "-m", "priced/fake-model",
                        "--topology", "single", "--max-usd", "0.2",
                        env=s.env(), timeout=120)
            usage = r.finished.get("usage", {})
            lib.equal(r.status, 3, fault + ": status", r)
            lib.check(0.2 <= usage.get("cost_usd", 9) < 0.32, fault + ": spent", usage)
            # A prompt is some 2000 tokens: two cents.
            lib.check(len(s.log()) < 40, fault + ": requests", len(s.log()))


def effects(box):
    """D-007, D-008: a reply that is cut off does nothing; a request that is
    lost repeats no tool's effect."""
    for api in MODELS:
        repo = box.repo("effects-" + api, lib.SMALL)
        step = call("run_command", command="echo x >> n.txt")
        script = {"turns": [
            {"text": "Once.", "calls": [step], "fault": "cut", "times": 2},
            {"text": "", "calls": [call("edit_file", **FIX)],
             "fault": "reset"},
            {"text": "", "calls": [call("read_file", path="n.txt")],
             "fault": "close"},
            finish("fixed", "once")]}
        with FakeServer(script, key=KEY) as s:
            r = fixed(box, repo, s, api, api + ", lost replies", "--topology",
                      "single")
            lib.equal(len(s.log()), 8, api + ": four were asked again", s.log())
        patch = lib.read(r.finished["patch"])
        lib.equal(patch.count("\n+x\n"), 1, api + ": done once", patch)
        lib.equal(len([e for e in r.all("tool_call")
                       if e["tool"] == "run_command"]), 1, api + ": one call")


def wordless(box):
    """A model that mends it and never says so; one whose word is wrong."""
    repo = box.repo("wordless", lib.SMALL)
    with FakeServer({"turns": [
            {"text": "So.", "calls": [call("edit_file", **FIX)]},
            {"text": "All done!", "repeat": "forever"}]}, key=KEY) as s:
        r = fixed(box, repo, s, "chat", "never says finish", "--topology",
                  "single")
        lib.equal(r.all("summary")[1]["verdict"], "stuck", "it is stuck", r)
    wrong = dict(FIX, new="-eq")
    with FakeServer({"scripts": [
            {"match": "did not hold", "turns": [
                {"calls": [call("edit_file", **FIX)]}, finish("fixed", "b")]},
            {"match": ".", "turns": [
                {"calls": [call("edit_file", **wrong)]},
                finish("fixed", "a")]}]}, key=KEY) as s:
        r = fixed(box, repo, s, "chat", "wrong at first", "--topology",
                  "single")
        lib.equal([e["ok"] for e in r.all("verified")], [False, True],
                  "the second one holds", r)
    with FakeServer({"turns": [{"calls": [call("edit_file", **wrong)]},
                               finish("fixed", "a")]}, key=KEY) as s:
        settings(box, s)
        r = box.run(repo, "-t", lib.SMALL_TEST, "-m", MODELS["chat"],
                    "--topology", "single", env=s.env())
        lib.equal(r.status, 1, "wrong for ever: status", r)
        lib.check(len(r.all("model_call")) <= 6, "wrong for ever: it ends", r)


def memory(box):
    """Notes of the person, then of the repository, before the task; a skill is
    named, and read when asked for."""
    repo = box.repo("memory", lib.small(**{
        "AGENTS.md": "Use tabs, says the repository.\n",
        ".agents/skills/shell/SKILL.md": "---\nname: shell\ndescription: "
        "portable shell\n---\nNever use arrays.\n"}))
    lib.write(os.path.join(box.home, ".config/foray/AGENTS.md"),
              "Be brief, says the person.\n")
    script = session(5)
    script["turns"][0]["calls"] = [call("read_skill", name="shell")]
    bodies = os.path.join(box.dir, "bodies")
    os.mkdir(bodies)
    with FakeServer(script, key=KEY, keep_bodies=bodies) as s:
        fixed(box, repo, s, "chat", "memory", "--topology", "single")
    sent = [json.loads(lib.read(p)) for p in sorted(glob.glob(bodies + "/*"))]
    texts = [m.get("content") or "" for m in sent[0]["messages"]]
    at = [next((i for i, t in enumerate(texts) if part in t), None) for part in
          ("You fix one bug", "says the person", "says the repository",
           "portable shell", "The tests are run with")]
    lib.check(None not in at and at == sorted(at) and at[1] == at[2] == at[3],
              "memory: in one message between system and task", at)
    lib.check("Never use arrays" not in json.dumps(sent[0]),
              "memory: a skill's body is not sent")
    lib.check("Never use arrays" in json.dumps(sent[1]),
              "memory: it is when it was read")


ALL = (sessions, fleets, tls, canary, refused_key, no_server, nonsense,
       budget_usd,
       budget_tokens, replayed, resumed, effects, wordless, reviewed, raised,
       failed, overrun, memory)
QUICK = [one for one in ALL
         if one not in (fleets, budget_tokens, raised, overrun)]


def main(parts):
    for part in parts:
        with lib.Box() as box:
            part(box)
    lib.done()


if __name__ == "__main__":
    main([p for p in ALL if p.__name__ in sys.argv[1:]] or QUICK)
