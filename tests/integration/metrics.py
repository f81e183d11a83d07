#!/usr/bin/env python3
"""--metrics: scraped while a run runs and at its end, the text checked by the
rules of the format, the numbers against the run's events; strangers at the
endpoint; endpoints that can't be."""
import http.client
import json
import os
import re
import signal
import socket
import sys
import threading
import time
import urllib.request

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

KEY = "sk-canary-5e0a77b1"
FIX = {"path": "max.sh", "old": "-lt", "new": "-gt"}
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(r"^(%s)(?:\{(%s(?:,%s)*)\})? (\S+)$"
                    % (NAME, LABEL, LABEL))
LABELS = {"run", "version", "state", "verdict", "reason", "result", "class",
          "provider", "model", "le", "kind"}
MAX_SAMPLES = 300


def call(tool, **arguments):
    return {"name": tool, "arguments": arguments}


def session(turns, latency):
    look = [{"text": "", "latency": latency, "calls": [
        call("run_command", command="echo %d" % n)]} for n in range(turns)]
    return {"turns": look + [
        {"text": "", "calls": [call("read_file", path="not-there")]},
        {"text": "", "calls": [call("edit_file", **FIX)]},
        {"text": "", "calls": [call("finish", verdict="fixed", findings=[
            "the comparison was the wrong way round"])]}]}


# ------------------------------------------------------------- the format


class Metrics:
    """{(name, labels as a frozenset): value}, and what is wrong with the text."""

    def __init__(self, text):
        self.values, self.wrong, self.types = {}, [], {}
        self.helped, self.family, closed = set(), None, set()
        if not text.endswith("\n"):
            self.wrong.append("the last line has no end")
        for line in text.splitlines():
            if line.startswith("# "):
                kind, name, rest = line[2:].split(" ", 2)
                if name != self.family:
                    closed.add(self.family)
                    if name in closed:
                        self.wrong.append("comes twice: " + line)
                self.family = name
                self.comment(kind, name, rest, line)
            else:
                self.sample(line)
        for name in self.types:
            if name not in self.helped:
                self.wrong.append("no HELP: " + name)
        self.histograms()

    def comment(self, kind, name, rest, line):
        if kind == "HELP":
            self.helped.add(name)
            if not rest.strip() or "\n" in rest:
                self.wrong.append("an empty HELP: " + line)
        elif kind == "TYPE" and rest in ("counter", "gauge", "histogram"):
            self.types[name] = rest
            if (rest == "counter") != name.endswith("_total"):
                self.wrong.append("a counter's name, and no other, ends in "
                                  "_total: " + line)
            if re.search(r"_(ms|milliseconds|minutes|kib|mib|percent)(_|$)",
                         name):
                self.wrong.append("no base unit: " + line)
        else:
            self.wrong.append("no HELP or TYPE: " + line)

    def sample(self, line):
        m = SAMPLE.match(line)
        if not m:
            self.wrong.append("no sample: " + line)
            return
        name = m.group(1)
        base = name
        if self.types.get(self.family) == "histogram":
            base = re.sub(r"_(bucket|sum|count)$", "", name)
        if base != self.family or base not in self.types:
            self.wrong.append("not below its TYPE: " + line)
        labels = re.findall(LABEL, m.group(2) or "")
        if not {n for n, _ in labels} <= LABELS:
            self.wrong.append("a label that may have any value: " + line)
        key = (name, frozenset(labels))
        if key in self.values:
            self.wrong.append("twice: " + line)
        try:
            self.values[key] = float(m.group(m.lastindex))
        except ValueError:
            self.wrong.append("no number: " + line)
        if self.types.get(self.family) != "gauge" and \
                self.values.get(key, 0) < 0:
            self.wrong.append("below 0: " + line)

    def histograms(self):
        for name in [n for n, t in self.types.items() if t == "histogram"]:
            rows = {}
            for (n, labels), value in self.values.items():
                if n == name + "_bucket":
                    own = dict(labels)
                    le = float(own.pop("le"))
                    rows.setdefault(frozenset(own.items()), []).append(
                        (le, value))
            for labels, buckets in rows.items():
                counts = [v for _, v in sorted(buckets)]
                if counts != sorted(counts) or \
                        max(le for le, _ in buckets) != float("inf") or \
                        counts[-1] != self.values.get((name + "_count", labels)):
                    self.wrong.append("buckets of " + name)

    def __call__(self, name, **labels):
        """The sum of the samples with these labels."""
        want = set(labels.items())
        found = [v for (n, has), v in self.values.items()
                 if n == name and want <= set(has)]
        return sum(found) if found else None


