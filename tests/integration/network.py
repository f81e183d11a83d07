#!/usr/bin/env python3
"""Commands reach the hosts that are allowed, by the proxy, and no others.

The internet is a server on this machine. Addresses are allowed literally; names
are tested as root in a network and mount namespace of their own, with its own
/etc/hosts and a public address on its loopback."""
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import lib

# In the sandbox: one request by the proxy, whatever no_proxy says.
GET = r"""
import os, sys, urllib.request, urllib.error
proxy = os.environ.get("http_proxy", "http://127.0.0.1:3128")
os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""
opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
for url in sys.argv[1:]:
    try:
        with opener.open(url, timeout=120) as r:
            print(r.status, r.read(100000).decode())
    except urllib.error.HTTPError as e:
        print(e.code, e.read().decode())
    except Exception as e:
        print("error", e)
"""

# Raw bytes to the proxy; what comes back.
RAW = r"""
import socket, sys
for text in sys.argv[1:]:
    s = socket.create_connection(("127.0.0.1", 3128), 120)
    s.sendall(text.encode("latin1").decode("unicode_escape").encode("latin1"))
    got = b""
    while True:
        try:
            part = s.recv(65536)
        except OSError:
            part = b""
        if not part:
            break
        got += part
    print(got.decode("latin1"), end="\n----\n")
"""

# One byte a second is no head; meanwhile others are served.
SLOW = r"""
import socket, time
s = socket.create_connection(("127.0.0.1", 3128), 180)
began = time.monotonic()
s.setblocking(False)
while time.monotonic() - began < 150:
    try:
        s.send(b"G")
    except OSError:
        pass
    time.sleep(0.5)
    try:
        print(s.recv(100).decode()[:12], int(time.monotonic() - began))
        break
    except BlockingIOError:
        pass
"""

MANY = r"""
import socket, sys
port, n = int(sys.argv[1]), int(sys.argv[2])
all = []
for _ in range(n):
    s = socket.create_connection(("127.0.0.1", 3128), 180)
    s.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % port)
    all.append(s)
good = 0
for s in all:
    if b" 200 " in s.recv(4096):
        s.sendall(b"GET /many HTTP/1.0\r\n\r\n")
        good += 1
whole = 0
for s in all:
    text = b""
    while part := s.recv(4096):
        text += part
    whole += text.endswith(b"the page\n")
print("many", good, whole)
"""

OWN = r"""
import http.server, os, sys, threading, urllib.request
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
for host in sys.argv[1:]:
    url = "http://%s:%d/get.py" % (host, s.server_port)
    print(host, urllib.request.urlopen(url, timeout=60).status)
"""

SCRIPTS = {"get.py": GET, "raw.py": RAW, "slow.py": SLOW, "many.py": MANY,
           "own.py": OWN}


KEY = "sk-canary-123"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.seen.append((self.path, self.headers.get("Host"),
                                 self.server.is_recorded(self.path)))
        if self.path == "/stay":
            self.server.over.wait(600)
        body = b"the page\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, address=("127.0.0.1", 0), cert=None):
        super().__init__(address, Handler)
        self.seen, self.over, self.chain = [], threading.Event(), None
        if cert:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*cert)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        pass

    def is_recorded(self, path):
        """Is the request in the record, now that it is served?"""
        try:
            return self.chain is not None and path in lib.read(self.chain())
        except OSError:
            return False


