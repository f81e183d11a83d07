#!/usr/bin/env python3
"""The judge against two real shells: thousands of texts, made by changing known
ones, are run by dash and by bash in a sandbox where rm leaves a mark. Where rm
was run, a rule that denies rm must not let the text pass.

    COUNT=12000 SEED=7 python3 tests/integration/gate_long.py
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys

import lib

COUNT = int(os.environ.get("COUNT", "4000"))
SEED = int(os.environ.get("SEED", "1"))
ROWS = [os.path.join(lib.TESTS, "unit/test_sandbox_judge_%s.h" % part)
        for part in ("plain", "rows", "ways")]
SHELLS = [s for s in ("/bin/dash", "/bin/bash") if os.path.exists(s)]
REAL = ("env xargs sh bash dash timeout nice nohup stdbuf setsid find sed awk "
        "true false printf echo test tee sort head wc seq sleep cut tr base64 "
        "ionice taskset chrt flock script").split()
BITS = ['"', "'", "\\", "$", "`", "(", ")", "{", "}", "&", "|", ";", "\n", " ",
        "<", ">", "!", "#", "[[", "]]", "((", "))", "&&", "||", "&>", ">&",
        "<<E\n", "\nE\n", "$[", "$[1;", "${a[", "&>>", "|&",
        "$'", '$"', "$(", "${x:-", "*", "?", "~", "=", "-c",
        "rm x", "rm", "ls", "eval ", "sh -c ", "env ", "xargs ", "if ",
        "then ", "fi", "do ", "done", "case ", "esac", "f() ", "function ",
        "time ", "coproc ", "! ", "<(", ">(", "2>&1", "<<<", "[", "]", "\t",
        "\\\n", "x=", "$x", '"$@"', "-n", "--", "+", "exec ", "trap ",
        "command ", "export ", "alias "]


def known():
    """The texts of the table that name rm as a command."""
    found = []
    for path in ROWS:
        with open(path, encoding="utf-8") as f:
            found += re.findall(r'"((?:[^"\\]|\\.)*)"', f.read())
    texts = [t.encode().decode("unicode_escape") for t in found]
    return [t for t in texts if "rm x" in t]


def changed(r, text, texts):
    for _ in range(r.randint(1, 2)):
        at, k = r.randint(0, len(text)), r.random()
        if k < 0.6:
            text = text[:at] + r.choice(BITS) + text[at:]
        elif k < 0.75:
            text = text[:at] + text[at + r.randint(1, 3):]
        else:
            other = r.choice(texts)
            a = r.randint(0, len(other))
            text = text[:at] + other[a:a + r.randint(1, 12)] + text[at:]
    return text


def marks(shell, text):
    shutil.rmtree("/tmp/w", ignore_errors=True)
    os.mkdir("/tmp/w")
    if os.path.exists("/tmp/mark"):
        os.unlink("/tmp/mark")
    p = subprocess.Popen(
        [shell, "-c", text], cwd="/tmp/w", start_new_session=True,
        env={"PATH": "/tmp/bin", "HOME": "/tmp/w"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        p.wait(2)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(p.pid, 9)
    except OSError:
        pass
    p.wait()
    return os.path.exists("/tmp/mark")


def run_all():
    """In the sandbox: which texts ran rm? stdin and stdout are JSON."""
    os.mkdir("/tmp/bin")
    for name in ["rm", "ls", "git", "make", "cat", "grep", "tar"]:
        with open("/tmp/bin/" + name, "w", encoding="ascii") as f:
            f.write("#!/bin/sh\n%s\n" % (": >/tmp/mark" if name == "rm"
                                         else "/bin/true"))
        os.chmod("/tmp/bin/" + name, 0o755)
    for name in REAL:
        path = shutil.which(name, path="/usr/bin:/bin")
        if path:
            os.symlink(path, "/tmp/bin/" + name)
    ran = []
    for text in json.load(sys.stdin):
        # Twice: what an earlier one left behind may leave a mark late.
        ran.append([shell for shell in SHELLS
                    if marks(shell, text) and marks(shell, text)])
    json.dump(ran, sys.stdout)


def main():
    r, texts = random.Random(SEED), known()
    tries = [changed(r, r.choice(texts), texts) for _ in range(COUNT)]
    tries = [t for t in tries if t.isascii() and "\0" not in t]
    cage = ["bwrap", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--ro-bind",
            os.path.abspath(os.path.dirname(__file__)), "/tmp/it", "--dev", "/dev",
            "--proc", "/proc", "--unshare-all", "--cap-drop", "ALL",
            "--die-with-parent", "--"]
    try:
        subprocess.run(cage + ["true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as e:
        lib.skip("bwrap: %s" % e)
    p = subprocess.run(cage + [sys.executable, "-B", "/tmp/it/gate_long.py",
                               "--inside"], input=json.dumps(tries),
                       stdout=subprocess.PIPE, text=True, check=True)
    hits = 0
    with lib.Box() as box:
        policy = os.path.join(box.home, "policy.json")
        lib.write(policy, json.dumps({"permissions": {"deny": ["Bash(rm:*)"]}}))
        for text, shells in zip(tries, json.loads(p.stdout)):
            if not shells:
                continue
            hits += 1
            v = box.do("gate", "--policy", policy, "--json", "--", text,
                       cwd=box.home)
            lib.check(v.status == 1, "%s ran rm in %r" % (shells, text), v)
    print("%d texts, %d ran rm" % (len(tries), hits))
    lib.check(hits >= COUNT * 0.03, "enough ran rm", hits)
    lib.done()


if "--inside" in sys.argv:
    run_all()
else:
    main()
