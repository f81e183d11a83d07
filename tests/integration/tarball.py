#!/usr/bin/env python3
"""`make tarball`: unpacked at a path with a space, with an empty environment, on a
machine whose own libraries of that kind are hidden, the host checks itself and
fixes a bug. And `make install`: everything in its place."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib  # noqa: E402

TOP = os.path.dirname(lib.TESTS)
LIBS = "/usr/lib/%s-linux-gnu" % os.uname().machine
# Of glibc, or needed by bwrap, git and sh themselves.
SYSTEM = re.compile(
    r"(ld-linux.*|libc|libm|libpthread|libdl|librt|libresolv|libutil|"
    r"libanl|libnss.*|libselinux|libcap|libpcre2-8|libz|libtinfo)\.so")


def make(box, *targets):
    """With the variables of a `make test` around us, not with its jobs. The
    build under test was made with them: its objects are used again."""
    args = os.environ.get("MAKEFLAGS", "").partition("-- ")[2].split()
    if not args:
        flags = lib.read(os.path.join(lib.BUILD, ".flags"))
        found = re.search(r"-fsanitize=(\S+)", flags)
        args = ["SANITIZE=" + (found.group(1) if found else "")]
    env = {"MAKEFLAGS": "", "MAKELEVEL": "0", "MFLAGS": ""}
    return box.call(["make", "-C", TOP, *args, "BUILD=" +
                     os.path.abspath(lib.BUILD), *targets], 300, env=env)


def unpack(box):
    r = make(box, "tarball")
    lib.equal(r.status, 0, "make tarball", r)
    packed = glob.glob(os.path.join(lib.BUILD, "foray-host-*.tar.gz"))
    lib.equal(len(packed), 1, "one tarball", packed)
    place = os.path.join(box.dir, "an odd place")
    os.mkdir(place)
    subprocess.run(["tar", "-xzf", packed[0], "-C", place], check=True)
    top = os.path.join(place, os.listdir(place)[0])
    for name in ("bin/foray-host", "bin/foray-worker", "README", "LICENSE",
                 "lib/foray/libzmq.so.5", "share/man/man8/foray-host.8",
                 "share/foray/profiles/default.json",
                 "share/foray/foray-hosts.sbatch"):
        lib.check(os.path.isfile(os.path.join(top, name)), "it has " + name)
    # What the unit needs is there, and what is there is spoken of.
    said = lib.read(os.path.join(top, "README"))
    there = os.listdir(os.path.join(top, "share/foray"))
    for name in ("foray-host@.service", "foray.sysusers", "host.conf"):
        lib.check(name in there, "for systemd: " + name, there)
    for name in there:
        lib.check(name in said, "its README says what is " + name, said)
    libs = os.listdir(os.path.join(top, "lib/foray"))
    lib.check(not [n for n in libs if re.match(r"lib(c|m)\.so|ld-", n)],
              "glibc is the machine's", libs)
    said = os.listdir(os.path.join(top, "share/doc/foray/libraries"))
    lib.check("libzmq5" in said and "libsodium23" in said,
              "licences of the libraries", said)
    lib.check(re.search(r"glibc is 2\.\d+ or newer",
                        lib.read(top + "/README")), "what glibc it needs")
    return top, libs


def bare(top, libs, box):
    """Arguments of a bwrap whose /usr has none of those libraries."""
    hide = []
    for name in libs:
        if SYSTEM.match(name):
            continue
        for path in glob.glob(os.path.join(LIBS, name)):
            hide += ["--ro-bind", "/dev/null", os.path.realpath(path)]
    lib.check(len(hide) > 20, "libraries are hidden", hide)
    return ["bwrap", "--die-with-parent", "--ro-bind", "/", "/", *hide,
            "--proc", "/proc", "--dev", "/dev", "--bind", box.dir, box.dir,
            "--cap-add", "ALL"]


def works(box, top, libs):
    host = os.path.join(top, "bin/foray-host")
    wrap = bare(top, libs, box)
    empty = ["env", "-i"]
    alone = os.path.join(box.dir, "alone")
    os.mkdir(alone)
    shutil.copy(host, alone)
    r = box.call(wrap + ["--", alone + "/foray-host", "--version"])
    lib.check(r.status == 127 and "shared libraries" in r.err,
              "without them it can't run there", r)
    cache = ["--cache", box.dir + "/its own"]
    r = box.call(wrap + ["--", *empty, host, "--check", *cache])
    lib.check(r.status == 0 and "workers can run here" in r.out, "--check", r)
    run, at, keys = box.listen(box.repo("bare", lib.SMALL), "-t",
                               lib.SMALL_TEST, "-n", "2", "--local", "0")
    r = box.call(wrap + ["--", *empty, host, "--check", "--connect", at,
                         "--keys", keys, *cache])
    lib.check(r.status == 0 and "takes our key" in r.out,
              "--check with a run", r)
    log = box.dir + "/host.log"
    with open(log, "wb") as f:
        host = box.popen(wrap + ["--", *empty, host, "--connect", at, "--keys",
                                 keys, "--name", "bare", *cache], stderr=f)
    r = run.wait(60)
    lib.equal(r.status, 0, "it is fixed there", str(r) + lib.read(log))
    lib.equal({e["host"] for e in r.all("assigned")}, {"bare"}, "by that host")
    for p in lib.descendants(host.pid):
        if p.name == "foray-host" and p.parent == host.pid:
            os.kill(p.pid, 15)
    host.terminate()
    host.wait(10 * lib.BUSY)


def install(box):
    dest = os.path.join(box.dir, "dest")
    r = make(box, "install", "DESTDIR=" + dest)
    lib.equal(r.status, 0, "make install", r)
    found = sorted(os.path.relpath(os.path.join(b, n), dest)
                   for b, _, files in os.walk(dest) for n in files)
    for name in ("bin/foray", "bin/foray-host", "libexec/foray/foray-worker",
                 "share/man/man1/foray.1", "share/man/man7/foray-proto.7",
                 "share/man/man8/foray-host.8",
                 "lib/systemd/system/foray-host@.service",
                 "lib/sysusers.d/foray.conf", "share/foray/deploy/README.md",
                 "share/foray/deploy/slurm/foray-hosts.sbatch",
                 "share/foray/deploy/kubernetes/deployment.yaml",
                 "share/foray/deploy/apparmor/foray",
                 "share/foray/deploy/sysctl/60-foray.conf"):
        lib.check("usr/local/" + name in found, "installed: " + name, found)
    unit = lib.read(dest + "/usr/local/lib/systemd/system/foray-host@.service")
    lib.check("ExecStart=/usr/local/bin/foray-host" in unit, "the unit's path")


def main():
    with lib.Box() as box:
        r = make(box, "-s", "flags")
        if r.out != lib.read(os.path.join(lib.BUILD, ".flags")):
            # Or all would be compiled anew, below the other tests.
            lib.skip("the build was made with other variables: say them in "
                     "MAKEFLAGS='-- NAME=VALUE'")
        install(box)
        top, libs = unpack(box)
        works(box, top, libs)
    lib.done()


if shutil.which("objdump") is None:
    lib.skip("not installed: binutils (make deps-test)")
main()
