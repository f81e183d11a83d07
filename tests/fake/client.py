"""Start the fake model server from a test.

    sys.path.insert(0, lib.TESTS)
    from fake.client import FakeServer

    with FakeServer({"turns": [...]}, key="sk-test", faults="429:0.2") as s:
        box.run(repo, "-m", "openai/fake-model", env=s.env())
        lib.equal(s.stats()["sums"]["accepted"], 3, "...")
        lib.equal(s.errors(), "", "the server itself is fine")

Options are those of server.py, with _ for -. The server ends with the test,
however that ends: its stdin is a pipe of ours. It is forked: to start Python
and load asyncio takes longer than most of what it is asked.
"""
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import urllib.request

sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))
import server  # noqa: E402


class Process:
    """server.py ARGS in a process of its own."""

    def __init__(self, args, stderr):
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid, self.status = os.fork(), None
        if self.pid == 0:
            self.child(args, reading, stderr)
        os.close(reading)
        self.stdin = os.fdopen(writing, "wb")

    @staticmethod
    def child(args, stdin, stderr):
        status = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            os.dup2(stdin, 0)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(stderr.fileno(), 2)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            # Another thread may have held the locks of the old ones.
            sys.stdout, sys.stderr = open(1, "w"), open(2, "w", buffering=1)
            server.main(args)
            status = 0
        except SystemExit as e:
            status = e.code
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    def poll(self):
        """Whether it has ended."""
        if self.status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status = self.pid, 0
            self.status = status if pid else None
        return self.status

    def wait(self, seconds):
        """Whether it ended within that time."""
        end = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        return self.status is not None

    def signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)


class FakeServer:
    def __init__(self, script, **options):
        self.dir = tempfile.TemporaryDirectory(prefix="foray-fake-")
        self.key = options.get("key") or "sk-fake"
        self.log_file = options.setdefault("log", self.path("log.jsonl"))
        if not isinstance(script, str):
            with open(self.path("script.json"), "w", encoding="utf-8") as f:
                json.dump(script, f)
            script = self.path("script.json")
        self.args = ["--until-eof", "--script", script, "--port-file",
                     self.path("port")]
        for name, value in options.items():
            if value is not None:
                self.args += ["--" + name.replace("_", "-"), str(value)]

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.dir.cleanup()

    def start(self, port=0):
        """Also after stop(); with the same port when the base has to stay."""
        if os.path.exists(self.path("port")):
            os.unlink(self.path("port"))
        with open(self.path("stderr"), "ab") as err:
            self.process = Process(self.args + ["--port", str(port)], err)
        self.port = self.wait_port(time.monotonic() + 120)

    def wait_port(self, end):
        while not os.path.exists(self.path("port")):
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError("no fake server: " + self.errors())
            time.sleep(0.005)
        with open(self.path("port"), encoding="ascii") as f:
            return int(f.read())

    def stop(self):
        """Ends it; what is under way is broken off."""
        self.process.stdin.close()
        self.process.signal(signal.SIGTERM)
        if not self.process.wait(30):
            self.process.signal(signal.SIGKILL)
            self.process.wait(60)

    def base(self, api="openai"):
        """For OPENAI_BASE_URL, or ANTHROPIC_BASE_URL ("anthropic")."""
        url = "http://127.0.0.1:%d" % self.port
        return url if api == "anthropic" else url + "/v1"

    def env(self, *apis):
        """The environment that leads foray here; by default both APIs."""
        found = {}
        for api in apis or ("openai", "anthropic"):
            found[api.upper() + "_BASE_URL"] = self.base(api)
            found[api.upper() + "_API_KEY"] = self.key
        return found

    def stats(self):
        """{"sums": {}, "records": []}, see stats.py."""
        return self.get("/_stats")

    def sums(self):
        """The sums alone, which is cheaper."""
        return self.get("/_stats/sums")["sums"]

    def get(self, path):
        url = "http://127.0.0.1:%d%s" % (self.port, path)
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=120) as f:
            return json.load(f)

    def log(self):
        """The records so far, also those before a restart."""
        if self.process.poll() is None:
            self.sums()     # what was answered by now is written by now
        try:
            with open(self.log_file, encoding="utf-8") as f:
                return [json.loads(line) for line in f if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def errors(self):
        """What the server said on stderr; nothing when all is well."""
        with open(self.path("stderr"), encoding="utf-8") as f:
            return f.read()
