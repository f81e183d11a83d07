"""The attempts that need no start of their own, as a table.

A row is (name, command, canary, control). $NAMES in commands and {NAMES} in
paths are the facts of a World. A canary says by what one knows on the host that
the attempt came through; it does so before (unconfined) and not after (inside).

control: what has to succeed unconfined:
    SAME    this very attempt, by whoever the test is at the moment
    ROOT    the same, but it takes root
    USER    the same, by an ordinary user only: as root it would hit others
    (ROOT or SAME or USER, command)  a harmless relative of it
"""
import os
import signal

import world as w

SAME, ROOT, USER = "same", "root", "user"


class Canary:
    """hit(world, run, name) is true when something came through; reset(world)
    makes all as it was, prepare(world) readies it."""

    def __init__(self, hit, reset=lambda world: None):
        self.hit, self.reset = hit, reset


def place(world, path):
    return path.format(**world.facts)


def made(path):
    """Something is there that was not."""
    def reset(world):
        where = place(world, path)
        if os.path.isdir(where) and not os.path.islink(where):
            os.rmdir(where)
        elif os.path.lexists(where):
            os.unlink(where)
    return Canary(lambda world, run, name:
                  os.path.lexists(place(world, path)), reset)


def changed(path, text="as it was\n"):
    """A file is not what it was any more."""
    def hit(world, run, name):
        try:
            with open(place(world, path), encoding="utf-8") as f:
                return f.read() != text or \
                    os.stat(f.fileno()).st_mode & 0o777 == 0o777 or \
                    os.stat(f.fileno()).st_mtime < 1000
        except FileNotFoundError:
            return True

    def reset(world):
        where = place(world, path)
        if os.path.exists(where):
            os.chmod(where, 0o644)
        with open(where, "w", encoding="utf-8") as f:
            f.write(text)
        if world.box.uid is not None:
            os.chown(where, world.box.uid, world.box.uid)
        os.chmod(where, 0o644)
    return Canary(hit, reset)


def secret(name):
    """What is known on the host only was printed."""
    return Canary(lambda world, run, row:
                  world.secret(name) in run.text.get(row, ""))


def line_of(path):
    def hit(world, run, name):
        with open(path, encoding="utf-8") as f:
            return f.read()[:30] in run.text.get(name, "")
    return Canary(hit)


def held(what):
    """A descriptor of this kind was seen from the host."""
    return Canary(lambda world, run, name:
                  any(place(world, what) in fd for fd in run.watch.fds))


def mounted(source):
    return Canary(lambda world, run, name: source in run.watch.mounts)


def space(kind):
    return Canary(lambda world, run, name: (name, kind) in run.watch.spaces)


def reached(listener):
    return Canary(lambda world, run, name: listener in world.listen.hit,
                  lambda world: world.listen.hit.discard(listener))


def signalled(number):
    return Canary(lambda world, run, name:
                  str(int(number)) in world.signals(),
                  lambda world: os.truncate(world.log, 0))


def rewritten(index):
    return Canary(lambda world, run, name:
                  world.victims_memory(index) != b"as it was",
                  lambda world: world.restore_memory(index))


def answered(*codes):
    """A call with harmless arguments was let through: its answer is another
    than that of a refusal."""
    return Canary(lambda world, run, name:
                  run.text.get(name, "").split(" ")[0] in codes)


def said(text):
    return Canary(lambda world, run, name: text in run.text.get(name, ""))


def status_of_victim(test):
    def hit(world, run, name):
        return test(world, world.process.pid)

    def reset(world):
        pid = str(world.process.pid)
        world.box.call(["prlimit", "--pid", pid, "--nofile=256:4096"])
        world.box.call(["taskset", "-cp", "0-%d" % (os.cpu_count() - 1), pid])
        world.nice = os.getpriority(os.PRIO_PROCESS, world.process.pid)
    return Canary(hit, reset)


