#!/usr/bin/env python3
"""The shell reader against another one: every simple command that shfmt finds
in a text is found by ours, in 5,000 and more texts. Needs shfmt."""
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys

import lib

COUNT = int(os.environ.get("COUNT", "6000"))
SEED = int(os.environ.get("SEED", "1"))
DUMP = os.path.join(lib.BUILD, "tests/unit/test_sandbox_shell")

NAMES = ["ls", "rm", "git", "make", "cat", "grep", "echo", "cd", "true", "a.sh",
         "./x", "printf", "test", "exit", "env", "xargs", "sh", "tar"]


class Maker:
    """Texts by a grammar of their own, with all the ways to write things."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.bodies = []

    def one(self, *ways):
        return self.r.choice(ways)

    def blank(self):
        return self.one(" ", " ", " ", "  ", "\t", " \\\n ")

    def end(self):
        if self.bodies:
            text = "\n" + "".join(self.bodies)
            self.bodies = []
            return text
        return self.one("; ", ";", "\n", " ;\n", " # note; rm x\n", "\n\n")

    def name(self):
        return self.one("x", "y1", "_z", "HOME", "i")

    def lit(self):
        return self.one("a", "b.c", "-l", "--opt=v", "d/e", "1", "n_m", "x-y", "%",
                        "@", "a:b", "=", "a=b", "+x", "^", ",", "a#b", "!", "-")

    def part(self, d):
        k = self.r.randrange(22)
        if k < 9 or d <= 0:
            return self.lit()
        if k == 9:
            return "'%s'" % self.one("a b", "$(rm z)", "; rm", "`q`", "\\", '"',
                                     "#", "", "\n")
        if k in (10, 11):
            return '"%s"' % "".join(self.inside(d) for _ in
                                    range(self.r.randrange(3)))
        if k == 12:
            return "\\" + self.one("a", " ", ";", "$", "'", '"', "\\", "&")
        if k == 13:
            return self.one("$%s", "${%s}", "${#%s}", "${%s:-w}", "${%s%%.*}",
                            "${%s/a/b}", "${%s[0]}", "${!%s}", "${%s^^}") % \
                self.name()
        if k == 14:
            return "${%s:-%s}" % (self.name(), self.word(d - 1))
        if k in (15, 16):
            return "$(%s)" % self.list(d - 1)
        if k == 17:
            return "`%s`" % self.simple(0)
        if k == 18:
            return "$((%s))" % self.arith(d - 1)
        if k == 19:
            return "$'%s'" % self.one("a\\tb", "x\\x41", "\\'", "c", "\\\\")
        if k == 20:
            return self.one("<(%s)", ">(%s)") % self.list(d - 1)
        return self.one("*", "?", "[a-c]", "~")

    def inside(self, d):
        return self.one("a b", "; rm q", "'", "#", "\\\"", "\\$x", "$x", "${y}",
                        "$(%s)" % self.list(d - 1) if d > 1 else "z",
                        "`%s`" % self.lit(), "$((1+2))", "\n", "&&")

    def arith(self, d):
        return self.one("1+2", "x", "i++", "x<<2", "(1+x)*3", "x[1]", "x>y",
                        "$x", "$(%s)" % self.simple(d - 1) if d > 1 else "7")

    def word(self, d):
        return "".join(self.part(d) for _ in range(self.one(1, 1, 1, 1, 2, 3)))

    def plain(self, d):
        """A word that is no keyword, pattern of an assignment or comment."""
        w = self.word(d)
        return "./" + w if w[:1] in "#!=~{}" or "=" in w else w

    def redirection(self, d):
        k = self.r.randrange(9)
        if k == 0:
            return "2>&1"
        if k == 1:
            tag = self.one("EOF", "E2", "'Q'", "-T")
            self.bodies.append(("%s%s\n%s\n" % (
                self.one("text $(echo in)\n", "more `id`\n", "$x\n", ""),
                "a; rm b", tag.strip("-'"))))
            return "<<" + tag
        if k == 2:
            return "<<<" + self.blank() + self.plain(d - 1)
        return self.one("<", ">", ">>", "2>", "&>", "<>", ">|") + \
            self.one("", " ") + self.plain(0)

    def simple(self, d):
        out = []
        for _ in range(self.one(0, 0, 0, 0, 1, 2)):
            out.append("%s=%s" % (self.name(), self.word(d - 1) if
                                  self.r.random() < 0.7 else ""))
        if not out or self.r.random() < 0.8:
            out.append(self.one(*NAMES) if self.r.random() < 0.85
                       else self.plain(d - 1))
            out += [self.word(d - 1) for _ in range(self.one(0, 1, 1, 2, 3))]
        if d > 0 and self.r.random() < 0.2:
            out.append(self.redirection(d - 1))
        return self.blank().join(out)

    def command(self, d):
        k = self.r.randrange(20) if d > 0 else 0
        if k < 11:
            return self.simple(d)
        if k == 11:
            return "(%s)" % self.list(d - 1)
        if k == 12:
            return "{ %s; }" % self.list(d - 1)
        if k == 13:
            return "if %s; then %s; %sfi" % (
                self.list(d - 1), self.list(d - 1), self.one(
                    "", "else %s; " % self.list(d - 1),
                    "elif %s; then %s; " % (self.list(0), self.list(0))))
        if k == 14:
            return "%s %s; do %s; done" % (self.one("while", "until"),
                                           self.list(d - 1), self.list(d - 1))
        if k == 15:
            return "for %s in %s; do\n%s; done" % (
                self.name(), self.word(d - 1), self.list(d - 1))
        if k == 16:
            return "case %s in\n%s) %s;;\n(b|c) %s ;;\nesac" % (
                self.word(d - 1), self.plain(0), self.list(d - 1), self.list(0))
        if k == 17:
            return "f%d() { %s; }" % (self.r.randrange(9), self.list(d - 1))
        if k == 18:
            return "[[ %s %s %s ]]" % (self.plain(d - 1), self.one(
                "==", "!=", "-eq", "&&", "||"), self.plain(d - 1))
        return "((%s))" % self.arith(d - 1)

    def pipeline(self, d):
        head = self.one("", "", "", "", "! ", "time ")
        return head + self.one(" | ", "|", " |\n", " |& ").join(
            self.command(d) for _ in range(self.one(1, 1, 1, 2, 3)))

    def list(self, d):
        """Without a here-document that waits for its body at the end."""
        kept, self.bodies = self.bodies, []
        text = self.pipeline(d)
        for _ in range(self.one(0, 0, 0, 1, 2)):
            if self.bodies:
                text += self.end()
            else:
                text += self.one(" && ", " || ", "; ", "\n", " & ", "&&\n")
            text += self.pipeline(d)
        if self.bodies:
            text += self.end() + ":"
        self.bodies = kept
        return text


# ---------------------------------------------------------------- the readers


def literal(parts):
    """The word that the parts make, or None."""
    text = ""
    for p in parts:
        kind = p["Type"]
        if kind == "Lit":
            text += unescape(p["Value"])
        elif kind == "SglQuoted" and not p.get("Dollar"):
            text += p.get("Value", "")
        elif kind == "DblQuoted":
            inner = p.get("Parts", [])
            if any(q["Type"] != "Lit" for q in inner):
                return None
            for q in inner:
                text += unescape(q["Value"], '$`"\\')
        elif kind == "SglQuoted":
            return ...  # decoded; ours is right or wrong by its own test
        else:
            return None
    # ~+, ~- and ~2 are directories that only a shell knows.
    if parts and parts[0]["Type"] == "Lit" and \
            parts[0]["Value"][:1] == "~" and re.match("~[-+0-9]", text):
        return None
    return text


def unescape(s, only=None):
    out, i = "", 0
    while i < len(s):
        if s[i] == "\\" and i + 1 < len(s):
            if s[i + 1] == "\n":
                i += 2
                continue
            if only is None or s[i + 1] in only:
                out += s[i + 1]
            else:
                out += s[i:i + 2]
            i += 2
        else:
            out += s[i]
            i += 1
    return out


def walk(node, found):
    if isinstance(node, list):
        for n in node:
            walk(n, found)
    elif isinstance(node, dict):
        if node.get("Type") in ("CallExpr", "DeclClause"):
            words = [literal(w.get("Parts", [])) for w in node.get("Args", [])]
            if node["Type"] == "DeclClause":
                words = [node["Variant"]["Value"], ...]
            if words:
                found.append(words)
        for value in node.values():
            walk(value, found)


def theirs(text):
    """The commands that shfmt finds; None: it can't read it."""
    p = subprocess.run(["shfmt", "-ln", "bash", "--to-json"], input=text.encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if p.returncode != 0:
        return None
    found = []
    walk(json.loads(p.stdout), found)
    return found


def ours(texts):
    p = subprocess.run([DUMP, "--dump"], stdout=subprocess.PIPE, check=True,
                       input=b"".join(t.encode() + b"\0" for t in texts))
    return [json.loads(line) for line in p.stdout.splitlines()]


def canonical(text):
    """As bash prints it when it has read it: in a function, nothing runs."""
    p = subprocess.run(["bash", "-c", "f() {\n%s\n}\ndeclare -f f" % text],
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return p.stdout.decode("utf-8", "replace") if p.returncode == 0 else None


def is_bashs(words, text):
    """Does shfmt see the command in bash's own print, too? It reads some texts
    otherwise than bash does: a here-document's body behind "]]", a "#" in a word
    behind an expansion."""
    printed = canonical(re.sub(r"(\$\w+|[`)}\]])#", r"\1_", text))
    again = theirs(printed) if printed else None
    return again is None or any(same(words, w) or w == words for w in again)


def is_there(words, found):
    """bash's "time" may be a command, where a pipe goes on in another line, and
    else it has the option "--"."""
    for own in found:
        if same(words, own) or \
                own[:1] == ["time"] and same(words, own[1:]) or \
                words[:1] == ["--"] and same(words[1:], own):
            found.remove(own)
            return True
    return False


def same(theirs_words, our_words):
    if ... in theirs_words and len(theirs_words) == 2 and \
            theirs_words[1] is ... and our_words[:1] == theirs_words[:1]:
        return True
    return len(theirs_words) == len(our_words) and all(
        a is ... or a == b for a, b in zip(theirs_words, our_words))


def main():
    if not shutil.which("shfmt"):
        lib.skip("there is no shfmt")
    maker = Maker(SEED)
    texts = [maker.list(maker.one(1, 2, 2, 3)) for _ in range(COUNT)]
    with open(os.path.join(lib.TESTS, "cases/A.jsonl"), encoding="utf-8") as f:
        texts += [c["input"]["command"] for c in map(json.loads, f)
                  if "command" in c["input"]]
    texts = [t for t in texts if "\0" not in t]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        others = list(pool.map(theirs, texts))
    read = refused = commands = missed = wrong = 0
    for text, other, own in zip(texts, others, ours(texts)):
        if other is None:
            continue
        read += 1
        if own["error"]:
            refused += 1  # then the verdict is never better than "ask"
            continue
        rest = [c for c in own["commands"] if c]
        for words in other:
            commands += 1
            if is_there(words, rest):
                continue
            if not is_bashs(words, text):
                wrong += 1
                continue
            missed += 1
            if missed < 20:
                print("MISSED %r in\n%s\nours: %r" % (words, text, rest))
    print("%d texts, %d that shfmt can read, with %d commands, %d of which bash "
          "does not see; %d texts refused by ours" % (
              len(texts), read, commands, wrong, refused))
    lib.check(wrong <= 50, "shfmt is wrong about few", wrong)
    lib.equal(missed, 0, "no command is missed")
    lib.check(read >= min(5000, COUNT * 0.8), "shfmt read enough", read)
    lib.check(refused <= read * 0.03, "ours refused few", refused)
    lib.done()


main()
