"""What the whole-program tests share.

    with lib.Box() as box:              # HOME, state and cache of their own
        repo = box.bug("py-cron")       # a git repository in box.home/src
        r = box.run(repo, "-n", "4")    # foray run --json; r.events, r.finished
        lib.check(r.status == 0, "fixed", r)
    lib.done()

Every process that foray leaves behind becomes ours (child subreaper), so that
descendants() finds it however it was forked.

Limits are said in seconds of a machine that is idle, and stretched by BUSY: who
waits for what must come is done when it comes, and nobody else.
"""
import ctypes
import functools
import hashlib
import json
import os
import re
import select
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUGS = os.path.join(TESTS, "bugs")
BUILD = os.environ.get("FORAY_BUILD") or os.path.join(TESTS, "../build")
FORAY = os.path.abspath(os.environ.get("FORAY") or
                        os.path.join(BUILD, "foray"))
PROGRAMS = ("foray", "foray-host", "foray-worker")
# First in a box: behind a version manager's shims a python3 takes ten times as
# long to start. honest.py takes PATH as it is.
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
NAMESPACES = ("user", "pid", "mnt", "net", "ipc", "uts")
OTHER_UID = 61999  # of nobody; only to be some ordinary user
SKIPPED = 77
# What a person or a CI may have set, and a test does not expect: keys and models
# of theirs, a proxy, the repository of a hook.
FOREIGN = re.compile("XDG_(RUNTIME_DIR|CONFIG_HOME)$|NODE_TEST_CONTEXT$|GIT_|"
                     "OPENAI_|ANTHROPIC_|FORAY_(?!BUILD$|USERS$|SANDBOX_)|"
                     "(?i:[a-z]+_proxy)$")
BUSY = 6  # so much slower is one where much else runs, or more

PR_SET_CHILD_SUBREAPER = 36
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

# Who starts us in the background may have them ignored, and so would all that we
# start: a shell can't even trap them then.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0")
os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")

# ------------------------------------------------------------------ checks

passed = failed = 0
lock = threading.Lock()


def check(good, what, detail=""):
    """Count one expectation; what and detail are printed when it fails."""
    global passed, failed
    with lock:
        if good:
            passed += 1
        else:
            failed += 1
            detail = "\n".join("    " + line
                               for line in str(detail).splitlines()[-60:])
            print("FAIL %s%s" % (what, "\n" + detail if detail else ""),
                  flush=True)
    return bool(good)


def equal(got, want, what, detail=""):
    return check(got == want, what, "got %r, want %r\n%s" % (got, want, detail))


def sanitized():
    """Is the program under test built with the address sanitizer?"""
    with open(FORAY, "rb") as f:
        return b"__asan_init" in f.read()


def done():
    """End this test; whatever runs on is a failure, and ended."""
    rest = left_alive()
    check(not rest, "nothing is left running",
          "\n".join(repr(p) for p in rest))
    end_all()
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


def skip(why):
    print("skipped: " + why)
    sys.exit(SKIPPED)


# --------------------------------------------------------------- processes


class Process:
    """A row of /proc; start makes it differ from a later one with its pid."""

    def __init__(self, pid):
        self.pid = pid
        # Some tests read those of all processes fifty times a second.
        fd = os.open("/proc/%d/stat" % pid, os.O_RDONLY | os.O_CLOEXEC)
        try:
            name, rest = os.read(fd, 4096).rsplit(b")", 1)
        finally:
            os.close(fd)
        fields = rest.split(None, 20)
        self.name = name.split(b"(", 1)[1].decode("ascii", "replace")
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.start = int(fields[19])

    def read(self, name):
        try:
            with open("/proc/%d/%s" % (self.pid, name), "rb") as f:
                return f.read()
        except OSError:
            return b""

    def alive(self):
        try:
            now = Process(self.pid)
        except (OSError, IndexError, ValueError):
            return False
        return now.start == self.start and now.state not in "ZX"

    def is_worker(self):
        return self.name in ("worker", "foray-worker")

    def namespaces(self):
        return {n: os.readlink("/proc/%d/ns/%s" % (self.pid, n))
                for n in NAMESPACES}

    def __repr__(self):
        args = self.read("cmdline").replace(b"\0", b" ").decode("utf-8", "replace")
        return "%d (parent %d, %s) %s: %s" % (
            self.pid, self.parent, self.state, self.name, args[:200])


def processes():
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                found[int(name)] = Process(int(name))
            except (OSError, IndexError, ValueError):
                pass  # it ended meanwhile
    return found


def descendants(top=None):
    """What is alive below a process, by default below this test."""
    everything = processes()
    below = {}
    for p in everything.values():
        below.setdefault(p.parent, []).append(p)
    found, todo = [], [os.getpid() if top is None else top]
    while todo:
        for p in below.get(todo.pop(), []):
            todo.append(p.pid)
            if p.state not in "ZX":
                found.append(p)
    return found


