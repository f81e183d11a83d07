#!/usr/bin/env python3
"""Make attempts, inside a sandbox or, as a control, outside.

    inside.py LIST.json     {"env": {...}, "attempts": [[name, command], ...]}

A command is a line for sh, or "py FUNCTION" for one of the functions below. Of
each attempt one JSON line comes: [name, status, the end of what it printed].
What opened a descriptor or changed a namespace holds it for a while, so that
one can see it from the host; the name of the process tells which attempt it is.
"""
import ctypes
import errno
import json
import os
import select
import signal
import socket
import struct
import sys
import time

LIMIT = 40.0  # one that hangs; a busy machine takes some seconds
AT_ONCE = 8
KEPT = 160  # characters
libc = ctypes.CDLL(None, use_errno=True)
# x86_64, and what aarch64 has of it; what is newer has one number everywhere.
OLD = {"add_key": (248, 217), "keyctl": (250, 219), "bpf": (321, 280),
       "request_key": (249, 218), "perf": (298, 241), "uffd": (323, 282),
       "fanotify": (300, 262), "open_by_handle": (304, 265),
       "vm_readv": (310, 270), "vm_writev": (311, 271), "clone": (56, 220),
       "unshare": (272, 97), "setns": (308, 268), "ptrace": (101, 117),
       "chroot": (161, 51), "pivot_root": (155, 41), "mount": (165, 40),
       "reboot": (169, 142), "kexec_load": (246, 104), "swapon": (167, 224),
       "init_module": (175, 105), "acct": (163, 89), "syslog": (103, 116),
       "iopl": (172, None), "settime": (227, 112), "quotactl": (179, 60),
       "rt_sigqueueinfo": (129, 138), "tgkill": (234, 131),
       "prlimit": (302, 261), "setpriority": (141, 140),
       "affinity": (203, 122), "shmget": (29, 194), "shmat": (30, 196),
       "msgget": (68, 186), "msgrcv": (70, 188), "mknodat": (259, 33)}
NR = {name: numbers[os.uname().machine != "x86_64"]
      for name, numbers in OLD.items()}
NR.update(io_uring=425, pidfd_open=434, pidfd_getfd=438, pidfd_signal=424,
          clone3=435, open_tree=428, move_mount=429, fsopen=430, fsconfig=431,
          fsmount=432, mount_setattr=442, fchmodat2=452, open_tree_attr=467)
CLONE = {"mnt": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000,
         "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000,
         "net": 0x40000000, "time": 0x80}


def call(name, *args):
    """The result of a system call; OSError when it fails."""
    if NR.get(name) is None:
        raise OSError(errno.ENOSYS, "no number of " + name)
    args = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    r = libc.syscall(ctypes.c_long(NR[name]), *args)
    if r < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return r


def fact(name):
    return os.environ[name]


def number(name):
    return int(os.environ[name])


def hold():
    time.sleep(float(os.environ.get("HOLD", "0.6")))


def read_at(address, size):
    return ctypes.string_at(address, size).rstrip(b"\0")


# -------------------------------------------------------------- processes


def sigqueue():
    info = ctypes.create_string_buffer(128)
    sig = number("RT") + 3
    struct.pack_into("iii", info, 0, sig, 0, -1)
    struct.pack_into("ii", info, 16, os.getpid(), os.getuid())
    call("rt_sigqueueinfo", number("VICTIM"), sig, info)


def tgkill():
    call("tgkill", number("VICTIM"), number("VICTIM"), number("RT") + 1)


def pidfd_signal():
    fd = call("pidfd_open", number("VICTIM"), 0)
    call("pidfd_signal", fd, number("RT") + 2, None, 0)


def kill_all():
    # Unconfined, all of the user's have it: one that nobody dies of.
    os.kill(-1, signal.SIGURG)


def kill_each():
    """What VICTIM is, is not known inside: whatever there is."""
    sig, mine = number("RT") + 5, (os.getpid(), os.getppid())
    for pid in [number("VICTIM")] if "CONTROL" in os.environ else \
            range(2, 40000):
        try:
            if pid not in mine:
                os.kill(pid, sig)
        except OSError:
            pass


def sigio():
    """The kernel sends it, by a descriptor's owner."""
    import fcntl
    r, w = os.pipe()
    fcntl.fcntl(r, fcntl.F_SETOWN, number("VICTIM"))
    fcntl.fcntl(r, 10, number("RT") + 6)  # F_SETSIG
    fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(w, b"x")
    os.read(r, 1)


