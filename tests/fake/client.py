"""Start the fake model server from a test.

    sys.path.insert(0, lib.TESTS)
    from fake.client import FakeServer

    with FakeServer({"turns": [...]}, key="sk-test", faults="429:0.2") as s:
        box.run(repo, "-m", "openai/fake-model", env=s.env())
        lib.equal(s.stats()["sums"]["accepted"], 3, "...")
        lib.equal(s.errors(), "", "the server itself is fine")

Options are those of server.py, with _ for -. The server ends with the test,
however that ends: its stdin is a pipe of ours.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")


class FakeServer:
    def __init__(self, script, **options):
        self.dir = tempfile.TemporaryDirectory(prefix="foray-fake-")
        self.key = options.get("key") or "sk-fake"
        self.log_file = options.setdefault("log", self.path("log.jsonl"))
        if not isinstance(script, str):
            with open(self.path("script.json"), "w", encoding="utf-8") as f:
                json.dump(script, f)
            script = self.path("script.json")
        self.args = [sys.executable, "-B", SERVER, "--until-eof", "--script",
                     script, "--port-file", self.path("port")]
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
            self.process = subprocess.Popen(
                self.args + ["--port", str(port)], stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL, stderr=err)
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
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

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
