"""The host around a sandbox: what is to be had, and who looks."""
import ctypes
import json
import os
import secrets
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import lib

HERE = os.path.dirname(os.path.abspath(__file__))
INSIDE = os.path.join(HERE, "inside.py")
RT = signal.SIGRTMIN + 8  # the numbers that attempts send begin here
SHM_BYTES = 4096
libc = ctypes.CDLL(None, use_errno=True)

# A process of the person's. Its memory, descriptors and environment are worth
# reading; it writes down each signal that comes.
VICTIM = """
import ctypes, json, os, signal, sys, time
log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def note(n, frame):
    os.write(log, b"%d\\n" % n)
for n in range(signal.SIGRTMIN, signal.SIGRTMAX + 1):
    signal.signal(n, note)
signal.signal(signal.SIGTERM, note)
signal.signal(signal.SIGURG, note)
secret = ctypes.create_string_buffer(os.environ["SECRET_MEMORY"].encode(), 64)
vm, mem = (ctypes.create_string_buffer(b"as it was", 64) for _ in "xy")
fd = os.memfd_create("kept")
os.write(fd, os.environ["SECRET_FD"].encode())
print(json.dumps([ctypes.addressof(b) for b in (secret, vm, mem)] + [fd]),
      flush=True)
while True:
    time.sleep(100)
"""

# {name: path below the home}: files with keys of their own.
CREDENTIALS = {
    "ssh key": ".ssh/id_ed25519", "aws": ".aws/credentials",
    "netrc": ".netrc", "gh": ".config/gh/hosts.yml",
    "docker": ".docker/config.json", "kube": ".kube/config",
    "npmrc": ".npmrc", "pypirc": ".pypirc",
    "git credentials": ".git-credentials",
    "cargo": ".cargo/credentials.toml", "gnupg": ".gnupg/secring.gpg",
    "keyring": ".local/share/keyrings/login.keyring",
    "history": ".bash_history", "browser": ".mozilla/firefox/x/logins.json",
    "gcloud": ".config/gcloud/credentials.db",
    "azure": ".azure/accessTokens.json", "terraform":
    ".terraform.d/credentials.tfrc.json", "gem": ".gem/credentials",
    "maven": ".m2/settings.xml", "vault": ".vault-token",
    "pgpass": ".pgpass", "foray key": ".config/foray/key",
    "foray runs": ".local/state/foray/runs/x/events.jsonl",
    "foray snapshots": ".cache/foray/other/tree/f", "other tree":
    "src/other/.env"}

# {variable: what its value begins with}
VARIABLES = {
    "OPENAI_API_KEY": "sk-", "ANTHROPIC_API_KEY": "sk-ant-",
    "AWS_SECRET_ACCESS_KEY": "", "GITHUB_TOKEN": "ghp_", "NPM_TOKEN": "",
    "SSH_AUTH_SOCK": "/tmp/", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/",
    "XAUTHORITY": "/tmp/", "KUBECONFIG": "/tmp/", "FORAY_TEST_TOKEN": ""}