class Bed:
    def __init__(self, uid, server):
        self.box = lib.Box(uid)
        self.who = lib.user_name(uid)
        self.server, self.port = server, server.server_port
        self.url = "http://127.0.0.1:%d" % self.port
        self.rule = "127.0.0.1:%d" % self.port
        self.repo = self.box.repo("tree", lib.small(**SCRIPTS))
        self.chain = os.path.join(self.box.state, "foray/sandbox/audit.jsonl")
        server.chain = lambda: self.chain

    def settings(self, network):
        path = os.path.join(self.box.home, ".config/foray/settings.json")
        if network is None:
            if os.path.exists(path):
                os.unlink(path)
        else:
            lib.write(path, json.dumps({"network": network}))
        self.box.own()

    def inside(self, command, allow=None, timeout=60):
        options = []
        for rule in [self.rule] if allow is None else allow:
            options += ["--allow-net", rule]
        return self.box.do("sandbox", "-C", self.repo, *options, "--", "sh",
                           "-c", command, timeout=timeout)

    def get(self, *urls, **more):
        return self.inside("python3 get.py " + " ".join(
            "'%s'" % u for u in urls), **more)

    def raw(self, *texts):
        return self.inside("python3 raw.py " + " ".join(
            "'%s'" % t.replace("%PORT", str(self.port)) for t in texts))

    def lines(self, path=None):
        return [json.loads(line) for line in
                lib.read(path or self.chain).splitlines()]

    def verify(self, *args):
        r = self.box.do("audit", "--verify", *args)
        lib.check(r.status == 0 and "intact" in r.out,
                  self.who + ": the chain is intact", r)


def allowed(b):
    before = len(b.server.seen)
    r = b.get(b.url + "/one")
    lib.check("200 the page" in r.out, b.who + ": an allowed host", r)
    lib.equal(b.server.seen[before:], [("/one", b.rule, True)],
              b.who + ": once, and on record before")
    last = [x for x in b.lines() if x["act"] == "network_end"][-1]
    lib.check(last["detail"]["received"] > 9 and
              last["detail"]["address"] == b.rule,
              b.who + ": its end is on record", last)
    r = b.inside("env | grep -i _proxy | sort")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY",
                 "no_proxy", "NO_PROXY"):
        lib.check(name + "=" in r.out, "%s: %s is set" % (b.who, name), r)
    for rules, said in (([], "network         none"),
                        (["--allow-net", "pypi.org"],
                         "network         pypi.org (--allow-net)\n")):
        r = b.box.do("sandbox", "-C", b.repo, "--explain", *rules)
        lib.check(said in r.out and ("_proxy" in r.out) == bool(rules),
                  "%s: explained, %s" % (b.who, rules), r)
    b.verify("--sandbox")


def refused(b):
    before = len(b.server.seen)
    other = "127.0.0.1:%d" % (b.port + 1 if b.port < 65535 else 1)
    for url, what in (("http://%s/" % other, "another port"),
                      ("http://127.0.0.2:%d/" % b.port, "another address"),
                      ("http://example.com/", "a name"),
                      ("http://169.254.169.254/latest/", "metadata"),
                      ("http://[::1]:%d/" % b.port, "the same in IPv6")):
        began = time.monotonic()
        r = b.get(url)
        lib.check(r.out.startswith("403 ") and "network.allow" in r.out and
                  "--allow-net" in r.out and lib.soon(time.monotonic() - began, 5),
                  "%s: %s is refused" % (b.who, what), r)
        last = b.lines()[-1]
        lib.equal((last["act"], last["verdict"], url.split("/")[2] in
                   last["subject"]), ("network", "deny", True),
                  "%s: %s is on record" % (b.who, what), last)
    for host in ("0x7f.1", "2130706433", "127.1"):
        r = b.get("http://%s:%d/" % (host, b.port))
        lib.check(r.out.startswith("400"),
                  "%s: %s is no host" % (b.who, host), r)
    r = b.get("http://localhost:9/", allow=["localhost:9"])
    lib.check("no public address" in r.out,
              b.who + ": a name that leads to loopback", r)
    lib.equal(b.server.seen[before:], [], b.who + ": the server saw nothing")
    b.verify("--sandbox")


