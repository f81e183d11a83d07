#!/usr/bin/env python3
"""Hosts over TCP: keys, strangers, and hosts that break the rules. Each leaves
the run as it was, and is told of. Cases H-012 to H-016 by their ids."""
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import lib  # noqa: E402
from fake import curve  # noqa: E402
from fake.relay import Relay  # noqa: E402

MEMORY_MIB = 100  # far from what a flood would take
if lib.sanitized():
    MEMORY_MIB = 160  # all is larger, and 256 MiB of what was freed are kept
    os.environ["ASAN_OPTIONS"] += ":quarantine_size_mb=8"
HELLO = {"t": 1, "protocol": 1, "slots": 1, "name": "liar"}
BEAT = curve.pack({"t": 2, "busy": 0})  # before it nothing is assigned


def host_program(box):
    return os.path.join(os.path.dirname(box.foray), "foray-host")


class Fleet:
    """A run that listens, and its keys."""

    def __init__(self, box, name, *args, at="tcp://127.0.0.1:*", files=lib.SMALL):
        self.box = box
        self.keys = os.path.join(box.home, ".config/foray/keys")
        self.repo = box.repo(name, files)
        self.run = box.start(self.repo, "-t", lib.SMALL_TEST, "-n", "2",
                             "--listen", at, *args)
        found = self.run.wait_event("listening", 30)
        self.at = found[0]["endpoint"] if found else ""
        lib.check(found, name + ": it listens", self.run)
        self.port = int(self.at.rsplit(":", 1)[1])

    def host(self, *args, keys="fleet", at=None, log=None, **more):
        log = log or os.path.join(self.box.dir, "host.log")
        if keys:
            args = ("--keys", os.path.join(self.keys, "hosts", keys), *args)
        with open(log, "ab") as f:
            p = self.box.popen(
                [host_program(self.box), "--connect", at or self.at, "--cache",
                 self.box.cache + "/foray", "--slots", "3", *args], stderr=f,
                **more)
        p.log = log
        return p

    def key(self, name):
        return curve.z85(lib.read(os.path.join(self.keys, name)).strip())

    def client(self, keys="fleet", **more):
        c = curve.Client(curve.connect(self.port), self.key("server.pub"),
                         self.key("hosts/%s/host.pub" % keys),
                         self.key("hosts/%s/host.secret" % keys))
        return c.handshake(**more)

    def profile(self):
        """What a real host says of its sandbox."""
        return self.real["profile"]

    def refused(self, part, seconds=20):
        """Is it told, among what was refused?"""
        return lib.wait_until(lambda: [
            e for e in self.run.events("host_refused") if part in e["reason"]],
            seconds)

    def reasons(self):
        return "\n".join("%(address)s %(key)s %(reason)s" % e
                         for e in self.run.events("host_refused"))

    def biggest(self):
        """MiB of the largest process of the run."""
        found = [0]
        for p in lib.descendants(self.run.pid) + [lib.Process(self.run.pid)]:
            rss = re.search(rb"VmRSS:\s+(\d+)", p.read("status"))
            found.append(int(rss.group(1)) >> 10 if rss else 0)
        return max(found)

    def finish(self, what, status=0):
        r = self.run.wait(60)
        lib.equal(r.status, status, what + ": the run's status", r)
        return r


def end(host, what, want=0, seconds=10):
    host.terminate()
    try:
        lib.equal(host.wait(seconds * lib.BUSY), want, what + ": the host's status",
                  lib.read(host.log))
    except Exception as e:  # it had to be killed
        host.kill()
        host.wait()
        lib.check(False, what + ": the host ends", e)


def ended(c):
    return lib.wait_until(c.ended, 15)