def ptrace():
    call("ptrace", 0x4206, number("VICTIM"), 0, 0)  # SEIZE
    hold()


def vm_readv():
    out = ctypes.create_string_buffer(64)
    here = struct.pack("PN", ctypes.addressof(out), 64)
    there = struct.pack("PN", number("ADDRESS"), 64)
    call("vm_readv", number("VICTIM"), here, 1, there, 1, 0)
    print(out.value)


def vm_writev():
    new = ctypes.create_string_buffer(b"written")
    here = struct.pack("PN", ctypes.addressof(new), 7)
    there = struct.pack("PN", number("ADDRESS_VM"), 7)
    call("vm_writev", number("VICTIM"), here, 1, there, 1, 0)


def mem_read():
    with open("/proc/%s/mem" % fact("VICTIM"), "rb", 0) as f:
        f.seek(number("ADDRESS"))
        print(f.read(64).rstrip(b"\0"))


def mem_write():
    with open("/proc/%s/mem" % fact("VICTIM"), "r+b", 0) as f:
        f.seek(number("ADDRESS_MEM"))
        f.write(b"written")


def pidfd_getfd():
    fd = call("pidfd_open", number("VICTIM"), 0)
    got = call("pidfd_getfd", fd, number("VICTIM_FD"), 0)
    print(os.pread(got, 100, 0))


def prlimit():
    new = struct.pack("QQ", 77, 4096)
    call("prlimit", number("VICTIM"), 7, new, None)


def affinity():
    mask = ctypes.create_string_buffer(b"\1", 8)
    call("affinity", number("VICTIM"), 8, mask)


def nice_user():
    call("setpriority", 2, os.getuid(), 18 if "CONTROL" in os.environ else 19)


def shm():
    ident = call("shmget", number("SHM_KEY"), 0, 0)
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(ident, None, 0o10000)
    if at in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "shmat")
    print(read_at(at, 64))


def msg_queue():
    ident = call("msgget", number("SHM_KEY"), 0)
    out = ctypes.create_string_buffer(100)
    call("msgrcv", ident, out, 80, 0, 0o4000 | 0o40000)
    print(out.raw.strip(b"\0"))


def posix_mq():
    rt = ctypes.CDLL("librt.so.1", use_errno=True)
    q = rt.mq_open(fact("MQ").encode(), os.O_RDONLY | os.O_NONBLOCK)
    out = ctypes.create_string_buffer(8192)
    if q < 0 or rt.mq_receive(q, out, 8192, None) < 0:
        raise OSError(ctypes.get_errno(), "mq")
    print(out.value)


# ---------------------------------------------------------------- sockets


def tcp(host, port, family=socket.AF_INET):
    with socket.socket(family) as s:
        s.settimeout(1)
        s.connect((host, port))
        print("connected")


def tcp_loopback():
    tcp("127.0.0.1", number("TCP4"))


def tcp_loopback6():
    tcp("::1", number("TCP6"), socket.AF_INET6)


def tcp_address():
    tcp(fact("ADDRESS_IP"), number("TCP_IP"))


def tcp_any():
    tcp("0.0.0.0", number("TCP_ANY"))


METADATA = "169.254.169.254"


def metadata():
    """What clouds tell their machines. The control has a network of its own,
    where the address is there and somebody answers."""
    if "CONTROL" in os.environ:
        import fcntl
        call("unshare", CLONE["net"] | (CLONE["user"] if os.getuid() else 0))
        with socket.socket() as s:
            address = struct.pack("16sHH4s8x", b"lo", socket.AF_INET, 0,
                                  socket.inet_aton(METADATA))
            fcntl.ioctl(s, 0x8916, address)  # SIOCSIFADDR
            fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x49))
        server = socket.create_server((METADATA, 80))
        tcp(METADATA, 80)
        server.close()
    else:
        tcp(METADATA, 80)


def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", ("127.0.0.1", number("UDP")))


def udp_broadcast():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        s.sendto(b"x", ("127.255.255.255", number("UDP_BROADCAST")))


def udp_multicast():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                     socket.inet_aton("127.0.0.1"))
        s.sendto(b"x", ("224.0.0.251", number("UDP_MULTICAST")))


