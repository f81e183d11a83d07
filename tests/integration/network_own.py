#!/usr/bin/env python3
"""Whose loopback it is: a command reaches servers of its own without the proxy
in all their spellings, and this machine's where a rule opens it; and what it is
told of what is refused."""
import http.server
import json
import os
import re
import shlex
import shutil
import sys
import threading

import lib


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        body = b"the machine's\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


# A server of the command's own, then the words as a command with its port.
OWN = r"""
import http.server, subprocess, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"own\n")
s = http.server.ThreadingHTTPServer((sys.argv[1], 0), Handler)
threading.Thread(target=s.serve_forever, daemon=True).start()
for word in sys.argv[2:]:
    subprocess.run(["sh", "-c", word.replace("PORT", str(s.server_port))])
"""

URLLIB = r"""
import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode(), end="")
"""

REQUESTS = r"""
import sys, requests
print(requests.get(sys.argv[1], timeout=60).text, end="")
"""

GO = r"""
package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	r, err := http.Get(os.Args[1])
	if err != nil {
		panic(err)
	}
	io.Copy(os.Stdout, r.Body)
}
"""


class Bed:
    def __init__(self, uid, server):
        self.box = lib.Box(uid)
        self.who = lib.user_name(uid)
        self.port = server.server_port
        self.repo = self.box.repo("tree", lib.small(**{
            "own.py": OWN, "lib.py": URLLIB, "req.py": REQUESTS}))

    def inside(self, command, *options, timeout=60):
        return self.box.do("sandbox", "-C", self.repo, *options, "--", "sh",
                           "-c", command, timeout=timeout)

    def settings(self, allow):
        path = os.path.join(self.box.home, ".config/foray/settings.json")
        if allow is None:
            os.unlink(path)
            return
        lib.write(path, json.dumps({"network": {"allow": allow}}))
        self.box.own()

    def own(self, at, *words, allow=("public.test",)):
        rules = [x for rule in allow for x in ("--allow-net", rule)]
        return self.inside(shlex.join(["python3", "own.py", at, *words]),
                           *rules)


def programs(b):
    """Those that are here, as a command with URL in it."""
    all = [("urllib", "python3 lib.py URL")]
    for name, line in (("curl", "curl -gsS -m 60 URL"),
                       ("wget", "wget -q -T 60 -t 1 -O - URL")):
        if shutil.which(name):
            all.append((name, line))
    if b.inside("python3 -c 'import requests'").status == 0:
        all.append(("requests", "python3 req.py URL"))
    if shutil.which("go"):
        lib.write(os.path.join(b.repo, "get.go"), GO)
        b.box.own()
        r = b.inside("go build -o get get.go", timeout=300)
        if r.status == 0:
            all.append(("go", "./get URL"))
    return all


def own_loopback(b):
    """A rule for some host takes no server of the command's own away."""
    for name, line in programs(b):
        hosts = ["127.0.0.1", "localhost", "127.0.0.2", "0.0.0.0"]
        r = b.own("0.0.0.0", *[line.replace("URL", "http://%s:PORT/" % h)
                               for h in hosts])
        lib.check(r.out.split() == ["own"] * len(hosts),
                  "%s: %s reaches its own servers" % (b.who, name), r)
    if shutil.which("git"):
        r = b.own("0.0.0.0", *["git ls-remote http://%s:PORT/ 2>&1" % h
                               for h in ("127.0.0.2", "0.0.0.0")])
        lib.check("403" not in r.out and r.out.count("not valid") == 2,
                  b.who + ": git reaches its own servers", r)
    r = b.inside("env", "--allow-net", "public.test")
    lib.check("all_proxy" not in r.out.lower() and "[::1]" not in r.out,
              b.who + ": nothing that programs die of", r)