cloned = Canary(lambda world, run, name: name in run.watch.clones)
key_planted = Canary(lambda world, run, name: world.planted_key(),
                     lambda world: world.forget_key())


def in_kernel_log():
    def hit(world, run, name):
        fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(fd, 0, os.SEEK_SET)
        found = False
        try:
            while not found:
                found = ("kmsg-%s-%d" % (world.facts["TAG"], world.round)
                         ).encode() in os.read(fd, 8192)
        except OSError:
            pass
        os.close(fd)
        return found
    return Canary(hit)


def device_row(path):
    return ("device: " + path, "exec 3<>%s && sleep 0.6" % path, held(path),
            ROOT)


def opened(path):
    """A file that one had better not write to: opened, and no more."""
    return ("write to " + path, "exec 3>>%s && sleep 0.6" % path, held(path),
            ROOT)


def rows():
    table = [
        # -- files
        ("file: beside the tree", "echo x >$OUT/beside", made("{OUT}/beside"),
         SAME),
        ("file: up from the tree", "echo x >../up", made("{SRC}/up"), SAME),
        ("file: by /proc/self/cwd", "echo x >/proc/self/cwd/../up2",
         made("{SRC}/up2"), SAME),
        ("file: by a link", "ln -sfn $OUT lnk && echo x >lnk/bylink; rm -f lnk",
         made("{OUT}/bylink"), SAME),
        ("file: a directory", "mkdir $OUT/dir", made("{OUT}/dir"), SAME),
        ("file: a link outside", "ln -s /etc $OUT/slink",
         made("{OUT}/slink"), SAME),
        ("file: bashrc", "echo evil >>$H/.bashrc", changed("{H}/.bashrc",
                                                           "#\n"), SAME),
        ("file: profile", "echo evil >>$H/.profile", changed("{H}/.profile",
                                                             "#\n"), SAME),
        ("file: authorized_keys", "echo evil >>$H/.ssh/authorized_keys",
         changed("{H}/.ssh/authorized_keys", "#\n"), SAME),
        ("file: autostart", "mkdir -p $H/.config/autostart && "
         "echo x >$H/.config/autostart/x.desktop",
         made("{H}/.config/autostart/x.desktop"), SAME),
        ("file: systemd unit", "mkdir -p $H/.config/systemd && "
         "echo x >$H/.config/systemd/x.service",
         made("{H}/.config/systemd/x.service"), SAME),
        ("file: foray's settings", "mkdir -p $H/.config/foray && "
         "echo x >$H/.config/foray/x.json", made("{H}/.config/foray/x.json"),
         SAME),
        ("file: delete", "rm -f $OUT/doomed", changed("{OUT}/doomed"), SAME),
        ("file: rename", "mv $OUT/named $OUT/other", changed("{OUT}/named"),
         SAME),
        ("file: chmod", "chmod 777 $OUT/closed", changed("{OUT}/closed"),
         SAME),
        ("file: truncate", ": >$OUT/full", changed("{OUT}/full"), SAME),
        ("file: times", "touch -d @1 $OUT/dated", changed("{OUT}/dated"),
         SAME),
        ("file: host's /tmp", "echo x >/tmp/$TAG-made", made("/tmp/{TAG}-made"),
         SAME),
        ("file: host's /var/tmp", "echo x >/var/tmp/$TAG-made",
         made("/var/tmp/{TAG}-made"), SAME),
        ("file: host's /dev/shm", "echo x >/dev/shm/$TAG-made",
         made("/dev/shm/{TAG}-made"), SAME),
        ("file: host's /run", "echo x >/run/$TAG-made", made("/run/{TAG}-made"),
         ROOT),
        ("file: /usr/local/bin", "echo x >/usr/local/bin/$TAG-made",
         made("/usr/local/bin/{TAG}-made"), ROOT),
        ("file: /etc", "echo x >/etc/$TAG-made", made("/etc/{TAG}-made"),
         ROOT),
        ("file: /etc/cron.d", "mkdir -p /etc/cron.d; "
         "echo '#' >/etc/cron.d/$TAG-made", made("/etc/cron.d/{TAG}-made"),
         ROOT),
        ("file: /opt", "echo x >/opt/$TAG-made", made("/opt/{TAG}-made"),
         ROOT),
        ("file: crontab", "echo '#' >/var/spool/$TAG-made",
         made("/var/spool/{TAG}-made"), ROOT),
        ("file: root directory", "echo x >/$TAG-made", made("/{TAG}-made"),
         ROOT),
        ("file: in /dev", "echo x >/dev/$TAG-made", made("/dev/{TAG}-made"),
         ROOT),
        ("toolchain: a program", "echo x >$H/.cargo/bin/planted",
         made("{H}/.cargo/bin/planted"), SAME),
        ("toolchain: a library", "echo x >$H/.local/lib/sitecustomize.py",
         made("{H}/.local/lib/sitecustomize.py"), SAME),
        ("read: link in the tree", "ln -sfn $H/.ssh/id_ed25519 s1; cat s1; "
         "rm -f s1", secret("ssh key"), SAME),
        ("read: hard link", "ln -f $H/.aws/credentials h1; cat h1; rm -f h1",
         secret("aws"), SAME),
        ("read: host's /tmp", "cat /tmp/$TAG-secret", secret("tmp"), SAME),
        ("read: host's /var/tmp", "cat /var/tmp/$TAG-secret",
         secret("var tmp"), SAME),
        ("read: host's /dev/shm", "cat /dev/shm/$TAG-secret",
         secret("dev shm"), SAME),
        ("read: host's /run", "cat /run/$TAG-secret", secret("run"), ROOT),
        ("read: root's file in /etc", "cat /etc/$TAG-secret", secret("etc"),
         ROOT),
        ("read: /etc/shadow", "head -c 100 /etc/shadow",
         line_of("/etc/shadow"), ROOT),
        ("read: by file handle", "py file_handle", secret("by-handle"), ROOT),
        ("read: out of a chroot", "py chroot_out", secret("chroot-secret"),
         SAME),
        ("read: what a mount covers", "py detach", secret("covered"), SAME),

        # -- /proc
        ("proc: root of pid 1", "cat /proc/1/root$LINK_SECRET",
         secret("link-secret"), (SAME, "cat /proc/$VICTIM/root$LINK_SECRET")),
        ("proc: root of another", "cat /proc/$VICTIM/root$LINK_SECRET",
         secret("link-secret"), SAME),
        ("proc: all links", "py proc_links", secret("link-secret"), SAME),
        ("proc: cwd of another", "cat /proc/$VICTIM/cwd/secret",
         secret("cwd/secret"), SAME),
        ("proc: environ", "tr '\\0' '\\n' </proc/$VICTIM/environ | "
         "grep SECRET_ENV", secret("environment"), SAME),
        ("proc: all environs", "cat /proc/*/environ | tr '\\0' '\\n' | "
         "grep -a ^SECRET_ENV=", secret("environment"), SAME),
        ("proc: descriptor", "cat /proc/$VICTIM/fd/$VICTIM_FD",
         secret("descriptor"), SAME),
        ("proc: all descriptors", "for f in /proc/[0-9]*/fd/*; do "
         "readlink $f | grep -q memfd && cat $f; done; true", secret("descriptor"),
         (SAME, "cat /proc/$VICTIM/fd/$VICTIM_FD")),
        ("proc: all files of all", "py auxv", secret("argument"), SAME),
        ("proc: memory of pid 1", "py memory_of_pid_1",
         secret("OPENAI_API_KEY"), SAME),
        ("proc: read mem", "py mem_read", secret("memory"), SAME),
        ("proc: write mem", "py mem_write", rewritten(2), SAME),
        ("proc: oom_score_adj", "echo 500 >/proc/$VICTIM/oom_score_adj",
         Canary(lambda world, run, name: open(
             "/proc/%d/oom_score_adj" % world.process.pid).read() == "500\n",
             lambda world: open("/proc/%d/oom_score_adj" % world.process.pid,
                                "w").write("0")), SAME),
        opened("/proc/sys/kernel/core_pattern"),
        opened("/proc/sys/kernel/modprobe"),
        opened("/proc/sys/kernel/panic"),
        opened("/proc/sys/vm/overcommit_memory"),
        opened("/proc/sysrq-trigger"),
        opened("/proc/irq/default_smp_affinity"),
        opened("/sys/kernel/mm/transparent_hugepage/enabled"),
        opened("/sys/kernel/profiling"),
        opened("/sys/module/kernel/parameters/panic"),

        # -- processes
        ("signal: kill", "kill -%d $VICTIM" % w.RT, signalled(w.RT), SAME),
        ("signal: tgkill", "py tgkill", signalled(w.RT + 1), SAME),
        ("signal: pidfd", "py pidfd_signal", signalled(w.RT + 2), SAME),
        ("signal: sigqueue", "py sigqueue", signalled(w.RT + 3), SAME),
        ("signal: all there are", "py kill_all", signalled(signal.SIGURG), USER),
        ("signal: each number", "py kill_each", signalled(w.RT + 5), SAME),
        ("signal: by a descriptor's owner", "py sigio", signalled(w.RT + 6), SAME),
        ("process: ptrace", "py ptrace", Canary(
            lambda world, run, name: run.watch.traced), SAME),
        ("process: process_vm_readv", "py vm_readv", secret("memory"), SAME),
        ("process: process_vm_writev", "py vm_writev", rewritten(1), SAME),
        ("process: pidfd_getfd", "py pidfd_getfd", secret("descriptor"),
         SAME),
        ("process: prlimit", "py prlimit", status_of_victim(
            lambda world, pid: b"Max open files            77 " in
            world.seen_victim.read("limits")), SAME),
        ("process: affinity", "py affinity", status_of_victim(
            lambda world, pid: len(os.sched_getaffinity(pid)) == 1 <
            os.cpu_count()), SAME),
        ("process: nice of a user's", "py nice_user", status_of_victim(
            lambda world, pid: os.getpriority(os.PRIO_PROCESS, pid) !=
            world.nice),
         USER),
        ("ipc: shared memory", "py shm", secret("shm"), SAME),
        ("ipc: message queue", "py msg_queue", secret("queue"), SAME),
        ("ipc: POSIX queue", "py posix_mq", secret("mq"), SAME),

        # -- sockets
        ("net: loopback", "py tcp_loopback", reached("TCP4"), SAME),
        ("net: loopback, v6", "py tcp_loopback6", reached("TCP6"), SAME),
        ("net: own address", "py tcp_address", reached("TCP_IP"), SAME),
        ("net: 0.0.0.0", "py tcp_any", reached("TCP_ANY"), SAME),
        ("net: datagram", "py udp", reached("UDP"), SAME),
        ("net: broadcast", "py udp_broadcast", reached("UDP_BROADCAST"), SAME),
        ("net: multicast", "py udp_multicast", reached("UDP_MULTICAST"), SAME),
        ("net: metadata of a cloud", "py metadata", said("connected"), SAME),
        ("unix: ssh-agent", "py unix AGENT", reached("AGENT"), SAME),
        ("unix: X11", "py unix X11", reached("X11"), SAME),
        ("unix: in the home", "py unix HOME_SOCKET", reached("HOME_SOCKET"),
         SAME),
        ("unix: docker", "py unix DOCKER", reached("DOCKER"), ROOT),
        ("unix: dbus", "py unix DBUS", reached("DBUS"), ROOT),
        ("unix: systemd", "py unix SYSTEMD", reached("SYSTEMD"), ROOT),
        ("unix: abstract", "py unix ABSTRACT", reached("ABSTRACT"), SAME),
        ("unix: abstract X11", "py unix X11_ABSTRACT",
         reached("X11_ABSTRACT"), SAME),
        ("unix: abstract dbus", "py unix DBUS_ABSTRACT",
         reached("DBUS_ABSTRACT"), SAME),
        ("unix: abstract datagram", "py abstract_datagram", reached("DGRAM"),
         SAME),
        ("socket: packet", "py packet", held("socket:PACKET"), ROOT),
        ("socket: packet datagram", "py packet_datagram",
         held("socket:PACKET"), ROOT),
        ("socket: raw", "py raw_icmp", held("socket:RAW"), ROOT),
        ("socket: raw, v6", "py raw_ipv6", held("socket:RAWv6"), ROOT),
        ("socket: vsock", "py vsock", held("socket:AF_VSOCK"), SAME),
        ("socket: vsock datagram", "py vsock_datagram",
         held("socket:AF_VSOCK"), SAME),
        ("socket: alg", "py alg", held("socket:ALG"), SAME),
        ("socket: xdp", "py xdp", held("socket:XDP"), ROOT),

        # -- devices
        device_row("/dev/kmsg"), device_row("/dev/fuse"),
        device_row("/dev/loop-control"), device_row("/dev/kvm"),
        device_row("/dev/net/tun"), device_row("/dev/userfaultfd"),
        device_row("/dev/tty0"), device_row("/dev/mem"),
        device_row("/dev/vsock"), device_row("/dev/cpu_dma_latency"),
        ("device: write to the kernel's log",
         "echo kmsg-$TAG-$ROUND >/dev/kmsg", in_kernel_log(), ROOT),
        ("device: node of the kernel's log", "mknod /tmp/$TAG-log c 1 11 && "
         "exec 3</tmp/$TAG-log && rm /tmp/$TAG-log && sleep 0.6",
         held("{TAG}-log"), ROOT),
        ("device: node in the tree", "mknod node c 1 5", made("{REPO}/node"),
         ROOT),
        ("device: block node in the tree", "mknod bnode b 7 0",
         made("{REPO}/bnode"), ROOT),

        # -- namespaces and mounts
        ("mount: remount", "py remount_git", made("{GIT}/remounted"), SAME),
        ("mount: mount_setattr", "py remount_git_setattr",
         made("{GIT}/remounted2"), SAME),
        ("mount: tmpfs", "py mount_tmpfs", mounted("it-tmpfs"), SAME),
        ("mount: proc", "py mount_proc", mounted("it-proc"), ROOT),
        ("mount: cgroup", "py mount_cgroup", mounted("it-cgroup"), ROOT),
        ("mount: overlay", "py mount_overlay", mounted("it-overlay"), ROOT),
        ("mount: fuse", "py mount_fuse", mounted("it-fuse"), ROOT),
        ("mount: over a bind", "py bind_over", mounted("it-over"), SAME),
        ("mount: new calls", "py new_mount", mounted("it-newapi"), SAME),
        ("mount: open_tree", "py open_tree", cloned, SAME),
        ("mount: open_tree_attr", "py open_tree_attr", cloned, SAME),
        ("mount: pivot_root", "py pivot_root", mounted("it-pivot"), SAME),
        ("namespace: user by clone", "py clone_user", space("user"), SAME),
        ("namespace: user by clone, high bits", "py clone_high",
         space("user"), SAME),
        ("namespace: user by clone3", "py clone3", space("user"), SAME),
        ("namespace: of another", "py setns", space("uts"), ROOT),
        ("namespace: of another by pidfd", "py setns_pidfd", space("uts"),
         ROOT),

        # -- the kernel
        ("kernel: bpf", "py bpf_map", held("bpf-map"), ROOT),
        ("kernel: perf", "py perf", held("[perf_event]"), SAME),
        ("kernel: userfaultfd", "py uffd", held("[userfaultfd]"), SAME),
        ("kernel: io_uring", "py io_uring", held("[io_uring]"), SAME),
        ("kernel: fanotify", "py fanotify", held("[fanotify]"), SAME),
        ("kernel: read a key", "py key_read", secret("key"), SAME),
        ("kernel: request a key", "py key_request", secret("key"), SAME),
        ("kernel: plant a key", "py key_add", key_planted, SAME),
        ("kernel: keys of all", "grep -a it-secret /proc/keys",
         said("it-secret"), SAME),
        ("kernel: its log", "py kernel_log", secret("log"), ROOT),
        ("kernel: reboot", "py reboot", answered("EINVAL"), ROOT),
        ("kernel: kexec", "py kexec", answered("EINVAL"), ROOT),
        ("kernel: modules", "py init_module",
         answered("ENOEXEC", "EFAULT", "EINVAL"), ROOT),
        ("kernel: swapon", "py swapon", answered("ENOENT"), ROOT),
        ("kernel: acct", "py acct", answered("ENOENT"), ROOT),
        ("kernel: clock", "py settime", answered("EINVAL"), ROOT),
        ("kernel: ports", "py iopl", answered("EINVAL"), ROOT),
        ("kernel: quota", "py quotactl", answered("ENOENT", "ENODEV",
                                                  "EINVAL", "ENOTBLK"), ROOT),

        # -- control groups
        ("cgroup: a group of one's own", "d=$(ls -d /sys/fs/cgroup/pids "
         "/sys/fs/cgroup | head -n1) && mkdir $d/$TAG && rmdir $d/$TAG && "
         "echo x >$OUT/group", made("{OUT}/group"), ROOT),
        ("cgroup: leave it", "exec 3>>$(ls -d /sys/fs/cgroup/pids "
         "/sys/fs/cgroup | head -n1)/cgroup.procs && sleep 0.6",
         held("/cgroup.procs"), ROOT),
        ("cgroup: release_agent", "exec 3>>/sys/fs/cgroup/pids/release_agent "
         "&& sleep 0.6", held("/release_agent"), ROOT),

        # -- a set-uid program that is there
        ("set-uid: a program of root's", "./suid-it -p -c 'sleep 0.6; :'",
         Canary(lambda world, run, name: "suid-it" in run.watch.as_root),
         USER),
    ]
    table += [("read: " + name, "cat $H/" + path.replace(" ", "\\ "),
               secret(name), SAME) for name, path in w.CREDENTIALS.items()]
    table += [("environment: " + name, "(env; cat /proc/*/environ | "
               "tr '\\0' '\\n') 2>/dev/null | grep -a -m1 ^%s=" % name,
               secret(name), SAME) for name in w.VARIABLES]
    table += [("namespace: " + kind, "py unshare " + kind,
               space("time_for_children" if kind == "time" else kind),
               SAME if kind == "user" else ROOT)
              for kind in ("user", "mnt", "pid", "net", "ipc", "uts",
                           "cgroup", "time")]
    # What this machine has not, it can't give away.
    return [r for r in table if not r[0].startswith(("device: /", "write to"))
            or os.path.exists(r[0].split()[-1])]


# Only where the tree is a copy: what is left out of it.
COPY_ROWS = [
    ("copy: .env", "cat .env", secret("dotenv"), SAME),
    ("copy: a private key in the tree", "cat id_rsa", secret("id_rsa"), SAME),
    ("copy: a socket in the tree", "py unix TREE_SOCKET",
     reached("TREE_SOCKET"), SAME),
    ("copy: the tree itself", "echo x >it-was-here", made("{REPO}/it-was-here"),
     SAME),
    ("copy: the other name of a file", "echo x >linked-file",
     changed("{OUT}/linked"), SAME),
]