def scrape(url):
    with urllib.request.urlopen(url, timeout=120) as reply:
        kind = reply.headers["Content-Type"]
        lib.check(kind.startswith("text/plain; version=0.0.4"), "its type", kind)
        return reply.read().decode()


def well_formed(text, what):
    m = Metrics(text)
    lib.equal(m.wrong, [], what + ": well-formed")
    lib.check(10 < len(m.values) < MAX_SAMPLES, what + ": a bounded number",
              len(m.values))
    return m


# -------------------------------------------------------------- strangers


def raw(port, data, seconds=8 * lib.BUSY):
    """What comes back until the connection ends; None: it did not end."""
    got = b""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as s:
        try:
            s.sendall(data)
            while True:
                piece = s.recv(65536)
                if not piece:
                    return got
                got += piece
        except ConnectionError:
            return got
        except socket.timeout:
            return None


def status(port, data):
    reply = raw(port, data)
    return reply and reply.split(b" ", 2)[1:2]


def loris(port):
    """Seconds until a request that never ends is cut off."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
        try:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
            while time.monotonic() - began < 20 * lib.BUSY:
                s.sendall(b"X")
                time.sleep(0.1)
        except OSError:
            pass
    return time.monotonic() - began


def flood(port, n=500):
    sockets = []
    for _ in range(n):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(("127.0.0.1", port))
        sockets.append(s)
    time.sleep(0.5)
    for s in sockets:
        try:
            s.send(b"GET /metrics HTTP/1.1\r\n")
        except OSError:
            pass
    time.sleep(0.5)
    for s in sockets:
        s.close()


def strangers(port):
    took = []
    slow = threading.Thread(target=lambda: took.append(loris(port)))
    slow.start()
    for method in (b"POST", b"HEAD", b"PUT", b"DELETE", b"BREW"):
        lib.equal(status(port, method + b" /metrics HTTP/1.1\r\nHost: x\r\n"
                         b"Content-Length: 4\r\n\r\nbody"), [b"405"],
                  "%r is refused" % method)
    for path in (b"/", b"/../../etc/passwd", b"/metrics/../../etc/passwd",
                 b"/metrics/", b"/%2e%2e/etc/passwd", b"//metrics", b"*"):
        lib.equal(status(port, b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n"),
                  [b"404"], "%r is not there" % path)
    huge = raw(port, b"GET /metrics HTTP/1.1\r\n" +
               b"X: " + b"a" * (1 << 20) + b"\r\n\r\n")
    lib.check(huge is not None and b" 200 " not in huge[:20],
              "a huge header is refused", huge and huge[:100])
    for what in (b"\0" * 100, os.urandom(4096), b"GET\r\n\r\n", b"\r\n" * 2000):
        got = raw(port, what)
        lib.check(got is not None and b" 200 " not in got[:20],
                  "no request ends the connection", got and got[:100])
    lib.equal(status(port, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
              [b"200"], "/healthz")
    flood(port)
    slow.join()
    lib.check(lib.soon(took[0], 8), "a slow request is cut off", took)


# ------------------------------------------------------------------ the run


def compare(m, r, server):
    """The last numbers are what the events say."""
    usage = r.finished["usage"]
    sums = server.stats()["sums"]
    lib.equal(m("foray_attempts_total"), len(r.all("assigned")), "attempts")
    lib.equal(m("foray_summaries_total"), len(r.all("summary")), "summaries")
    lib.equal(m("foray_summaries_total", verdict="fixed"),
              len([e for e in r.all("summary") if e["verdict"] == "fixed"]),
              "fixed ones")
    lib.equal(m("foray_worker_exits_total"), len(r.all("worker_gone")), "exits")
    for verdict in ("ok", "error"):
        lib.equal(m("foray_tool_calls_total", verdict=verdict),
                  len([e for e in r.all("tool_call")
                       if e["verdict"] == verdict]), "tool calls " + verdict)
    lib.check(m("foray_tool_calls_total", verdict="error") >= 1, "one failed")
    calls = r.all("model_call")
    lib.equal(m("foray_model_calls_total", result="ok"), len(calls), "calls")
    lib.equal(m("foray_model_call_duration_seconds_count"), len(calls),
              "latencies")
    whole = m("foray_model_call_duration_seconds_sum")
    lib.check(abs(whole - sum(e["ms"] for e in calls) / 1000) < 0.01,
              "their sum", whole)
    lib.equal(m("foray_model_added_duration_seconds_count"), len(calls),
              "added times")
    lib.equal(m("foray_model_requests_total", **{"class": "2xx"}),
              sums["accepted"], "accepted requests")
    n429 = len([e for e in server.log() if e.get("status") == 429])
    lib.check(n429 >= 1, "there was a 429")
    lib.equal(m("foray_model_requests_total", **{"class": "429"}), n429, "429")
    lib.equal(m("foray_model_retries_total"), n429, "retries")
    lib.equal(sum(m("foray_tokens_total", kind=k)
                  for k in ("input", "cache_read", "cache_write")),
              usage["in_tokens"], "input tokens")
    lib.equal(m("foray_tokens_total", kind="cache_read"),
              usage["cached_tokens"], "cached tokens")
    lib.equal(m("foray_tokens_total", kind="output") +
              m("foray_tokens_total", kind="reasoning"), usage["out_tokens"],
              "output tokens")
    lib.equal(m("foray_budget_left_calls"), 100 - usage["calls"],
              "calls that are left")
    lib.check(0 < m("foray_budget_left_seconds") < 300, "time that is left")
    lib.equal(m("foray_budget_left_dollars"), None, "no limit: no number")
    lib.equal(m("foray_workers"), 0, "nobody is alive")
    lib.equal(m("foray_subtasks", state="done"), m("foray_subtasks"),
              "all is done")
    lib.equal(m("foray_messages_bad_total"), 0, "no bad message")
    with open(os.path.join(r.run_dir, "audit.jsonl"), "rb") as f:
        lib.equal(m("foray_audit_records_total"), len(f.readlines()), "audit")


def documented(m):
    """foray(1) lists the same, but for limits that there were none of."""
    page = set(re.findall(r"^\.It Ic ((?:foray|process)_\w+)", lib.read(
        os.path.join(lib.TESTS, "../orchestrator/foray.1")), re.M))
    lib.equal(page ^ set(m.types), {"foray_budget_left_tokens",
                                    "foray_budget_left_dollars"},
              "foray(1) lists them all")


def whole_run(box):
    repo = box.repo("metrics", lib.SMALL)
    script = session(6, 200)
    script["turns"][1]["fault"] = "429"
    with FakeServer(script, key=KEY) as server:
        run = box.start(repo, "-t", lib.SMALL_TEST, "-m", "openai/fake-model",
                        "-n", "2", "--max-calls", "100", "--max-time", "300",
                        "--metrics", ":0", "--topology", "single",
                        env=server.env())
        told = run.wait_event("metrics", 30)
        if not lib.check(told, "the endpoint is told", list(run.lines)):
            return
        url = told[0]["url"]
        lib.check(re.fullmatch(r"http://127\.0\.0\.1:\d+/metrics", url),
                  "on the loopback", url)
        lib.check(run.wait_event("model_call", 60), "a model call",
                  list(run.lines))
        # No reply comes until we are done: the run waits.
        server.process.signal(signal.SIGSTOP)
        first = well_formed(scrape(url), "while it runs")
        lib.equal(first("foray_workers", state="working"), 1, "one works")
        lib.equal(first("foray_slots"), 3, "slots")
        lib.equal(first("foray_slots_busy"), 1, "one is busy")
        lib.equal(first("foray_wanted_slots"), 0, "none is wanted")
        lib.equal(first("foray_hosts", state="ready"), 1, "one host")
        lib.check(first("process_resident_memory_bytes") > 1e6 and
                  first("process_cpu_seconds_total") > 0 and
                  abs(first("process_start_time_seconds") - time.time()) < 300,
                  "of the process", first.values)
        strangers(int(url.split(":")[2].split("/")[0]))
        later = well_formed(scrape(url), "after the strangers")
        lib.check(lib.soon(later("foray_loop_busy_max_seconds"), 5),
                  "the loop was not held up", later.values)
        for key, value in first.values.items():
            if key[0].endswith(("_total", "_count", "_bucket")):
                lib.check(later.values.get(key, -1) >= value,
                          "only grows: %s" % (key,))
        server.process.signal(signal.SIGCONT)
        r = run.wait(90)
        lib.equal(r.status, 0, "fixed", r)
        r.run_dir = box.runs()[-1]
        last = well_formed(lib.read(os.path.join(r.run_dir, "metrics.prom")),
                           "at its end")
        compare(last, r, server)
        documented(last)
        lib.equal(server.errors(), "", "the server is fine")


# --------------------------------------------------------------- endpoints


def endpoints(box):
    repo = box.repo("endpoints", lib.SMALL)

    def refused(endpoint, *words):
        r = box.run(repo, "-t", lib.SMALL_TEST, "--metrics", endpoint)
        lib.equal(r.status, 2, "%r is refused" % endpoint, r)
        for word in words:
            lib.check(word in r.err, "%r: says %r" % (endpoint, word), r)

    for bad in ("", ":", "localhost", "1.2.3.4:65536", ":-1", "::1:9", "a:b:1",
                "http://x", "unix:relative", "unix:/" + "x" * 200):
        refused(bad, "--metrics", "HOST:PORT")
    refused("192.0.2.1:0", "no address of this machine")
    refused("unix:/not/there/at/all", "No such file")
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        refused("127.0.0.1:%d" % busy.getsockname()[1], "another port")

    path = os.path.join(box.dir, "m.sock")
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(path)
    dead.close()
    run = box.start(repo, "-t", lib.SMALL_TEST, "--metrics", "unix:" + path)
    if lib.check(run.wait_event("host_up", 30), "a unix endpoint"):
        lib.equal(os.stat(path).st_mode & 0o777, 0o600, "is its owner's alone")
        c = http.client.HTTPConnection("localhost")
        c.sock = socket.socket(socket.AF_UNIX)
        c.sock.settimeout(120)
        c.sock.connect(path)
        c.request("GET", "/metrics")
        well_formed(c.getresponse().read().decode(), "by a unix socket")
        c.close()
    r = run.wait(60)
    lib.equal(r.status, 0, "fixed", r)
    lib.check(not os.path.exists(path), "it is gone")
    if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"):
        r = box.run(repo, "-t", lib.SMALL_TEST, "--metrics", "[::1]:0")
        lib.check(r.all("metrics") and
                  r.all("metrics")[0]["url"].startswith("http://[::1]:"),
                  "IPv6", r)


def json_log(box):
    """FORAY_LOG=json: each line of stderr is an object, with the ids."""
    repo = box.repo("log", lib.SMALL)
    script = session(1, 0)
    script["turns"][1]["fault"] = "500"
    with FakeServer(script, key=KEY) as server:
        r = box.run(repo, "-t", lib.SMALL_TEST, "-m", "openai/fake-model",
                    "--topology", "single", "--metrics", ":0",
                    env=dict(server.env(), FORAY_LOG="json", FORAY_DEBUG="1"))
    lib.equal(r.status, 0, "fixed", r)
    lines = []
    for line in r.err.splitlines() + \
            lib.read(os.path.join(box.runs()[-1], "host.log")).splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            lib.check(False, "no object", line)
    run = r.finished["run"]
    for e in lines:
        lib.check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
                               e["time"]) and e["message"] and
                  e["level"] in ("debug", "info", "warning", "error") and
                  e["program"] in ("foray", "foray-host"), "its shape", e)
    again = [e for e in lines if "again in" in e["message"]]
    if lib.check(again, "the retry is logged", r):
        e = again[0]
        worker = [w for w in r.all("assigned") if w["kind"] == "explore"][0]
        lib.equal([e.get(k) for k in ("run", "worker", "subtask", "attempt")],
                  [run, worker["worker"], worker["subtask"], "1"], "its ids", e)
        lib.check(re.fullmatch(r"model-\d+", e.get("call", "")), "its call", e)
    starts = [e for e in lines if e["program"] == "foray-host" and
              e.get("subtask")]
    lib.check(starts and all(e["run"] == run and e["host"] and e["worker"]
                             for e in starts), "the host knows them, too",
              lines[-20:])


with lib.Box() as box:
    endpoints(box)
    json_log(box)
    whole_run(box)
lib.done()
