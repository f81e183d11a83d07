#!/usr/bin/env python3
"""deploy/slurm/foray-hosts.sbatch in a Slurm of this test's own: a controller and
two nodes on this machine. Hosts come up in the allocation, fix a bug without the
local host, and go with it; scancel and a drain in mid-run lose nothing."""
import os
import re
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib  # noqa: E402

SCRIPT = os.path.join(lib.TESTS, "../deploy/slurm/foray-hosts.sbatch")
HOST = os.path.join(os.path.dirname(lib.FORAY), "foray-host")
NODES = ("n1", "n2")
CONF = """ClusterName=foray
SlurmctldHost={name}(127.0.0.1)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge.sock
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
StateSaveLocation={dir}/ctld
SlurmdSpoolDir={dir}/d_%n
SlurmctldPidFile={dir}/ctld.pid
SlurmdPidFile={dir}/%n.pid
SlurmctldLogFile={dir}/ctld.log
SlurmdLogFile={dir}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
ReturnToService=2
SlurmdParameters=config_overrides
InactiveLimit=0
MinJobAge=300
KillWait=2
SlurmctldTimeout=30
SlurmdTimeout=30
NodeName=n1 NodeHostname={name} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=1000
NodeName=n2 NodeHostname={name} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=1000
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# Long enough to be cut off, and to finish.
SLOW = "sleep 0.3; " + lib.SMALL_TEST


def free_ports(n):
    """Nobody is given those below 32768 who asks for just any."""
    ports, port = [], 20000 + os.getpid() % 10000
    while len(ports) < n:
        port += 1
        try:
            socket.create_server(("127.0.0.1", port)).close()
            ports.append(port)
        except OSError:
            pass
    return ports


class Slurm:
    def __init__(self, box):
        self.box, self.dir = box, os.path.join(box.dir, "slurm")
        for name in ("ctld", "d_n1", "d_n2", "tmp"):
            os.makedirs(os.path.join(self.dir, name))
        lib.write(self.dir + "/slurm.conf", CONF.format(
            name=socket.gethostname(), dir=self.dir, ports=free_ports(3)))
        with open(self.dir + "/munge.key", "wb") as f:
            f.write(os.urandom(1024))
        os.chmod(self.dir + "/munge.key", 0o400)
        self.env = {"SLURM_CONF": self.dir + "/slurm.conf"}
        self.daemons = []
        # munged wants no other's hand above its socket, or to be forced.
        self.daemon("munged", "-F", "--force", "--num-threads=2", *(
            "--%s=%s/munge.%s" % (k, self.dir, v) for k, v in (
                ("key-file", "key"), ("socket", "sock"), ("pid-file", "pid"),
                ("log-file", "log"), ("seed-file", "seed"))))
        lib.wait_until(lambda: os.path.exists(self.dir + "/munge.sock"), 10)
        self.daemon("slurmctld", "-D", "-i")
        for n in NODES:
            self.daemon("slurmd", "-D", "-N", n)
        lib.check(lib.wait_until(self.ready, 30, 0.1), "Slurm is up",
                  self.logs())

    def daemon(self, *args):
        with open(os.path.join(self.dir, "out.log"), "ab") as f:
            self.daemons.append(self.box.popen(
                [shutil.which(args[0], path="/usr/sbin:/usr/bin"), *args[1:]],
                env=self.env, stdout=f, stderr=f))

    def do(self, *args, **env):
        return self.box.call(list(args), env=dict(self.env, **env))

    def ready(self):
        r = self.do("sinfo", "-h", "-N", "-o", "%T")
        return r.out.split() == ["idle", "idle"]

    def logs(self):
        return "\n".join(lib.read(os.path.join(self.dir, n))[-1500:]
                         for n in ("out.log", "ctld.log", "n1.log")
                         if os.path.exists(os.path.join(self.dir, n)))

    def hosts(self, at, keys, *args, sbatch=("-N2",), **env):
        """A job of hosts; its number."""
        env = dict(FORAY_HOST=HOST, FORAY_SCRATCH=self.dir + "/tmp", **env)
        r = self.do("sbatch", "--parsable", "-o", self.dir + "/job-%j.log",
                    *sbatch, SCRIPT, at, keys, *args, **env)
        lib.check(r.status == 0, "sbatch", r)
        return r.out.strip()

    def log(self, job):
        path = "%s/job-%s.log" % (self.dir, job)
        return lib.read(path) if os.path.exists(path) else ""

    def state(self, job):
        r = self.do("scontrol", "show", "job", "-o", job)
        return r.out.split("JobState=")[-1].split()[0] if r.out else r.err

    def wait(self, job, want, what, seconds=30):
        lib.wait_until(lambda: self.state(job) in want or
                       self.state(job) in ("FAILED", "TIMEOUT"), seconds, 0.1)
        lib.check(self.state(job) in want, what, "%s: %s\n%s" % (
            job, self.state(job), self.log(job)))

    def gone(self, what):
        """No host is left, and nothing of it."""
        lib.check(lib.wait_until(lambda: not [
            p for p in lib.descendants()
            if p.name in ("foray-host", "foray-worker", "slurmstepd") and
            b"--local" not in p.read("cmdline")], 20, 0.1),
            what + ": nothing runs on the nodes", lib.descendants())
        lib.equal(os.listdir(self.dir + "/tmp"), [],
                  what + ": nothing is left on the nodes")

    def stop(self):
        self.do("scancel", "--state=RUNNING")
        self.do("scancel", "--state=PENDING")
        for p in reversed(self.daemons):
            p.terminate()
        for p in reversed(self.daemons):
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()


def used(r):
    return {e["host"] for e in r.all("assigned")}


def usage(box):
    """What can be told without Slurm."""
    for args, part in (([], "usage"), (["tcp://a:1"], "usage"),
                       (["tcp://a:1", "/keys"], "SLURM_JOB_ID")):
        r = box.call([SCRIPT, *args], env={"SLURM_JOB_ID": ""})
        lib.check(r.status == 2 and part in r.err, "usage: %s" % args, r)


def works(box, slurm):
    """Two nodes fix a bug; the hosts outlive the run and take the next one;
    idle, they end, and so does the job."""
    run, at, keys = box.listen(box.repo("works", lib.SMALL), "-t",
                               lib.SMALL_TEST, "-n", "4", "--all", "--local",
                               "0")
    job = slurm.hosts(at, keys, "--spares", "0", FORAY_IDLE_EXIT="1")
    up = run.wait_event("host_up", 30, 2)
    lib.equal(sorted(e["host"] for e in up), list(NODES), "both nodes are up",
              slurm.log(job) + slurm.logs())
    lib.equal([e["slots"] for e in up], [2, 2], "slots as Slurm gives")
    r = run.wait(60)
    lib.equal(r.status, 0, "it is fixed in the allocation", r)
    lib.check(used(r) <= set(NODES) and used(r), "and only there", used(r))
    lib.equal(slurm.state(job), "RUNNING", "the hosts stay")
    slurm.wait(job, ("COMPLETED",), "idle hosts end the job")
    slurm.gone("idle")


def drains(box, slurm):
    """What --signal does before the end of the time: no more work is taken,
    what runs is finished, and the job ends."""
    box.hold()
    run, at, keys = box.listen(box.repo("drains", lib.SMALL), "-t", SLOW, "-n",
                               "2", "--local", "0")
    job = slurm.hosts(at, keys, sbatch=("-N1",), FORAY_COPY_KEYS="yes")
    lib.check(run.wait_event("hook", 30), "a worker runs",
              slurm.log(job))
    r = slurm.do("scancel", "--batch", "--signal=TERM", job)
    lib.equal(r.status, 0, "the batch script is told", r)
    lib.wait_until(lambda: "no more work" in slurm.log(job), 20)
    box.release()
    slurm.wait(job, ("COMPLETED",), "the drained job ends well")
    lib.check(re.search("SIGTERM: no more work is taken, [1-9]", slurm.log(job)),
              "it drained while it worked", slurm.log(job))
    slurm.gone("drained")
    before = len(run.events("assigned"))
    lost = [e for e in run.events("worker_gone")
            if e["reason"] not in ("exited", "drain", "cancelled")]
    lib.equal(lost, [], "no worker was cut off", slurm.log(job))
    job = slurm.hosts(at, keys, sbatch=("-N1",))
    r = run.wait(60)
    lib.equal(r.status, 0, "later hosts do the rest", r)
    lib.check(len(r.all("assigned")) >= before, "of the same run", r)
    return job


def cancelled(box, slurm, other):
    """scancel in mid-run: the run goes on with what comes later."""
    run, at, keys = box.listen(box.repo("cancel", lib.SMALL), "-t", SLOW, "-n",
                               "2", "--local", "0")
    slurm.do("scancel", other)
    job = slurm.hosts(at, keys, sbatch=("-N1",))
    lib.check(run.wait_event("assigned", 30), "workers run",
              slurm.log(job))
    r = slurm.do("scancel", job)
    lib.equal(r.status, 0, "scancel", r)
    lib.check(run.wait_event("host_down", 20), "the hosts are gone",
              slurm.log(job))
    slurm.wait(job, ("CANCELLED",), "the job is cancelled")
    slurm.gone("cancelled")
    lib.check(run.process.poll() is None, "the run waits for others")
    job = slurm.hosts(at, keys, sbatch=("-N1",))
    r = run.wait(60)
    lib.equal(r.status, 0, "nothing is lost by scancel", r)
    lib.equal(box.do("audit", "--verify").status, 0, "the audit is whole")
    slurm.do("scancel", job)
    slurm.gone("at the end")


def main():
    missing = [p for p in ("munged", "slurmctld", "slurmd", "sbatch")
               if shutil.which(p, path="/usr/sbin:/usr/bin") is None]
    if missing:
        lib.skip("not installed: %s (make deps-test)" % ", ".join(missing))
    with lib.Box() as box:
        usage(box)
        if os.geteuid() != 0:
            print("slurmd runs as root only: no allocation was made")
            lib.done()
        slurm = Slurm(box)
        try:
            began = time.monotonic()
            works(box, slurm)
            print("works     %.1f s" % (time.monotonic() - began), flush=True)
            began = time.monotonic()
            job = drains(box, slurm)
            print("drains    %.1f s" % (time.monotonic() - began), flush=True)
            began = time.monotonic()
            cancelled(box, slurm, job)
            print("cancelled %.1f s" % (time.monotonic() - began), flush=True)
        finally:
            slurm.stop()
    lib.done()


main()
