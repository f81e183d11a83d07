#!/usr/bin/env python3
"""Check the bug corpus.

For every NAME/bug.json next to this script: the tests of repo/ fail, they
pass once fix.patch is applied, every edit of the patch is needed, and the
patch changes the file and line that bug.json names. All runs happen in
temporary copies. A bug whose toolchain is not installed is skipped, and said.

    check.py [NAME...]
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KEYS = {"test", "kind", "language", "fixable", "file", "line",
        "trace_points_at_fault", "title"}
OPTIONAL = {"edits"}
LIMIT = 60  # the first run of a Go or Java compiler takes its time
LEFTOVERS = re.compile(r"__pycache__|\.pyc$|\.o$|^run_tests$|node_modules|"
                       r"\.class$|\.test$|^build$")
TOOLS = {"python": ["python3"], "c": ["cc", "make"], "javascript": ["node"],
         "shell": ["sh"], "go": ["go"], "java": ["java", "javac", "make"]}


def run(command, cwd):
    """(exit status or None after a timeout, output, seconds)"""
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", LC_ALL="C")
    # Inside `node --test` this variable changes what another one prints.
    env.pop("NODE_TEST_CONTEXT", None)
    started = time.monotonic()
    with subprocess.Popen(command, shell=True, cwd=cwd, env=env, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            status = None
    return status, output, time.monotonic() - started


def failing_tests(language, output):
    if language == "python":
        return len(re.findall(r"^(?:FAIL|ERROR): ", output, re.M))
    if language == "javascript":
        found = re.search(r"^\S+ fail (\d+)", output, re.M)
        return int(found.group(1)) if found else 0
    if language == "go":
        return len(re.findall(r"^--- FAIL: ", output, re.M))
    return len(re.findall(r"^not ok", output, re.M))


def changes(patch):
    """[(file, line in the unpatched file, one-hunk patch)]"""
    found = []
    name = header = None
    hunk = []
    line = 0

    def close():
        if hunk:
            found[-1] = found[-1][:2] + (header + "".join(hunk),)
            hunk.clear()

    for row in patch.splitlines(True):
        start = re.match(r"@@ -(\d+)", row)
        if row.startswith("--- "):
            close()
            name = row.split()[1][2:]
            header = row
        elif row.startswith("+++ "):
            header += row
        elif start:
            close()
            line = int(start.group(1))
            hunk.append(row)
            found.append((name, None, ""))
        elif hunk:
            hunk.append(row)
            if row[0] in "-+" and found[-1][1] is None:
                found[-1] = (name, line, "")
            if row[0] in " -":
                line += 1
    close()
    return found


def apply(patch, repo):
    done = subprocess.run(["patch", "-p1", "-s", "--no-backup-if-mismatch"],
                          cwd=repo, input=patch, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode == 0


def count_fits(bug, hunks):
    """Does the patch have as many places as bug.json says? Edits that stand
    side by side are one hunk."""
    if "edits" not in bug:
        return (hunks == 1) == bug["fixable"]
    return 1 <= hunks <= bug["edits"] and \
        (bug["edits"] == 1 or not bug["fixable"])


def load(name):
    with open(os.path.join(HERE, name, "bug.json"), encoding="utf-8") as file:
        return json.load(file)


def check(name):
    """Yield (passed?, what) for one bug; the last item is a summary line."""
    folder = os.path.join(HERE, name)
    bug = load(name)
    with open(os.path.join(folder, "fix.patch"), encoding="utf-8") as file:
        patch = file.read()
    repo = os.path.join(folder, "repo")
    edits = changes(patch)

    yield set(bug) - OPTIONAL == KEYS, "bug.json has the keys %s" % sorted(KEYS)
    yield (bug["file"], bug["line"]) in [e[:2] for e in edits], \
        "fix.patch changes %s:%d" % (bug["file"], bug["line"])
    yield count_fits(bug, len(edits)), \
        "one edit if fixable, or as many as it says (%d)" % len(edits)
    junk = [os.path.join(base, item)
            for base, dirs, files in os.walk(repo)
            for item in dirs + files if LEFTOVERS.search(item)]
    yield not junk, "no build output in the tree %s" % junk

    with tempfile.TemporaryDirectory(prefix="bugcheck-") as temp:
        def trial(label, text):
            copy = os.path.join(temp, label)
            shutil.copytree(repo, copy)
            if text and not apply(text, copy):
                return None, "patch does not apply", 0.0
            return run(bug["test"], copy)

        status, output, seconds = trial("buggy", "")
        failing = failing_tests(bug["language"], output)
        yield status not in (0, None), "tests fail (status %s)" % status
        yield 1 <= failing <= 3, "1 to 3 failing tests (%d)" % failing
        status, output, _ = trial("fixed", patch)
        yield status == 0, "tests pass with fix.patch\n" + output
        if len(edits) > 1:
            for number, edit in enumerate(edits):
                status = trial("only%d" % number, edit[2])[0]
                yield status not in (0, None), \
                    "edit %d alone is not enough (status %s)" % (number + 1,
                                                                 status)
    yield None, "%-13s %-18s %-10s %-9s %d failing  %.2f s" % (
        name, bug["kind"], bug["language"],
        "fixable" if bug["fixable"] else "unfixable", failing, seconds)


def main(names):
    names = names or sorted(n for n in os.listdir(HERE)
                            if os.path.exists(os.path.join(HERE, n,
                                                           "bug.json")))
    passed = failed = skipped = 0
    for name in names:
        bug = load(name)
        missing = sorted(tool for tool in
                         {*TOOLS[bug["language"]], bug["test"].split()[0]}
                         if not shutil.which(tool))
        if missing:
            skipped += 1
            print("SKIP %s: there is no %s" % (name, ", no ".join(missing)))
            continue
        for good, what in check(name):
            if good is None:
                print(what)
            elif good:
                passed += 1
            else:
                failed += 1
                print("FAIL %s: %s" % (name, what))
    print("%d passed, %d failed%s" % (
        passed, failed, ", %d skipped" % skipped if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
