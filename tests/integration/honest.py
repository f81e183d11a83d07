#!/usr/bin/env python3
"""Honest work passes inside: what people's builds and tests do, on the real
tree, on a copy and in a worker. Each job works outside first; a toolchain that
is not there is named and left out."""
import os
import shutil
import sys
import zipfile

import lib

PYTHON = "/usr/bin/python3"

JOBS = {}


def job(needs=(), profile="default"):
    def add(f):
        JOBS[f.__name__] = (f, needs, profile)
        return f
    return add


@job()
def venv_pytest(box):
    """A virtual environment, made outside, with an editable install."""
    repo = box.repo("venv", {
        ".gitignore": ".venv\n*.egg-info\n__pycache__\n",
        "pyproject.toml": "[build-system]\nrequires = ['setuptools']\n"
                          "build-backend = 'setuptools.build_meta'\n"
                          "[project]\nname = 'twice'\nversion = '1'\n"
                          "[tool.setuptools]\npackages = ['twice']\n",
        "setup.py": "from setuptools import setup\nsetup()\n",
        "twice/__init__.py": "def twice(n):\n    return 2 * n\n",
        "tests/test_twice.py": "from twice import twice\n\n\ndef test_it(tmp_path):\n"
                               "    (tmp_path / 'x').write_text('x')\n"
                               "    assert twice(4) == 8\n"})
    r = box.call(["sh", "-c", "%s -m venv --without-pip --system-site-packages "
                  ".venv && .venv/bin/python setup.py -q develop" % PYTHON],
                 cwd=repo)
    lib.equal(r.status, 0, "a venv can be made", r)
    return repo, "cd tests && ../.venv/bin/python -m pytest -q", "1 passed"


@job()
def venv_inside(box):
    """One that is made inside."""
    repo = box.repo("venv2", {"m.py": "X = 3\n"})
    return repo, ("%s -m venv --without-pip env && env/bin/python -c 'import m; "
                  "print(m.X)' && ls env/bin | head -3" % PYTHON), "3\n"


@job(needs=["cc", "make"])
def c_make(box):
    repo = box.repo("cmake-less", {
        "Makefile": "check: t\n\t./t\nt: t.o\n\tcc -o t t.o\nt.o: t.c\n"
                    "\tcc -g -fsanitize=address -c t.c 2>/dev/null || cc -c t.c\n"
                    "clean:\n\trm -f t t.o\n",
        "t.c": "#include <stdio.h>\nint main(void) { puts(\"made\"); "
               "return 0; }\n"})
    return repo, ("make -s -j2 LDFLAGS= check || (make clean; cc -c t.c; make -s "
                  "check)"), "made"


@job(needs=["cmake", "cc", "make"])
def cmake_cache(box):
    """Configured outside, so that its cache has absolute paths in it."""
    repo = box.repo("cmake", {
        ".gitignore": "build/\n",
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(p C)\n"
                          "enable_testing()\nadd_executable(t t.c)\n"
                          "add_test(NAME t COMMAND t)\n",
        "t.c": "int main(void) { return 0; }\n"})
    r = box.call(["cmake", "-S", ".", "-B", "build"], cwd=repo)
    lib.equal(r.status, 0, "cmake configures", r)
    return repo, ("cmake --build build && cd build && ctest 2>&1"), \
        "100% tests passed"


@job(needs=["node"])
def node_test(box):
    repo = box.repo("node", {
        "package.json": '{"name": "x", "scripts": {"test": "node --test"}}\n',
        "test/a.test.js": "const test = require('node:test');\n"
                          "const fs = require('fs'), os = require('os');\n"
                          "test('a', () => { fs.mkdtempSync(os.tmpdir() + '/a'); "
                          "new Worker; });\n".replace("new Worker; ", "")})
    if shutil.which("npm", path=box.env["PATH"]):
        return repo, "npm test 2>&1", "pass 1"
    print("no npm: node --test alone")
    return repo, "node --test 2>&1", "pass 1"


