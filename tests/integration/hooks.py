#!/usr/bin/env python3
"""Hooks: the person's own programs at the events of a run. A scripted model
makes the calls; a run per group of hooks shows what comes of them."""
import glob
import json
import os
import re
import signal
import sys
import time

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

KEY = "sk-canary-hooks"
FIX = {"path": "max.sh", "old": "-lt", "new": "-gt"}
FINISH = {"verdict": "fixed", "findings": ["comparison"]}
DENY = ('echo \'{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
        '"permissionDecision":"deny","permissionDecisionReason":"%s"}}\'')


def hook(command, **more):
    return dict({"type": "command", "command": command}, **more)


def group(matcher, *hooks):
    return {"matcher": matcher, "hooks": list(hooks)}


def call(name, **arguments):
    return {"text": "", "calls": [{"name": name, "arguments": arguments}]}


def command(text, **more):
    return call("run_command", command=text, **more)


END = (call("edit_file", **FIX), call("finish", **FINISH))


class Bench:
    """Runs with these hooks; what was said to the model, and to the hooks."""

    def __init__(self, box):
        self.box = box
        self.n = 0

    def settings(self, hooks, server, permissions=None):
        lib.write(os.path.join(self.box.home, ".config/foray/settings.json"),
                  json.dumps({
                      "hooks": hooks, "permissions": permissions or {},
                      "providers": {"openai": {
                          "api": "openai-chat", "base_url": server.base(),
                          "key_env": "OPENAI_API_KEY"}}}))

    def log(self, name):
        """A command that appends its stdin as a line to a file."""
        path = os.path.join(self.box.home, name + ".log")
        if os.path.exists(path):
            os.unlink(path)
        return "cat >>%s; echo >>%s" % (path, path)

    def logged(self, name):
        path = os.path.join(self.box.home, name + ".log")
        if not os.path.exists(path):
            return []
        return [json.loads(line) for line in lib.read(path).splitlines()]

    def run(self, hooks, turns, *args, permissions=None, end=END, **more):
        self.n += 1
        repo = more.pop("repo", None) or self.box.repo(
            "hooks-%d" % self.n, lib.SMALL)
        self.repo = repo
        script = more.pop("script", None) or {"turns": [*turns, *end]}
        env = more.pop("env", {})
        with FakeServer(script, key=KEY) as s:
            self.settings(hooks, s, permissions)
            r = self.box.run(repo, "-t", lib.SMALL_TEST, "-m",
                             "openai/fake-model", "--topology", "single",
                             *args, env=dict(s.env(), **env),
                             timeout=more.pop("timeout", 120), **more)
            lib.equal(s.errors(), "", "the server is fine")
        return r

    def results(self, worker="*"):
        """The results of tools as the model of the last run saw them."""
        found = []
        for path in sorted(glob.glob(os.path.join(
                self.box.runs()[-1], "sessions/%s.jsonl" % worker))):
            for line in lib.read(path).splitlines():
                message = json.loads(line)
                if message.get("role") == "tool":
                    found.append(message["content"])
        return found

    def audit(self, act="hook"):
        path = os.path.join(self.box.runs()[-1], "audit.jsonl")
        found = [json.loads(x) for x in lib.read(path).splitlines()]
        return [x for x in found if act in (None, x["act"])]


def deciding(b):
    """Exit 2, deny and ask: what the model is told, and what is recorded."""
    repo = b.box.repo("hooks-deciding", lib.SMALL)
    hooks = {"PreToolUse": [
        group("Bash", hook(
            "grep -q one && { echo because of ONE >&2; exit 2; }; exit 0")),
        group("run_command|nothing", hook(
            "grep -q two && " + DENY % "because of TWO" + "; exit 0")),
        group("run_.*", hook(
            "grep -q three && " + DENY.replace("deny", "ask") % "of THREE" +
            "; exit 0")),
        group("*", hook(
            "grep -q four && " + DENY.replace("deny", "allow") % "" +
            "; exit 0"))]}
    r = b.run(hooks, [command("echo one"), command("echo two"),
                      command("echo three"), command("echo four; sudo id"),
                      command("echo five")], repo=repo)
    lib.equal(r.status, 0, "calls are blocked, the run goes on", r)
    said = b.results()
    for i, (want, what) in enumerate((
            ("because of ONE", "exit 2"), ("because of TWO", "deny"),
            ("of THREE", "ask, which nobody answers"))):
        lib.check(said[i].startswith("error: denied by a hook") and
                  want in said[i], what + " reaches the model", said[i])
    lib.check("built in" in said[3] and "hook" not in said[3],
              "allow does not lift what the rules ask for", said[3])
    lib.check("five" in said[4], "others pass", said[4])
    lib.equal([x["subject"] for x in b.audit("command")],
              ["echo four; sudo id", "echo five"],
              "what is blocked never comes to be an act")
    lines = b.audit()
    lib.equal([x["verdict"] for x in lines[:8]],
              ["start", "deny", "start", "none", "start", "none", "start",
               "none"], "all that match run; start and end are recorded",
              lines)
    lib.equal(b.box.do("audit", "--verify").status, 0, "the chain holds")
    events = r.all("hook")
    lib.equal([(e["on"], e["state"], e.get("verdict")) for e in events[:2]],
              [("PreToolUse", "started", None),
               ("PreToolUse", "finished", "deny")], "events", r)
    denied = [e for e in r.all("tool_call") if e["verdict"] == "denied"]
    lib.equal(len(denied), 4, "tool calls say so", r)
    r = b.run(hooks, [command("echo three")], "--ask", "allow", repo=repo)
    lib.check("three" in b.results()[0], "ask, and --ask allow", r)
    lib.equal([(e["act"], e["verdict"], e["by"]) for e in
               r.all("permission")], [("hook", "allow", "--ask")],
              "the answer is an event", r)


def main():
    with lib.Box() as box:
        b = Bench(box)
        deciding(b)
    lib.done()


main()
