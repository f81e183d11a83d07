#!/usr/bin/env python3
"""Hooks: the person's own programs at the events of a run. A scripted model
makes the calls; a run per group of hooks shows what comes of them."""
import fcntl
import glob
import json
import os
import pty
import select
import signal
import sys
import termios
import threading
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

    def settings(self, hooks, server, permissions=None, models=None):
        lib.write(os.path.join(self.box.home, ".config/foray/settings.json"),
                  json.dumps({
                      "hooks": hooks, "permissions": permissions or {},
                      "providers": {"openai": {
                          "api": "openai-chat", "base_url": server.base(),
                          "models": models or {},
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
            self.settings(hooks, s, permissions, more.pop("models", None))
            r = self.box.run(repo, "-t", lib.SMALL_TEST, "-m",
                             "openai/fake-model", "--topology",
                             more.pop("topology", "single"), *args, env=dict(s.env(), **env),
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
        group("run_command|grep", hook(
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



UPDATE = r"""
import json, sys
j = json.load(sys.stdin)
c = j["tool_input"].get("command", "")
new = None
if "narrow" in c:
    new = {"command": "echo slim"}
elif "widen" in c:
    new = {"command": "sudo id"}
elif "wrong" in c:
    new = {"command": 5}
elif "path" in j["tool_input"]:
    new = dict(j["tool_input"], path="test.sh")
if new:
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "updatedInput": new,
        "additionalContext": "input changed"}}))
"""


def script(box, name, text):
    path = os.path.join(box.home, name)
    lib.write(path, text)
    python = "/usr/bin/python3"  # the one that every user can run, if there
    return "%s -I %s" % (python if os.path.exists(python) else sys.executable,
                         path)


def inputs(b):
    """What a hook gets, and what becomes of an input that it changes."""
    hostile = ("printf %s '`touch " + b.box.home + "/RAN`' \"$(touch " +
               b.box.home + "/RAN)\" '\"\\\\\"' '--x' \x01\x1b[2J\u202e\u00e9 "
               "\U0001f600; touch " + b.box.home + "/RAN")
    fds = os.path.join(b.box.home, "fds")
    hooks = {
        "PreToolUse": [
            group("Bash", hook(b.log("pre")),
                  hook("env >%s/env; ls /proc/self/fd >%s; pwd >%s/cwd" % (
                      b.box.home, fds, b.box.home))),
            group("Bash|Edit", hook(script(b.box, "update.py", UPDATE)))],
        "PostToolUse": [group("run_command", hook(
            "echo '{\"decision\":\"block\",\"reason\":\"not so loud\","
            "\"hookSpecificOutput\":{\"additionalContext\":\"told after\"},"
            "\"systemMessage\":\"for the person\"}'"), hook(b.log("post")))],
        "PostToolUseFailure": [group("", hook(b.log("failure")))]}
    r = b.run(hooks, [command(hostile), command("echo narrow; sudo x"),
                      command("echo widen"), command("echo wrong"),
                      call("read_file", path="nowhere"),
                      call("edit_file", **FIX)],
              end=[call("run_command", command="sed -i s/-lt/-gt/ max.sh"),
                   call("finish", **FINISH)],
              env={"AWS_SECRET_ACCESS_KEY": "sk-other", "FORAY_X": "y"})
    lib.equal(r.status, 0, "the run goes on", r)
    pre = b.logged("pre")
    lib.equal(pre[0]["tool_input"], {"command": hostile},
              "hostile strings arrive as they are")
    lib.check(not os.path.exists(os.path.join(b.box.home, "RAN")),
              "and no shell outside has seen them")
    run = b.box.runs()[-1]
    worker = r.all("tool_call")[0]["worker"]
    lib.equal({k: pre[0].get(k) for k in (
        "session_id", "transcript_path", "cwd", "permission_mode",
        "hook_event_name", "tool_name", "agent_id", "agent_type")},
              {"session_id": os.path.basename(run), "transcript_path":
               "%s/sessions/%s.jsonl" % (run, worker), "cwd": b.repo,
               "permission_mode": "default", "hook_event_name": "PreToolUse",
               "tool_name": "run_command", "agent_id": worker,
               "agent_type": "explore"}, "what it is told")
    lib.check(pre[0]["tool_use_id"], "the call's id", pre[0])
    said = b.results()
    lib.check("slim" in said[1] and "sudo" not in said[1] and
              "input changed" in said[1],
              "an input is narrowed, with a context", said[1])
    lib.check(said[2].startswith("error: denied") and "hook" not in
              said[2].split("\n")[0] and "built in" in said[2],
              "a changed input is judged by the rules", said[2])
    lib.check("can't be taken" in said[3] and "command" in said[3],
              "one of a wrong type is refused", said[3])
    lib.check("protected" in said[5] or "test" in said[5],
              "and a changed path, too", said[5])
    lib.check(said[5].startswith("error"), "it is an error", said[5])
    lib.check("not so loud" in said[0] and "told after" in said[0],
              "PostToolUse speaks to the model", said[0])
    lib.check("for the person" in r.err, "systemMessage is shown", r)
    post = b.logged("post")
    lib.check("exit status" in post[0]["tool_response"],
              "tool_response", post[0])
    failures = b.logged("failure")
    lib.check(any(f["tool_name"] == "read_file" and
                  "nowhere" in f["error"] for f in failures),
              "PostToolUseFailure", failures)
    lib.equal([f["tool_input"] for f in failures
               if f["tool_name"] == "read_file"],
              [{"path": "nowhere", "file_path": b.repo + "/nowhere"}],
              "a file's absolute name stands beside its path")
    env = lib.read(os.path.join(b.box.home, "env"))
    lib.check(KEY not in env and "sk-other" not in env and "API_KEY" not in
              env and "FORAY_X" not in env, "no key is in its environment",
              env)
    lib.check("FORAY_RUN=" + os.path.basename(run) in env and
              "\nFORAY_PROJECT_DIR=" + b.repo in env and
              "CLAUDE_PROJECT_DIR=" + b.repo in env and "PATH=" in env,
              "what it may know is", env)
    lib.equal(lib.read(fds).split(), ["0", "1", "2", "3"],
              "no descriptor is inherited (3 is that of ls)")
    lib.equal(lib.read(os.path.join(b.box.home, "cwd")).strip(), b.repo,
              "it runs at the top of the repository")


def failures(b):
    """Whatever goes wrong with a hook: a warning, with failClosed a block."""
    cases = (
        ("status", "echo went wrong >&2; exit 3", "exit status 3: went wrong"),
        ("crash", "kill -SEGV $$", "exit status 139"),
        ("json", "echo '{\"continue\": 5}'", "continue"),
        ("cut", "echo '{'", "JSON"),
        ("time", "setsid -w sh -c 'sleep 0'; sleep 97 & sleep 98",
         "time limit of 1"),
        ("much", "head -c 1073741824 /dev/zero", "16 MiB"),
    )
    harmless = (
        ("holds", "sleep 99 & exit 0"),
        ("stderr", "head -c 300000 /dev/zero >&2; exit 0"),
        ("lots", "head -c 300000 /dev/zero | tr '\\0' x; exit 0"),
        ("deaf", "exec <&-; exit 0"),
    )

    def hooks(**more):
        return {"PreToolUse": [group("run_command", *[
            hook("grep -q 'case-%s' || exit 0; %s" % (name, text),
                 timeout=1 if name == "time" else 600, **more)
            for name, text, *_ in cases + harmless])]}

    calls = [command("echo case-%s" % c[0]) for c in cases + harmless]
    calls.append(command("echo case-deaf " + "x" * 6000))
    for closed in (False, True):
        what = "failClosed: " if closed else "open: "
        r = b.run(hooks(failClosed=True) if closed else hooks(), calls)
        lib.equal(r.status, 0, what + "the run goes on", r)
        said = b.results()
        for i, (name, _, says) in enumerate(cases):
            blocked = said[i].startswith("error: denied by a hook")
            lib.equal(blocked, closed, what + name, said[i])
            lib.check(says in r.err, what + name + " is warned of", r.err)
            lib.check("\\n" not in r.err, what + "of no line's end", r.err)
            if closed:
                lib.check(says in said[i], name + ": the model knows why",
                          said[i])
        for i, (name, _) in enumerate(harmless):
            lib.check("case-" + name in said[len(cases) + i] and
                      "error" not in said[len(cases) + i],
                      what + name + " is none", said[len(cases) + i])
        ends = [x["verdict"] for x in b.audit() if x["verdict"] != "none" and
                x["verdict"] != "start"]
        lib.equal(ends, ["deny" if closed else "failed"] * len(cases),
                  what + "the audit")
        show = b.box.do("show").out.partition("\nhooks\n")[2].splitlines()
        lib.equal(len(show), len(cases), what + "show has each", show)
        log = b.box.do("log").out
        for name, _, says in cases:
            lib.check(says in log, what + name + " in log", log)
            lib.equal(r.err.count("case-" + name), 1,
                      what + name + " is said once", r.err)
            lines = [x for x in show if "case-" + name in x]
            lib.check(len(lines) == 1 and says in lines[0] and
                      ("denied: " in lines[0]) == closed,
                      what + name + " in show", lines)
        rest = [p for p in lib.descendants() if p.name == "sleep" and
                b"33" not in p.read("cmdline").split(b"\0")]
        lib.check(not rest, what + "trees are ended whole", rest)


def everywhere(b):
    """The events of a run, in their order; contexts; a worker sent on."""
    log = b.log("events")
    once = os.path.join(b.box.home, "once")
    hooks = {e: [{"hooks": [hook(log)]}] for e in (
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse",
        "SubagentStart", "SubagentStop", "Stop", "SessionEnd", "PreCompact")}
    hooks["SessionStart"].append(group("startup", hook("echo START-CONTEXT")))
    hooks["SessionStart"].append(group("resume", hook("echo OTHER-CONTEXT")))
    hooks["UserPromptSubmit"].append({"hooks": [hook("echo PROMPT-CONTEXT")]})
    hooks["SubagentStart"].append(group("explore", hook(
        'echo \'{"hookSpecificOutput":{"additionalContext":"SUB-CONTEXT"}}\'')))
    hooks["SubagentStop"].append({"hooks": [hook(
        "test -e %s && exit 0; touch %s; echo look once more >&2; exit 2" % (
            once, once))]})
    r = b.run(hooks, [], "the issue", end=[
        *END, {"text": "", "calls": [
            {"name": "run_command", "arguments": {"command": "echo again"}}]},
        call("finish", **FINISH)])
    lib.equal(r.status, 0, "all events: fixed", r)
    seen = b.logged("events")
    lib.equal([e["hook_event_name"] for e in seen],
              ["SessionStart", "UserPromptSubmit", "SubagentStart"] +
              ["PreToolUse", "PostToolUse"] * 2 + ["SubagentStop"] +
              ["PreToolUse", "PostToolUse"] * 2 + ["SubagentStop", "Stop",
                                                   "SessionEnd"],
              "events in their order")
    lib.equal(seen[1]["prompt"], "the issue", "the prompt")
    stops = [e for e in seen if e["hook_event_name"] == "SubagentStop"]
    lib.equal([e["stop_hook_active"] for e in stops], [False, True],
              "a worker was sent on once")
    lib.check(os.path.basename(seen[-2]["patch_path"]) == "final.patch" and
              seen[-2]["status"] == "fixed", "Stop names the patch", seen[-2])
    lib.equal(seen[-1]["reason"], "fixed", "SessionEnd")
    text = "".join(lib.read(f) for f in glob.glob(os.path.join(
        b.box.runs()[-1], "sessions/*.jsonl")))
    for word in ("START-CONTEXT", "PROMPT-CONTEXT", "SUB-CONTEXT",
                 "look once more"):
        lib.check(word in text, word + " reaches the model")
    lib.check("OTHER-CONTEXT" not in text, "matchers of SessionStart")
    kinds = {e["kind"] for e in r.all("worker_started")}
    lib.check({"baseline", "verify"} <= kinds and
              {e.get("agent_type") for e in seen} == {None, "explore"},
              "baseline and verification have no hooks", kinds)


def last_word(b):
    """Stop refuses a patch, UserPromptSubmit a task, and one ends the run."""
    fix = [*END]
    r = b.run({"Stop": [{"hooks": [hook("echo not on a friday >&2; exit 2")]}],
               "SessionEnd": [{"hooks": [hook(b.log("end"))]}]},
              [], "--apply", end=fix)
    lib.equal((r.status, r.finished["status"]), (1, "unfixed"),
              "Stop refuses", r)
    lib.check("not on a friday" in r.finished["reason"] and
              "patch" not in r.finished, "and says why", r)
    lib.equal(lib.read(os.path.join(b.repo, "max.sh")), lib.SMALL["max.sh"],
              "nothing was applied")
    lib.equal([e["reason"] for e in b.logged("end")], ["unfixed"],
              "SessionEnd knows")
    r = b.run({"UserPromptSubmit": [{"hooks": [hook(
        "grep -q secret && { echo no secrets >&2; exit 2; }; exit 0")]}]},
              [], "a secret issue", end=fix)
    lib.equal(r.status, 2, "UserPromptSubmit refuses", r)
    lib.check("no secrets" in r.finished["reason"] and
              not r.all("assigned"), "before anything is started", r)
    r = b.run({"PreToolUse": [group("", hook(
        'echo \'{"continue":false,"stopReason":"enough"}\''))]},
              [command("echo x")], end=fix)
    lib.equal((r.status, r.finished["status"]), (130, "interrupted"),
              "continue: false ends the run", r)
    lib.check("enough" in r.finished["reason"], "with its reason", r)
    lib.check(not b.audit("command"), "and nothing was run")


def asked(b):
    """PermissionRequest denies what the rules ask about, and never allows."""
    allow = ('echo \'{"hookSpecificOutput":{"decision":{"behavior":"allow"},'
             '"permissionDecision":"allow"}}\'')
    deny = ('grep -q "sudo two" && echo \'{"hookSpecificOutput":{"decision":'
            '{"behavior":"deny","message":"no TWO"}}}\'; exit 0')
    hooks = {"PermissionRequest": [group("Bash", hook(b.log("asked")),
                                         hook(allow), hook(deny))]}
    calls = [command("sudo one"), command("sudo two"), command("echo three")]
    for how, first in (("deny", "error: denied"), ("allow", "exit status")):
        r = b.run(hooks, calls, "--ask", how)
        said = b.results()
        lib.check(said[0].startswith(first), "--ask %s decides" % how, said[0])
        lib.check(said[1].startswith("error: denied") and "no TWO" in said[1],
                  "--ask %s: a hook denies" % how, said[1])
        lib.check("three" in said[2], "what is not asked about", said[2])
        lib.equal([e["by"] for e in r.all("permission")], ["--ask", "hook"],
                  "--ask %s: who said so" % how, r)
    lib.equal([e["tool_input"]["command"] for e in b.logged("asked")][:2],
              ["sudo one", "sudo two"], "it sees what is asked about")


def workspace(b):
    """Hooks in the worker's sandbox: what they write is in the patch."""
    tidy = "sed -i 's/echo/printf %s\\\\\\\\n/' max.sh; test ! -e " + \
        b.box.home + "/.config"
    hooks = {
        "PostToolUse": [group("Edit", hook(tidy, where="workspace"))],
        "PreToolUse": [group("Bash", hook(
            "grep -q blocked && { echo by the workspace >&2; exit 2; }; "
            "echo noise; exit 0", where="workspace"),
                             hook(b.log("outside")),
                             hook("cat >/dev/null; sleep 30", timeout=1,
                                  where="workspace"),
                             hook("grep -q stopped && echo "
                                  "'{\"continue\":false,\"stopReason\":"
                                  "\"from inside\"}'; exit 0",
                                  where="workspace"))],
        "SubagentStop": [{"hooks": [hook("echo '# last' >>max.sh",
                                         where="workspace")]}]}
    r = b.run(hooks, [command("echo blocked"), command("echo free"),
                      command("echo stopped")], "--apply")
    lib.equal(r.status, 0, "workspace: fixed", r)
    said = b.results()
    lib.check("by the workspace" in said[0] and said[0].startswith("error"),
              "exit 2 blocks there, too", said[0])
    lib.check("free" in said[1], "exit 0 does not", said[1])
    lib.check("from inside" in said[2] and said[2].startswith("error"),
              "it can't end the run, but blocks", said[2])
    lib.equal(len(b.logged("outside")), 3, "hooks outside run beside it")
    lib.check("timed out after 1" in r.err, "its time limit", r)
    text = lib.read(os.path.join(b.repo, "max.sh"))
    lib.check("PostToolUse hook" not in r.err, "it sees no home", r.err)
    lib.check("printf" in text and "-gt" in text and "# last" in text,
              "what it formatted is in the patch", text)
    lib.check(any(x["verdict"] == "start" and x["detail"]["where"] ==
                  "workspace" for x in b.audit() if "where" in x["detail"]),
              "and in the audit", b.audit())


def refused(b):
    """Settings that can't be taken, and hooks of a repository."""
    good = hook("true")
    for hooks, says in (
            ([], "object"), ({"PreTool": []}, "PreTool"),
            ({"Stop": {}}, "hooks.Stop"),
            ({"PreToolUse": [{"hooks": [good], "match": "x"}]}, "match"),
            ({"PreToolUse": [{}]}, "hooks.PreToolUse[0]"),
            ({"PreToolUse": [group("a{3}", good)]}, "matcher"),
            ({"PreToolUse": [group("(", good)]}, "regular expression"),
            ({"Stop": [group("x", good)]}, "matcher"),
            ({"PreToolUse": [group("", hook(""))]}, "command"),
            ({"PreToolUse": [group("", hook("x", timeout=601))]}, "timeout"),
            ({"PreToolUse": [group("", hook("x", timeout="1"))]}, "timeout"),
            ({"PreToolUse": [group("", hook("x", where="here"))]}, "where"),
            ({"Stop": [group("", hook("x", where="workspace"))]}, "where"),
            ({"SessionEnd": [group("", hook("x", failClosed=True))]},
             "failClosed"),
            ({"PreToolUse": [group("", dict(good, type="http"))]}, "type"),
            ({"PreToolUse": [group("", good, dict(good, env={}))]},
             "hooks[1]")):
        r = b.run(hooks, [])
        lib.equal(r.status, 2, "refused: %s" % hooks, r)
        lib.check(says in r.err and "settings.json" in r.err,
                  "%s: it says %s" % (hooks, says), r)
    ran = os.path.join(b.box.home, "REPO-RAN")
    repo = b.box.repo("hooks-repo", lib.small(**{
        ".foray/settings.json": json.dumps({"hooks": {
            e: [{"hooks": [hook("touch " + ran)]}]
            for e in ("SessionStart", "PreToolUse", "Stop", "SessionEnd")}})}))
    for own in ({}, {"PreToolUse": [group("", hook(b.log("own")))]}):
        r = b.run(own, [command("echo x")], repo=repo)
        lib.equal(r.status, 0, "a repository with hooks", r)
        lib.check(not os.path.exists(ran), "its hooks never run", r)
        lib.check(any("hooks" in x for e in r.all("policy_ignored")
                      for x in e["what"]), "they are listed", r)
        lib.check(any("hooks" in x["subject"] and x["verdict"] == "deny"
                      for x in b.audit("settings")), "and recorded")
    lib.check(b.logged("own"), "the person's own do")


def plan_of(n):
    return [{"statement": "guess number %d is the fault" % i,
             "place": "max.sh:2", "refuted_by": "test %d passes" % i}
            for i in range(1, n + 1)]


def at_once(b, workers=16):
    """Many workers at the same time: all are asked, eight run at once."""
    log = os.path.join(b.box.home, "spans")
    # The first waits for a second one: alone it would wait for ever.
    timed = ("cat >/dev/null; a=$(date +%%s%%N); echo >>%s.begun; "
             "while [ $(wc -l <%s.begun) -lt 2 ]; do sleep 0.1; done; "
             "sleep 0.3; echo $a $(date +%%s%%N) >>%s" % (log, log, log))
    script = {"scripts": [
        {"match": r"guess number (?P<n>\d+) is", "on": "user", "turns": [
            command("echo {{n}}"), command("echo {{n}} again"),
            {"text": "", "calls": [{"name": "finish", "arguments": {
                "verdict": "refuted"}}]}]},
        {"match": "", "turns": [{"text": "", "calls": [
            {"name": "finish", "arguments": {
                "verdict": "done", "hypotheses": plan_of(workers)}}]}]}]}
    r = b.run({"PreToolUse": [group("Bash", hook(timed))]}, [], "-n",
              str(workers), script=script, topology="hypotheses", timeout=300)
    spans = [tuple(map(int, x.split())) for x in lib.read(log).splitlines()]
    lib.equal(len(spans), 2 * workers, "each call was asked about, once", r)
    most = max(sum(a <= t < e for a, e in spans) for t, _ in spans)
    lib.check(2 <= most <= 8, "at once: %d" % most)
    lib.equal(len([x for x in b.audit("command")]), 2 * workers,
              "and each was made")


def killed(b):
    """kill -9 in the middle of a hook: nothing of it is left; resumed."""
    started = os.path.join(b.box.home, "STARTED")
    slow = ("test -e %s && exit 0; sleep 96 & touch %s; cat >/dev/null; "
            "sleep 95" % (started, started))
    repo = b.box.repo("hooks-killed", lib.SMALL)
    with FakeServer({"turns": [command("echo first"), *END]}, key=KEY) as s:
        b.settings({"PreToolUse": [group("Bash", hook(slow))],
                    "SessionStart": [group("resume", hook(b.log("resume")))]},
                   s)
        live = b.box.start(repo, "-t", lib.SMALL_TEST, "-m",
                           "openai/fake-model", "--topology", "single",
                           env=s.env())
        lib.check(lib.wait_until(lambda: os.path.exists(started), 60),
                  "the hook runs")
        tree = lib.wait_until(lambda: (lambda all: all if len(
            [p for p in all if p.name == "sleep"]) >= 2 else None)(
                lib.descendants(live.pid)), 20)
        lib.check(tree, "with all that it started",
                  lib.descendants(live.pid))
        live.signal(signal.SIGKILL)
        live.process.wait()
        rest = lib.left_alive(tree or [], seconds=5)
        lib.check(not rest, "kill -9: nothing is left, the hook neither", rest)
        live.wait(5)
        r = b.box.do("resume", "--json", env=s.env(), timeout=120)
        lib.equal(r.status, 0, "resumed, and fixed", r)
    ends = [x["verdict"] for x in b.audit()]
    lib.equal(ends, ["start", "start", "none", "start", "none"],
              "the audit shows a start without an end, then both")
    lib.equal([e["source"] for e in b.logged("resume")], ["resume"],
              "SessionStart knows")
    lib.equal(b.box.do("audit", "--verify").status, 0, "the chain holds")


def interrupted(b):
    """Ctrl-C in a hook of the beginning, and in one of the end."""
    mark = os.path.join(b.box.home, "MARK")
    for event in ("SessionStart", "SessionEnd"):
        if os.path.exists(mark):
            os.unlink(mark)
        repo = b.box.repo("hooks-int-" + event, lib.SMALL)
        with FakeServer({"turns": [*END]}, key=KEY) as s:
            b.settings({event: [{"hooks": [hook(
                "touch %s; sleep 94" % mark)]}]}, s)
            live = b.box.start(repo, "-t", lib.SMALL_TEST, "-m",
                               "openai/fake-model", "--topology", "single",
                               env=s.env())
            lib.check(lib.wait_until(lambda: os.path.exists(mark), 60),
                      event + " runs")
            live.signal(signal.SIGINT)
            r = live.wait(20)
        lib.equal(r.status, 130 if event == "SessionStart" else 0,
                  event + ": interrupted", r)


def guarded(b):
    """A hook at every call keeps no honest call from being made, also where
    paths are relative to a directory below."""
    patch = ("--- a/own/n\u00e4me.txt\n+++ b/own/n\u00e4me.txt\n"
             "@@ -1 +1 @@\n-old\n+new\n")
    envelope = ("*** Begin Patch\n*** Update File: ./own/b.txt\n-old\n+new\n"
                "*** Add File: own/c.txt\n+new\n*** End Patch\n")
    repo = b.box.repo("hooks-guarded", {
        "sub/" + k: v for k, v in lib.small(**{
            "own/n\u00e4me.txt": "old\n", "own/b.txt": "old\n"}).items()})
    calls = [
        command("echo one"), call("read_file", path="own/b.txt"),
        call("list_dir"), call("grep", pattern="old", path="own"),
        call("edit_file", path=repo + "/sub/own/d.txt", old="", new="d\n"),
        call("edit_file", path="../top.txt", old="", new="t\n"),
        call("apply_patch", patch=patch), call("apply_patch", patch=envelope),
        call("try_edits", check="sh test.sh", edits=[{"changes": [FIX]}]),
        call("update_todos", todos=[{"text": "x", "done": False}]),
        call("fetch_url", url="https://nowhere.example/x")]
    for matcher in ("*", "Edit|run_command"):
        r = b.run({"PreToolUse": [group(matcher, hook("cat >/dev/null"))]},
                  calls, repo=os.path.join(repo, "sub"),
                  permissions={"ask": ["Read(nothing)", "Edit(nothing)"]})
        lib.equal(r.status, 0, matcher + ": fixed", r)
        said = b.results()
        fetched = said.pop(len(calls) - 1)
        lib.check(not any(x.startswith("error") for x in said),
                  matcher + ": no call was refused", said)
        lib.check("network.fetch" in fetched,
                  matcher + ": a fetch is asked about, too", fetched)
        writes = [x["subject"] for x in b.audit("write")]
        lib.equal(sorted(writes), ["sub/max.sh", "sub/own/b.txt",
                                   "sub/own/c.txt", "sub/own/d.txt",
                                   "sub/own/n\u00e4me.txt", "top.txt"],
                  matcher + ": every write was made")


def compacted(b):
    """PreCompact comes before a summary, and can keep it from being made."""
    long = " ".join("word%d" % n for n in range(700))
    turns = [{"text": long, "calls": [{"name": "run_command", "arguments": {
        "command": "echo %d" % n}}]} for n in range(40)]
    script = {"turns": turns + [*END], "turn_by": "last_id"}
    small = {"fake-model": {"context": 30000, "max_output": 2000}}
    r = b.run({"PreCompact": [group("auto", hook(b.log("compact")))]}, [],
              script=script, models=small)
    seen = b.logged("compact")
    lib.check(seen and seen[0]["trigger"] == "auto" and
              seen[0]["agent_type"] == "explore", "PreCompact", seen)
    summed = [e for e in r.all("progress") if e["what"] == "context"]
    lib.equal(len(summed), len(seen), "before each summary", r)
    r = b.run({"PreCompact": [group("auto", hook("echo no >&2; exit 2"))]},
              [], script=script, models=small)
    lib.check(not [e for e in r.all("progress") if e["what"] == "context"] and
              r.all("hook"), "a hook keeps it from being made", r)
    ends = [e for e in r.all("summary") if e["kind"] == "explore"]
    lib.check(ends and ends[0]["verdict"] == "error" and "context" in
              ends[0]["reason"], "then the window ends the worker", ends)


class Terminal:
    """A terminal that types a word at each question."""

    def __init__(self, word):
        self.ours, self.theirs = pty.openpty()
        self.word, self.shown, self.stop = word, "", False
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def own(self):
        os.setsid()
        fcntl.ioctl(self.theirs, termios.TIOCSCTTY, 0)

    def serve(self):
        asked = 0
        while not self.stop:
            if select.select([self.ours], [], [], 0.1)[0]:
                self.shown += os.read(self.ours, 65536).decode("utf-8",
                                                               "replace")
            while self.shown.count("it is denied)") > asked:
                time.sleep(0.2)
                os.write(self.ours, self.word)
                asked += 1

    def close(self):
        self.stop = True
        self.thread.join()
        os.close(self.ours)
        os.close(self.theirs)


def terminal(b):
    """A hook that asks: the person answers, once for an input."""
    ask = DENY.replace("deny", "ask") % "may it?"
    for word, verdict, by in ((b"n\n", "deny", "person"),
                              (b"r\n", "allow", "person, run")):
        t = Terminal(word)
        r = b.run({"PreToolUse": [group("Bash", hook(ask))]},
                  [command("echo twice"), command("echo twice")], "--ask",
                  "prompt", preexec_fn=t.own)
        t.close()
        said = b.results()[:2]
        lib.equal([x.startswith("error: denied") for x in said],
                  [verdict == "deny"] * 2, "the person says " + verdict, said)
        lib.equal([(e["verdict"], e["by"]) for e in r.all("permission")],
                  [(verdict, by)] * 2, "and that is recorded", r)
        lib.equal(t.shown.count("it is denied)"),
                  2 if verdict == "deny" else 1, "questions", t.shown)
        lib.check("may it?" in t.shown and "echo twice" in t.shown,
                  "it says what and why", t.shown)


class Again:
    """A hook that takes longer than a worker is silent (30 s): it asks again,
    and nothing runs twice. Goes on beside the other parts."""

    def __init__(self):
        self.box = lib.Box()
        self.server = FakeServer({"turns": [command("echo once"), *END]},
                                 key=KEY)
        self.server.start()
        self.b = Bench(self.box)
        self.b.settings({"PreToolUse": [group("Bash", hook(
            self.b.log("again") + "; sleep 33"))]}, self.server)
        self.live = self.box.start(
            self.box.repo("hooks-again", lib.SMALL), "-t", lib.SMALL_TEST, "-m",
            "openai/fake-model", "--topology", "single",
            env=self.server.env())

    def end(self):
        r = self.live.wait(120)
        lib.equal(r.status, 0, "a hook of 33 s", r)
        lib.equal(len(self.b.logged("again")), 1, "it ran once")
        lib.equal([x["verdict"] for x in self.b.audit()], ["start", "none"],
                  "and is recorded once")
        self.server.stop()
        self.box.__exit__()


def builtin(b):
    """What hooks say to the built-in model: a denial ends a hypothesis, as that
    and as nothing that was found; what else they say is no part of a result."""
    path = os.path.join(b.box.home, ".config/foray/settings.json")
    say = ('echo \'{"hookSpecificOutput":{"hookEventName":"PostToolUse",'
           '"additionalContext":"mind the style"}}\'')
    for name, command_, status in (
            ("denied", "echo not today >&2; exit 2", 1), ("told", say, 0),
            ("linter", "grep -q 'pass[\\\\\"]*: *true' || "
             "{ echo tests fail >&2; exit 2; }", 0)):
        lib.write(path, json.dumps({"hooks": {"PostToolUse": [
            group("*", hook(command_))]}}))
        repo = b.box.repo("hooks-builtin-" + name, lib.SMALL)
        r = b.box.run(repo, "-t", lib.SMALL_TEST, timeout=120)
        lib.equal(r.status, status, "built-in, %s: status" % name, r)
        ends = {(e["verdict"], e["reason"]) for e in r.all("summary")
                if e["kind"] == "explore"}
        if name == "denied":
            lib.equal(ends, {("stuck", "denied by a hook: not today")},
                      "built-in: a denial is reported as that", r)
            lib.check(not any("none makes" in x for e in r.all("summary")
                              for x in e["findings"]),
                      "built-in: and nothing was ruled out", r)
        else:
            lib.check("fixed" in {x for x, _ in ends},
                      "built-in, %s: it is no part of a result" % name, r)


ALL = (deciding, inputs, failures, everywhere, last_word, asked, workspace,
       refused, guarded, compacted, terminal, builtin, at_once, killed,
       interrupted)


def main():
    again = Again() if not sys.argv[1:] else None
    with lib.Box() as box:
        b = Bench(box)
        for part in ALL:
            if not sys.argv[1:] or part.__name__ in sys.argv[1:]:
                part(b)
    if again:
        again.end()
    lib.done()


main()