def unix(name):
    address = fact(name)
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(1)
        s.connect("\0" + address[1:] if address[0] == "@" else address)
        print("connected")


def abstract_datagram():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", "\0" + fact("DGRAM")[1:])


def open_socket(family, kind, protocol=0):
    socks = socket.socket(family, kind, protocol)
    hold()
    return socks


def packet():
    open_socket(17, socket.SOCK_RAW, 0x300)


def packet_datagram():
    open_socket(17, socket.SOCK_DGRAM, 0x300)


def raw_icmp():
    open_socket(socket.AF_INET, socket.SOCK_RAW, 1)


def raw_ipv6():
    open_socket(socket.AF_INET6, socket.SOCK_RAW, 58)


def vsock():
    open_socket(40, socket.SOCK_STREAM)


def vsock_datagram():
    open_socket(40, socket.SOCK_DGRAM)


def alg():
    open_socket(38, socket.SOCK_SEQPACKET)


def smc():
    open_socket(43, socket.SOCK_STREAM)


def xdp():
    open_socket(44, socket.SOCK_RAW)


def can():
    open_socket(29, socket.SOCK_RAW, 1)


# ------------------------------------------------- kernel, held descriptors


def bpf_map():
    attr = struct.pack("IIII", 2, 4, 4, 1) + bytes(104)
    call("bpf", 0, ctypes.create_string_buffer(attr, len(attr)), len(attr))
    hold()


def perf():
    attr = bytearray(128)
    struct.pack_into("IIQ", attr, 0, 1, 128, 0)
    struct.pack_into("Q", attr, 40, 0x61)  # disabled, no kernel, no hypervisor
    call("perf", ctypes.create_string_buffer(bytes(attr), 128), 0, -1, -1, 0)
    hold()


def uffd():
    call("uffd", 1)
    hold()


def io_uring():
    call("io_uring", 4, ctypes.create_string_buffer(120))
    hold()


def fanotify():
    call("fanotify", 0x200, 0)
    hold()


def file_handle():
    """Any file of the file system by its number."""
    handle = bytes.fromhex(fact("HANDLE"))
    mount = os.open(".", os.O_RDONLY)
    fd = call("open_by_handle", mount,
              ctypes.create_string_buffer(handle, len(handle)), os.O_RDONLY)
    print(os.read(fd, 100))


SESSION = -3


def key_read():
    ident = call("keyctl", 10, SESSION, b"user", b"it-secret", 0)
    out = ctypes.create_string_buffer(100)
    call("keyctl", 11, ident, out, 100, 0)
    print(out.value)


def key_add():
    call("add_key", b"user", b"it-planted", b"x", 1, SESSION)


def key_request():
    ident = call("request_key", b"user", b"it-secret", None, SESSION)
    out = ctypes.create_string_buffer(100)
    call("keyctl", 11, ident, out, 100, 0)
    print(out.value)


# Calls with arguments that do no harm: what they answer tells whether they
# were let through. The status is the errno.


def reboot():
    call("reboot", 0, 0, 0, 0)


def kexec():
    call("kexec_load", 0, 1 << 20, 0, 0)


def init_module():
    call("init_module", b"", 0, b"")


def swapon():
    call("swapon", b"/nowhere/swap", 0)


def acct():
    call("acct", b"/nowhere/acct")


def settime():
    call("settime", 0, struct.pack("qq", -1, 0))


def iopl():
    call("iopl", 9)


def quotactl():
    call("quotactl", 0x80000200 - (1 << 32), b"/nowhere/dev", 0, 0)


def kernel_log():
    out = ctypes.create_string_buffer(1 << 20)
    n = call("syslog", 3, out, 1 << 20)
    print(fact("NAME_OF_LOG") in out.raw[:n].decode("ascii", "replace") and
          out.raw[:n].decode("ascii", "replace")
          .split(fact("NAME_OF_LOG"))[-1][:60])


# ------------------------------------------------------ namespaces, mounts


def unshare(kind):
    call("unshare", CLONE[kind])
    if kind == "pid":  # it begins with the first process
        if os.fork() == 0:
            hold()
            os._exit(0)
        os.wait()
    else:
        hold()


