#!/usr/bin/env python3
"""A run without --apply leaves the tree as it was; what the tree holds that
git does not know of is part of the snapshot."""
import os

import lib


def run_and_compare(box, repo, what, test=lib.SMALL_TEST):
    """A run that must be fixed, and the tree as it was before."""
    status, before = box.status(repo), lib.fingerprint(repo)
    r = box.run(repo, "-t", test, "-n", "2")
    lib.equal(r.status, 0, what + ": fixed", r)
    after = lib.fingerprint(repo)
    lib.equal(lib.differences(before, after), [], what + ": files untouched")
    lib.equal(box.status(repo), status, what + ": git status is the same")
    return r


def apply(box, repo, r, what, test=lib.SMALL_TEST):
    done = box.call(["git", "-C", repo, "apply", r.finished.get("patch", "")])
    lib.equal(done.status, 0, what + ": git apply", done)
    lib.equal(box.call(["sh", "-c", test], cwd=repo).status, 0,
              what + ": the tests pass with it")


def clean_tree(box):
    repo = box.repo("clean", lib.SMALL)
    r = run_and_compare(box, repo, "clean tree")
    apply(box, repo, r, "clean tree")


def dirty_tree(box):
    """HEAD is another thing than the tree: the index, too, must stay."""
    files = lib.small(**{"other.txt": "1\n", "gone.txt": "x\n"})
    files["max.sh"] = "# nothing yet\n"
    repo = box.repo("dirty", files)
    lib.write(os.path.join(repo, "max.sh"), lib.SMALL["max.sh"])
    lib.write(os.path.join(repo, "other.txt"), "2\n")
    lib.write(os.path.join(repo, "staged.txt"), "3\n")
    box.git(repo, "add", "other.txt", "staged.txt")
    lib.write(os.path.join(repo, "other.txt"), "4\n")
    os.unlink(os.path.join(repo, "gone.txt"))
    box.own()
    test = "grep -q 4 other.txt && ! test -e gone.txt && " + lib.SMALL_TEST
    r = run_and_compare(box, repo, "dirty tree", test)
    apply(box, repo, r, "dirty tree", test)


ASK = ("import os, sys; print(os.path.realpath(sys._base_executable)); "
       "print('%d.%d' % sys.version_info[:2])")


def make_venv(box, repo):
    """As `python3 -m venv --without-pip` does, by hand and in no time."""
    venv = os.path.join(repo, ".venv")
    python, version = box.call(["python3", "-c", ASK]).out.split()
    lib.write(os.path.join(venv, "lib/python%s/site-packages/helper.py" %
                           version), "FACTOR = 3\n")
    os.makedirs(os.path.join(venv, "bin"))
    os.symlink(python, os.path.join(venv, "bin/python3"))
    os.symlink("python3", os.path.join(venv, "bin/python"))
    lib.write(os.path.join(venv, "pyvenv.cfg"), "home = %s\n"
              "include-system-site-packages = false\nversion = %s\n" %
              (os.path.dirname(python), version))
    lib.write(os.path.join(venv, "bin/where"),
              "#!%s/bin/python3\nimport helper\nprint(helper.FACTOR)\n" % venv)


def ignored_venv(box):
    repo = box.repo("venv", {
        ".gitignore": ".venv\n",
        "times.py": "import helper\n\n\ndef triple(n):\n"
                    "    return n - helper.FACTOR\n",
        "test_times.py": "import unittest\nimport local_settings\n"
                         "from times import triple\n\n\n"
                         "class Times(unittest.TestCase):\n"
                         "    def test_triple(self):\n"
                         "        self.assertEqual(triple(local_settings.N), 15)\n"})
    make_venv(box, repo)
    # Untracked, and not ignored.
    lib.write(os.path.join(repo, "local_settings.py"), "N = 5\n")
    box.own()
    test = ".venv/bin/where && .venv/bin/python -m unittest -v"
    where = box.call([".venv/bin/where"], cwd=repo)
    lib.equal(where.out, "3\n", "the venv works outside", where)
    r = run_and_compare(box, repo, "ignored .venv", test)
    apply(box, repo, r, "ignored .venv", test)


def ignored_node_modules(box):
    if box.call(["sh", "-c", "node --version"]).status != 0:
        print("no node: node_modules is not tried")
        return
    repo = box.repo("node", {
        ".gitignore": "node_modules/\n",
        "package.json": '{"name": "x", "scripts": {"test": "node --test"}}\n',
        "scale.js": "const factor = require('factor');\n"
                    "exports.scale = (n) => n + factor;\n",
        "test/scale.test.js": "const test = require('node:test');\n"
                              "const assert = require('node:assert');\n"
                              "const { scale } = require('../scale.js');\n"
                              "test('scale', () => {\n"
                              "  assert.strictEqual(scale(5), 20);\n});\n"})
    lib.write(os.path.join(repo, "node_modules/factor/index.js"),
              "module.exports = 4;\n")
    box.own()
    r = run_and_compare(box, repo, "ignored node_modules", "node --test")
    apply(box, repo, r, "ignored node_modules", "node --test")


def bytecode(box):
    """Tests that write beside the sources do so in the copies."""
    repo = box.bug("py-ledger")
    env = {"PYTHONDONTWRITEBYTECODE": ""}
    before = lib.fingerprint(repo)
    r = box.run(repo, "-t", lib.bug_info("py-ledger")["test"], "-n", "4",
                env=env)
    lib.equal(r.status, 0, "py-ledger: fixed", r)
    lib.equal(lib.differences(before, lib.fingerprint(repo)), [],
              "py-ledger: files untouched")


def apply_option(box):
    repo = box.repo("applied", lib.SMALL)
    before = lib.fingerprint(repo)
    r = box.run(repo, "-t", lib.SMALL_TEST, "--apply")
    lib.equal(r.status, 0, "--apply: fixed", r)
    changed = lib.differences(before, lib.fingerprint(repo))
    lib.check(b"max.sh" in changed, "--apply changes the file", changed)
    lib.check(not [c for c in changed if c.startswith(b".git")],
              "--apply leaves .git alone", changed)
    lib.equal(box.call(["sh", "test.sh"], cwd=repo).status, 0,
              "--apply: the tests pass")


def branch_option(box):
    repo = box.repo("branched", lib.SMALL)
    status, text = box.status(repo), lib.read(os.path.join(repo, "max.sh"))
    r = box.run(repo, "-t", lib.SMALL_TEST, "--branch", "mended")
    lib.equal(r.status, 0, "--branch: fixed", r)
    lib.equal(box.status(repo), status, "--branch: the tree stays")
    lib.equal(lib.read(os.path.join(repo, "max.sh")), text,
              "--branch: the file stays")
    names = box.git(repo, "branch", "--format=%(refname:short)").split()
    if lib.check(b"mended" in names, "--branch: it is there", names):
        box.git(repo, "checkout", "-q", "mended")
        lib.equal(box.call(["sh", "test.sh"], cwd=repo).status, 0,
                  "--branch: the tests pass on it")


for uid in lib.users():
    with lib.Box(uid) as the_box:
        for test_one in (clean_tree, dirty_tree, ignored_venv):
            test_one(the_box)
        if uid is None:
            for test_one in (ignored_node_modules, bytecode, apply_option,
                             branch_option):
                test_one(the_box)
lib.done()