@job(needs=["cargo"], profile="build")
def rust(box):
    repo = box.repo("rust", {
        ".gitignore": "target/\n",
        "Cargo.toml": "[package]\nname = 'x'\nversion = '0.1.0'\n"
                      "edition = '2021'\n",
        "src/lib.rs": "pub fn f() -> i32 { 3 }\n#[cfg(test)]\nmod t { #[test] "
                      "fn f() { assert_eq!(super::f(), 3); } }\n"})
    return repo, "cargo test --offline 2>&1", "1 passed"


@job(needs=["go"])
def go(box):
    repo = box.repo("go", {
        "go.mod": "module x\n\ngo 1.18\n", "x.go": "package x\n\nvar X = 3\n",
        "x_test.go": "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) "
                     "{\n\tif X != 3 {\n\t\tt.Fatal(X)\n\t}\n}\n"})
    return repo, "go test ./... 2>&1", "ok"


def with_module(box, name):
    """A tree that needs a module, which the module cache of HOME has."""
    proxy = os.path.join(box.dir, "proxy-" + name)
    at = os.path.join(proxy, "example.org/dep/@v")
    os.makedirs(at)
    with zipfile.ZipFile(os.path.join(at, "v1.0.0.zip"), "w") as z:
        z.writestr("example.org/dep@v1.0.0/go.mod", "module example.org/dep\n")
        z.writestr("example.org/dep@v1.0.0/dep.go",
                   "package dep\n\nvar Three = 3\n")
    lib.write(os.path.join(at, "v1.0.0.mod"), "module example.org/dep\n")
    lib.write(os.path.join(at, "v1.0.0.info"), '{"Version": "v1.0.0"}\n')
    lib.write(os.path.join(at, "list"), "v1.0.0\n")
    repo = box.repo(name, {
        "go.mod": "module x\n\ngo 1.18\n\nrequire example.org/dep v1.0.0\n",
        "x_test.go": "package x\n\nimport (\n\t\"testing\"\n\n"
                     "\t\"example.org/dep\"\n)\n\nfunc TestX(t *testing.T) {\n"
                     "\tif dep.Three != 3 {\n\t\tt.Fatal(dep.Three)\n\t}\n}\n"})
    box.own()
    r = box.call(["env", "GOPROXY=file://" + proxy, "GONOSUMDB=*",
                  "GOFLAGS=-mod=mod -modcacherw", "go", "mod", "download", "all"],
                 cwd=repo, timeout=120)
    lib.equal(r.status, 0, "a module can be got", r)
    return repo


@job(needs=["go"])
def go_modules(box):
    return with_module(box, "gomod"), "GOFLAGS=-mod=mod go test ./... 2>&1", "ok"


@job(needs=["go"], profile="build")
def go_modules_build(box):
    """This profile has a place of its own for them."""
    return with_module(box, "gomod2"), "go test ./... 2>&1", "ok"


@job(needs=["javac"])
def java(box):
    """Its home is by passwd, its machine by name."""
    repo = box.repo("java", {
        "T.java": "class T { public static void main(String[] a) throws "
                  "Exception { java.net.InetAddress.getLocalHost(); "
                  "System.out.println(\"made \" + 3 + \" \" + "
                  "System.getProperty(\"user.home\")); } }\n"})
    return repo, ("javac T.java && java T >out && cat out && "
                  "{ test \"$USER\" != foray || grep \" $HOME\\$\" out; }"), \
        "made 3"


@job()
def account(box):
    """Who they are, and the name of the machine."""
    repo = box.repo("account", {"t.py": """
import getpass, grp, os, pwd, socket
if os.environ["USER"] == "foray":
    me = pwd.getpwuid(os.getuid())
    assert me.pw_dir == os.environ["HOME"] == os.path.expanduser("~"), me
    assert me.pw_dir == os.path.expanduser("~foray"), me
    assert me.pw_name == getpass.getuser() and os.access(me.pw_shell, os.X_OK)
    grp.getgrgid(os.getgid())
    assert pwd.getpwuid(0).pw_name == "root"
    assert not any(u.pw_gecos for u in pwd.getpwall())
    socket.gethostbyname(socket.gethostname())
print("known")
"""})
    return repo, "USER=${USER-x} %s t.py && echo x >~/.made && rm ~/.made" % \
        PYTHON, "known"


