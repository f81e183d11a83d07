/* wrappers.c - programs that start another one; see programs.h. Sources: the
 * manual pages. */
#include "common/compat.h"

#include "sandbox/policy/programs.h"

/* -19, which is -n 19 */
#define DIGITS "1=V 2=V 3=V 4=V 5=V 6=V 7=V 8=V 9=V 0=V"

/* of "docker run" and its like */
#define CONTAINER \
	"+ a=A c=A e=A h=A l=A m=A p=A u=A v=A w=A --add-host=A --cap-add=A " \
	"--cap-drop=A --cpus=A --device=A --dns=A --entrypoint=X --env=A " \
	"--env-file=L --gpus=A --group-add=A --hostname=A --ip=A --label=A " \
	"--link=A --log-driver=A --log-opt=A --memory=A --mount=A --name=A " \
	"--net=A --network=A --pid=A --platform=A --publish=A --pull=A " \
	"--restart=A --runtime=A --security-opt=A --shm-size=A " \
	"--stop-signal=A --tmpfs=A --ulimit=A --user=A --userns=A --volume=A " \
	"--volumes-from=A --workdir=A d=F i=F t=F --detach=F --init=F " \
	"--interactive=F --privileged=F --read-only=F --rm=F --tty=F "

static const struct wrapper wrappers[] = {
	/* of the shell */
	{ "!", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "builtin", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "command", WRAP_ARGV, WRAP_LOOKUP, 0, NULL, "+ v=N V=N p=F" },
	{ "coproc", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "eval", WRAP_SHELL, 0, 0, NULL, "+" },
	{ "exec", WRAP_ARGV, 0, 0, NULL, "+ a=A c=F l=F" },
	{ "nocorrect", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "noglob", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "time", WRAP_ARGV, 0, 0, NULL,
	    "+ f=A o=W --format=A --output=W a=F p=F v=F q=F --append=F "
	    "--portability=F --verbose=F --quiet=F" },
	{ "trap", WRAP_SHELL, WRAP_LOOKUP | WRAP_FIRST, 0, NULL, "+ l=N p=N" },

	/* shells */
	{ "ash", WRAP_SH, 0, 0, NULL, "" },
	{ "bash", WRAP_SH, 0, 0, NULL, "" },
	{ "csh", WRAP_SH, 0, 0, NULL, "" },
	{ "dash", WRAP_SH, 0, 0, NULL, "" },
	{ "elvish", WRAP_SH, 0, 0, NULL, "" },
	{ "fish", WRAP_SH, 0, 0, NULL, "" },
	{ "ksh", WRAP_SH, 0, 0, NULL, "" },
	{ "ksh93", WRAP_SH, 0, 0, NULL, "" },
	{ "lksh", WRAP_SH, 0, 0, NULL, "" },
	{ "mksh", WRAP_SH, 0, 0, NULL, "" },
	{ "nu", WRAP_SH, 0, 0, NULL, "" },
	{ "osh", WRAP_SH, 0, 0, NULL, "" },
	{ "pdksh", WRAP_SH, 0, 0, NULL, "" },
	{ "posh", WRAP_SH, 0, 0, NULL, "" },
	{ "rbash", WRAP_SH, 0, 0, NULL, "" },
	{ "rksh", WRAP_SH, 0, 0, NULL, "" },
	{ "sh", WRAP_SH, 0, 0, NULL, "" },
	{ "tcsh", WRAP_SH, 0, 0, NULL, "" },
	{ "xonsh", WRAP_SH, 0, 0, NULL, "" },
	{ "yash", WRAP_SH, 0, 0, NULL, "" },
	{ "zsh", WRAP_SH, 0, 0, NULL, "" },

	/* that add no power */
	{ "aa-exec", WRAP_ARGV, 0, 0, NULL,
	    "+ p=A --profile=A n=A --namespace=A" },
	{ "busybox", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "chronic", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "choom", WRAP_ARGV, 0, 0, NULL, "+ n=A --adjust=A p=A --pid=A" },
	{ "chpst", WRAP_ARGV, 0, 0, NULL,
	    "+ u=A U=A b=A e=A /=A C=A n=A l=A L=A m=A d=A o=A p=A f=A c=A" },
	{ "chrt", WRAP_ARGV, 0, 1, NULL,
	    "+ T=A P=A D=A a=F b=F d=F f=F i=F m=F o=F r=F R=F v=F "
	    "--sched-runtime=A --sched-period=A "
	    "--sched-deadline=A" },
	{ "cpulimit", WRAP_ARGV, 0, 0, NULL, "+ l=A p=A e=A" },
	{ "dbus-launch", WRAP_ARGV, 0, 0, NULL, "+ --config-file=A" },
	{ "dbus-run-session", WRAP_ARGV, 0, 0, NULL,
	    "+ --config-file=A --dbus-daemon=Q" },
	{ "eatmydata", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "env", WRAP_ARGV, WRAP_ASSIGNS, 0, NULL,
	    "+ u=A --unset=A C=A --chdir=A S=X --split-string=X i=F 0=F v=F "
	    "--ignore-environment=F --null=F --debug=F --block-signal=O "
	    "--default-signal=O --ignore-signal=O --list-signal-handling=F" },
	{ "envdir", WRAP_ARGV, WRAP_POWER, 1, NULL, "+" },
	{ "faketime", WRAP_ARGV, 0, 1, NULL, "+ p=A --date-prog=Q f=F m=F" },
	{ "gtimeout", WRAP_ARGV, 0, 1, NULL,
	    "+ k=A s=A --kill-after=A --signal=A v=F f=F p=F --verbose=F "
	    "--foreground=F --preserve-status=F" },
	{ "ifne", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "ionice", WRAP_ARGV, 0, 0, NULL,
	    "+ c=A n=A p=A P=A u=A --class=A --classdata=A t=F --ignore=F" },
	/* the loader, whatever its name: see alias_of() */
	{ "ld.so", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ --library-path=A --preload=Q --audit=Q --argv0=A "
	    "--inhibit-rpath=A --glibc-hwcaps-prepend=A "
	    "--glibc-hwcaps-mask=A --list=N --verify=N" },
	{ "jobs", WRAP_ARGV, 0, 99, NULL, "x=D" },
	{ "lckdo", WRAP_ARGV, 0, 1, NULL, "+ W=A" },
	{ "mispipe", WRAP_SHELL, WRAP_EACH, 0, NULL, "+" },
	{ "nice", WRAP_ARGV, 0, 0, NULL, "+ n=A --adjustment=A " DIGITS },
	{ "nocache", WRAP_ARGV, 0, 0, NULL, "+ n=A" },
	{ "nohup", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "numactl", WRAP_ARGV, 0, 0, NULL,
	    "+ m=A N=A C=A i=A p=A --cpunodebind=A --interleave=A "
	    "--membind=A --physcpubind=A --preferred=A" },
	{ "pee", WRAP_SHELL, WRAP_EACH, 0, NULL, "" },
	{ "pipesz", WRAP_ARGV, 0, 0, NULL, "+ s=A --set=A f=A n=A" },
	{ "proxychains", WRAP_ARGV, WRAP_POWER, 0, NULL, "+ f=A" },
	{ "proxychains4", WRAP_ARGV, WRAP_POWER, 0, NULL, "+ f=A" },
	{ "runcon", WRAP_ARGV, 0, 1, NULL, "+ u=A r=A t=A l=A" },
	/* with the name of a machine, which is a wrapper by itself */
	{ "setarch", WRAP_ARGV, 0, 0, NULL,
	    "+ R=F B=F F=F I=F L=F S=F T=F X=F Z=F v=F 3=F "
	    "--addr-no-randomize=F --4gb=F --3gb=F --32bit=F --verbose=F" },
	{ "setsid", WRAP_ARGV, 0, 0, NULL,
	    "+ c=F f=F w=F --ctty=F --fork=F --wait=F" },
	{ "stdbuf", WRAP_ARGV, 0, 0, NULL,
	    "+ i=A o=A e=A --input=A --output=A --error=A" },
	{ "taskset", WRAP_ARGV, 0, 1, NULL,
	    "+ p=A a=F c=F --all-tasks=F --cpu-list=F" },
	{ "timelimit", WRAP_ARGV, 0, 0, NULL, "+ t=A T=A s=A S=A p=F q=F" },
	{ "timeout", WRAP_ARGV, 0, 1, NULL,
	    "+ k=A s=A --kill-after=A --signal=A v=F f=F p=F --verbose=F "
	    "--foreground=F --preserve-status=F" },
	{ "torsocks", WRAP_ARGV, 0, 0, NULL, "+ u=A p=A" },
	{ "toybox", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "ts", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "multitime", WRAP_ARGV, 0, 0, NULL,
	    "+ n=A s=A f=A I=A i=X o=X r=X b=L l=F q=F v=F" },
	{ "fghack", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "pgrphack", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "retry", WRAP_ARGV, 0, 0, NULL,
	    "+ t=A d=A m=A --times=A --delay=A --max-delay=A --until=A" },
	{ "setlock", WRAP_ARGV, 0, 1, NULL, "+ n=F N=F x=F X=F" },
	{ "tsp", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ L=A D=A W=A N=A E=F n=F f=F m=F d=F B=F" },
	{ "nq", WRAP_ARGV, WRAP_POWER, 0, NULL, "+ c=F q=F w=N t=N" },
	{ "uclampset", WRAP_ARGV, 0, 0, NULL, "+ m=A M=A p=A" },
	{ "unbuffer", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "watch", WRAP_SHELL, 0, 0, NULL,
	    "+ n=A --interval=A q=A --equexit=A b=F c=F d=O e=F g=F p=F r=F "
	    "t=F w=F x=F --beep=F --color=F --differences=O --errexit=F "
	    "--chgexit=F --precise=F --no-rerun=F --no-title=F "
	    "--no-wrap=F --exec=F" },
	{ "xargs", WRAP_INPUT, 0, 0, NULL,
	    "+ a=L --arg-file=L d=A --delimiter=A E=A I=A i=O L=A l=O n=A "
	    "--max-args=A P=A --max-procs=A s=A --max-chars=A --replace=O "
	    "--max-lines=O --process-slot-var=A 0=F "
	    "r=F t=F p=F x=F o=F --null=F --no-run-if-empty=F --verbose=F "
	    "--interactive=F --exit=F --open-tty=F --show-limits=F" },
	{ "zrun", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "parallel", WRAP_SHELL, WRAP_LISTED, 0, NULL,
	    "+ --version=N --help=N --citation=N j=A --jobs=A a=L --arg-file=L S=Q --sshlogin=Q I=A n=A N=A "
	    "L=A C=A --colsep=A d=A --delimiter=A P=A --timeout=A "
	    "--retries=A --joblog=W --results=W --tmpdir=W --delay=A "
	    "--workdir=A --wd=A --env=A --load=A --halt=A --rpl=Q "
	    "--profile=Q J=Q 0=F k=F m=F q=F "
	    "r=F t=F u=F v=F X=F --bar=F --dry-run=F --eta=F --group=F "
	    "--keep-order=F --line-buffer=F --lb=F --no-notice=F --null=F "
	    "--no-run-if-empty=F --pipe=F --plain=F --progress=F --quote=F "
	    "--tag=F --ungroup=F --verbose=F --will-cite=F --xargs=F" },

	/* that start what they find or fetch: a rule must name them */
	{ "bunx", WRAP_ARGV, WRAP_OWN, 0, NULL, "+" },
	{ "bundle", WRAP_ARGV, WRAP_OWN, 0, "exec", "+" },
	{ "catchsegv", WRAP_ARGV, WRAP_POWER, 0, NULL, "+" },
	{ "conda", WRAP_ARGV, WRAP_OWN, 0, "run", "+ n=A p=A --name=A" },
	{ "cross-env", WRAP_ARGV, WRAP_ASSIGNS, 0, NULL, "+" },
	{ "dotenv", WRAP_ARGV, WRAP_OWN, 0, NULL, "+ f=L --file=L e=A" },
	{ "direnv", WRAP_ARGV, WRAP_OWN, 1, "exec", "+" },
	{ "entr", WRAP_ARGV, WRAP_POWER, 0, NULL, "+ s=X" },
	{ "fakeroot", WRAP_ARGV, WRAP_POWER, 0, NULL, "+ l=A s=A i=A" },
	{ "flock", WRAP_ARGV, WRAP_POWER, 1, NULL,
	    "c=X --command=X w=A --timeout=A --wait=A E=A "
	    "--conflict-exit-code=A e=F n=F o=F s=F u=F x=F F=F "
	    "--close=F --exclusive=F --nb=F --nonblock=F --no-fork=F "
	    "--shared=F --unlock=F --verbose=F" },
	{ "gdb", WRAP_ARGV, WRAP_POWER, 0, "--args",
	    "+ q=F -batch=F --batch=F -ex=A -iex=A -x=A" },
	{ "git", WRAP_ARGV, WRAP_POWER, 0, "bisect run", "+" },
	{ "git", WRAP_SHELL, WRAP_OWN, 0, "submodule foreach", "+" },
	{ "gpg-agent", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ --homedir=A --options=Q --log-file=W --pinentry-program=Q" },
	{ "heaptrack", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ o=W --output=W p=A --pid=A a=N --analyze=N" },
	{ "hyperfine", WRAP_SHELL, WRAP_OWN | WRAP_EACH, 0, NULL,
	    "+ w=A --warmup=A r=A --runs=A m=A M=A n=A p=X --prepare=X "
	    "c=X --cleanup=X s=X --setup=X S=Q --shell=Q L=A P=A "
	    "--export-json=W --export-markdown=W --export-csv=W" },
	{ "ltrace", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ e=A o=W p=A u=A n=A s=A A=A D=A F=A l=A x=A a=A w=A "
	    "--align=A --config=A --debug=A --indent=A --library=A "
	    "--output=W b=F c=F C=F f=F i=F L=F r=F S=F t=F T=F" },
	{ "nix", WRAP_ARGV, WRAP_OWN, 99, "develop", "c=D --command=D" },
	{ "nix-shell", WRAP_ARGV, WRAP_OWN, 0, NULL,
	    "--run=X --command=X p=A A=A E=A" },
	{ "npm", WRAP_ARGV, WRAP_OWN, 0, "exec",
	    "+ p=A --package=A c=X --call=X w=A" },
	{ "npm", WRAP_ARGV, WRAP_OWN, 0, "x",
	    "+ p=A --package=A c=X --call=X w=A" },
	{ "npx", WRAP_ARGV, WRAP_OWN, 0, NULL,
	    "+ p=A --package=A c=X --call=X w=A y=F q=F --yes=F --no=F "
	    "--no-install=F --quiet=F --prefer-offline=F --offline=F" },
	{ "perf", WRAP_ARGV, WRAP_POWER, 0, "stat",
	    "+ e=A o=W r=A C=A D=A G=A I=A M=A p=A t=A x=A --control=A "
	    "--cpu=A --cputype=A --delay=A --event=A --field-separator=A "
	    "--filter=A --for-each-cgroup=A --cgroup=A --interval-count=A "
	    "--interval-print=A --log-fd=A --metrics=A --output=W --post=X "
	    "--pre=X --repeat=A --td-level=A --timeout=A a=F A=F B=F d=F "
	    "g=F i=F n=F S=F T=F v=F --detailed=F --verbose=F --no-big-num=F "
	    "--all-cpus=F --per-core=F --per-socket=F --json-output=F" },
	{ "perf", WRAP_ARGV, WRAP_POWER, 0, "record",
	    "+ e=A o=W F=A c=A C=A D=A G=A j=A k=A m=A p=A r=A t=A u=A "
	    "--affinity=A --call-graph=A --clang-opt=A --clang-path=Q "
	    "--clockid=A --control=A --count=A --cpu=A --delay=A --event=A "
	    "--filter=A --freq=A --max-size=A --mmap-flush=A --mmap-pages=A "
	    "--output=W --realtime=A --vmlinux=A a=F b=F d=F g=F i=F n=F "
	    "q=F s=F S=F T=F v=F --all-cpus=F --quiet=F --verbose=F" },
	{ "perf", WRAP_ARGV, WRAP_POWER, 0, "trace",
	    "+ e=A o=W C=A D=A G=A m=A p=A t=A u=A --call-graph=A --cpu=A "
	    "--delay=A --event=A --expr=A --filter=A --max-events=A "
	    "--max-stack=A --mmap-pages=A --output=W" },
	{ "pipenv", WRAP_ARGV, WRAP_OWN, 0, "run", "+" },
	{ "pipx", WRAP_ARGV, WRAP_OWN, 0, "run", "+ --spec=A" },
	{ "pnpm", WRAP_ARGV, WRAP_OWN, 0, "exec", "+ c=X" },
	{ "pnpm", WRAP_ARGV, WRAP_OWN, 0, "dlx", "+ --package=A" },
	{ "poetry", WRAP_ARGV, WRAP_OWN, 0, "run", "+" },
	{ "prlimit", WRAP_ARGV, WRAP_POWER, 0, NULL, "+ p=A o=A" },
	{ "proot", WRAP_ARGV, WRAP_PRIV, 0, NULL, "+ r=A b=A w=A q=A R=A" },
	{ "rlwrap", WRAP_ARGV, WRAP_POWER, 0, NULL, "+" },
	{ "script", WRAP_ARGV, WRAP_POWER, 99, NULL,
	    "c=X --command=X E=A I=W O=W B=W T=W" },
	{ "ssh-agent", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ a=A E=A O=A P=A t=A" },
	{ "strace", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ e=A o=W p=A s=A u=A E=A a=A P=A S=A b=A I=A X=A O=A U=A "
	    "--abbrev=A --attach=A --columns=A --const-print-style=A "
	    "--detach-on=A --env=A --fault=A --inject=A --interruptible=A "
	    "--kvm=A --output=W --raw=A --read=A --signal=A --status=A "
	    "--string-limit=A --summary=F --summary-columns=A "
	    "--summary-sort-by=A --summary-syscall-overhead=A --trace=A "
	    "--trace-path=A --user=A --verbose=A --write=A "
	    "f=F c=F C=F d=F D=F h=F i=F k=F n=F N=F q=F r=F t=F T=F v=F "
	    "V=F w=F x=F y=F z=F Z=F --follow-forks=F --syscall-times=F "
	    "--summary-only=F --output-append-mode=F --output-separately=F "
	    "--quiet=F --seccomp-bpf=F --decode-fds=F --stack-traces=F "
	    "--successful-only=F --failed-only=F --no-abbrev=F "
	    "--absolute-timestamps=F --relative-timestamps=F "
	    "--strings-in-hex=F --instruction-pointer=F" },
	{ "uv", WRAP_ARGV, WRAP_OWN, 0, "run",
	    "+ p=A --python=A --with=A --extra=A --group=A --project=A "
	    "--env-file=L --directory=A --index=A --index-url=A "
	    "--default-index=A --extra-index-url=A --find-links=A "
	    "--no-extra=A --no-group=A --only-group=A --package=A "
	    "--with-editable=A --with-requirements=L --cache-dir=A m=Z "
	    "q=F v=F --all-extras=F --all-groups=F --dev=F --exact=F "
	    "--frozen=F --isolated=F --locked=F --no-dev=F --no-project=F "
	    "--no-sync=F --offline=F --quiet=F --script=F --verbose=F" },
	{ "uvx", WRAP_ARGV, WRAP_OWN, 0, NULL,
	    "+ --from=A --with=A p=A --python=A" },
	{ "valgrind", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ --log-file=W --xml-file=W --callgrind-out-file=W "
	    "--massif-out-file=W --cachegrind-out-file=W q=F v=F d=F "
	    "--quiet=F --verbose=F" },
	{ "xvfb-run", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ n=A s=A e=W f=A p=A --auth-file=A --error-file=W "
	    "--server-args=A --server-num=A --xauth-protocol=A a=F l=F "
	    "--auto-servernum=F --listen-tcp=F" },
	{ "yarn", WRAP_ARGV, WRAP_OWN, 0, "exec", "+" },
	{ "yarn", WRAP_ARGV, WRAP_OWN, 0, "dlx", "+ p=A" },

	/* when something changes, in a session, with measures */
	{ "abduco", WRAP_ARGV, WRAP_POWER, 1, NULL, "+ e=A f=F n=F c=F A=F" },
	{ "bpftrace", WRAP_ARGV, WRAP_POWER, 99, NULL, "c=X o=W e=A p=A" },
	{ "concurrently", WRAP_SHELL, WRAP_OWN | WRAP_EACH, 0, NULL,
	    "n=A c=A m=A" },
	{ "dtach", WRAP_ARGV, WRAP_POWER, 1, NULL,
	    "+ e=A r=A n=F c=F A=F N=F" },
	{ "fakechroot", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ l=A e=A c=A b=A s=F --lib=A --environment=A" },
	{ "modd", WRAP_ARGV, WRAP_OWN, 99, NULL, "" },
	{ "nodemon", WRAP_ARGV, WRAP_OWN, 99, NULL,
	    "x=X --exec=X w=A --watch=A e=A --ext=A" },
	{ "pidstat", WRAP_ARGV, WRAP_POWER, 99, NULL, "e=D" },
	{ "reflex", WRAP_ARGV, WRAP_OWN, 0, NULL,
	    "+ g=A --glob=A r=A --regex=A R=A G=A d=A" },
	{ "schedtool", WRAP_ARGV, WRAP_POWER, 99, NULL, "e=D n=A a=A p=A" },
	{ "uftrace", WRAP_ARGV, WRAP_POWER, 0, "record",
	    "+ d=W --data=W F=A N=A T=A D=A" },
	{ "watchexec", WRAP_SHELL, WRAP_OWN, 0, NULL,
	    "+ w=A --watch=A e=A --exts=A f=A --filter=A i=A --ignore=A "
	    "d=A --debounce=A s=A --signal=A E=A --shell=A" },

	/* of other ecosystems */
	{ "asdf", WRAP_ARGV, WRAP_OWN, 0, "exec", "+" },
	{ "cabal", WRAP_ARGV, WRAP_OWN, 0, "exec", "+" },
	{ "catatonit", WRAP_ARGV, 0, 0, NULL, "+" },
	{ "doppler", WRAP_ARGV, WRAP_OWN, 0, "run",
	    "p=A c=A --project=A --config=A --command=X" },
	{ "dotenvx", WRAP_ARGV, WRAP_OWN, 0, "run", "+ f=L --env-file=L e=A" },
	{ "dumb-init", WRAP_ARGV, 0, 0, NULL, "+ r=A --rewrite=A" },
	{ "dune", WRAP_ARGV, WRAP_OWN, 0, "exec", "+ --root=A --profile=A" },
	{ "hatch", WRAP_ARGV, WRAP_OWN, 0, "run", "+" },
	{ "logsave", WRAP_ARGV, 0, 1, NULL, "+" },
	{ "opam", WRAP_ARGV, WRAP_OWN, 0, "exec", "+ --switch=A" },
	{ "pdm", WRAP_ARGV, WRAP_OWN, 0, "run", "+ p=A --project=A" },
	{ "pyenv", WRAP_ARGV, WRAP_OWN, 0, "exec", "+" },
	{ "rbenv", WRAP_ARGV, WRAP_OWN, 0, "exec", "+" },
	{ "rr", WRAP_ARGV, WRAP_POWER, 0, "record",
	    "+ o=A --output-trace-dir=W" },
	{ "rye", WRAP_ARGV, WRAP_OWN, 0, "run", "+" },
	{ "stack", WRAP_ARGV, WRAP_OWN, 0, "exec", "+" },
	{ "systemd-cat", WRAP_ARGV, 0, 0, NULL,
	    "+ t=A p=A --identifier=A --priority=A --stderr-priority=A" },
	{ "systemd-inhibit", WRAP_ARGV, 0, 0, NULL,
	    "+ --what=A --who=A --why=A --mode=A" },
	{ "tini", WRAP_ARGV, 0, 0, NULL, "+ p=A e=A" },
	{ "torify", WRAP_ARGV, WRAP_POWER, 0, NULL, "+" },
	{ "tox", WRAP_ARGV, WRAP_OWN, 0, "exec", "e=A" },
	{ "tsocks", WRAP_ARGV, WRAP_POWER, 0, NULL, "+" },
	{ "volta", WRAP_ARGV, WRAP_OWN, 0, "run",
	    "+ --node=A --npm=A --yarn=A" },

	/* in a container or machine of its own */
	{ "docker", WRAP_ARGV, WRAP_OWN, 1, "run", CONTAINER },
	{ "docker", WRAP_ARGV, WRAP_OWN, 1, "exec", CONTAINER },
	{ "docker", WRAP_ARGV, WRAP_OWN, 1, "create", CONTAINER },
	{ "docker", WRAP_ARGV, WRAP_OWN, 1, "container run", CONTAINER },
	{ "docker", WRAP_ARGV, WRAP_OWN, 1, "container exec", CONTAINER },
	{ "podman", WRAP_ARGV, WRAP_OWN, 1, "run", CONTAINER },
	{ "podman", WRAP_ARGV, WRAP_OWN, 1, "exec", CONTAINER },
	{ "podman", WRAP_ARGV, WRAP_OWN, 1, "create", CONTAINER },
	{ "podman", WRAP_ARGV, WRAP_OWN, 1, "container run", CONTAINER },
	{ "podman", WRAP_ARGV, WRAP_OWN, 1, "container exec", CONTAINER },
	{ "nerdctl", WRAP_ARGV, WRAP_OWN, 1, "run", CONTAINER },
	{ "nerdctl", WRAP_ARGV, WRAP_OWN, 1, "exec", CONTAINER },
	{ "nerdctl", WRAP_ARGV, WRAP_OWN, 1, "create", CONTAINER },
	{ "nerdctl", WRAP_ARGV, WRAP_OWN, 1, "container run", CONTAINER },
	{ "nerdctl", WRAP_ARGV, WRAP_OWN, 1, "container exec", CONTAINER },
	{ "docker", WRAP_ARGV, WRAP_OWN, 1, "compose run", CONTAINER },
	{ "docker", WRAP_ARGV, WRAP_OWN, 1, "compose exec", CONTAINER },
	{ "docker-compose", WRAP_ARGV, WRAP_OWN, 1, "run", CONTAINER },
	{ "docker-compose", WRAP_ARGV, WRAP_OWN, 1, "exec", CONTAINER },
	{ "podman-compose", WRAP_ARGV, WRAP_OWN, 1, "run", CONTAINER },
	{ "podman-compose", WRAP_ARGV, WRAP_OWN, 1, "exec", CONTAINER },
	{ "ansible", WRAP_SHELL, WRAP_OWN, 99, NULL, "a=X --args=X" },
	{ "distrobox", WRAP_ARGV, WRAP_OWN, 1, "enter", "n=A --name=A e=D" },
	{ "flatpak", WRAP_ARGV, WRAP_OWN, 1, "run", "+ --command=X" },
	{ "flatpak-spawn", WRAP_ARGV, WRAP_PRIV, 0, NULL, "+" },
	{ "incus", WRAP_ARGV, WRAP_OWN, 1, "exec", "" },
	{ "kubectl", WRAP_ARGV, WRAP_OWN, 1, "exec",
	    "n=A --namespace=A c=A --container=A f=L i=F t=F --stdin=F --tty=F" },
	{ "kubectl", WRAP_ARGV, WRAP_OWN, 1, "run",
	    "n=A --namespace=A --image=A --restart=A --overrides=A i=F t=F "
	    "--rm=F --command=F" },
	{ "lxc", WRAP_ARGV, WRAP_OWN, 1, "exec", "" },
	{ "lxc-attach", WRAP_ARGV, WRAP_OWN, 0, NULL, "n=A --name=A" },
	{ "machinectl", WRAP_ARGV, WRAP_PRIV, 1, "shell", "+" },
	{ "multipass", WRAP_ARGV, WRAP_OWN, 1, "exec", "" },
	{ "nsjail", WRAP_ARGV, WRAP_PRIV, 0, NULL, "" },
	{ "oc", WRAP_ARGV, WRAP_OWN, 1, "exec", "n=A c=A i=F t=F" },
	{ "parallel-ssh", WRAP_SHELL, WRAP_PRIV, 0, NULL,
	    "+ H=A h=L l=A p=A o=W e=W t=A O=Q x=A X=A" },
	{ "pssh", WRAP_SHELL, WRAP_PRIV, 0, NULL,
	    "+ H=A h=L l=A p=A o=W e=W t=A O=Q x=A X=A" },
	{ "toolbox", WRAP_ARGV, WRAP_OWN, 0, "run", "+ c=A --container=A" },
	{ "vagrant", WRAP_ARGV, WRAP_OWN, 99, "ssh", "c=X --command=X" },
	{ "wsl", WRAP_ARGV, WRAP_OWN, 0, NULL, "+ d=A u=A e=F --exec=F" },
	{ "wsl.exe", WRAP_ARGV, WRAP_OWN, 0, NULL, "+ d=A u=A e=F --exec=F" },

	/* in a window, with limits, in the background */
	{ "alacritty", WRAP_ARGV, WRAP_OWN, 99, NULL, "e=D --command=D" },
	{ "arch", WRAP_ARGV, WRAP_OWN, 0, NULL, "+" },
	{ "caffeinate", WRAP_ARGV, 0, 0, NULL, "+ t=A w=A" },
	{ "cgexec", WRAP_ARGV, WRAP_POWER, 0, NULL, "+ g=A" },
	{ "cmd", WRAP_SHELL, WRAP_OWN, 0, "/c", "" },
	{ "cmd.exe", WRAP_SHELL, WRAP_OWN, 0, "/c", "" },
	{ "daemon", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ n=A o=W O=W E=W --name=A --output=W --stdout=W --stderr=W "
	    "--errlog=W --dbglog=W D=A --chdir=A u=A" },
	{ "daemonize", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ c=A o=W e=W p=W l=W u=A E=A" },
	{ "foot", WRAP_ARGV, WRAP_OWN, 0, NULL, "+ e=F" },
	{ "gnome-terminal", WRAP_ARGV, WRAP_OWN, 0, "--", "+" },
	{ "gnome-terminal", WRAP_ARGV, WRAP_OWN, 99, NULL,
	    "e=X --command=X x=D --execute=D" },
	{ "kitty", WRAP_ARGV, WRAP_OWN, 0, NULL, "+ e=F" },
	{ "konsole", WRAP_ARGV, WRAP_OWN, 99, NULL, "e=D" },
	{ "sem", WRAP_SHELL, WRAP_LISTED, 0, NULL,
	    "+ j=A --jobs=A --id=A --timeout=A --fg=F --wait=F u=F" },
	{ "softlimit", WRAP_ARGV, 0, 0, NULL,
	    "+ a=A c=A d=A f=A l=A m=A o=A p=A r=A s=A t=A" },
	{ "trickle", WRAP_ARGV, WRAP_POWER, 0, NULL,
	    "+ d=A u=A w=A t=A l=A n=A L=A" },
	{ "xterm", WRAP_ARGV, WRAP_OWN, 99, NULL, "e=D -e=D" },
	{ "x-terminal-emulator", WRAP_ARGV, WRAP_OWN, 99, NULL, "e=D" },

	/* with the settings or secrets of an environment */
	{ "aws-vault", WRAP_ARGV, WRAP_OWN, 1, "exec", "+ d=A --duration=A" },
	{ "bun", WRAP_ARGV, WRAP_OWN, 0, "x", "+" },
	{ "chamber", WRAP_ARGV, WRAP_OWN, 1, "exec", "+" },
	{ "devbox", WRAP_ARGV, WRAP_OWN, 0, "run", "+ c=A" },
	{ "envchain", WRAP_ARGV, WRAP_OWN, 1, NULL, "+" },
	{ "fnm", WRAP_ARGV, WRAP_OWN, 0, "exec", "+ --using=A" },
	{ "guix", WRAP_ARGV, WRAP_OWN, 99, "shell", "" },
	{ "infisical", WRAP_ARGV, WRAP_OWN, 0, "run", "+ --command=X" },
	{ "ip", WRAP_ARGV, WRAP_PRIV, 1, "netns exec", "+" },
	{ "mamba", WRAP_ARGV, WRAP_OWN, 0, "run", "+ n=A p=A --name=A" },
	{ "micromamba", WRAP_ARGV, WRAP_OWN, 0, "run", "+ n=A p=A --name=A" },
	{ "mise", WRAP_ARGV, WRAP_OWN, 0, "exec", "+ c=X --command=X" },
	{ "mise", WRAP_ARGV, WRAP_OWN, 0, "x", "+ c=X --command=X" },
	{ "mix", WRAP_SHELL, WRAP_OWN, 0, "cmd", "+" },
	{ "nvm", WRAP_ARGV, WRAP_OWN, 1, "exec", "+ --silent=F" },
	{ "op", WRAP_ARGV, WRAP_OWN, 0, "run", "+ --env-file=L" },
	{ "sops", WRAP_SHELL, WRAP_OWN, 1, "exec-env", "+" },
	{ "sops", WRAP_SHELL, WRAP_OWN, 1, "exec-file", "+" },

	/* another user, another machine, another root */
	{ "at", WRAP_SH, WRAP_PRIV, 99, NULL, "f=A q=A" },
	{ "batch", WRAP_SH, WRAP_PRIV, 99, NULL, "" },
	{ "bwrap", WRAP_ARGV, WRAP_PRIV, 0, NULL, "+" },
	{ "chroot", WRAP_ARGV, WRAP_PRIV, 1, NULL, "+" },
	{ "crontab", WRAP_ARGV, WRAP_PRIV, 99, NULL, "+" },
	{ "doas", WRAP_ARGV, WRAP_PRIV | WRAP_ASSIGNS, 0, NULL,
	    "+ u=A C=A a=A" },
	{ "firejail", WRAP_ARGV, WRAP_PRIV, 0, NULL, "+" },
	{ "gosu", WRAP_ARGV, WRAP_PRIV, 1, NULL, "+" },
	{ "mosh", WRAP_SHELL, WRAP_PRIV, 1, NULL, "+ p=A" },
	{ "nsenter", WRAP_ARGV, WRAP_PRIV, 0, NULL,
	    "+ t=A S=A G=A m=O u=O n=O p=O" },
	{ "pkexec", WRAP_ARGV, WRAP_PRIV, 0, NULL, "+ --user=A" },
	{ "rsh", WRAP_SHELL, WRAP_PRIV, 1, NULL, "+ l=A" },
	{ "run0", WRAP_ARGV, WRAP_PRIV, 0, NULL, "+ u=A g=A D=A" },
	{ "runuser", WRAP_ARGV, WRAP_PRIV, 0, NULL,
	    "+ u=A g=A G=A c=X --command=X s=A" },
	{ "schroot", WRAP_ARGV, WRAP_PRIV, 0, NULL, "+ c=A u=A d=A" },
	{ "setpriv", WRAP_ARGV, WRAP_PRIV, 0, NULL,
	    "+ --reuid=A --regid=A --groups=A" },
	{ "ssh", WRAP_SHELL, WRAP_PRIV, 1, NULL,
	    "+ B=A b=A c=A D=A E=W e=A F=Q I=Q i=A J=A L=A l=A m=A O=A o=Q "
	    "p=A Q=A R=A S=A W=A w=A 4=F 6=F A=F a=F C=F f=F G=F g=F K=F "
	    "k=F M=F N=F n=F q=F s=F T=F t=F V=F v=F X=F x=F Y=F y=F" },
	{ "capsh", WRAP_ARGV, WRAP_PRIV, 99, NULL, "" },
	{ "newgrp", WRAP_ARGV, WRAP_PRIV, 99, NULL, "" },
	{ "setuidgid", WRAP_ARGV, WRAP_PRIV, 1, NULL, "+" },
	{ "sg", WRAP_SHELL, WRAP_PRIV, 1, NULL, "c=X" },
	{ "sshpass", WRAP_ARGV, WRAP_PRIV, 0, NULL, "+ f=A d=A p=A P=A" },
	{ "su", WRAP_ARGV, WRAP_PRIV, 99, NULL,
	    "c=X --command=X s=A --shell=A g=A G=A w=A" },
	{ "su-exec", WRAP_ARGV, WRAP_PRIV, 1, NULL, "+" },
	{ "sudo", WRAP_ARGV, WRAP_PRIV | WRAP_ASSIGNS, 0, NULL,
	    "+ u=A --user=A g=A --group=A h=A --host=A p=A --prompt=A C=A "
	    "r=A t=A T=A U=A D=A --chdir=A R=A --chroot=A A=F b=F B=F E=F "
	    "e=F H=F i=F k=F K=F l=F n=F N=F P=F s=F S=F v=F V=F "
	    "--non-interactive=F --preserve-env=F --login=F --shell=F" },
	{ "sudoedit", WRAP_ARGV, WRAP_PRIV, 99, NULL, "+" },
	{ "systemd-nspawn", WRAP_ARGV, WRAP_PRIV, 0, NULL, "+ D=A M=A u=A" },
	{ "systemd-run", WRAP_ARGV, WRAP_PRIV, 0, NULL,
	    "+ p=A u=A H=A M=A E=A t=F" },
	{ "unshare", WRAP_ARGV, WRAP_PRIV, 0, NULL,
	    "+ R=A w=A S=A G=A m=O u=O n=O p=O" },
};

/* "bisect run" against the words behind the program. */
static bool
has_sub(const char *sub, const struct sh_word *w, size_t n)
{
	size_t i, len;

	for (i = 1; *sub != '\0'; i++) {
		len = strcspn(sub, " ");
		if (i >= n || w[i].len != len ||
		    strncmp(w[i].text, sub, len) != 0)
			return false;
		sub += len + (sub[len] == ' ');
	}
	return true;
}

/* Names of one program. */
static const char *
alias_of(const char *name)
{
	static const char *const machines[] = { "linux32", "linux64", "x86_64",
		"i386", "i486", "i586", "i686", "uname26", "amd64", "athlon",
		"aarch64", "arm64", "armv7l", "arm", "ppc", "ppc32", "ppc64",
		"ppcle", "ppc64le", "s390", "s390x", "sparc", "sparc32",
		"sparc64", "sparc32bash", "mips", "mips32", "mips64", "ia64",
		"alpha", "parisc", "parisc32", "parisc64", "riscv64",
		"loongarch64" };
	size_t i;

	if (strncmp(name, "ld", 2) == 0 && strstr(name, ".so") != NULL)
		return "ld.so";
	for (i = 0; i < nitems(machines); i++)
		if (name[0] == machines[i][0] && strcmp(name, machines[i]) == 0)
			return "setarch";
	return name;
}

const struct wrapper *
wrapper_find(const char *name, const struct sh_word *w, size_t n)
{
	size_t i;

	name = alias_of(name);
	for (i = 0; i < nitems(wrappers); i++) {
		const struct wrapper *r = &wrappers[i];

		if (r->name[0] == name[0] && strcmp(r->name, name) == 0 &&
		    (r->sub == NULL || has_sub(r->sub, w, n)))
			return r;
	}
	return NULL;
}