def raw(b):
    before = len(b.server.seen)
    r = b.raw(
        r"GET http://127.0.0.1:%PORT/a HTTP/1.1\r\nHost: 127.0.0.1:%PORT\r\n"
        r"\r\nGET /secret HTTP/1.1\r\nHost: x\r\n\r\n",
        r"GET http://127.0.0.1:%PORT/secret HTTP/1.1\r\nHost: evil\r\n\r\n",
        r"CONNECT 127.0.0.1:%PORT@evil:1 HTTP/1.1\r\n\r\n",
        r"GET /secret HTTP/1.1\r\nHost: 127.0.0.1:%PORT\r\n\r\n",
        "GET http://127.0.0.1:%PORT/ HTTP/1.1\\r\\nX: " + "x" * 20000,
        r"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x02\x00\x50")
    parts = r.out.split("\n----\n")
    lib.check("the page" in parts[0], b.who + ": the first of two", r)
    for i in (1, 2, 3):
        lib.check(parts[i].startswith("HTTP/1.1 400 "), "%s: no. %d of what "
                  "is malformed" % (b.who, i), parts[i])
    lib.check(parts[4].startswith("HTTP/1.1 431 "),
              b.who + ": a head that is too long", parts[4])
    lib.check(parts[5].startswith("\x05\x00\x05\x02"),
              b.who + ": SOCKS refuses", repr(parts[5]))
    lib.equal([p for p, _, _ in b.server.seen[before:]], ["/a"],
              b.who + ": nothing was smuggled")


def load(b):
    began = time.monotonic()
    r = b.inside("python3 slow.py & python3 many.py %d 200; "
                 "python3 get.py %s/then; wait" % (b.port, b.url))
    took = time.monotonic() - began
    lib.check("many 200 200" in r.out, b.who + ": 200 connections at once", r)
    lib.check("200 the page" in r.out, b.who + ": and one more", r)
    slow = [x for x in r.out.splitlines() if x.startswith("HTTP/1.1 408")]
    lib.check(slow and lib.soon(took, 25), b.who + ": a slow head is ended", r)


def none(b):
    """No network without the setting, and it shows at once."""
    for allow in ([], ["public.test"]):
        r = b.inside("python3 own.py 127.0.0.1 localhost", allow=allow)
        lib.check("127.0.0.1 200\nlocalhost 200" in r.out,
                  "%s: its own servers, allowed: %s" % (b.who, allow), r)
    began = time.monotonic()
    r = b.inside("python3 get.py http://192.0.2.1/ %s/; env | grep -ci proxy"
                 % b.url, allow=[])
    lib.check(r.out.count("error <") == 2 and r.out.endswith("\n0\n") and
              lib.soon(time.monotonic() - began, 3),
              b.who + ": no network by default", r)
    if shutil.which("curl"):
        r = b.inside("curl -sS -m 60 http://192.0.2.1/", allow=[])
        lib.check(r.status == 7 and lib.soon(r.seconds, 3), b.who + ": nor for curl", r)


def bad_rules(b):
    for rule in ("https://pypi.org", "*", "10.0.0.0/8", "pypi.org:0", "127.1"):
        r = b.inside("echo ran", allow=[rule])
        lib.check(r.status == 125 and rule in r.err and "pypi.org" in r.err and
                  "ran" not in r.out, "%s: %s is no rule" % (b.who, rule), r)
        r = b.box.run(b.repo, "-t", "true", "--allow-net", rule)
        lib.check(r.status == 2 and rule in r.err,
                  "%s: %s is no rule of a run" % (b.who, rule), r)
    for network in ({"allow": "pypi.org"}, {"allow": [7]},
                    {"allow": ["a/b"]}, {"alow": ["pypi.org"]}, ["pypi.org"]):
        b.settings(network)
        for r in (b.inside("echo ran", allow=[]),
                  b.box.tool(b.repo, "run_command", {"command": "true"})):
            lib.check(r.status in (2, 125) and "network" in r.err,
                      "%s: settings %s" % (b.who, network), r)
    b.settings(None)


