#!/usr/bin/env python3
"""Make single-edit mutants of the programs in tests/bugs.

    mutate.py --seed 1 --count 30 --out DIR [--list]

Every program is first mended with its fix.patch. A mutant differs from that
in one place of one line of a non-test source file, still parses, and fails
the program's tests. DIR/mNN is the mutated tree, DIR/mNN.json describes it.
Programs take turns by language; a seed always yields the same mutants.
Languages that are not in SUFFIX have no mutants.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict, namedtuple

BUGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bugs")
LIMIT = 20
SUFFIX = {"python": ".py", "c": ".c", "javascript": ".js", "shell": ".sh"}
CHECK = {
    "python": [sys.executable, "-c",
               "import sys; compile(open(sys.argv[1]).read(), 'x', 'exec')"],
    "c": ["cc", "-fsyntax-only", "-Isrc", "-w"],
    "javascript": ["node", "--check"],
    "shell": ["sh", "-n"],
}

Mutation = namedtuple("Mutation", "file line operator original mutated")
Token = namedtuple("Token", "kind text start end")

# ---------------------------------------------------------------- scanning

STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
OPAQUE = {
    "python": r'""".*?"""|#[^\n]*|' + STRING,
    "c": r"/\*.*?\*/|//[^\n]*|^#[^\n]*|" + STRING,
    "javascript": r"/\*.*?\*/|//[^\n]*|`[^`]*`|(?<=[=(])\s*/(?![/*])"
                  r"(?:\\.|[^/\\\n])+/|" + STRING,
    # Double quotes stay open: what matters in them are the variables.
    "shell": r"(?<!\S)#[^\n]*|'[^'\n]*'",
}
CODE = (r"(?P<number>(?<![\w.])\d+\b(?!\.))|(?P<name>[A-Za-z_]\w*)|"
        r"(?P<op>===|!==|\*\*|<<|>>|//|&&|\|\||=>|->|\+\+|--|[<>=!+*/%-]=|"
        r"[-+*/%<>=!(),.\[\]?:;{}&|])")
SHELL = (r"(?P<name>(?<=\$)(?:\w+)|(?<=\$\{)\w+)|(?P<test> -(?:eq|ne|lt|le|"
         r"gt|ge|n|z) | (?:!=|=) )|(?P<number>(?<![\w.$-])\d+\b)|"
         r"(?P<op>&&|\|\||(?<= )[-+*/](?= ))")

KEYWORDS = set("""
    and as assert async await bool break case catch char class const continue
    default def del do double elif else enum except extends false for from
    function if import in int is lambda let long new None not null NULL of or
    pass raise return self signed sizeof static struct super switch this throw
    True False true try typeof undefined unsigned var void while with yield
    size_t finally float short export require module""".split())

SWAPS = defaultdict(list, {
    "<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="],
    "==": ["!="], "!=": ["=="], "===": ["!=="], "!==": ["==="],
})
TESTS = {"-eq": "-ne", "-ne": "-eq", "-lt": "-le", "-le": "-lt", "-gt": "-ge",
         "-ge": "-gt", "-n": "-z", "-z": "-n", "=": "!=", "!=": "="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "//": "*",
              "+=": "-=", "-=": "+="}
LOGIC = {"and": "or", "or": "and", "&&": "||", "||": "&&"}
TWINS = {"true": "false", "True": "False", "min": "max", "max": "min"}
TWINS.update({other: name for name, other in list(TWINS.items())})


def blank(text, language):
    """Overwrite comments and strings with blanks, keeping every position."""
    flags = re.S | re.M
    return re.sub(OPAQUE[language],
                  lambda m: re.sub(r"[^\n]", "\0", m.group()), text,
                  flags=flags)


def tokens(line, language):
    pattern = SHELL if language == "shell" else CODE
    return [Token(m.lastgroup, m.group(), m.start(), m.end())
            for m in re.finditer(pattern, line)]


def scopes(lines, language):
    """For every line the range of its function, or None outside of one."""
    head = {
        "python": r"\s*def \w+",
        "c": r"\{",
        "javascript": r"(?:async )?function|  (?:static |get )?\w+\(.*\) \{$",
        "shell": r"\w+\(\) \{",
    }[language]
    found = [None] * len(lines)
    for first, line in enumerate(lines):
        if not re.match(head, line):
            continue
        indent = len(line) - len(line.lstrip())
        last = first + 1
        while last < len(lines):
            row = lines[last]
            if language == "python":
                inside = not row.strip() or row[:indent + 1].isspace()
            else:
                inside = row[:indent + 1] != " " * indent + "}"
            if not inside:
                break
            last += 1
        start = first
        while language == "c" and start > 0 and lines[start - 1].strip():
            start -= 1
        for number in range(first + 1, last):
            found[number] = (start, last)
    return found


# --------------------------------------------------------------- mutations

def is_member(line, token):
    return line[:token.start].rstrip().endswith((".", "->"))


def variables(lines, language):
    """The plain names and the member names of some lines."""
    plain, members = set(), set()
    for line in lines:
        for token in tokens(line, language):
            called = line[token.end:token.end + 1] == "("
            if token.kind != "name" or token.text in KEYWORDS or called:
                continue
            if language == "shell" or not is_member(line, token):
                plain.add(token.text)
            else:
                members.add(token.text)
    return sorted(plain), sorted(members)


def arguments(line, opening):
    """Spans of the arguments after an opening parenthesis on the line."""
    depth = 0
    spans, start = [], opening + 1
    for pos in range(opening, len(line)):
        if line[pos] in "([{":
            depth += 1
        elif line[pos] in ")]}":
            depth -= 1
            if depth == 0:
                spans.append((start, pos))
                return spans
        elif line[pos] == "," and depth == 1:
            spans.append((start, pos))
            start = pos + 1
    return []


def swapped(line, first, second):
    """The line with two spans exchanged, without the blanks around them."""
    def strip(span):
        text = line[span[0]:span[1]]
        left = span[0] + len(text) - len(text.lstrip())
        return left, left + len(text.strip())
    (a, b), (c, d) = strip(first), strip(second)
    return line[:a] + line[c:d] + line[b:c] + line[a:b] + line[d:]


def argument_swaps(line, code, language):
    if language == "shell":
        word = r'"\$\w+"|"\$\{\w+\}"'
        for m in re.finditer(r"(?=\s(%s) (%s))" % (word, word), code):
            yield swapped(line, m.span(1), m.span(2))
        return
    if re.match(r"\s*(?:async )?(?:def|function|class)\b", code):
        return
    if language == "c" and not code[:1].isspace():      # a declaration
        return
    for m in re.finditer(r"(\w+)\(", code):
        if m.group(1) in KEYWORDS:
            continue
        spans = arguments(code, m.end() - 1)
        for first, second in zip(spans, spans[1:]):
            yield swapped(line, first, second)


def negations(line, code, language):
    if language == "python":
        m = re.match(r"(\s*(?:if|elif|while) )(.+):$", code)
        form = "not (%s)"
    elif language == "shell":
        m = re.match(r"(\s*(?:if|elif|while) )(.+); (?:then|do)$", code)
        form = "! %s"
    else:
        m = re.match(r"(\s*(?:\} else )?(?:if|while) \()(.+)\)[^)]*$", code)
        form = "!(%s)"
        if m and m.group(2).count("(") != m.group(2).count(")"):
            return
    if m:
        a, b = m.span(2)
        yield line[:a] + form % line[a:b] + line[b:]


def is_statement(code, before, language):
    """Can the line be dropped as a whole?"""
    body = code.strip()
    if not body or body.count("(") != body.count(")"):
        return False
    if language == "python":
        return bool(re.match(r"(?!return|raise|def|class|import|from|@)"
                             r"[\w.]+(\[.*\])? ?([-+]?= |\()|continue$", body)
                    ) and not before.rstrip().endswith((",", "(", "[", "{"))
    if language == "shell":
        return bool(re.match(r"\w+=|shift|mv |rm |: >|continue", body)
                    ) and not body.endswith((";;", "do", "then", "\\"))
    if not re.match(r"(?!(?:return|throw|const|let|case|default|if|for|while|"
                    r"switch)\b)[\w.>\[\]*-]+"
                    r" ?([-+*/]?= |\(|\+\+|--)|continue;", body):
        return False
    return body.endswith(";") and before.rstrip()[-1:] in ("", ";", "{", "}")


def line_mutations(line, code, before, pools, language):
    """Yield (operator, new line) for one line of a function."""
    def put(token, text):
        return line[:token.start] + text + line[token.end:]

    for token in tokens(code, language):
        text = token.text
        for other in SWAPS[text] if token.kind == "op" else ():
            yield "relational", put(token, other)
        if token.kind == "test":
            yield "relational", put(token, " %s " % TESTS[text.strip()])
        binary = language == "shell" or re.search(r"[\w)\]] $",
                                                  code[:token.start])
        if text in ARITHMETIC and binary:
            yield "arithmetic", put(token, ARITHMETIC[text])
        if text in LOGIC:
            yield "logic", put(token, LOGIC[text])
        if text in TWINS:
            kind = "minmax" if text in ("min", "max") else "boolean"
            yield kind, put(token, TWINS[text])
        if token.kind == "number":
            yield "constant", put(token, str(int(text) + 1))
            if int(text) > 0:
                yield "constant", put(token, str(int(text) - 1))
        if text == "not" and code[:token.start].rstrip()[-2:] != "is":
            yield "delete-not", line[:token.start] + line[token.end:].lstrip()
        if text == "!" and code[token.end:token.end + 1] not in ("", "="):
            yield "delete-not", put(token, "")
        if token.kind == "name":
            member = language != "shell" and is_member(code, token)
            pool = pools[1 if member else 0]
            for other in pool if text in pool else ():
                if other != text and code[token.end:token.end + 1] != "(":
                    yield "wrong-variable", put(token, other)
    for new in argument_swaps(line, code, language):
        yield "swap-arguments", new
    for new in negations(line, code, language):
        yield "negate", new
    if is_statement(code, before, language):
        yield "delete-statement", ""


def source_files(root, language):
    for base, dirs, files in os.walk(root):
        dirs[:] = sorted(d for d in dirs
                         if d not in ("test", "tests") and d[0] not in "._")
        for name in sorted(files):
            if name.endswith(SUFFIX[language]):
                yield os.path.relpath(os.path.join(base, name), root)


def mutations(root, language):
    """All single-edit mutations of a program, in a fixed order."""
    for path in source_files(root, language):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        lines = text.split("\n")
        codes = blank(text, language).split("\n")
        ranges = scopes(codes, language)
        for number, (line, code) in enumerate(zip(lines, codes)):
            scope = ranges[number]
            pools = variables(codes[scope[0]:scope[1]] if scope else [],
                              language)
            before = codes[number - 1].replace("\0", "") if number else ""
            for kind, new in line_mutations(line, code, before, pools,
                                            language):
                if new != line:
                    yield Mutation(path, number + 1, kind, line, new)


# ----------------------------------------------------------------- running

def run(command, cwd, language):
    """Exit status of a shell command, or None when it had to be killed."""
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", LC_ALL="C")
    # A mutant may loop and allocate; node reserves far more than it uses.
    if language != "javascript":
        command = "ulimit -v 2000000; ulimit -f 200000; " + command
    env.pop("NODE_TEST_CONTEXT", None)
    with subprocess.Popen(command, shell=True, cwd=cwd, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL,
                          start_new_session=True) as process:
        try:
            return process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None


def parses(path, cwd, language):
    return subprocess.run(CHECK[language] + [path], cwd=cwd,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def write(root, mutation):
    path = os.path.join(root, mutation.file)
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    lines[mutation.line - 1] = mutation.mutated
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


class Program:
    """A mended program and its mutations in random order."""

    def __init__(self, name, temp, seed):
        self.name = name
        folder = os.path.join(BUGS, name)
        with open(os.path.join(folder, "bug.json"), encoding="utf-8") as file:
            bug = json.load(file)
        self.language = bug["language"]
        self.test = bug["test"]
        self.root = os.path.join(temp, name)
        shutil.copytree(os.path.join(folder, "repo"), self.root)
        with open(os.path.join(folder, "fix.patch"), "rb") as patch:
            subprocess.run(["patch", "-p1", "-s", "--no-backup-if-mismatch"],
                           cwd=self.root, stdin=patch, check=True)
        # A string seeds the same way in every run, unlike hash().
        self.random = random.Random("%d %s" % (seed, name))
        self.left = defaultdict(list)
        for mutation in mutations(self.root, self.language):
            self.left[mutation.operator].append(mutation)

    def draw(self):
        """Take an operator first, or wrong variables would drown the rest."""
        kinds = sorted(kind for kind in self.left if self.left[kind])
        if not kinds:
            return None
        choices = self.left[self.random.choice(kinds)]
        return choices.pop(self.random.randrange(len(choices)))

    def make(self, target):
        """Leave the next failing mutant in target; None when used up."""
        while True:
            mutation = self.draw()
            if mutation is None:
                return None
            shutil.copytree(self.root, target)
            write(target, mutation)
            if parses(mutation.file, target, self.language) and \
                    run(self.test, target, self.language) not in (0, None):
                # The test run may have built something: keep sources only.
                shutil.rmtree(target)
                shutil.copytree(self.root, target)
                write(target, mutation)
                return mutation
            shutil.rmtree(target)


def turns(programs):
    """Endless round: one program of each language, then the next ones."""
    groups = defaultdict(list)
    for program in programs:
        groups[program.language].append(program)
    while groups:
        for language in sorted(groups):
            program = groups[language].pop(0)
            if (yield program):
                groups[language].append(program)
            if not groups[language]:
                del groups[language]


def known_programs():
    """The names of all programs in a language that is known here."""
    for name in sorted(os.listdir(BUGS)):
        path = os.path.join(BUGS, name, "bug.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if json.load(file)["language"] in SUFFIX:
                    yield name


def generate(seed, count, out):
    os.makedirs(out, exist_ok=True)
    made = []
    with tempfile.TemporaryDirectory(prefix="mutate-") as temp:
        order = turns([Program(name, temp, seed) for name in known_programs()])
        program = next(order, None)
        while program and len(made) < count:
            label = "m%02d" % (len(made) + 1)
            target = os.path.join(out, label)
            shutil.rmtree(target, ignore_errors=True)
            mutation = program.make(target)
            if mutation:
                row = dict(mutation._asdict(), test=program.test,
                           program=program.name, language=program.language)
                with open(target + ".json", "w", encoding="utf-8") as file:
                    json.dump(row, file, indent=2)
                    file.write("\n")
                made.append((label, row))
            try:
                program = order.send(mutation is not None)
            except StopIteration:
                break
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--out", help="where the mutants go")
    parser.add_argument("--list", action="store_true",
                        help="print a table of the mutants")
    args = parser.parse_args()
    if not args.out and not args.list:
        parser.error("--out or --list is needed")
    with tempfile.TemporaryDirectory(prefix="mutants-") as temp:
        made = generate(args.seed, args.count, args.out or temp)
    if args.list:
        for label, row in made:
            print("%-4s %-12s %-17s %s:%d\n       - %s\n       + %s" % (
                label, row["program"], row["operator"], row["file"],
                row["line"], row["original"].strip(), row["mutated"].strip()))
    print("%d mutants" % len(made), file=sys.stderr)
    return 0 if len(made) == args.count else 1


if __name__ == "__main__":
    sys.exit(main())