def machine(b):
    """A rule for the machine's loopback has an effect by itself."""
    if not shutil.which("curl"):
        return
    address, name = "127.0.0.1:%d" % b.port, "localhost:%d" % b.port
    r = b.inside("curl -sS http://%s/; curl -sS http://%s/" % (address, name),
                 "--allow-net", address)
    lib.check(r.out == "the machine's\n" and "are at localhost" in r.err,
              b.who + ": its address alone", r)
    r = b.inside("curl -sS http://%s/; curl -sS http://%s/" % (address, name),
                 "--allow-net", address, "--allow-net", name)
    lib.check(r.out == "the machine's\n" * 2 and "are at 0.0.0.0" in r.err,
              b.who + ": its address and its name", r)
    for rules, at in (([address], "localhost"),
                      ([address, name], "0.0.0.0")):
        r = b.own("127.0.0.1", "curl -sS http://%s:PORT/" % at, allow=rules)
        lib.check(r.out == "own\n", "%s: own servers beside %s" %
                  (b.who, rules), r)
    b.settings([address])
    r = b.box.tool(b.repo, "run_command", {
        "command": "curl -sS http://%s/; python3 own.py 127.0.0.1 "
        "'curl -sS http://localhost:PORT/'" % address})
    lib.check("the machine's\nown\n" in str(r.json.get("result")),
              b.who + ": the same in a worker", r)
    b.settings(None)


def advice(text):
    """The options that a refusal tells of."""
    found = re.search(r"To allow this one: (.*?), or in settings", text)
    return shlex.split(found.group(1)) if found else []


def followed(b):
    """Who adds what a refusal says, as often as it says something, gets there;
    and nothing is said of a rule that is there."""
    if not shutil.which("curl"):
        return
    for url, most in (("http://localhost:%d/" % b.port, 1),
                      ("http://127.0.0.1:%d/" % b.port, 1)):
        for start in ([], ["--allow-net", "localhost:%d" % b.port],
                      ["--allow-net", "127.0.0.1:%d" % b.port]):
            rules = start or ["--allow-net", "public.test"]
            said = 0
            r = b.inside("curl -sS --noproxy x " + url, *rules)
            while said < 5 and advice(r.out):
                said += 1
                new = advice(r.out)
                lib.check(not set(new[1::2]) & set(rules[1::2]),
                          "%s: %s needs %s beside %s" % (b.who, url, new,
                                                         rules), r)
                rules = rules + new
                r = b.inside("curl -sS --noproxy x " + url, *rules)
            lib.check(r.out == "the machine's\n" and said <= most,
                      "%s: the advice for %s works, from %s" %
                      (b.who, url, start), r)
            # In the settings, too.
            rules = [x for x in rules if x != "--allow-net"]
            b.settings(rules)
            r = b.inside("curl -sS --noproxy x " + url)
            lib.check(r.out == "the machine's\n",
                      "%s: as settings: %s" % (b.who, rules), r)
            b.settings(None)
    r = b.inside("curl -sS --noproxy x http://localhost:9/", "--allow-net",
                 "localhost:9")
    lib.check(advice(r.out)[:2] == ["--allow-net", "127.0.0.1:9"] and
              "localhost:9" not in advice(r.out) and
              "needs a rule of its own" in r.out,
              b.who + ": the rule that is missing and no other", r)
    for host, rule in (("example.org:443", "example.org"),
                       ("example.org:80", "example.org"),
                       ("example.org:8080", "example.org:8080"),
                       ("10.1.2.3:81", "10.1.2.3:81"),
                       ("[fd00::1]:81", "[fd00::1]:81"),
                       ("[::1]:80", "[::1]:80")):
        r = b.inside("curl -gsS --noproxy x http://%s/" % host, "--allow-net",
                     "public.test")
        lib.equal(advice(r.out), ["--allow-net", rule],
                  "%s: advice for %s" % (b.who, host), r)
        r = b.inside("true", *advice(r.out))
        lib.check(r.status == 0, "%s: %s is a rule" % (b.who, rule), r)