def tls(b):
    if not shutil.which("openssl"):
        return
    cert = [os.path.join(b.box.dir, n) for n in ("cert.pem", "key.pem")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                    "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-days", "2", "-out",
                    cert[0], "-keyout", cert[1]], check=True,
                   stderr=subprocess.DEVNULL)
    server = Server(cert=cert)
    shutil.copy(cert[0], os.path.join(b.repo, "cert.pem"))
    b.box.own()
    r = b.inside("SSL_CERT_FILE=cert.pem python3 get.py https://127.0.0.1:%d/s"
                 % server.server_port,
                 allow=["127.0.0.1:%d" % server.server_port])
    lib.check("200 the page" in r.out, b.who + ": TLS goes through", r)
    r = b.inside("SSL_CERT_FILE=cert.pem python3 get.py https://127.0.0.1:%d/s"
                 % server.server_port)
    lib.check("403" in r.out and "foray" in r.out,
              b.who + ": Python says why TLS does not", r)
    os.unlink(os.path.join(b.repo, "cert.pem"))
    server.shutdown()
    server.server_close()


def together(b):
    """Several at once write one chain."""
    before = len(b.lines())
    threads = [threading.Thread(target=b.get, args=(b.url + "/t",) * 5)
               for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    lib.equal(len(b.lines()) - before, 40, b.who + ": requests and their ends")
    b.verify("--sandbox")


def killed(b):
    for sig in (signal.SIGKILL, signal.SIGTERM):
        b.server.over.clear()
        before = len(b.server.seen)
        p = b.box.popen(["foray", "sandbox", "-C", b.repo, "--allow-net",
                         b.rule, "--", "python3", "get.py", b.url + "/stay"],
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                        env={"OPENAI_API_KEY": KEY})
        lib.check(lib.wait_until(lambda: len(b.server.seen) > before, 20),
                  b.who + ": a request is under way")
        group = lib.descendants(p.pid)
        lib.check(len(group) >= 3, b.who + ": there are processes", group)
        proxy = [x for x in group if b"egress-proxy" in x.read("cmdline")]
        if lib.equal(len(proxy), 1, b.who + ": one of them is the proxy",
                     group):
            lib.check(KEY.encode() not in proxy[0].read("environ") and
                      b"HOME=" not in proxy[0].read("environ"),
                      b.who + ": it has no key", proxy[0].read("environ"))
            status = proxy[0].read("status").decode()
            lib.check("\nCapEff:\t0000000000000000\n" in status and
                      "\nUid:\t0\t" not in status,
                      b.who + ": it has no privilege", status)
        p.send_signal(sig)
        p.wait()
        lib.equal(lib.left_alive(group), [], "%s: nothing is left after %s" %
                  (b.who, sig.name))
        b.server.over.set()
    b.verify("--sandbox")


def workers(b):
    """The same for a worker's commands, and in a whole run."""
    b.settings({"allow": [b.rule]})
    b.server.chain = lambda: os.path.join(b.box.runs()[-1], "audit.jsonl")
    r = b.box.tool(b.repo, "run_command", {
        "command": "python3 get.py %s/w http://example.com/; python3 own.py "
        "localhost" % b.url})
    text = str(r.json.get("result"))
    lib.check("200 the page" in text and "403 foray: example.com:80" in text and
              "localhost 200" in text, b.who + ": a worker's command", r)
    lib.equal(b.server.seen[-1], ("/w", b.rule, True),
              b.who + ": on record before")
    acts = sorted((x["act"], x["verdict"], x["worker"]) for x in
                  b.lines(os.path.join(b.box.runs()[-1], "audit.jsonl")))
    lib.equal(acts, [("command", "allow", "w1"), ("network", "allow", "w1"),
                     ("network", "deny", "w1"), ("network_end", "allow", "w1")],
              b.who + ": the audit of the run")
    b.verify()
    r = b.box.tool(b.repo, "run_command", {
        "command": "python3 many.py %d 100" % b.port})
    lib.check("many 100 100" in str(r.json.get("result")),
              b.who + ": 100 connections at once", r)
    b.settings(None)
    r = b.box.tool(b.repo, "run_command",
                   {"command": "python3 get.py %s/x; env" % b.url})
    text = str(r.json.get("result"))
    lib.check("error" in text and "_proxy" not in text and lib.soon(r.seconds, 10),
              b.who + ": no network in a run by default", r)

    test = "python3 get.py %s/test | grep -q 200 && sh test.sh" % b.url
    before = len(b.server.seen)
    r = b.box.run(b.repo, "-t", test, "--allow-net", b.rule, timeout=120)
    lib.equal((r.status, r.finished.get("status")), (0, "fixed"),
              b.who + ": a run whose tests need a host", r)
    seen = b.server.seen[before:]
    lib.check(len(seen) >= 4 and all(s[2] for s in seen),
              b.who + ": each on record before", seen)
    b.verify()


def run_killed(b):
    b.server.over.clear()
    before = len(b.server.seen)
    live = b.box.start(b.repo, "-t", "python3 get.py %s/stay; sh test.sh" % b.url,
                       "--allow-net", b.rule)
    lib.check(lib.wait_until(lambda: len(b.server.seen) > before, 30),
              b.who + ": a run's request is under way")
    group = lib.descendants(live.pid)
    live.signal(signal.SIGKILL)
    live.wait(10)
    lib.equal(lib.left_alive(group), [],
              b.who + ": nothing is left of a killed run")
    b.server.over.set()
    before = len(b.server.seen)
    r = b.box.do("resume", "--json", timeout=120)
    lib.equal((r.status, r.finished.get("status")), (0, "fixed"),
              b.who + ": resumed, it is allowed again", r)
    lib.check(len(b.server.seen) > before and b.server.seen[-1][2],
              b.who + ": and used", b.server.seen[before:])


def proxy_killed(b):
    """Without the proxy there is no network, and no wait for one."""
    p = b.box.popen(["foray", "sandbox", "-C", b.repo, "--allow-net", b.rule,
                     "--", "sh", "-c", "echo up; read x; python3 get.py " +
                     b.url],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    found = lib.wait_until(lambda: [
        x for x in lib.descendants(p.pid)
        if b"egress-proxy" in x.read("cmdline")], 10)
    lib.equal(p.stdout.readline(), b"up\n", b.who + ": the command runs")
    os.kill(found[0].pid, signal.SIGKILL)
    out, err = p.communicate(b"go\n", timeout=30 * lib.BUSY)
    lib.check(b"error" in out and b"the proxy" in err and p.returncode == 0,
              b.who + ": the proxy is gone", (out, err, p.returncode))


# ------------------------------------------------------------------ names

PUBLIC = "93.184.216.34"
HOSTS = """127.0.0.1 localhost
%(public)s public.test www.public.test
10.1.2.3 mixed.test
%(public)s mixed.test
10.1.2.3 private.test
169.254.169.254 meta.test
127.0.0.1 loop.test
fd00::1 private6.test
""" % {"public": PUBLIC}


def names_inside():
    """In namespaces of our own: /etc/hosts is ours, and loopback has a public
    address."""
    server = Server((PUBLIC, 80))
    b = Bed(None, server)
    server.chain = lambda: b.chain
    allow = ["*.test:80", "public.test"]

    def get(name, allowed=allow):
        return b.get("http://%s/%s" % (name, name.split(":")[0]),
                     allow=allowed)

    for name in ("public.test", "www.public.test", "PUBLIC.test.",
                 "mixed.test"):
        r = get(name)
        lib.check("200 the page" in r.out, name + " is reached", r)
    lib.check(all(s[2] for s in server.seen), "each on record before")
    before = len(server.seen)
    for name in ("private.test", "meta.test", "loop.test", "private6.test"):
        r = get(name)
        lib.check(r.out.startswith("403 ") and "no public address" in r.out,
                  name + " is refused", r)
        acts = [(x["act"], x["verdict"]) for x in b.lines()[-3:]]
        lib.equal(acts, [("network", "allow"), ("network", "deny"),
                         ("network_end", "allow")], name + " in the record")
    for name, rules in (("public.test:8080", allow), ("test", ["*.test"]),
                        ("www.public.test", ["public.test"]),
                        ("public.test", ["*.public.test"]),
                        ("evilpublic.test", ["*.public.test"]),
                        (PUBLIC, ["public.test"])):
        r = get(name, rules)
        lib.check(r.out.startswith("403 ") and "not in network.allow" in r.out,
                  "%s is not in %s" % (name, rules), r)
    r = get("no-such.test")
    lib.check(r.out.startswith("50"), "a name that does not exist", r)
    lib.equal(len(server.seen), before, "the server saw nothing of it")
    # A literal rule opens the address for a name, too.
    inner = Server(("127.0.0.1", 80))
    r = get("loop.test", allow + ["127.0.0.1:80"])
    lib.check("200 the page" in r.out, "loop.test by a literal rule", r)
    inner.shutdown()
    inner.server_close()
    programs(b)
    b.verify("--sandbox")
    server.shutdown()
    server.server_close()
    b.box.__exit__()


def programs(b):
    """Those that people use find the proxy by themselves."""
    allow = ["public.test"]
    if shutil.which("curl"):
        r = b.inside("curl -sS http://public.test/c; curl -sS --proxytunnel "
                     "http://public.test/p; curl -sS -x "
                     "socks5h://127.0.0.1:3128 http://public.test/s; curl -sS https://www.public.test/",
                     allow=allow)
        lib.check(r.out.count("the page") == 3 and "403" in r.err, "curl", r)
    if shutil.which("wget"):
        r = b.inside("wget -q -O - http://public.test/w", allow=allow)
        lib.check("the page" in r.out, "wget", r)
    r = b.inside("git ls-remote http://public.test/r.git; "
                 "git ls-remote http://other.test/r.git", allow=allow)
    lib.check("/r.git/info/refs?service=git-upload-pack" in
              [s[0] for s in b.server.seen] and "403" in r.err, "git", r)
    if shutil.which("npm"):
        r = b.inside("npm ping --registry http://public.test/", allow=allow)
        lib.check([s for s in b.server.seen if s[0].startswith("/-/ping")],
                  "npm", r)
    r = b.inside("python3 -m pip --isolated --disable-pip-version-check "
                 "download --retries 0 --no-deps -d /tmp/x -i "
                 "http://public.test/simple --trusted-host public.test foo; "
                 "python3 -m pip --isolated --disable-pip-version-check "
                 "download --retries 1 --no-deps -d /tmp/x foo", allow=allow)
    if "No module named pip" not in r.err:
        lib.check("/simple/foo/" in [s[0] for s in b.server.seen],
                  "pip asks an allowed index", r)
        lib.check("pypi.org:443 is not in network.allow" in r.text,
                  "pip says why", r)


def names():
    hosts = "/tmp/foray-hosts-%d" % os.getpid()
    lib.write(hosts, HOSTS)
    script = ("set -e; mount --bind %s /etc/hosts; ip link set lo up; "
              "ip addr add %s/32 dev lo; ip addr add fd00::2/64 dev lo || :; "
              "exec \"$@\"" % (hosts, PUBLIC))
    p = subprocess.run(["unshare", "-m", "-n", "sh", "-c", script, "sh",
                        sys.executable, __file__, "names"],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       check=False)
    os.unlink(hosts)
    text = p.stdout.decode()
    lib.check(p.returncode == 0, "names, in a network of their own", text)
    print(text, end="")


if sys.argv[1:] == ["names"]:
    names_inside()
    lib.done()

the_server = Server()
for the_uid in lib.users("ordinary"):
    bed = Bed(the_uid, the_server)
    with bed.box:
        probe = bed.inside("echo works", allow=[])
        if probe.status == 125:
            print(probe)
            sys.exit(lib.SKIPPED)
        for test in (allowed, refused, raw, none, bad_rules, tls, together,
                     killed, proxy_killed, load, workers, run_killed):
            test(bed)
if os.geteuid() == 0 and shutil.which("ip") and shutil.which("unshare"):
    names()
the_server.shutdown()
the_server.server_close()
lib.done()