@job(needs=["cc"], profile="debug")
def sanitizers(box):
    """AddressSanitizer reserves terabytes; its leak checker traces."""
    repo = box.repo("asan", {
        "t.c": "#include <stdlib.h>\n#include <stdio.h>\nint main(int n, char **v)"
               "\n{ (void)v; char *p = malloc(n + 7); puts(p ? \"clean\" : \"\"); "
               "free(p); return 0; }\n"})
    return repo, "cc -g -fsanitize=address -o t t.c && ./t", "clean"


@job(needs=["cc"])
def leaks(box):
    """Without ptrace leaks are not looked for, rather than an error."""
    repo = box.repo("lsan", {
        "t.c": "#include <stdio.h>\nint main(void) { puts(\"clean\"); return 0; }"
               "\n"})
    return repo, "cc -g -fsanitize=leak -o t t.c && ./t", "clean"


@job()
def commit(box):
    """In a workspace; the real tree's .git is read-only (see only())."""
    repo = box.repo("commit", {"a.txt": "x\n"})
    return repo, ("echo y >>a.txt && git add a.txt && git commit -qm two && "
                  "git stash list && git log --format=%s && git checkout -qb b && "
                  "git mv a.txt b.txt && git commit -qam three && "
                  "git status --short"), "two\n"


@job()
def serves(box):
    """A test with a server of its own, on IPv4, IPv6 and a unix socket."""
    repo = box.repo("serves", {"t.py": """
import http.server, os, socket, tempfile, threading, urllib.request
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    class Server(http.server.HTTPServer):
        address_family = family
    s = Server((host, 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=s.serve_forever, daemon=True).start()
    url = "http://%s:%d/t.py" % ("[::1]" if ":" in host else host,
                                 s.server_address[1])
    assert b"family" in urllib.request.urlopen(url).read()
    s.shutdown()
assert socket.gethostbyname("localhost").startswith("127.")
path = os.path.join(tempfile.mkdtemp(), "s")
u = socket.socket(socket.AF_UNIX)
u.bind(path)
u.listen()
socket.socket(socket.AF_UNIX).connect(path)
print("served")
"""})
    return repo, PYTHON + " t.py 2>/dev/null", "served"


@job()
def shared_memory(box):
    repo = box.repo("shm", {"t.py": """
import multiprocessing as m
from multiprocessing import shared_memory

def work(n):
    return n * n

if __name__ == "__main__":
    s = shared_memory.SharedMemory(create=True, size=1 << 20)
    s.buf[0] = 7
    t = shared_memory.SharedMemory(s.name)
    assert t.buf[0] == 7
    t.close(); s.close(); s.unlink()
    with m.Pool(2) as p:
        assert p.map(work, range(4)) == [0, 1, 4, 9]
    m.Lock()
    print("shared")
"""})
    return repo, PYTHON + " t.py && echo x >/dev/shm/x && cat /dev/shm/x", \
        "shared"


@job(needs=["tmux"])
def terminal_multiplexer(box):
    repo = box.repo("tmux", {"a": "x\n"})
    return repo, ("tmux -f /dev/null new-session -d -s a 'cat a; sleep 2' && "
                  "sleep 0.7; tmux capture-pane -p -t a | head -1; "
                  "tmux kill-server; script -qc 'echo pty' /dev/null"), "x\n"