def told(b):
    """What was refused is told at the end, in few and short lines."""
    if not shutil.which("curl"):
        return
    def refused(r):
        return [x for x in r.err.splitlines()
                if x.startswith("foray: refused")]

    r = b.inside("curl -sS https://example.org/; curl -s https://example.org/; "
                 "curl -s http://localhost:81 --noproxy x; exit 3",
                 "--allow-net", "public.test")
    lib.equal(refused(r), [
        "foray: refused example.org:443 (--allow-net example.org allows it)",
        "foray: refused localhost:81 (--allow-net localhost:81 --allow-net "
        "127.0.0.1:81 allow it; a server of the command's own is at "
        "localhost:81)"], b.who + ": a line a host", r)
    lib.equal(r.status, 3, b.who + ": the status stays")
    long = ".".join("x" * 60 for _ in range(4))
    r = b.inside("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do curl -s "
                 "https://a$i.%s/; done" % long, "--allow-net", "public.test")
    lib.check(len(refused(r)) == 9 and max(map(len, refused(r))) < 200 and
              "4 more requests" in refused(r)[-1] and
              "foray audit --sandbox" in refused(r)[-1],
              b.who + ": few lines, and short", r)
    r = b.inside("curl -sS http://%s/" % ("127.0.0.1:%d" % b.port),
                 "--allow-net", "127.0.0.1:%d" % b.port)
    lib.equal(refused(r), [], b.who + ": nothing was refused")
    b.settings(["public.test"])
    r = b.box.tool(b.repo, "run_command", {
        "command": "curl -sS https://example.org/; curl -s https://b.test/; "
        "curl -s https://b.test/; echo end"})
    lib.check(str(r.json.get("result")).endswith(
        "end\n\n[network: not allowed by the person, so refused: "
        "example.org:443, b.test:443]"),
              b.who + ": in the result of a worker's command", r)
    lib.equal(len(refused(r)), 2, b.who + ": and at the end of a run", r)
    r = b.box.run(b.repo, "-t", "curl -sSf https://example.org/ -o /dev/null; "
                  "sh test.sh", timeout=120)
    lib.check(r.status == 0 and refused(r) == [
        "foray: refused example.org:443 (--allow-net example.org allows it)"],
        b.who + ": once at the end of a run", r)
    r = b.box.tool(b.repo, "run_command", {"command": "echo end"})
    lib.check("[network" not in str(r.json.get("result")),
              b.who + ": only what was refused it", r)
    b.settings(None)


def explained(b):
    """Which hosts, and where that was said; what is written wrongly."""
    b.settings(["pypi.org", "*.npmjs.org:443"])
    options = ["--allow-net", "127.0.0.1:%d" % b.port, "--explain"]
    r = b.box.do("sandbox", "-C", b.repo, *options)
    words = " ".join(r.out.split())
    lib.check("network pypi.org (settings.json), *.npmjs.org:443 "
              "(settings.json), 127.0.0.1:%d (--allow-net)" % b.port in words
              and "own are at localhost" in words, b.who + ": explained", r)
    r = b.box.do("sandbox", "-C", b.repo, *options, "--json")
    lib.equal(r.json["network"], [
        {"host": "pypi.org", "from": "settings.json"},
        {"host": "*.npmjs.org:443", "from": "settings.json"},
        {"host": "127.0.0.1:%d" % b.port, "from": "--allow-net"}],
        b.who + ": explained as data")
    b.settings(None)
    for rule in ("a.org,b.org", "a.org b.org"):
        r = b.inside("true", "--allow-net", rule)
        lib.check(r.status == 125 and "repeat the option" in r.err,
                  "%s: %s" % (b.who, rule), r)


def unrecorded(b):
    """There is nothing to audit, which is no failure; a part of it is one."""
    record = os.path.join(b.box.state, "foray/sandbox")
    shutil.rmtree(record, ignore_errors=True)
    for options in ([], ["--verify"]):
        r = b.box.do("audit", "--sandbox", *options)
        lib.check(r.status == 0 and r.out == "" and
                  "nothing is recorded" in r.err and "ENOENT" not in r.err,
                  "%s: no record %s" % (b.who, options), r)
    b.inside("true", "--allow-net", "public.test")
    os.unlink(os.path.join(record, "audit.jsonl"))
    r = b.box.do("audit", "--sandbox", "--verify")
    lib.check(r.status != 0, b.who + ": a record without its lines", r)


the_server = serve()
for the_uid in lib.users("ordinary"):
    bed = Bed(the_uid, the_server)
    with bed.box:
        probe = bed.inside("echo works")
        if probe.status == 125:
            print(probe)
            sys.exit(lib.SKIPPED)
        for test in (unrecorded, own_loopback, machine, followed, told, explained):
            test(bed)
the_server.shutdown()
the_server.server_close()
lib.done()