def key_files(box):
    """foray keys, and files that are not as they have to be."""
    keys = os.path.join(box.home, ".config/foray/keys")
    r = box.do("run", "-C", box.repo("keys", lib.SMALL), "-t", "true",
               "--listen", "tcp://127.0.0.1:*")
    lib.check(r.status == 2 and "foray keys new" in r.text, "no keys yet", r)
    lib.check("no keys" in box.do("keys").out, "none are listed")
    r = box.do("keys", "new", "fleet")
    host = os.path.join(keys, "hosts/fleet")
    lib.check(r.status == 0 and r.out.splitlines()[0] == host, "new", r)
    for name, mode in ((".", 0o700), ("server.secret", 0o600),
                       ("hosts/fleet", 0o700), ("allowed", 0o755),
                       ("hosts/fleet/host.secret", 0o600),
                       ("allowed/fleet.pub", 0o644)):
        lib.equal(os.stat(os.path.join(keys, name)).st_mode & 0o777, mode,
                  "mode of " + name)
    lib.equal(lib.read(host + "/host.pub"),
              lib.read(keys + "/allowed/fleet.pub"), "the host's key is let in")
    before = lib.read(keys + "/server.pub")
    r = box.do("keys", "new", "fleet")
    lib.check(r.status == 2 and "another name" in r.text and
              "foray keys remove fleet" in r.text, "a name is taken", r)
    # What somebody has put there is not followed, and not taken for a key.
    lure = os.path.join(box.dir, "lure")
    os.mkdir(lure)
    os.symlink(lure, keys + "/hosts/planted")
    r = box.do("keys", "new", "planted")
    lib.check(r.status == 2 and "is a link" in r.text, "a planted link", r)
    lib.equal(os.listdir(lure), [], "no secret goes there")
    lib.check(not os.path.exists(keys + "/allowed/planted.pub"),
              "and nobody is let in")
    os.unlink(keys + "/hosts/planted")
    os.mkdir(keys + "/allowed/folder.pub")
    r = box.do("keys", "remove", "folder")
    lib.check(r.status == 2 and "by hand" in r.text, "a directory", r)
    os.rmdir(keys + "/allowed/folder.pub")
    for bad in ("../x", ".x", "-x", "a b", "", "x" * 64):
        lib.equal(box.do("keys", "new", bad).status, 2, "name %r" % bad)
    # Many at once, with nothing there before: all have the same server's key.
    place = os.path.join(box.dir, "many")
    many = [box.popen(["foray", "keys", "--keys", place, "new", "n%d" % (i % 8)],
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for i in range(16)]
    lib.equal(sorted(p.wait() for p in many), [0] * 8 + [2] * 8,
              "of each name one is made")
    for i in range(8):
        lib.equal(lib.read("%s/hosts/n%d/server.pub" % (place, i)),
                  lib.read(place + "/server.pub"), "one server's key")
    r = box.do("keys", "allow", "other", "nonsense")
    lib.check(r.status == 2 and "no public key" in r.text, "no key", r)
    lib.equal(box.do("keys", "allow", "other", before.strip()).status, 0,
              "allow")
    r = box.do("keys")
    lib.check("other" in r.out and before.strip() in r.out, "list", r)
    lib.check(lib.read(host + "/host.secret").strip() not in r.out,
              "no secret is shown")
    lib.equal(box.do("keys", "remove", "other").status, 0, "remove")
    r = box.do("keys", "remove", "other")
    lib.check(r.status == 2 and "no key" in r.text, "it is gone", r)
    lib.equal(lib.read(keys + "/server.pub"), before, "our own stays")
    box.do("keys", "new", "back")
    back = os.path.join(keys, "hosts/back")
    pub = lib.read(back + "/host.pub").strip()
    r = box.do("keys", "remove", "back")
    lib.check(r.status == 0 and back in r.out and
              "foray keys allow back '%s'" % pub in r.out,
              "removed: how to take it back", r)
    lib.equal(sorted(os.listdir(back)), ["host.pub", "host.secret",
                                         "server.pub"], "its directory stays")
    lib.equal(box.do("keys", "remove", "back").status, 2, "there is no key")
    lib.equal(box.do("keys", "allow", "back", pub).status, 0, "taken back")
    box.do("keys", "remove", "back")
    lib.equal(box.do("keys", "new", "back").status, 0, "or made anew")
    lib.check(lib.read(back + "/host.pub").strip() != pub, "with another key")
    box.do("keys", "remove", "back")
    for path, args in (
            (keys + "/server.secret", None),
            (host + "/host.secret", [host_program(box), "--connect", "tcp://127.0.0.1:9",
                                     "--keys", host])):
        os.chmod(path, 0o644)
        r = box.call(args) if args else box.do(
            "run", "-C", box.src + "/keys", "-t", "true", "--listen",
            "tcp://127.0.0.1:*")
        lib.check(r.status == 2 and "chmod 600" in r.text,
                  "others can read " + path, r)
        os.chmod(path, 0o600)
    # An allow-list that others can write; and files in it that are no keys.
    listen = ("run", "-C", box.src + "/keys", "-t", "true", "--listen",
              "tcp://127.0.0.1:*")
    for path, mode in ((keys, 0o700), (keys + "/allowed", 0o755)):
        os.chmod(path, 0o777)
        for args in (listen, ("keys",), ("keys", "new", "more")):
            r = box.do(*args)
            lib.check(r.status == 2 and "others can write" in r.text and
                      "chmod" in r.text, "%s: %s" % (path, args), r)
        os.chmod(path, mode)
    lib.write(keys + "/allowed/junk.pub", "junk\n")
    os.mkfifo(keys + "/allowed/fifo.pub")
    for args in (listen, ("keys",)):
        r = box.do(*args)
        for name in ("junk", "fifo"):
            lib.equal(len(re.findall(name + r"\.pub: .*lets nobody in", r.text)),
                      1, "%s: %s is told of, once" % (args[0], name), r)
    os.unlink(keys + "/allowed/junk.pub")
    os.unlink(keys + "/allowed/fifo.pub")


def endpoints(box):
    """What is no endpoint, or not one without keys."""
    repo = os.path.join(box.src, "keys")
    for bad, part in (("127.0.0.1:1", "tcp://"), ("tcp://127.0.0.1", "port"),
                      ("tcp://::1:80", "brackets"), ("tcp://[::1", "port"),
                      ("tcp://a b:1", "no host"), ("tcp://h:70000", "65535"),
                      ("ipc:///tmp/x", "tcp://"), ("tcp://:1", "no host")):
        r = box.do("run", "-C", repo, "-t", "true", "--listen", bad)
        lib.check(r.status == 2 and part in r.err, "--listen " + bad, r)
    for args, part in (
            (["tcp://127.0.0.1:9"], "foray keys new"),
            (["tcp://127.0.0.1:0", "--insecure-loopback"], "port"),
            (["tcp://192.0.2.1:9", "--insecure-loopback"], "loopback"),
            (["tcp://localhost:9", "--insecure-loopback"], "loopback"),
            (["udp://127.0.0.1:9"], "neither"),
            (["ipc:///tmp/x", "--insecure-loopback"], "for tcp"),
            (["tcp://h:1", "--keys", "/nonexistent"], "server.pub")):
        r = box.call([host_program(box), "--connect", *args])
        lib.check(r.status == 2 and part in r.err, "host %s" % args, r)
    for args, part in (
            (["--local", "0"], "--listen"), (["--keys", "x"], "--listen"),
            (["--listen", "tcp://0.0.0.0:0", "--insecure-loopback"],
             "loopback"),
            (["--listen", "tcp://127.0.0.1:0", "--keys", "/nonexistent"],
             "/nonexistent"),
            (["--listen", "tcp://127.0.0.1:0", "--allow-net", "example.org"],
             "--allow-net")):
        r = box.do("run", "-C", repo, "-t", "true", *args)
        lib.check(r.status == 2 and part in r.text, "run %s" % args, r)
    # "*" is no way past a port that is taken in one family.
    with socket.create_server(("0.0.0.0", 0)) as taken:
        for host in ("127.0.0.1", "*"):
            r = box.do("run", "-C", repo, "-t", "true", "--local", "0",
                       "--listen",
                       "tcp://%s:%d" % (host, taken.getsockname()[1]))
            lib.check(r.status == 2 and "name another port" in r.text,
                      host + ": the port is taken", r)
            lib.check("foray resume" not in r.text, "nothing to resume", r)


WAYS = (("alone", ["--local", "0"], "tcp://127.0.0.1:*"),
        ("both", ["--all"], "tcp://127.0.0.1:0"),
        ("six", ["--local", "0"], "tcp://[::1]:*"))


def fixes(box, ways=WAYS):
    """A bug is fixed by another host alone, and by two together."""
    for name, args, at in ways:
        f = Fleet(box, name, *args, at=at)
        host = f.host("--name", "other-" + name)
        r = f.finish(name)
        up = [e for e in r.all("host_up") if e["host"] == "other-" + name]
        lib.check(up and up[0]["key"] == "fleet" and ":" in up[0]["address"],
                  name + ": the other host was there", r)
        used = {e["host"] for e in r.all("assigned")}
        lib.check(("other-" + name in used) if name != "both" else used,
                  name + ": it worked", used)
        if name != "both":
            lib.equal(used, {"other-" + name}, name + ": and it alone", r)
            lib.check(r.all("waiting"), name + ": it said that it waits", r)
        end(host, name)
        for what in ("log", "show") if name != "both" else ():
            shown = box.do(what).out
            lib.check("other-" + name in shown.split("H1", 1)[-1],
                      name + ": who worked where", shown)
        audit = lib.read(box.runs()[-1] + "/audit.jsonl")
        lib.check(name == "both" or re.search(
            '"act":"assign","subject":"H1".*"other-%s".*"fleet"' % name, audit),
            name + ": and in the audit", audit[:2000])
        lib.check('"act":"listen"' in audit and '"act":"host"' in audit,
                  name + ": it is in the audit", audit[:2000])
        lib.equal(box.do("audit", "--verify").status, 0, name + ": audit")


def insecure(box):
    f = Fleet(box, "insecure", "--local", "0", "--insecure-loopback")
    c = curve.connect(f.port)
    lib.check(f.refused("wants keys"), "insecure: CURVE is no use there",
              f.reasons())
    c.close()
    host = f.host("--insecure-loopback", keys=None)
    r = f.finish("insecure")
    lib.check("every user of this machine" in r.err, "insecure: a warning", r)
    lib.check('"encrypted":false' in
              lib.read(box.runs()[-1] + "/audit.jsonl").replace(" ", ""),
              "insecure: it is in the audit")
    end(host, "insecure")


def stays(box):
    """A host goes on to the next run at its endpoint, and is not refused for
    what it had to say to the one before."""
    f = Fleet(box, "first", "--local", "0")
    host = f.host(log=box.dir + "/stays.log")
    lib.check(f.run.wait_event("host_up", 20), "stays: it is there")
    f.run.signal(signal.SIGINT)
    f.finish("stays, the first", 130)
    time.sleep(2.5)  # Heartbeats would be due.
    f = Fleet(box, "next", "--local", "0", at=f.at)
    r = f.finish("stays, the next")
    lib.equal(r.all("host_refused"), [], "stays: it says HELLO first", r)
    end(host, "stays")


def nobody(box):
    f = Fleet(box, "nobody", "--local", "0", "--wait-hosts", "1")
    profile = run_profile(f)
    r = f.finish("nobody", 5)
    lib.check("no host has come" in r.finished["reason"], "nobody came", r)
    # One that gets nothing to do is as good as none.
    f = Fleet(box, "unfit", "--local", "0", "--wait-hosts", "4", "--label",
              "gpu")
    # One that needs no time to start.
    p = Pretender(f, profile, instance="u", name="unfit", labels=["cpu"])
    p.answer(f, lambda worker, m: None)
    r = f.finish("unfit", 5)
    lib.equal(len(r.all("host_up")), 1, "one came that is not wanted", r)
    lib.check("--label" in r.finished["reason"], "that is said", r)
    p.c.s.close()


def strangers(box):
    """None of them gets in, each is told of, and the run goes on."""
    f = Fleet(box, "strangers", "--local", "0")
    server, own, other = f.key("server.pub"), curve.key_pair(), curve.key_pair()

    s = curve.connect(f.port, mechanism=b"NULL")
    lib.check(f.refused("it has no key"), "a plain client", f.reasons())
    lib.check(s.recv(1) == b"", "a plain client is sent away")
    s = curve.connect(f.port)
    s.sendall(curve.hello(other[0], *own))
    lib.check(f.refused("public key"), "another server's key", f.reasons())
    s = curve.connect(f.port)
    s.sendall(curve.frame(b"\x05HELLO" + os.urandom(194), 4))
    lib.check(f.refused("malformed"), "a malformed handshake", f.reasons())
    # H-016: knows the server's public key, and nobody let it in.
    c = curve.Client(curve.connect(f.port), server, *own)
    try:
        c.handshake()
        lib.check(False, "H-016: it is refused")
    except curve.Refused as e:
        lib.equal(str(e), "400", "H-016: it is refused")
    except curve.Closed:
        pass
    lib.check(f.refused("not allowed"), "H-016: it is told", f.reasons())
    # A handshake that was heard on the way.
    c = f.client()
    s = curve.connect(f.port)
    s.sendall(c.sent)
    s.settimeout(60)
    seen = b""
    try:
        for part in iter(lambda: s.recv(4096), b""):
            seen += part
    except ConnectionError:
        pass
    lib.check(b"READY" not in seen, "a replayed handshake", seen)
    c.s.close()

    # Garbage as fast as it goes, a port scan, hundreds that say half of it.
    until = time.monotonic() + 1.5

    def garbage():
        while time.monotonic() < until:
            try:
                with socket.create_connection(("127.0.0.1", f.port), 60) as g:
                    for _ in range(50):
                        g.sendall(os.urandom(65536))
            except OSError:
                pass
    threads = [threading.Thread(target=garbage) for _ in range(3)]
    for t in threads:
        t.start()
    biggest = 0
    for _ in range(300):
        socket.create_connection(("127.0.0.1", f.port), 60).close()
    half = []
    for i in range(300):
        s = socket.create_connection(("127.0.0.1", f.port), 60)
        try:
            s.sendall(curve.greeting(b"CURVE")[:i % 64])
        except OSError:
            pass
        half.append(s)
    shaking = []
    for _ in range(60):  # as far as a replay gets
        try:
            s = curve.connect(f.port)
            s.sendall(curve.hello(server, *curve.key_pair()))
            shaking.append(s)
        except (curve.Closed, OSError):
            pass
    while any(t.is_alive() for t in threads):
        biggest = max(biggest, f.biggest())
        time.sleep(0.1)
    lib.check(max(biggest, f.biggest()) < MEMORY_MIB, "nothing grows",
              "%d MiB" % biggest)
    lib.check(f.refused("more connections"), "a flood is told as a number",
              f.reasons())
    lib.check(len(f.run.events("host_refused")) < 60, "and not one by one",
              len(f.run.events("host_refused")))
    # With all of them still there a host comes in, and does the work.
    host = f.host(log=box.dir + "/strangers.log")
    f.finish("strangers")
    end(host, "strangers")
    for s in half + shaking:
        s.close()


def liars(box):
    """Hosts with a key that do what they may not."""
    f = Fleet(box, "liars", "--local", "0")
    whole = dict(HELLO, instance="i1", profile="p" * 64)

    def told(hello):
        c = f.client()
        c.send(b"", curve.pack(hello))
        answer = curve.unpack(c.recv()[1])
        lib.check(ended(c), "%s: the connection ends" % hello)
        return answer.get("refused", "")
    lib.check("version" in told(dict(whole, protocol=2)), "another version")
    lib.check("weaker" in told(dict(whole, features=["container"])),
              "a weaker sandbox")
    lib.check("too old" in told(HELLO), "an old host")
    lib.check("--profile" in told(whole), "another profile")

    def sends(what, part, *parts):
        c = f.client()
        try:
            for p in parts:
                c.s.sendall(p(c))
        except OSError:
            pass
        lib.check(ended(c), what + ": the connection ends")
        lib.check(f.refused(part), what + ": it is told", f.reasons())

    def msg(body, *more):
        return lambda c: b"".join(
            c.part(p, 1 if i < len(more) else 0)
            for i, p in enumerate((body,) + more))
    deep = b"\xdf\0\0\0\1\xa1t" + b"\x91" * 100000 + b"\1"
    sends("garbage", "breaks the protocol", msg(b"", os.urandom(500)))
    sends("deep nesting", "nested", msg(b"", deep))
    sends("another role", "does not come from this side",
          msg(b"", curve.pack({"t": 14})))
    sends("a summary before HELLO", "before it said HELLO",
          msg(b"w1", curve.pack({"t": 2, "busy": 0})))
    sends("three parts", "too many parts", msg(b"", b"", b""))
    sends("1 GB", "too large", lambda c: b"\2" + (1 << 30).to_bytes(8, "big"))
    sends("unboxed", "", lambda c: curve.frame(b"\7MESSAGE" + b"x" * 60))
    # H-014: who names himself could take the place of another.
    c = f.client(identity=b"mine")
    c.send(b"", curve.pack(whole))
    lib.check(ended(c) and f.refused("names itself"),
              "H-014: an identity of its own is refused", f.reasons())
    # A message that never ends (spike: libzmq keeps all its parts).
    c, biggest = f.client(), 0
    c.s.settimeout(120)
    try:
        while True:
            c.s.sendall(b"".join(c.part(b"x" * 60000, 1) for _ in range(20)))
            biggest = max(biggest, f.biggest())
    except OSError:
        pass
    lib.check(f.refused("endless"), "endless parts", f.reasons())
    lib.check(0 < biggest < MEMORY_MIB, "endless parts are bounded",
              "%d MiB" % biggest)
    # A real one that is refused ends, and says why.
    host = f.host("--profile", "strict", log=box.dir + "/strict.log")
    lib.equal(host.wait(20 * lib.BUSY), 5, "another profile: the host's status")
    lib.check("refuses this host: the sandbox" in lib.read(host.log),
              "another profile: the host says why", lib.read(host.log))
    host = f.host(log=box.dir + "/liars.log")
    f.finish("liars")
    end(host, "liars")


def run_profile(f, *args):
    return curve.profile_of(lambda at: f.host(
        "--insecure-loopback", *args, keys=None, at=at,
        log=f.box.dir + "/probe.log"))


def others(box):
    """Summaries of others; a number twice (H-014); one that vanishes (H-012);
    one that does not read (H-013)."""
    f = Fleet(box, "others", "--local", "0", "--all")
    hello = dict(HELLO, instance="one", profile=run_profile(f))

    def join(**more):
        c = f.client()
        c.s.settimeout(120)
        c.send(b"", curve.pack(dict(hello, **more)))
        welcome = curve.unpack(c.recv()[1])
        lib.equal(welcome.get("refused", ""), "", "it may join")
        c.send(b"", BEAT)
        return c
    a = join(name="a")
    worker, assign = a.recv()
    lib.equal(curve.unpack(assign)["t"], 11, "a has work")
    # H-014: the same number again takes the place of the first, which is told
    # by its end; nobody hangs.
    b = join(name="a")
    lib.check(ended(a), "H-014: the first is put out")
    # What it had been told may be lost: it is given up and told anew.
    found = [curve.unpack(b.recv()[1])["t"] for _ in range(2)]
    lib.equal(sorted(found), [11, 13], "H-014: the second has its work")
    # H-012: the peer goes; its work is done elsewhere.
    gone = time.monotonic()
    b.s.close()
    c = join(instance="two", name="c")
    # Who is silent when it is free gets nothing.
    beats = threading.Thread(target=lambda: [
        (c.send(b"", BEAT), time.sleep(0.5)) for _ in range(8)])
    beats.start()
    c_worker, assign = c.recv()
    beats.join()
    lib.check(lib.soon(time.monotonic() - gone, 7), "H-012: the work is given anew",
              time.monotonic() - gone)
    lib.check(f.run.wait_event("host_down", 10), "H-012: the scheduler knows")
    # Another one speaks for c's worker.
    d = join(instance="three", name="d")
    d.send(c_worker, curve.pack({"t": 29, "subtask": "x", "attempt": 1,
                                 "verdict": "fixed"}))
    lib.check(ended(d), "a summary of another's: dropped")
    lib.check(f.refused("another host"), "a summary of another's: told",
              f.reasons())
    d = f.client()
    d.send(b"", curve.pack(dict(hello, instance="three")))
    lib.check("broke the rules" in curve.unpack(d.recv()[1])["refused"],
              "and not let in again")
    d = join(instance="four", name="d")
    d.send(b"w99999", curve.pack({"t": 27, "what": "test"}))
    lib.check(ended(d), "a worker that never was: dropped")
    lib.check(f.refused("never was"), "a worker that never was: told",
              f.reasons())
    # A flood about one that was given up: nothing grows, nobody is held up.
    d = join(instance="five", name="d")
    raw = b"".join(d.part(b"w1", 1) + d.part(curve.pack(
        {"t": 27, "what": "test"})) for _ in range(20000))
    d.s.settimeout(360)
    d.s.sendall(raw)
    lib.check(f.biggest() < MEMORY_MIB, "a flood grows nothing", f.biggest())
    began = time.monotonic()
    join(instance="six", name="e").s.close()
    lib.check(lib.soon(time.monotonic() - began, 5), "a flood holds up nobody",
              time.monotonic() - began)
    d.s.close()
    # c answers nothing. When it goes, a real host does the rest.
    c.s.close()
    host = f.host(log=box.dir + "/others.log")
    r = f.finish("others")
    lib.check([e for e in r.all("worker_gone") if e["reason"] == "host lost"],
              "lost attempts are recorded", r)
    end(host, "others")


EVIL = ("diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/%s\n@@ -0,0 +1 @@\n+x\n")


class Pretender:
    """A host that was let in and answers for workers that it never starts.
    mute: it has said nothing but HELLO so far."""

    def __init__(self, f, profile, mute=False, **more):
        self.c = f.client()
        self.c.s.settimeout(120)
        self.c.send(b"", curve.pack(dict(HELLO, profile=profile, **more)))
        lib.equal(curve.unpack(self.c.recv()[1]).get("refused", ""), "",
                  "it may join")
        self.seen, self.lock = [], threading.Lock()
        if not mute:
            self.c.send(b"", BEAT)

    def say(self, worker, m):
        with self.lock:
            self.c.send(worker, curve.pack(m))

    def beat(self, until):
        while not until():
            try:
                self.say(b"", {"t": 2, "busy": 0})
            except OSError:
                return
            time.sleep(0.5)

    def answer(self, f, take):
        """take(worker, message) until the run ends or we are put out."""
        threading.Thread(target=self.beat, daemon=True, args=(
            lambda: f.run.process.poll() is not None,)).start()
        try:
            while True:
                worker, raw = self.c.recv()
                m = curve.unpack(raw)
                self.seen.append(m["t"])
                take(worker, m)
        except (OSError, curve.Closed):
            pass


def black_holes(box):
    """A host that gives back all that it gets, with more free slots than any
    other, does not end a run that others can do."""
    for reason in ("start", "sandbox", "draining"):
        f = Fleet(box, "hole-" + reason, "--local", "0")
        p = Pretender(f, run_profile(f), instance="h", name="hole", slots=4096)
        p.host = None

        def give_back(worker, m):
            if m["t"] != 11:
                return
            if p.host is None:
                p.host = f.host(log=box.dir + "/%s.log" % reason)
                lib.check(f.run.wait_event("host_up", 20, 2), "another is up")
            p.say(worker, {"t": 4, "reason": reason, "detail": "no room"})
        p.answer(f, give_back)
        f.finish("all comes back: " + reason)
        lib.check(p.seen.count(11) < 10, reason + ": it is not asked for long",
                  p.seen.count(11))
        end(p.host, reason)

    # What begins to drain ends: it can't change its mind, or fill the log.
    f = Fleet(box, "flips", "--local", "0")
    profile = run_profile(f)
    p = Pretender(f, profile, instance="h", name="hole")
    p.c.recv()
    for i in range(400):
        p.say(b"", dict(HELLO, profile=profile, instance="h", draining=not i & 1))
    f.run.signal(signal.SIGINT)
    r = f.finish("flips", 130)
    lib.check(r.err.count("is draining") < 2, "it drains once", r)

    # Progress is kept for ever.
    f = Fleet(box, "chatter", "--local", "0")
    p = Pretender(f, run_profile(f), instance="h", name="hole")
    worker = p.c.recv()[0]
    p.say(worker, {"t": 20, "protocol": 1})
    p.c.recv()
    for i in range(3000):
        p.say(worker, {"t": 27, "what": "test" if i % 2 else "tool_call",
                       "text": "x" * 900})
    lib.wait_until(lambda: len(f.run.events("progress") +
                               f.run.events("tool_call")) > 900, 20)
    time.sleep(1)
    f.run.signal(signal.SIGINT)
    r = f.finish("chatter", 130)
    n = len(r.all("progress") + r.all("tool_call"))
    lib.check(900 < n < 2000, "not all of the chatter is kept", n)


def large(box):
    """What was large once is not kept for every host that has said it."""
    f = Fleet(box, "large", "--local", "0")
    profile, raw = run_profile(f), curve.pack(
        {"t": 2, "busy": 0, "unknown": "x" * (5 << 20)})
    many = [Pretender(f, profile, instance="i%d" % i, name="i%d" % i)
            for i in range(40)]
    for i, p in enumerate(many):
        p.c.send(b"", raw)
        for q in many[i % 10::10]:
            q.say(b"", {"t": 2, "busy": 0})
    time.sleep(1)
    lib.equal(f.run.events("host_refused"), [], "they may say so")
    lib.check(f.biggest() < MEMORY_MIB, "large messages: nothing is kept",
              "%d MiB" % f.biggest())
    f.run.signal(signal.SIGINT)
    f.finish("large", 130)
    for p in many:
        p.c.s.close()


def liar(p, patch):
    """Its answers: all is well, and this is the fix."""
    def lie(worker, m):
        if m["t"] == 11:
            p.say(worker, {"t": 20, "protocol": 1})
        if m["t"] != 30:
            return
        s = {"t": 29, "subtask": m["subtask"], "attempt": m["attempt"],
             "verdict": "fixed"}
        if m["kind"] == "baseline":
            s.update(verdict="done", failing=["t"], tests_failed=1)
        elif m["kind"] == "plan":
            s.update(verdict="done", findings=["h"])
        elif m["kind"] == "explore":
            s["patch"] = patch
        p.say(worker, s)
    return lie


def no_fix(box):
    """Whatever a host says of its own patch: one that could never be applied
    is no fix."""
    for path in (".git/hooks/post-commit", "sub/.GIT/x", "../up", "/tmp/x"):
        f = Fleet(box, "nofix-" + path.strip("./").replace("/", "-"),
                  "--local", "0")
        p = Pretender(f, run_profile(f), instance="h", name="liar", slots=8)
        p.answer(f, liar(p, (EVIL % (path, path, path)).encode()))
        f.run.wait_event("verified", 30)
        f.run.signal(signal.SIGINT)
        r = f.run.wait(30)
        seen = r.all("verified")
        lib.check(seen and not any(e["ok"] for e in seen),
                  path + ": it is no fix", r)
        lib.check(r.status not in (0, None), path + ": the run's status", r)


def judged(box):
    """No host has the last word on its own patch while there is another."""
    patch = (EVIL % (("new",) * 3)).encode()
    # Slow for all but the liar, so that its patch is the first.
    files = dict(lib.SMALL, **{"test.sh": "sleep 1\n" + lib.SMALL["test.sh"]})
    for local in "10":
        what = "--local " + local
        f = Fleet(box, "judged-" + local, "--local", local, files=files)
        host = f.host("--name", "honest", log=box.dir + "/judged.log") \
            if local == "0" else None
        f.run.wait_event("host_up", 30)
        p = Pretender(f, run_profile(f), instance="h", name="liar", slots=64)
        p.answer(f, liar(p, patch))
        r = f.run.wait(60)
        given = r.all("assigned")
        lib.check("liar" not in [e["host"] for e in given
                                 if e["kind"] == "baseline"],
                  what + ": it does not look at the tests first", r)
        made = {e["label"]: e["host"] for e in given if e["kind"] == "explore"}
        judge = {e["subtask"]: e["host"] for e in given if e["kind"] == "verify"}
        lies = [e for e in r.all("verified") if made[e["candidate"]] == "liar"]
        lib.check(lies, what + ": it had work", r)
        for e in lies:
            lib.check(judge[e["subtask"]] != "liar" and not e["ok"],
                      what + ": another host judges, and says no", r)
        if host:
            end(host, what)


def unread(box):
    """A host that asks for the same again and again and never reads."""
    # The names of all tests are in a TASK: it is large.
    f = Fleet(box, "unread", "--local", "0", files=dict(lib.SMALL, **{
        "tests/test_%04d_%s.sh" % (n, "x" * 150): "" for n in range(1000)}))
    hello = dict(HELLO, instance="u", profile=run_profile(f), name="u")
    c = f.client()
    c.s.settimeout(120)
    c.send(b"", curve.pack(hello))
    c.send(b"", BEAT)
    c.recv()
    worker, assign = c.recv()
    lib.equal(curve.unpack(assign)["t"], 11, "unread: it has work")
    ready = curve.pack({"t": 20, "protocol": 1, "pid": 1, "layout": "copy"})
    c.send(worker, ready)
    try:
        size = len(c.recv()[1])  # one answer, to know what it is worth
    except curve.Closed:
        lib.check(False, "unread: it may be READY", f.reasons())
        return
    asked, biggest = 0, 0
    c.s.settimeout(60)
    try:
        while asked * size < 2 * MEMORY_MIB << 20:
            c.s.sendall(b"".join(c.part(worker, 1) + c.part(ready)
                                 for _ in range(50)))
            asked += 50
            biggest = max(biggest, f.biggest())
    except OSError:
        pass  # it is not read either, or was ended
    lib.check(asked * size >= 2 * MEMORY_MIB << 20,
              "unread: it could ask", asked)
    lib.check(max(biggest, f.biggest()) < MEMORY_MIB,
              "unread: what it does not read is bounded",
              "%d MiB, %d asked for, of %d bytes" % (biggest, asked, size))
    began = time.monotonic()
    host = f.host(log=box.dir + "/unread.log")
    lib.check(f.run.wait_event("host_up", 20, 2), "unread: another comes in")
    lib.check(lib.soon(time.monotonic() - began, 15), "unread: it holds up nobody")
    c.s.close()
    f.finish("unread")
    end(host, "unread")
    print("unread: %d MiB at most, %d times %d bytes" % (biggest, asked, size))


def silent(box):
    """A host that takes work and says nothing but that it lives."""
    f = Fleet(box, "silent", "--local", "0")
    c = f.client()
    c.s.settimeout(120)
    c.send(b"", curve.pack(dict(HELLO, instance="s", name="s",
                                profile=run_profile(f))))
    c.send(b"", BEAT)
    c.recv()
    worker, assign = c.recv()
    lib.equal(curve.unpack(assign)["t"], 11, "silent: it has work")
    host = f.host(log=box.dir + "/silent.log")
    began = time.monotonic()
    while f.run.process.poll() is None and time.monotonic() < began + 180:
        c.send(b"", curve.pack({"t": 2, "busy": 1}))
        time.sleep(1)
    r = f.finish("silent")
    lost = [e["worker"] for e in r.all("worker_gone")
            if "said nothing of it" in e.get("detail", "")]
    lib.equal(lost, [worker.decode()], "silent: its attempt goes elsewhere", r)
    lib.equal([e["host"] for e in r.all("assigned")].count("s"), 1,
              "silent: and its slot gets nothing more", r)
    c.s.close()
    end(host, "silent")


LONG = (silent,)  # fleet_silent_long.py


def cuts(box):
    """A host whose connection is cut comes back and goes on; a run that was
    interrupted goes on with another port."""
    f = Fleet(box, "cuts", "--local", "0")
    relay = Relay(("127.0.0.1", 0), ("127.0.0.1", f.port))
    host = f.host(at="tcp://127.0.0.1:%d" % relay.port,
                  log=box.dir + "/cuts.log")
    for name in ("host_up", "worker_started", "planned"):
        lib.check(f.run.wait_event(name, 20), "cut after " + name,
                  lib.read(host.log)[-2000:] + str(f.run.lines[-12:]))
        relay.cut()
    r = f.finish("cuts")
    lib.equal(r.all("host_down"), [], "the host was never lost", r)
    lib.equal(len(r.all("host_up")), 1, "it came once", r)
    lib.check("is back" in r.err, "and came back", r)
    relay.close()
    end(host, "cuts")

    f = Fleet(box, "again", "--local", "0")
    f.run.signal(signal.SIGINT)
    r = f.finish("again", 130)
    f.run = lib.Live(box, ["foray", "resume", "--json", "--local", "0",
                           "--listen", "tcp://127.0.0.1:*",
                           r.finished["run"]])
    f.at = f.run.wait_event("listening", 20)[0]["endpoint"]
    host = f.host(log=box.dir + "/again.log")
    f.finish("resumed")
    end(host, "resumed")


def keys_change(box):
    """A key that is not there yet, and one that is taken away."""
    f = Fleet(box, "change", "--local", "0")
    box.do("keys", "new", "late")
    pub = lib.read(f.keys + "/allowed/late.pub").strip()
    os.unlink(f.keys + "/allowed/late.pub")
    log = box.dir + "/late.log"
    host = f.host(keys="late", log=log)
    lib.check(lib.wait_until(lambda: "refuses our key" in lib.read(log), 20),
              "the host says why it waits", lib.read(log))
    lib.check(pub in lib.read(log), "and what would help", lib.read(log))
    lib.equal(lib.read(log).count("refuses our key"), 1, "once")
    c = f.client()
    c.send(b"", curve.pack(dict(HELLO, instance="x", profile="p" * 64)))
    c.recv()
    lib.equal(box.do("keys", "allow", "late", pub).status, 0, "allowed")
    r = f.finish("a key that comes late")
    lib.equal([e["key"] for e in r.all("host_up")], ["late"], "it came in", r)
    end(host, "a key that comes late")

    f = Fleet(box, "removed", "--local", "0", "--max-time", "600")
    hello = dict(HELLO, instance="r", profile=run_profile(f))
    c = f.client("late")
    c.send(b"", curve.pack(hello))
    lib.check(f.run.wait_event("host_up", 20), "it is in")
    box.do("keys", "remove", "late")
    c.s.settimeout(120)
    lib.check(ended(c), "its key is removed: the connection ends")
    lib.check(f.refused("any more"), "and it is told", f.reasons())
    # H-015: a peer that is down, with messages for it, holds up nobody.
    c = f.client()
    c.send(b"", curve.pack(dict(hello, instance="s")))
    lib.check(f.run.wait_event("host_up", 20, 2), "another is in")
    f.run.signal(signal.SIGINT)
    began = time.monotonic()
    f.finish("H-015", 130)
    lib.check(lib.soon(time.monotonic() - began, 3), "H-015: the run ends in time",
              time.monotonic() - began)
    host = f.host("--idle-exit", "600", log=box.dir + "/down.log")
    lib.check(lib.wait_until(lambda: "nobody answers" in lib.read(host.log),
                             20),
              "H-015: a host without an orchestrator")
    began = time.monotonic()
    end(host, "H-015")
    lib.check(lib.soon(time.monotonic() - began, 3), "H-015: the host ends in time",
              time.monotonic() - began)


def main():
    with lib.Box() as box:
        for part in (key_files, endpoints, fixes, insecure, stays, nobody,
                     strangers, liars, others, unread, black_holes, large,
                     no_fix, judged, cuts, keys_change, *LONG):
            if part.__name__ in sys.argv[1:] or (len(sys.argv) < 2 and
                                                 part not in LONG):
                began = time.monotonic()
                part(box)
                print("%-12s %.1f s" % (part.__name__,
                                        time.monotonic() - began), flush=True)
    # The same as another user; as root the door is another uid's, too.
    for uid in [u for u in lib.users() if u is not None]:
        with lib.Box(uid) as box:
            lib.equal(box.do("keys", "new", "fleet").status, 0, "keys")
            fixes(box, WAYS[:1])
    lib.done()


if __name__ == "__main__":
    main()