class Watch(threading.Thread):
    """Looks from the host at what runs below a process: descriptors,
    namespaces, mounts and sizes of all, until it is stopped."""

    def __init__(self, pid, names, victim):
        super().__init__(daemon=True)
        self.pid, self.names, self.victim = pid, names, victim
        self.fds, self.mounts, self.spaces = set(), set(), set()
        self.clones, self.as_root = set(), set()
        self.count = self.size = self.threads = 0
        self.slowest, self.sizes = 0, {}
        self.traced = False
        self.seen_spaces = set()
        self.stopped = threading.Event()
        self.start()

    def run(self):
        last = time.monotonic()
        while not self.stopped.is_set():
            now = time.monotonic()
            self.slowest, last = max(self.slowest, now - last), now
            found = lib.descendants(self.pid)
            self.count = max(self.count, len(found))
            self.traced |= b"TracerPid:\t0\n" not in \
                self.victim.read("status")
            if len(found) < 100:
                for p in found:
                    try:
                        self.look(p)
                    except OSError:
                        pass
            self.stopped.wait(0.06)

    def stop(self):
        self.stopped.set()
        self.join()

    def attempt(self, p):
        """The name of the attempt that a process is, or None."""
        if len(p.name) == 4 and p.name[0] == "e" and p.name[1:].isdigit():
            return self.names[int(p.name[1:])]
        return None

    def look(self, p):
        top = "/proc/%d/" % p.pid
        # foray's own, and its children on their way to bwrap, hold what they
        # need for that.
        ours = os.path.basename(os.readlink(top + "exe")).startswith("foray")
        fds = [] if ours else os.listdir(top + "fd")
        for fd in fds[:64]:
            path = top + "fd/" + fd
            try:
                link = os.readlink(path)
                if link.startswith("socket:"):
                    link = "socket:" + os.getxattr(
                        path, "system.sockprotoname").decode().rstrip("\0")
            except OSError:
                continue
            self.fds.add(link)
            if "it-fill" in link or link.endswith("/sparse"):
                key = link.rsplit("-", 1)[0] if "it-fill" in link else "sparse"
                self.sizes[key] = max(self.sizes.get(key, 0),
                                      os.stat(path).st_size)
            if link == "/" and self.attempt(p):
                self.clones.add(self.attempt(p))  # such a mount has no path
        space = os.readlink(top + "ns/mnt")
        if self.attempt(p) or (space, p.name) not in self.seen_spaces:
            self.seen_spaces.add((space, p.name))
            for line in p.read("mountinfo").decode().splitlines():
                if " - " in line:
                    self.mounts.add(line.split(" - ")[1].split()[1])
        for line in p.read("status").splitlines():
            if line.startswith(b"RssAnon:") and self.attempt(p):
                self.size = max(self.size, int(line.split()[1]))
            if line.startswith(b"Threads:") and self.attempt(p):
                self.threads = max(self.threads, int(line.split()[1]))
            if line.startswith(b"Uid:") and line.split()[2] == b"0":
                self.as_root.add(p.name)
        name = self.attempt(p)
        if name:
            for kind in os.listdir(top + "ns"):
                if os.readlink(top + "ns/" + kind) != os.readlink(
                        "/proc/%d/ns/%s" % (p.parent, kind)):
                    self.spaces.add((name, kind))


def seen_in(stretch):
    """For how many seconds an attempt holds what it has, for Watch to see it: so
    much slower as looking at all processes is just now."""
    began = time.monotonic()
    lib.processes()
    return min(stretch * max(0.6, 15 * (time.monotonic() - began)), 15)


class Listeners(threading.Thread):
    """Sockets of the host's; hit has the names of those somebody reached."""

    def __init__(self):
        super().__init__(daemon=True)
        self.named, self.hit, self.paths = {}, set(), []
        self.wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self.over = False

    def add(self, name, sock, address, stream=True):
        sock.bind(address)
        if stream:
            sock.listen(16)
        sock.setblocking(False)
        if sock.family == socket.AF_UNIX and address[0] != "\0":
            os.chmod(address, 0o777)
            self.paths.append(address)
        self.named[sock] = (name, stream)
        return sock.getsockname()[1] if sock.family != socket.AF_UNIX \
            else address

    def run(self):
        while not self.over:
            for s in select.select(list(self.named) + [self.wake[0]], [],
                                   [])[0]:
                if s == self.wake[0]:
                    continue
                name, stream = self.named[s]
                try:
                    if stream:
                        s.accept()[0].close()
                    else:
                        s.recv(100)
                    self.hit.add(name)
                except OSError:
                    pass

    def close(self):
        self.over = True
        os.write(self.wake[1], b"x")
        self.join()
        for s in self.named:
            s.close()
        for path in self.paths:
            try:
                os.unlink(path)
            except OSError:
                pass
        for fd in self.wake:
            os.close(fd)