def wait_until(condition, seconds, step=0.02):
    """The condition's last value: true before the time is over, or false."""
    end = time.monotonic() + seconds * BUSY
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


def exit_status(process, seconds):
    """A Popen's, at once when it ends: wait() with a time limit looks every 50
    ms. None: the time is over."""
    if process.poll() is None:
        try:
            fd = os.pidfd_open(process.pid)
        except ProcessLookupError:
            return process.wait()  # another thread has just taken it
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        poll.poll(seconds * 1000)
        os.close(fd)
    return process.poll()


def soon(took, seconds):
    """Was it over in time? What it must not have waited for takes longer than
    that on any machine: ten times as long, better for ever."""
    return took is not None and took < seconds * BUSY


def left_alive(group=None, seconds=2.0):
    """Those of group (default: all descendants) that live on after that time."""
    def rest():
        return [p for p in (descendants() if group is None else group)
                if p.alive()]
    wait_until(lambda: not rest(), seconds)
    return rest()


def reap():
    """Take the exit status of orphans that became ours."""
    ours = {p.pid for p in started if p.returncode is None}
    for p in processes().values():
        if p.parent == os.getpid() and p.state == "Z" and p.pid not in ours:
            try:
                os.waitpid(p.pid, os.WNOHANG)
            except ChildProcessError:
                pass