def clone_user():
    pid = call("clone", CLONE["user"] | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        hold()
        os._exit(0)
    os.waitpid(pid, 0)


def clone_high():
    """The kernel takes 32 bits of flags, a filter may compare 64."""
    pid = call("clone", CLONE["user"] | signal.SIGCHLD | 1 << 32, 0, 0, 0, 0)
    if pid == 0:
        hold()
        os._exit(0)
    os.waitpid(pid, 0)


def clone3():
    args = struct.pack("8Q", CLONE["user"], 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = call("clone3", ctypes.create_string_buffer(args, 64), 64)
    if pid == 0:
        hold()
        os._exit(0)
    os.waitpid(pid, 0)


def setns():
    with open("/proc/%s/ns/%s" % (fact("NS_VICTIM"), "uts")) as f:
        call("setns", f.fileno(), 0)
    hold()


def setns_pidfd():
    fd = call("pidfd_open", number("NS_VICTIM"), 0)
    call("setns", fd, CLONE["uts"])
    hold()


def private_mounts():
    """A control is made where nothing can come of it."""
    if "CONTROL" not in os.environ:
        return
    if os.getuid() != 0:
        uid = os.getuid()
        call("unshare", CLONE["user"] | CLONE["mnt"])
        with open("/proc/self/setgroups", "w") as f:
            f.write("deny")
        with open("/proc/self/uid_map", "w") as f:
            f.write("0 %d 1" % uid)
    else:
        call("unshare", CLONE["mnt"])
    call("mount", b"none", b"/", None, 0x4000 | 0x40000, None)


def mount_tmpfs():
    private_mounts()
    call("mount", b"it-tmpfs", b"/tmp", b"tmpfs", 0, None)
    hold()


def mount_proc():
    private_mounts()
    call("mount", b"it-proc", b"/tmp", b"proc", 0, None)
    hold()


def mount_cgroup():
    private_mounts()
    call("mount", b"it-cgroup", b"/tmp", b"cgroup2", 0, None)
    hold()


def mount_overlay():
    private_mounts()
    call("mount", b"it-overlay", b"/tmp", b"overlay", 0,
         b"lowerdir=/usr:/etc")
    hold()


def mount_fuse():
    private_mounts()
    fd = os.open("/dev/fuse", os.O_RDWR)
    call("mount", b"it-fuse", b"/tmp", b"fuse", 0,
         b"fd=%d,rootmode=40000,user_id=0,group_id=0" % fd)
    hold()


def new_mount():
    private_mounts()
    fs = call("fsopen", b"tmpfs", 0)
    call("fsconfig", fs, 1, b"source", b"it-newapi", 0)
    call("fsconfig", fs, 6, None, None, 0)
    mnt = call("fsmount", fs, 0, 0)
    call("move_mount", mnt, b"", -100, b"/tmp", 4)
    hold()


def open_tree():
    private_mounts()
    call("open_tree", -100, b"/usr", 1)
    hold()


def open_tree_attr():
    private_mounts()
    call("open_tree_attr", -100, b"/usr", 1, struct.pack("4Q", 0, 1, 0, 0), 32)
    hold()


def remount(path, name, new_api):
    private_mounts()
    made = os.path.join(path, name)
    if "CONTROL" in os.environ:
        call("mount", path.encode(), path.encode(), None, 0x1000, None)
        call("mount", None, path.encode(), None, 0x1021, None)
        try:
            open(made, "w").close()
            raise SystemExit("it was not read-only")
        except OSError:
            pass
    if new_api:
        call("mount_setattr", -100, path.encode(), 0,
             struct.pack("4Q", 0, 1, 0, 0), 32)
    else:
        call("mount", None, path.encode(), None, 0x1020, None)
    open(made, "w").close()


def remount_git():
    remount(fact("GIT"), "remounted", False)


def remount_git_setattr():
    remount(fact("GIT"), "remounted2", True)


def bind_over():
    """Another view of a place, over a read-only one."""
    private_mounts()
    call("mount", fact("REPO").encode(), b"/usr/share", None, 0x1000, None)
    with open("/proc/self/mountinfo") as f:
        if " /usr/share " not in f.read():
            raise OSError(errno.EPERM, "not mounted")
    call("mount", b"it-over", b"/usr/share", b"tmpfs", 0, None)
    hold()


def detach():
    """What a mount covers shows when it is taken away."""
    private_mounts()
    if "CONTROL" in os.environ:
        call("mount", b"it-cover", fact("COVERED").encode(), b"tmpfs", 0, None)
    libc.umount2(os.path.dirname(fact("COVERED")).encode(), 2)
    libc.umount2(b"/root", 2)
    libc.umount2(b"/home", 2)
    libc.umount2(b"/tmp", 2) if "CONTROL" not in os.environ else None
    libc.umount2(fact("COVERED").encode(), 2)
    with open(fact("COVERED") + "/secret") as f:
        print(f.read())


def pivot_root():
    private_mounts()
    call("mount", b"it-pivot", b"/tmp", b"tmpfs", 0, None)
    os.mkdir("/tmp/old")
    call("pivot_root", b"/tmp", b"/tmp/old")
    hold()


def chroot_out():
    """The classic: a root below the working directory, then up."""
    if "CONTROL" in os.environ and os.getuid() != 0:
        private_mounts()
    os.makedirs("/tmp/it-root-%d" % os.getpid(), exist_ok=True)
    here = os.open("/", os.O_RDONLY)
    call("chroot", b"/tmp/it-root-%d" % os.getpid())
    os.fchdir(here)
    for _ in range(40):
        os.chdir("..")
    try:
        with open("." + fact("CHROOT_SECRET")) as f:
            print(f.read())
    finally:
        os.rmdir("./tmp/it-root-%d" % os.getpid())


def proc_links():
    """The links of /proc that lead around paths, of all there is."""
    for pid in os.listdir("/proc"):
        for link in ("root", "cwd", "fd/0", "fd/1", "fd/2", "fd/3", "fd/4",
                     "fd/5", "fd/6", "fd/7", "map_files"):
            path = "/proc/%s/%s%s" % (pid, link, fact("LINK_SECRET"))
            try:
                with open(path) as f:
                    print(f.read())
            except OSError:
                pass


def memory_of_pid_1():
    """pid 1 of the sandbox began outside: what did it keep in memory?"""
    for pid in (os.getppid(),) if "CONTROL" in os.environ else (1, 2):
        with open("/proc/%d/maps" % pid) as f:
            spans = [line.split()[0].split("-") for line in f
                     if " rw" in line and ("heap" in line or "stack" in line)]
        with open("/proc/%d/mem" % pid, "rb", 0) as mem:
            for low, high in spans:
                mem.seek(int(low, 16))
                body = mem.read(int(high, 16) - int(low, 16))
                at = body.find(fact("NAME_IN_ENV").encode() + b"=")
                if at >= 0:
                    print(body[at:at + 100])


def auxv():
    """Its first environment and arguments lie on the stack of each process."""
    for pid in os.listdir("/proc"):
        for name in ("environ", "cmdline", "auxv", "stat", "mountinfo",
                     "cgroup", "maps", "comm", "wchan", "status", "net/unix"):
            try:
                with open("/proc/%s/%s" % (pid, name), "rb") as f:
                    body = f.read()
            except OSError:
                continue
            # Our own environment has the name alone.
            at = body.find(fact("NAME_IN_ARGS").encode() + b"=")
            if at >= 0:
                print(body[at:at + 100])


# ------------------------------------------------- own start, see escape.py


def descriptors():
    """Everything that can be done with what was inherited."""
    for fd in range(3, 256):
        try:
            os.fstat(fd)
        except OSError:
            continue
        for deed in (lambda: print(os.pread(fd, 100, 0)),
                     lambda: print(os.read(os.open("fd-secret", os.O_RDONLY,
                                                   dir_fd=fd), 100)),
                     lambda: os.close(os.open("fd-made", os.O_CREAT |
                                              os.O_WRONLY, dir_fd=fd)),
                     lambda: os.write(fd, b"fd-written")):
            try:
                deed()
            except OSError:
                pass


def stdin_again():
    """A file that was opened for reading, opened anew for writing."""
    fd = os.open("/proc/self/fd/0", os.O_WRONLY)
    os.write(fd, b"written")


def stdin_directory():
    with open(os.open("fd-secret", os.O_RDONLY, dir_fd=9)) as f:
        print(f.read())


def stdin_up():
    os.fchdir(9)
    with open("../fd-secret-up") as f:
        print(f.read())


def type_on(variant):
    """Into the terminal, as if the person had: a line for their shell."""
    request, fd = 0x5412, 0  # TIOCSTI
    if variant == "high":
        request |= 1 << 32  # the kernel takes 32 bits, a filter may not
    elif variant == "tty":
        fd = os.open("/dev/tty", os.O_RDWR)
    elif variant == "link":
        fd = os.open("/proc/self/fd/0", os.O_RDWR)
    for c in b"typed-%s\n" % variant.encode():
        if libc.ioctl(fd, ctypes.c_ulong(request),
                      ctypes.byref(ctypes.c_char(c))) != 0:
            raise OSError(ctypes.get_errno(), "TIOCSTI")


def tioclinux():
    """Paste on the console. What is no console says so."""
    if libc.ioctl(os.open("/dev/null", os.O_RDWR), ctypes.c_ulong(0x541c),
                  ctypes.byref(ctypes.c_char(3))) != 0:
        raise OSError(ctypes.get_errno(), "TIOCLINUX")


def kill_group():
    signal.signal(number("RT") + 7, signal.SIG_IGN)
    os.kill(0, number("RT") + 7)


def nice_group():
    call("setpriority", 1, 0, 12)


def forks():
    made = 0
    try:
        for _ in range(number("FORKS")):
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            made += 1
    except OSError as e:
        print(e)
    print("forks", made)
    sys.stdout.flush()
    hold()
    os.killpg(0, signal.SIGKILL)


def threads():
    import threading
    threading.stack_size(64 << 10)
    made, stop = 0, threading.Event()
    try:
        for _ in range(number("FORKS")):
            threading.Thread(target=stop.wait, args=(30,), daemon=True).start()
            made += 1
    except (RuntimeError, OSError) as e:
        print(e)
    print("threads", made)
    sys.stdout.flush()
    hold()
    os._exit(0)


def memory():
    """Twelve times 128 MiB, each page of it touched."""
    keep = []
    try:
        for _ in range(12):
            keep.append(bytearray(128 << 20))
    except MemoryError as e:
        print(e)
    print("memory", len(keep) * 128)
    sys.stdout.flush()
    hold()


def fill(path, size):
    if "CONTROL" in os.environ:
        size = min(size, 300 << 20)
    path = os.path.join(path, "it-fill-%d" % os.getpid())
    fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        os.posix_fallocate(fd, 0, size)
        hold()
    finally:
        os.unlink(path)


def fill_tmp():
    fill("/tmp", 2200 << 20)


def fill_shm():
    fill("/dev/shm", 520 << 20)


def fill_var_tmp():
    fill("/var/tmp", 70 << 20)


def fill_run():
    fill("/run", 70 << 20)


def sparse():
    with open("sparse", "wb") as f:
        f.truncate((4 << 30) + (1 << 20))
        hold()


# ----------------------------------------------------------- plants, races


def mode(path, bits):
    """By all the ways there are."""
    for deed in (lambda: os.chmod(path, bits),
                 lambda: os.fchmod(os.open(path, os.O_RDONLY), bits),
                 lambda: os.close(os.open(path + "2", os.O_CREAT | os.O_WRONLY,
                                          bits)),
                 lambda: call("fchmodat2", -100, path.encode(), bits, 0),
                 lambda: call("mknodat", -100, (path + "3").encode(),
                              0o100000 | bits, 0)):
        try:
            deed()
        except OSError:
            pass


def setuid():
    os.umask(0)
    mode("plant", 0o4777)


def setgid():
    os.umask(0)
    mode("plant", 0o2777)


def whiteout():
    os.mknod("whiteout", 0o20644, 0)


def device():
    os.mknod("device", 0o20666, os.makedev(1, 5))


def bound_socket():
    s = socket.socket(socket.AF_UNIX)
    s.bind("left.sock")
    s.listen(1)


def names():
    for name in (b"a\nb", b"-rf", b"--output=out", b":(glob)x", b"\xff\xfe",
                 b"a\"b\\", b"$(touch made-by-name)", b"`id`", b" lead",
                 b"trail ", b"x" * 255, b"\x1b]0;t\x07", b"diff --git a b",
                 b"..a", b"...", b"\n+++ b/..", b"CON", b".git "):
        with open(name, "wb") as f:
            f.write(b"x\n")


def deep():
    for _ in range(300):
        os.mkdir("deepdeep")
        os.chdir("deepdeep")
    open("f", "w").close()


def xattrs():
    os.mkdir("opaque")
    for name, value in (("opaque", b"y"), ("redirect", b"/../../etc"),
                        ("metacopy", b""), ("origin", b"x"),
                        ("whiteout", b"")):
        for path in ("opaque", "plant"):
            for prefix in ("user.overlay.", "trusted.overlay.",
                           "user.overlay.overlay."):
                try:
                    os.setxattr(path, prefix + name, value)
                except OSError:
                    pass


def swap_some():
    """Exchange x (good) and y (a link) as fast as it goes."""
    end, n = time.monotonic() + float(fact("SWAP")), 0
    while time.monotonic() < end:
        for _ in range(100):
            if libc.renameat2(-100, b"x", -100, b"y", 2) != 0:
                raise OSError(ctypes.get_errno(), "exchange")
            n += 1
            time.sleep(0)
    print("swapped", n)


def git_exchange():
    """Whatever lets go of .git for a moment."""
    os.makedirs("other/.git", exist_ok=True)
    for _ in range(2000):
        libc.renameat2(-100, b".git", -100, b"other", 2)
        libc.renameat2(-100, b".git/hooks", -100, b"other/.git", 2)
        libc.rename(b".git", b".gone")


def outlive():
    """A daemon that is deaf: two forks, a session of its own, no signals."""
    if os.fork() > 0:
        return
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    for sig in range(1, 64):
        try:
            signal.signal(sig, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    os.closerange(0, 256)
    time.sleep(0.5)
    open(fact("LATE"), "w").close()
    os._exit(0)


# ------------------------------------------------------------------ runner


def attempt(index, command):
    """In a child. What it prints goes to the parent."""
    word = command.split()
    if word[0] != "py":
        os.execv("/bin/sh", ["sh", "-c", command])
    libc.prctl(15, b"e%03d" % index, 0, 0, 0)
    try:
        result = globals()[word[1]](*word[2:])
        print("" if result is None else result)
        status = 0
    except OSError as e:
        print(errno.errorcode.get(e.errno, e.errno), e)
        status = 1
    sys.stdout.flush()
    os._exit(status)


def start(index, name, command):
    r, w = os.pipe2(os.O_CLOEXEC)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            if "GROUP" not in os.environ:
                os.setpgid(0, 0)
            os.dup2(w, 1)
            os.dup2(w, 2)
            attempt(index, command)
        finally:
            os._exit(3)
    os.close(w)
    return {"name": name, "pid": pid, "fd": r, "text": b"",
            "end": time.monotonic() + LIMIT}


def finish(job):
    """True when it is over. What it left in the background may go on."""
    readable = select.select([job["fd"]], [], [], 0)[0]
    if readable:
        bite = os.read(job["fd"], 65536)
        job["text"] = (job["text"] + bite)[-65536:]
    pid, status = os.waitpid(job["pid"], os.WNOHANG)
    late = time.monotonic() > job["end"]
    if pid == 0 and late:
        os.kill(job["pid"], signal.SIGKILL)
        pid, status = os.waitpid(job["pid"], 0)
    if pid == 0:
        return False
    os.set_blocking(job["fd"], False)
    try:
        while bite := os.read(job["fd"], 65536):
            job["text"] = (job["text"] + bite)[-65536:]
    except OSError:
        pass
    os.close(job["fd"])
    text = job["text"].decode("utf-8", "replace").strip()
    code = "late" if late else os.waitstatus_to_exitcode(status)
    # Two lists at once may share the descriptor: one write a line.
    line = json.dumps([job["name"], code, text[-KEPT:]]) + "\n"
    os.write(1, line.encode())
    return True


def main(path):
    with open(path, encoding="utf-8") as f:
        todo = json.load(f)
    os.environ.update(todo["env"])
    # A control may send one to all of its user.
    for sig in range(signal.SIGRTMIN, signal.SIGRTMAX + 1):
        signal.signal(sig, signal.SIG_IGN)
    at_once = todo.get("at_once", AT_ONCE)
    waiting, running = list(enumerate(todo["attempts"])), []
    while waiting or running:
        while waiting and len(running) < at_once:
            index, (name, command) = waiting.pop(0)
            running.append(start(index, name, command))
        select.select([j["fd"] for j in running], [], [], 0.005)
        running = [j for j in running if not finish(j)]
    print("all done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