@job()
def locks_and_links(box):
    """What builds do with files: locks, links, fifos, xattrs, renames, mmap."""
    repo = box.repo("files", {"d/a": "x\n", "t.py": """
import fcntl, mmap, os
f = open("lock", "w"); fcntl.flock(f, fcntl.LOCK_EX)
fcntl.lockf(f, fcntl.LOCK_EX)
os.symlink("d/a", "l"); os.link("d/a", "h"); os.mkfifo("p")
os.rename("d/a", "d/b"); os.mkdir("e"); os.rename("e", "e2")
os.chmod("t.py", 0o755)
g = open("m", "w+b"); g.truncate(4096); mm = mmap.mmap(g.fileno(), 4096)
mm[0:1] = b"z"; mm.flush(); os.fsync(g.fileno())
os.utime("m", (1, 1)); os.sendfile(os.open("o", os.O_CREAT | os.O_RDWR),
                                   f2 := os.open("t.py", os.O_RDONLY), 0, 10)
open("h", "a").write("more")  # one file, whatever its number (overlayfs)
assert open("d/b").read().endswith("more")
os.getrandom(4); os.sched_getaffinity(0); os.nice(1)
print("files", os.getloadavg() is not None)
"""})
    return repo, PYTHON + " t.py", "files True"


def only(name):
    """Where a job makes sense."""
    return ("--copy", "worker") if name == "commit" else ("", "--copy", "worker")


def one(box, who, name):
    f, needs, profile = JOBS[name]
    # A shim may be there without what it stands for.
    lacks = [n for n in needs if not shutil.which(n, path=box.env["PATH"]) or
             n == "cargo" and box.call(["cargo", "--version"]).status != 0]
    if lacks:
        print("%s: no %s: %s is left out" % (who, lacks[0], name))
        return
    repo, command, sign = f(box)
    box.own()
    keep = repo + ".first"
    shutil.copytree(repo, keep, symlinks=True)
    os.makedirs(repo + ".tmp")  # the common one may have what others left
    box.own()
    r = box.call(["env", "TMPDIR=" + repo + ".tmp", "sh", "-c", command], cwd=repo)
    lib.check(sign in r.out, "%s: %s outside" % (who, name), r)
    for place in only(name):
        shutil.rmtree(repo)
        shutil.copytree(keep, repo, symlinks=True)
        box.own()
        if place == "worker":
            r = box.tool(repo, "run_command", {"command": command,
                                               "timeout_s": 120},
                         "--profile", profile, timeout=120)
            out = str(r.json.get("result"))
            good = out.startswith("exit status 0") and sign in out
        else:
            r = box.do("sandbox", "-C", repo, "--profile", profile,
                       *filter(None, [place]), "--", "sh", "-c", command,
                       timeout=120)
            if not place and "read-only here" in r.err:
                print("%s: %s: the real tree is read-only on an overlay" %
                      (who, name))
                continue
            good = r.status == 0 and sign in r.out
        lib.check(good, "%s: %s inside (%s)" % (who, name, place or "live"), r)


def sparse(box, who):
    """More than the limit of a file, if only by its size."""
    repo = box.repo("sparse", {"a": "x\n"})
    command = "truncate -s %s big && echo made || echo refused; rm -f big"
    for size, sign in (("3G", "made"), ("4097M", "refused"), ("5G", "refused")):
        r = box.do("sandbox", "-C", repo, "--copy", "--", "sh", "-c",
                   command % size)
        lib.check(sign in r.out, "%s: a sparse file of %s: %s" %
                  (who, size, sign), r)
        r = box.tool(repo, "run_command", {"command": command % size})
        lib.check(sign in str(r.json.get("result")), "%s: a worker's of %s: %s"
                  % (who, size, sign), r)


def main():
    chosen = sys.argv[1:]
    for uid in lib.users("root"):
        who = lib.user_name(uid)
        with lib.Box(uid) as box:
            if uid is None:
                box.env["PATH"] = os.environ["PATH"]
            for name in JOBS:
                if not chosen or name in chosen:
                    one(box, who, name)
            if not chosen or "sparse" in chosen:
                sparse(box, who)
    lib.done()


main()