def end_all(top=None):
    """End what is still below a process that this test started, or below us."""
    for p in descendants(top):
        try:
            os.kill(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if top is None:
        left_alive()
        reap()


started = []  # Popen objects, whose status is theirs to take


# -------------------------------------------------------------------- runs


class Result:
    def __init__(self, args, status, out, err, seconds):
        self.args, self.status, self.seconds = args, status, seconds
        self.stdout, self.stderr = out, err
        self.out = out.decode("utf-8", "replace")
        self.err = err.decode("utf-8", "replace")
        self.text = self.out + self.err

    @functools.cached_property
    def events(self):
        return [e for e in map(parse_event, self.stdout.splitlines()) if e]

    def all(self, name):
        return [e for e in self.events if e["event"] == name]

    @property
    def finished(self):
        return (self.all("run_finished") or [{}])[-1]

    @property
    def json(self):
        """The one object that `foray tool` prints."""
        try:
            return json.loads(self.stdout)
        except ValueError:
            return {}

    def __str__(self):
        return "%s\nstatus %s after %.1f s\n%s\n%s" % (
            " ".join(shlex.quote(str(a)) for a in self.args), self.status,
            self.seconds, self.out[-3000:], self.err[-3000:])


def parse_event(line):
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event" in event else None


class Live:
    """A foray that runs in the background; its output comes as it is made."""

    def __init__(self, box, args, **more):
        self.args, self.began = args, time.monotonic()
        self.lines, self.err = [], tempfile.TemporaryFile()
        self.seen = []  # the events among the lines, each parsed once
        self.process = box.popen(args, stdout=subprocess.PIPE, stderr=self.err,
                                 **more)
        self.pid = self.process.pid
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        with self.process.stdout:
            for line in self.process.stdout:
                self.lines.append(line)
                event = parse_event(line)
                if event:
                    self.seen.append(event)

    def events(self, name=None):
        return [e for e in list(self.seen) if name in (None, e["event"])]

    def wait_event(self, name, seconds, number=1):
        """The events of that name once there are so many, else []."""
        wait_until(lambda: len(self.events(name)) >= number or
                   self.process.poll() is not None, seconds)
        if self.process.poll() is not None:  # its last words may be on their way
            self.reader.join(5 * BUSY)
        found = self.events(name)
        return found if len(found) >= number else []

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def wait(self, seconds):
        """The Result; status None when it had to be killed."""
        status = exit_status(self.process, seconds * BUSY)
        if status is None:
            self.process.kill()
            self.process.wait()
        self.reader.join(5 * BUSY)
        self.err.seek(0)
        return Result(self.args, status, b"".join(self.lines), self.err.read(),
                      time.monotonic() - self.began)


class Box:
    """HOME, XDG directories and repositories that are gone afterwards.

    Its directory has mode 0700, as a home may have. uid: another user than
    the present one, to whom all of it belongs.
    """

    def __init__(self, uid=None):
        self.uid = uid
        self.dir = tempfile.mkdtemp(prefix="foray-it-")
        self.home = os.path.join(self.dir, "home")
        self.state = os.path.join(self.home, ".local/state")
        self.cache = os.path.join(self.home, ".cache")
        self.src = os.path.join(self.home, "src")
        for path in (self.state, self.cache, self.src):
            os.makedirs(path)
        self.env = dict(os.environ, HOME=self.home, XDG_STATE_HOME=self.state,
                        XDG_CACHE_HOME=self.cache, LC_ALL="C.UTF-8",
                        PYTHONDONTWRITEBYTECODE="1",
                        PATH=SYSTEM_PATH + ":" + os.environ.get("PATH", ""))
        for name in [n for n in self.env if FOREIGN.match(n)]:
            del self.env[name]
        self.env["GIT_CONFIG_NOSYSTEM"] = "1"
        write(os.path.join(self.home, ".gitconfig"),
              "[user]\n\tname = T\n\temail = t@localhost\n")
        self.mine = []  # Popen objects
        self.foray = FORAY
        if uid is not None:
            self.env["PATH"] = SYSTEM_PATH
            self.foray = self.reachable_foray()
        self.own()

    def reachable_foray(self):
        """foray, copied when this user can't get at it where it is."""
        path = FORAY
        while path != "/":
            if not os.stat(path).st_mode & stat.S_IXOTH:
                break
            path = os.path.dirname(path)
        if path == "/":
            return FORAY
        place = os.path.join(self.dir, "bin")
        os.mkdir(place)
        for name in PROGRAMS:
            shutil.copy(os.path.join(os.path.dirname(FORAY), name), place)
        return os.path.join(place, "foray")

    def own(self):
        """Give all that was made as root to the user of this box."""
        if self.uid is None:
            return
        for base, folders, files in os.walk(os.fsencode(self.dir)):
            for name in [b"."] + folders + files:
                os.lchown(os.path.join(base, name), self.uid, self.uid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for p in self.mine:
            if p.poll() is None:
                end_all(p.pid)
                p.kill()
                p.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def hold(self):
        """What runs from now on waits at its first tool call, for a test to
        act while it is at work; until release()."""
        held = os.path.join(self.dir, "held")
        settings = os.path.join(self.home, ".config/foray/settings.json")
        write(held, "")
        write(settings, json.dumps({"hooks": {"PreToolUse": [{
            "matcher": "*", "hooks": [{
                "type": "command", "timeout": 600, "command":
                "while [ -e %s ]; do sleep 0.05; done" % held}]}]}}))
        self.own()

    def release(self):
        os.unlink(os.path.join(self.dir, "held"))
        os.unlink(os.path.join(self.home, ".config/foray/settings.json"))

    # -- repositories

    def repo(self, name, files, git=True):
        """A tree with these files {name: text or bytes, mode 0755 for "#!"}."""
        path = os.path.join(self.src, name)
        for file, text in files.items():
            write(os.path.join(path, file), text)
        if git:
            self.git_init(path)
        self.own()
        return path

    def bug(self, name, place=None, git=True):
        path = os.path.join(self.src, place or name)
        shutil.copytree(os.path.join(BUGS, name, "repo"), path)
        if git:
            self.git_init(path)
        self.own()
        return path

    def git(self, path, *args, **more):
        env = dict(self.env, GIT_CONFIG_COUNT="1",
                   GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
        return subprocess.run(["git", "-C", path, *args], env=env, check=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, **more).stdout

    def git_init(self, path):
        self.git(path, "init", "-q", "-b", "main")
        self.git(path, "add", "-A")
        self.git(path, "commit", "-q", "--allow-empty", "-m", "first")

    def status(self, path):
        return self.git(path, "--no-optional-locks", "status", "--porcelain",
                        "--ignored")

    # -- programs

    def popen(self, args, **more):
        """args[0] "foray" stands for the program under test."""
        argv = [self.foray if args[0] == "foray" else args[0], *args[1:]]
        env = dict(self.env, **more.pop("env", {}))
        if self.uid is not None:
            more.update(user=self.uid, group=self.uid, extra_groups=[])
        p = subprocess.Popen(argv, env=env, cwd=more.pop("cwd", self.home),
                             stdin=more.pop("stdin", subprocess.DEVNULL),
                             **more)
        started.append(p)
        self.mine.append(p)
        return p

    def call(self, args, timeout=60, **more):
        """Run to the end; status None: it took longer and was killed."""
        began = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            p = self.popen(args, stdout=out, stderr=err, **more)
            status = exit_status(p, timeout * BUSY)
            if status is None:
                p.kill()
                p.wait()
            out.seek(0)
            err.seek(0)
            return Result(args, status, out.read(), err.read(),
                          time.monotonic() - began)

    def do(self, *args, **more):
        """foray ARGS..."""
        return self.call(["foray", *args], **more)

    def run(self, repo, *args, first=False, **more):
        """foray run -C REPO --json ARGS..."""
        return self.call(run_args(repo, args, first), **more)

    def tool(self, repo, name, arguments, *options, **more):
        """foray tool; arguments are a value, or the text of one."""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        return self.do("tool", "-C", repo, *options, name, arguments, **more)

    def start(self, repo, *args, first=False, **more):
        return Live(self, run_args(repo, args, first), **more)

    def listen(self, repo, *args, at="tcp://127.0.0.1:*"):
        """A run that listens, its endpoint ("": it does not), and the keys for
        its hosts."""
        keys = os.path.join(self.home, ".config/foray/keys/hosts/fleet")
        if not os.path.isdir(keys):
            r = self.do("keys", "new", "fleet")
            check(r.status == 0, "keys are made", r)
        run = self.start(repo, "--listen", at, *args)
        found = run.wait_event("listening", 30)
        check(found, "it listens", run.events())
        return run, found[0]["endpoint"] if found else "", keys

    def runs(self):
        """Directories of the runs there are, by age."""
        top = os.path.join(self.state, "foray/runs")
        return [os.path.join(top, n) for n in sorted(os.listdir(top))] \
            if os.path.isdir(top) else []


def run_args(repo, args, first):
    """first: the built-in model tries before the one that -m names. Most tests
    are about that one, and their bugs are small."""
    args = [str(a) for a in args]
    model = args[args.index("-m") + 1] if "-m" in args else "builtin"
    own = model == "builtin" or model.startswith("replay:")
    return ["foray", "run", "-C", repo, "--json",
            *([] if own or first else ["--no-builtin"]), *args]


def users(short=None):
    """[uid] to test as: the present user, and as root an ordinary one, too.
    A long test names the one that is enough for `make test` when root runs it,
    "root" or "ordinary"; FORAY_USERS=all (users_long.py) takes both again."""
    if os.geteuid() != 0:
        return [None]
    if short is None or os.environ.get("FORAY_USERS") == "all":
        return [None, OTHER_UID]
    return {"root": [None], "ordinary": [OTHER_UID]}[short]


def user_name(uid):
    return "uid %d" % (os.geteuid() if uid is None else uid)


# ------------------------------------------------------------------- trees


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    if text[:2] in ("#!", b"#!"):
        os.chmod(path, 0o755)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def fingerprint(top):
    """{path: what is there}, .git included; equal when nothing was touched."""
    found = {}
    for base, folders, files in os.walk(os.fsencode(top)):
        for name in folders + files:
            path = os.path.join(base, name)
            st = os.lstat(path)
            body = b""
            if stat.S_ISREG(st.st_mode):
                with open(path, "rb") as f:
                    body = hashlib.sha256(f.read()).hexdigest()
            elif stat.S_ISLNK(st.st_mode):
                body = os.readlink(path)
            found[os.path.relpath(path, os.fsencode(top))] = (
                st.st_mode, st.st_uid, st.st_mtime_ns, body)
    return found


def differences(before, after):
    return sorted(k for k in before.keys() | after.keys()
                  if before.get(k) != after.get(k))


def bug_info(name):
    with open(os.path.join(BUGS, name, "bug.json"), encoding="utf-8") as f:
        return json.load(f)


def bug_names():
    return sorted(n for n in os.listdir(BUGS)
                  if os.path.exists(os.path.join(BUGS, n, "bug.json")))


# A bug that is found at once, with tests that take no time.
SMALL_TEST = "sh test.sh"
SMALL = {
    "max.sh": 'max() {\n\tif [ "$1" -lt "$2" ]; then\n\t\techo "$1"\n'
              '\telse\n\t\techo "$2"\n\tfi\n}\n',
    "test.sh": '. ./max.sh\nbad=0\nis() {\n\tif [ "$(max "$2" "$3")" = "$4" ]; '
               'then\n\t\techo "ok $1 - max $2 $3"\n\telse\n'
               '\t\techo "not ok $1 - max $2 $3"\n\t\tbad=1\n\tfi\n}\n'
               'is 1 2 3 3\nis 2 3 2 3\nis 3 5 5 5\necho 1..3\nexit $bad\n',
}
SMALL_FIXED = dict(SMALL, **{"max.sh": SMALL["max.sh"].replace("-lt", "-gt")})


def small(**more):
    """SMALL with more files, or others in their place."""
    return dict(SMALL, **more)


@functools.lru_cache(None)
def own_mounts():
    """From now on what others mount and unmount is not seen here; what foray
    does in our namespace is."""
    if os.geteuid() == 0 and libc.unshare(0x20000) == 0:  # CLONE_NEWNS
        libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None)  # private


def mounts():
    own_mounts()
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        # An ordinary user can mount nothing in a namespace that is not theirs.
        return "".join(line for line in f if os.geteuid() == 0 or
                       "foray" in line)