class Run:
    """What came of a list of attempts."""

    def __init__(self, result, text, watch):
        if os.environ.get("ESCAPE_TIMES"):
            print("%.1f s: %s" % (result.seconds, result.args[:2]))
        self.result, self.watch = result, watch
        self.status, self.text = {}, {}
        for line in text.splitlines():
            try:
                name, status, said = json.loads(line)
            except (ValueError, TypeError):
                continue
            self.status[name], self.text[name] = status, said
            if status == "late":
                print("late:", name)


def own_address():
    """An address of this machine's that is not the loopback's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
            return s.getsockname()[0]
        except OSError:
            return "127.0.0.2"


def keyctl(*args):
    number = 250 if os.uname().machine == "x86_64" else 219
    return libc.syscall(ctypes.c_long(number), *[
        ctypes.c_long(a) if isinstance(a, int) else a for a in args])


def add_key(name, value):
    number = 248 if os.uname().machine == "x86_64" else 217
    return libc.syscall(ctypes.c_long(number), b"user", name, value,
                        ctypes.c_long(len(value)), ctypes.c_long(-3))


class World:
    """A box with everything that an attempt could want to reach."""

    def __init__(self, uid):
        self.root = os.geteuid() == 0 and uid is None
        self.stretch = 1  # of what attempts hold
        self.live = True  # the real tree can be written to from inside
        self.who = lib.user_name(uid)
        self.box = lib.Box(uid)
        self.secrets, self.env, self.facts = {}, {}, {}
        self.extra = []  # made outside the box
        self.closers, self.round = [], 0
        self.out = os.path.join(self.box.home, "outside")
        self.trip = os.path.join(self.box.dir, "trip")
        self.repo = os.path.join(self.box.src, "tree")
        for path in (self.out, self.trip):
            os.mkdir(path)
        self.facts.update(
            OUT=self.out, H=self.box.home, SRC=self.box.src, REPO=self.repo,
            TRIP=self.trip, GIT=os.path.join(self.repo, ".git"), RT=str(RT), ROUND="0", TAG="it%d" % os.getpid())
        self.files()
        self.box.repo("tree", lib.SMALL)
        # Untracked, as it should be.
        lib.write(os.path.join(self.repo, "id_rsa"),
                  "-----BEGIN OPENSSH PRIVATE KEY-----\n%s\n"
                  "-----END OPENSSH PRIVATE KEY-----\n" % self.secret("id_rsa"))
        # What only the mounts hide, not the modes of directories.
        for path in (self.box.dir, self.box.home, self.out, self.trip):
            os.chmod(path, 0o777 if path in (self.out, self.trip) else 0o755)
        self.box.own()
        if os.geteuid() == 0:
            self.suid()
        self.victim()
        self.listeners()
        self.ipc()
        self.keys()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for close in self.closers:
            close()
        for path in self.extra:
            shutil.rmtree(path, ignore_errors=True)
            try:
                os.unlink(path)
            except OSError:
                pass
        self.box.__exit__()

    # -- what is there

    def secret(self, name):
        return self.secrets.setdefault(name, "it-" + secrets.token_hex(10))

    def put(self, path, name):
        lib.write(path, self.secret(name) + "\n")
        os.chmod(path, 0o644)

    def put_away(self, path, name):
        """Outside the box, to be removed."""
        self.extra.append(path)
        self.put(path, name)

    def files(self):
        for name, path in CREDENTIALS.items():
            self.put(os.path.join(self.box.home, path), name)
        for name in ("bashrc", "profile"):
            lib.write(os.path.join(self.box.home, "." + name), "#\n")
        lib.write(os.path.join(self.box.home, ".ssh/authorized_keys"), "#\n")
        for name in ("doomed", "named", "closed", "full", "dated"):
            lib.write(os.path.join(self.out, name), "as it was\n")
        for name in ("cwd/secret", "link-secret", "chroot-secret"):
            self.put(os.path.join(self.out, name), name)
        self.facts["CHROOT_SECRET"] = os.path.join(self.out, "chroot-secret")
        self.facts["LINK_SECRET"] = os.path.join(self.out, "link-secret")
        self.facts["COVERED"] = os.path.join(self.out, "covered")
        self.put(os.path.join(self.out, "covered/secret"), "covered")
        for name in ("bin", "lib"):
            for top in (".cargo", ".local"):
                os.makedirs(os.path.join(self.box.home, top, name),
                            exist_ok=True)
        self.put(os.path.join(self.repo, ".env"), "dotenv")
        lib.write(os.path.join(self.out, "linked"), "as it was\n")
        os.link(os.path.join(self.out, "linked"),
                os.path.join(self.repo, "linked-file"))
        tag = self.facts["TAG"]
        self.put_away("/tmp/%s-secret" % tag, "tmp")
        self.put_away("/var/tmp/%s-secret" % tag, "var tmp")
        self.put_away("/dev/shm/%s-secret" % tag, "dev shm")
        if self.root:
            self.put_away("/etc/%s-secret" % tag, "etc")
            os.chmod("/etc/%s-secret" % tag, 0o600)
            self.put_away("/run/%s-secret" % tag, "run")
        self.handle()
        self.env = {name: start + self.secret(name)
                    for name, start in VARIABLES.items()}
        self.env["PATH"] = "%s/.cargo/bin:%s/.local/bin:%s" % (
            self.box.home, self.box.home, self.box.env["PATH"])

    def suid(self):
        """A program of root's in the tree, with the bit set."""
        path = os.path.join(self.repo, "suid-it")
        shutil.copy(os.path.realpath("/bin/sh"), path)
        os.chmod(path, 0o4755)

    def handle(self):
        """struct file_handle of a secret, in hex."""
        path = os.path.join(self.out, "by-handle")
        self.put(path, "by-handle")
        buf = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
        mount = ctypes.c_int()
        if libc.name_to_handle_at(-100, path.encode(), buf,
                                  ctypes.byref(mount), 0) == 0:
            size = struct.unpack_from("I", buf, 0)[0]
            self.facts["HANDLE"] = buf.raw[:8 + size].hex()
        self.facts.setdefault("HANDLE", "0" * 32)

    def victim(self):
        log = os.path.join(self.trip, "signals")
        self.facts["NAME_IN_ARGS"] = "token-of-victim"
        p = self.box.popen(
            ["python3", "-c", VICTIM, log, "token-of-victim=" +
             self.secret("argument")], stdout=subprocess.PIPE,
            cwd=os.path.join(self.out, "cwd"),
            env={"SECRET_MEMORY": self.secret("memory"),
                 "SECRET_FD": self.secret("descriptor"),
                 "SECRET_ENV": self.secret("environment")})
        numbers = json.loads(p.stdout.readline())
        self.process, self.log = p, log
        self.seen_victim = lib.Process(p.pid)
        self.addresses = numbers
        self.facts.update(VICTIM=str(p.pid), NS_VICTIM=str(p.pid),
                          ADDRESS=str(numbers[0]), ADDRESS_VM=str(numbers[1]),
                          ADDRESS_MEM=str(numbers[2]),
                          VICTIM_FD=str(numbers[3]),
                          NAME_IN_ENV="OPENAI_API_KEY")
        if self.root:
            other = self.box.popen(["unshare", "--uts", "sleep", "600"])
            lib.wait_until(lambda: lib.Process(other.pid).name == "sleep", 5)
            self.facts["NS_VICTIM"] = str(other.pid)

    def next_round(self):
        """What was consumed is there again."""
        self.round += 1
        self.facts["ROUND"] = str(self.round)
        self.fill_queue()
        self.fill_mq()

    def signals(self):
        return set(lib.read(self.log).split())

    def victims_memory(self, index):
        with open("/proc/%d/mem" % self.process.pid, "rb", 0) as f:
            f.seek(self.addresses[index])
            return f.read(64).rstrip(b"\0")

    def restore_memory(self, index):
        with open("/proc/%d/mem" % self.process.pid, "r+b", 0) as f:
            f.seek(self.addresses[index])
            f.write(b"as it was".ljust(64, b"\0"))

    def listeners(self):
        ls = self.listen = Listeners()
        inet, inet6, unix = socket.AF_INET, socket.AF_INET6, socket.AF_UNIX
        dgram, tag = socket.SOCK_DGRAM, self.facts["TAG"]
        ip = self.facts["ADDRESS_IP"] = own_address()
        ports = {
            "TCP4": (socket.socket(inet), ("127.0.0.1", 0), True),
            "TCP_IP": (socket.socket(inet), (ip, 0), True),
            "TCP_ANY": (socket.socket(inet), ("0.0.0.0", 0), True),
            "UDP": (socket.socket(inet, dgram), ("127.0.0.1", 0), False),
            "UDP_BROADCAST": (socket.socket(inet, dgram), ("", 0), False),
            "UDP_MULTICAST": (socket.socket(inet, dgram), ("", 0), False)}
        if os.path.exists("/proc/net/if_inet6"):
            ports["TCP6"] = (socket.socket(inet6), ("::1", 0), True)
        for name, (s, address, stream) in ports.items():
            if name == "UDP_MULTICAST":
                s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                             socket.inet_aton("224.0.0.251") +
                             socket.inet_aton("127.0.0.1"))
            self.facts[name] = str(ls.add(name, s, address, stream))
        paths = {"AGENT": "/tmp/ssh-%s/agent.1" % tag,
                 "X11": "/tmp/.X11-unix/X%d" % (os.getpid() + 100),
                 "TREE_SOCKET": os.path.join(self.repo, "tree.sock"),
                 "HOME_SOCKET": os.path.join(self.box.home, "daemon.sock"),
                 "ABSTRACT": "\0%s-abstract" % tag,
                 "X11_ABSTRACT": "\0/tmp/.X11-unix/X%s" % tag,
                 "DBUS_ABSTRACT": "\0/tmp/dbus-%s" % tag}
        if os.geteuid() == 0:
            paths.update(DOCKER="/run/%s-docker.sock" % tag,
                         DBUS="/run/user-%s/bus" % tag,
                         SYSTEMD="/run/systemd-%s/private" % tag)
        for name, path in paths.items():
            if path[0] != "\0" and not os.path.isdir(os.path.dirname(path)):
                os.makedirs(os.path.dirname(path))
                self.extra.append(os.path.dirname(path))
            self.facts[name] = path.replace("\0", "@")
            ls.add(name, socket.socket(unix), path)
        self.facts["DGRAM"] = "@%s-datagram" % tag
        ls.add("DGRAM", socket.socket(unix, dgram),
               "\0%s-datagram" % tag, False)
        for name in ("DOCKER", "DBUS", "SYSTEMD", "TCP6"):
            self.facts.setdefault(name, "1")
        ls.start()
        self.closers.append(ls.close)

    def ipc(self):
        """Shared memory and queues that anybody may use."""
        key = 0x1f000000 + os.getpid()
        for call in ("shmget", "shmat", "msgget"):
            getattr(libc, call).restype = ctypes.c_long
        ident = libc.shmget(key, SHM_BYTES, 0o1666)
        at = libc.shmat(ident, None, 0)
        ctypes.memmove(at, self.secret("shm").encode(), 23)
        queue = libc.msgget(key, 0o1666)

        def fill_queue():
            message = struct.pack("l", 1) + self.secret("queue").encode()
            libc.msgsnd(queue, message, len(message) - 8, 0o4000)
        self.fill_queue = fill_queue
        fill_queue()
        self.facts["SHM_KEY"] = str(key)
        self.closers.append(lambda: (libc.shmctl(ident, 0, None),
                                     libc.msgctl(queue, 0, None)))
        rt = ctypes.CDLL("librt.so.1", use_errno=True)
        name = b"/" + self.facts["TAG"].encode()
        old = os.umask(0)
        mq = rt.mq_open(name, os.O_CREAT | os.O_RDWR | os.O_NONBLOCK, 0o666,
                        None)
        os.umask(old)

        def fill_mq():
            rt.mq_send(mq, self.secret("mq").encode(), 23, 0)
        self.fill_mq = fill_mq
        fill_mq()
        self.facts["MQ"] = name.decode()
        self.closers.append(lambda: (rt.mq_unlink(name), os.close(mq)))

    def keys(self):
        """A session keyring of our own, which everything below inherits."""
        ident = keyctl(1, None)  # JOIN_SESSION_KEYRING
        add_key(b"it-secret", self.secret("key").encode())
        for serial in (ident, keyctl(10, -3, b"user", b"it-secret", 0)):
            keyctl(5, serial, 0x3f3f3f3f)  # SETPERM: all, for all
        self.facts["NAME_OF_LOG"] = self.facts["TAG"] + "-log:"
        if self.root:
            with open("/dev/kmsg", "w", encoding="ascii") as f:
                f.write("<7>%s %s" % (self.facts["NAME_OF_LOG"],
                                      self.secret("log")))

    def planted_key(self):
        return keyctl(10, -3, b"user", b"it-planted", 0) > 0

    def forget_key(self):
        ident = keyctl(10, -3, b"user", b"it-planted", 0)
        if ident > 0:
            keyctl(21, ident)  # INVALIDATE

    # -- ways in

    def write_list(self, rows, control, **more):
        """The list for inside.py: below the tree, or beside it."""
        env = dict(self.facts, HOLD="%.1f" % seen_in(self.stretch),
                   **({"CONTROL": "1"} if control else {}))
        where = os.path.join(self.trip if control else self.repo, "list.json")
        lib.write(where, json.dumps(dict(
            {"env": env, "attempts": rows}, **more)))
        if not control:
            shutil.copy(INSIDE, os.path.join(self.repo, "inside.py"))
        for path in (where, os.path.join(self.repo, "inside.py")):
            if self.box.uid is not None and os.path.exists(path):
                os.chown(path, self.box.uid, self.box.uid)
        return where

    def watched(self, rows, argv, cwd, watch=True, **more):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            began = time.monotonic()
            p = self.box.popen(argv, stdout=out, stderr=err, cwd=cwd,
                               env=dict(self.env, **more.pop("env", {})),
                               **more)
            watch = Watch(p.pid, [r[0] for r in rows], self.seen_victim) \
                if watch else None
            try:
                status = p.wait(60 * lib.BUSY)
            except subprocess.TimeoutExpired:
                lib.end_all(p.pid)
                p.kill()
                p.wait()
                status = None
            if watch:
                watch.stop()
            out.seek(0)
            err.seek(0)
            return lib.Result(argv, status, out.read(), err.read(),
                              time.monotonic() - began), watch

    def control(self, rows, watch=True):
        """rows: [[name, command]], unconfined."""
        path = self.write_list(rows, True, at_once=24)
        script = os.path.join(self.trip, "inside.py")
        shutil.copy(INSIDE, script)
        os.chmod(script, 0o644)
        os.chmod(path, 0o644)
        result, watch = self.watched(rows, ["python3", script, path],
                                     self.repo, watch)
        return Run(result, result.out, watch)

    def sandbox(self, rows, *options, env=None, watch=True, **more):
        self.write_list(rows, False, **more)
        result, watch = self.watched(
            rows, ["foray", "sandbox", "-C", self.repo, *options, "--",
                   "python3", "inside.py", "list.json"], self.repo,
            watch, env=env or {})
        return Run(result, result.out, watch)

    def tool(self, rows, *options, env=None, watch=True, **more):
        self.write_list(rows, False, **more)
        result, watch = self.watched(
            rows, ["foray", "tool", "-C", self.repo, *options, "run_command",
                   json.dumps({"command": "exec python3 inside.py list.json"})],
            self.repo, env=env or {})
        return Run(result, str(result.json.get("result")), watch)
