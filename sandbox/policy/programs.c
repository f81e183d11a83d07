/* programs.c - programs whose options or operands run or write; see programs.h
 * for the columns and opts.h for the last. Sources: the manual pages. */
#include "common/compat.h"

#include "sandbox/policy/programs.h"
#include "sandbox/policy/rules.h"

#define NETCAT \
	"e=R c=R --exec=R --sh-exec=R --lua-exec=Q o=W --output=W w=A p=A " \
	"s=A i=A q=A X=A x=A"

#define VI "c=R S=Q u=Q --cmd=R W=W i=A t=A"
#define RENAME "n=N --no-act=N --nono=N e=E E=E s=F o=F i=F v=F"
#define CC_FILES \
	"o=W -MF=W -aux-info=W -dumpdir=W B=Q -fplugin=Q D=O I=O L=O O=O W=O " \
	"f=O g=O l=O m=O "

#define PYTHON "+ c=E m=Z W=A --check-hash-based-pycs=A "

/* Of those with a value the ones that it may also stand behind. */
#define NODE \
	"+ -pe=E e=E p=E --eval=E --print=E r=L --require=L --import=J " \
	"--env-file=L --env-file-if-exists=L C=A --conditions=A --title=A " \
	"--input-type=A --experimental-default-type=A --loader=L " \
	"--experimental-loader=L --disable-warning=A --dns-result-order=A " \
	"--unhandled-rejections=A --icu-data-dir=A --openssl-config=A " \
	"--max-http-header-size=A --test-name-pattern=A --test-reporter=A " \
	"--test-reporter-destination=W --test-concurrency=A --test-shard=A " \
	"--test-timeout=A --watch-path=A --tls-cipher-list=A " \
	"--trace-event-categories=A --diagnostic-dir=U --cpu-prof-dir=U " \
	"--heap-prof-dir=U --redirect-warnings=W --report-filename=W " \
	"--report-dir=U --report-directory=U --snapshot-blob=W --logfile=W " \
	"--trace-event-file-pattern=W --test=F --watch=F --cpu-prof=F " \
	"--heap-prof=F "

/* of what installs: where to */
#define NPM \
	"--prefix=U C=U --cache=A --registry=A --script-shell=Q " \
	"--node-options=Q --git=Q --shell=Q --editor=Q --viewer=Q " \
	"--globalconfig=Q --userconfig=Q w=A --workspace=A"

static const struct program programs[] = {
	/* git: what throws work away, goes around hooks, or names a program */
	{ "git", "add", NULL, "e=F" },
	{ "git", "am", NULL, "--no-verify=B S=O C=A p=A" },
	{ "git", "apply", "any",
	    "--check=N --stat=N --numstat=N --summary=N --cached=N p=A C=A "
	    "--exclude=A --include=A --directory=A --whitespace=A" },
	{ "git", "archive", NULL,
	    "o=W --output=W --exec=C --remote=A --format=A --prefix=A "
	    "--add-file=L --add-virtual-file=A" },
	{ "git", "bisect", NULL, "" },
	{ "git", "blame", NULL, "L=A --contents=L --ignore-revs-file=L S=L" },
	{ "git", "branch", NULL, "u=A" },
	{ "git", "bundle", NULL, "" },
	{ "git", "checkout-index", "w", "--prefix=U" },
	{ "git", "checkout", "x", "b=A B=A --orphan=A" },
	{ "git", "clean", NULL,
	    "f=B --force=B e=A --exclude=A n=N --dry-run=N" },
	{ "git", "clone", "w-1",
	    "u=C --upload-pack=C c=G --config=G --template=Q b=A --branch=A "
	    "o=A --origin=A --depth=A j=A --jobs=A --reference=A" },
	{ "git", "commit", NULL,
	    "--no-verify=B n=B m=A --message=A F=L --file=L C=A c=A t=L "
	    "--template=L --author=A --date=A S=O u=O --fixup=A --trailer=A "
	    "--cleanup=A --pathspec-from-file=L --no-post-rewrite=B" },
	{ "git", "commit-tree", NULL, "F=L m=A p=A S=O" },
	{ "git", "config", NULL, "" },
	{ "git", "daemon", NULL, "--access-hook=C" },
	{ "git", "diff", NULL,
	    "--output=W --ext-diff=P --textconv=F G=A S=A O=A U=O" },
	{ "git", "difftool", NULL, "x=R --extcmd=R t=A" },
	{ "git", "fetch", NULL, "--upload-pack=C --depth=A j=A" },
	{ "git", "fetch-pack", NULL, "--upload-pack=C --exec=C" },
	{ "git", "filter-branch", NULL,
	    "--tree-filter=R --index-filter=R --env-filter=R --msg-filter=R "
	    "--commit-filter=R --parent-filter=R --tag-name-filter=R "
	    "--setup=R" },
	{ "git", "format-patch", NULL,
	    "o=W --output-directory=W --output=W --signature-file=L "
	    "--description-file=L --signature=A v=A" },
	{ "git", "grep", NULL,
	    "O=M --open-files-in-pager=M f=L e=A A=A B=A C=A m=A" },
	{ "git", "init", "w",
	    "b=A --initial-branch=A --template=Q --object-format=A" },
	{ "git", "instaweb", NULL, "b=R --browser=R d=R --httpd=R" },
	{ "git", "interpret-trailers", "wi", "--in-place=I --trailer=A" },
	{ "git", "log", NULL,
	    "--output=W --ext-diff=P G=A S=A O=A L=A n=A U=O" },
	{ "git", "ls-remote", NULL, "--upload-pack=C --exec=C" },
	{ "git", "mailinfo", "w", "" },
	{ "git", "merge", NULL,
	    "--no-verify=B m=A F=L --file=L s=A --strategy=A X=A S=O" },
	{ "git", "merge-file", "rw1", "p=N --stdout=N L=A" },
	{ "git", "mergetool", NULL, "t=A" },
	{ "git", "mv", "to", "n=N --dry-run=N" },
	{ "git", "notes", NULL, "F=L --file=L m=A --message=A C=A c=A" },
	{ "git", "pull", NULL,
	    "--upload-pack=C --no-verify=B s=A X=A S=O --depth=A j=A" },
	{ "git", "push", NULL,
	    "f=B --force=B --force-with-lease=B --mirror=B --no-verify=B "
	    "--receive-pack=C --exec=C --repo=A o=A --push-option=A" },
	{ "git", "rebase", NULL,
	    "x=R --exec=R --no-verify=B s=A X=A --onto=A S=O C=A" },
	{ "git", "remote", NULL, "" },
	{ "git", "request-pull", NULL, "" },
	{ "git", "reset", NULL, "--hard=B" },
	{ "git", "restore", "x", "s=A --source=A" },
	{ "git", "rm", "x", "n=N --dry-run=N --cached=N" },
	{ "git", "send-email", NULL, "--smtp-server=R --to-cmd=R --cc-cmd=R" },
	{ "git", "send-pack", NULL, "--receive-pack=C --exec=C f=B --force=B" },
	{ "git", "show", NULL, "--output=W --ext-diff=P G=A S=A O=A U=O" },
	{ "git", "shell", NULL, "c=X" },
	{ "git", "submodule", NULL, "" },
	{ "git", "tag", NULL, "F=L --file=L m=A --message=A u=A n=O" },
	{ "git", "worktree", NULL, "" },

	/* readers and searchers */
	{ "ag", NULL, "r-1", "--pager=R G=A p=A A=A B=A C=A m=A" },
	{ "b2sum", NULL, "r", "" },
	{ "base32", NULL, "r", "w=A" },
	{ "base64", NULL, "r", "w=A" },
	{ "basenc", NULL, "r", "w=A" },
	{ "batcat", NULL, "r", "--pager=R l=A r=A H=A" },
	{ "bzcat", NULL, "r", "" },
	{ "cksum", NULL, "r", "a=A" },
	{ "date", NULL, NULL,
	    "f=L --file=L d=A s=Q --set=Q r=L --reference=A" },
	{ "du", NULL, NULL,
	    "--files0-from=L X=L --exclude-from=L d=A B=A t=A" },
	{ "diff3", NULL, "r", "" },
	{ "fmt", NULL, "r", "w=A p=A g=A" },
	{ "hd", NULL, "r", "n=A s=A" },
	{ "iconv", NULL, "r", "o=W --output=W f=A t=A" },
	{ "join", NULL, "r", "t=A o=A e=A j=A 1=A 2=A a=A v=A" },
	{ "look", NULL, "r-1", "t=A" },
	{ "lz4", NULL, "rwl", "c=N t=N m=O" },
	{ "numfmt", NULL, NULL, "" },
	{ "pr", NULL, "r", "h=A l=A w=A o=A" },
	{ "ptx", NULL, "rw2", "w=A g=A" },
	{ "rev", NULL, "r", "" },
	{ "sdiff", NULL, "r", "o=W --output=W w=A" },
	{ "sha224sum", NULL, "r", "" },
	{ "sha384sum", NULL, "r", "" },
	{ "sha512sum", NULL, "r", "" },
	{ "shuf", NULL, "r", "o=W --output=W n=A i=A --random-source=L e=F" },
	{ "sum", NULL, "r", "" },
	{ "tsort", NULL, "r", "" },
	{ "unexpand", NULL, "r", "t=A" },
	{ "xzcat", NULL, "r", "" },
	{ "zcat", NULL, "r", "" },
	{ "zgrep", NULL, "r-1", "e=A f=L m=A A=A B=A C=A" },
	{ "zless", NULL, "r+", "" },
	{ "zstd", NULL, "wr",
	    "o=W c=N l=N t=N d=F T=A D=L --stdout=N --output-dir-flat=U --output-dir-mirror=U" },
	{ "zstdcat", NULL, "r", "" },
	{ "bat", NULL, "r", "--pager=R l=A r=A H=A" },
	{ "bzip2", NULL, "wr", PROGRAM_PACKER },
	{ "cat", NULL, "r", "" },
	{ "cmp", NULL, "r", "i=A n=A" },
	{ "column", NULL, "r", "s=A c=A o=A N=A" },
	{ "comm", NULL, "r", "" },
	{ "csplit", NULL, "r1", "f=W --prefix=W" },
	{ "cut", NULL, "r", "d=A f=A c=A b=A" },
	{ "diff", NULL, "r",
	    "U=A C=A x=A X=A I=A L=A D=A --output=W "
	    "--from-file=L --to-file=L" },
	{ "expand", NULL, "r", "t=A" },
	{ "fd", NULL, NULL,
	    "x=D --exec=D X=D --exec-batch=D e=A t=A d=A E=A S=A c=A j=A" },
	{ "fdfind", NULL, NULL,
	    "x=D --exec=D X=D --exec-batch=D e=A t=A d=A E=A S=A c=A j=A" },
	{ "file", NULL, "r", "f=L --files-from=L m=A C=P --compile=P F=A P=A" },
	{ "fold", NULL, "r", "w=A" },
	{ "grep", NULL, "r-1", "--file=L e=A f=L m=A A=A B=A C=A D=A d=A" },
	{ "egrep", NULL, "r-1", "--file=L e=A f=L m=A A=A B=A C=A" },
	{ "fgrep", NULL, "r-1", "--file=L e=A f=L m=A A=A B=A C=A" },
	{ "head", NULL, "r", "n=A c=A" },
	{ "hexdump", NULL, "r", "n=A s=A e=A f=A" },
	{ "jq", NULL, "r-1",
	    "f=L L=A --from-file=L --tab=F --indent=A --arg=A --argjson=A" },
	{ "less", NULL, "r+", "o=W O=W --log-file=W --LOG-FILE=W p=A k=Q" },
	{ "man", NULL, "r", "P=R --pager=R H=M --html=M C=Q --preprocessor=A" },
	{ "md5sum", NULL, "r", "" },
	{ "more", NULL, "r+", "" },
	{ "nl", NULL, "r", "b=A w=A s=A v=A" },
	{ "objdump", NULL, "r",
	    "--plugin=Q b=A j=A m=A M=A --target=A --section=A "
	    "--start-address=A --stop-address=A --prefix=A" },
	{ "od", NULL, "r", "A=A t=A N=A j=A" },
	{ "paste", NULL, "r", "d=A" },
	{ "pastebinit", NULL, "r", "i=L" },
	{ "groff", NULL, "r", "m=A T=A" },
	{ "m4", NULL, "r", "D=A I=A o=W" },
	{ "pv", NULL, "r", "o=W --output=W L=A s=A" },
	{ "pygmentize", NULL, "r", "o=W l=A f=A O=A" },
	{ "xclip", NULL, "r", "selection=A" },
	{ "gh", "gist", "r-1", "d=A f=A" },
	{ "gh", "release", "r-1", "t=A n=A F=L" },
	{ "rg", NULL, "r-1",
	    "--file=L --pre=R --hostname-bin=R --pre-glob=A e=A f=L g=A t=A T=A A=A "
	    "B=A C=A m=A M=A j=A d=A r=A E=A --glob=A --type=A --regexp=A" },
	{ "sha1sum", NULL, "r", "" },
	{ "sha256sum", NULL, "r", "" },
	{ "sort", NULL, "r",
	    "o=W --output=W --compress-program=R T=A S=A k=A t=A "
	    "--key=A --field-separator=A --buffer-size=A "
	    "--temporary-directory=W --files0-from=L --parallel=A" },
	{ "stat", NULL, NULL, "c=A f=F" },
	{ "strings", NULL, "r", "n=A t=A e=A" },
	{ "tac", NULL, "r", "s=A" },
	{ "tail", NULL, "r", "n=A c=A s=A" },
	{ "tree", NULL, NULL, "o=W L=A P=A I=A" },
	{ "uniq", NULL, "rw2", "f=A s=A w=A" },
	{ "ul", NULL, "r", "t=A" },
	{ "wc", NULL, "r", "--files0-from=L" },
	{ "xxd", NULL, "rw2", "l=A s=A c=A g=A o=A" },
	{ "zip", NULL, "zip",
	    "m=I --move=I -TT=R --unzip-command=R T=F x=A i=A b=W O=W" },

	/* editors of streams, and others with a language of their own */
	{ "awk", NULL, "awk",
	    "f=Q v=A F=A e=S --source=S --file=Q --assign=A "
	    "--field-separator=A i=Q --include=Q l=Q --load=Q E=A d=O o=O p=O "
	    "--dump-variables=W --profile=W --pretty-print=W W=Q" },
	{ "ed", NULL, "w+", "p=A" },
	{ "emacs", NULL, "w",
	    "--eval=E --execute=E -eval=E --batch=F l=Q --load=Q f=A" },
	{ "ex", NULL, "w+", "c=R S=Q s=F W=W --cmd=R" },
	{ "gdb", NULL, NULL,
	    "-ex=R -iex=R x=Q -ix=Q --eval-command=R --init-eval-command=R "
	    "--command=Q --init-command=Q" },
	{ "sed", NULL, "sed",
	    "e=S --expression=S f=Q --file=Q i=I --in-place=I l=A "
	    "--line-length=A" },
	{ "sqlite3", NULL, "db",
	    "-init=Q -cmd=Q -readonly=N --readonly=N -separator=A -newline=A "
	    "-nullvalue=A -vfs=A -maxsize=A -mmap=A -heap=A" },
	{ "vi", NULL, "w+", VI },
	{ "view", NULL, "w+", VI },
	{ "vim", NULL, "w+", VI },
	{ "vimdiff", NULL, "w+", VI },
	{ "nvim", NULL, "w+", VI },

	/* interpreters */
	{ "bun", NULL, "i", "+ e=E p=E --eval=E --print=E r=A" },
	{ "deno", "eval", "c", "--ext=A --config=A c=A" },
	{ "elixir", NULL, "i", "+ e=E --eval=E r=A S=A" },
	{ "expect", NULL, "i", "+ c=E f=A" },
	{ "guile", NULL, "i", "+ c=E e=A l=A L=A s=A" },
	{ "ipython", NULL, "i", "+ c=E m=Z" },
	{ "julia", NULL, "i", "+ e=E E=E --eval=E --print=E L=A t=A p=A" },
	{ "lua", NULL, "i", "+ e=E l=A" },
	{ "luajit", NULL, "i", "+ e=E l=A" },
	{ "node", NULL, "i", NODE },
	{ "nodejs", NULL, "i", NODE },
	{ "perl", NULL, "ii",
	    "+ e=E E=E I=A i=I M=J m=J n=F 0=V l=V C=O D=O :=O F=O x=O V=O" },
	{ "php", NULL, "i", "+ r=E B=E R=E E=E c=A d=A f=A F=A" },
	{ "pwsh", NULL, NULL, "+ c=Q -c=Q -Command=Q -command=Q e=Q -e=Q" },
	{ "python", NULL, "i", PYTHON "X=A" },
	{ "python2", NULL, "i", PYTHON },
	{ "python3", NULL, "i", PYTHON "X=A" },
	{ "Rscript", NULL, "i", "+ e=E" },
	{ "ruby", NULL, "ii",
	    "+ e=E I=A r=A i=I E=A C=A X=A F=O x=O K=O 0=V W=V --encoding=A "
	    "--external-encoding=A --internal-encoding=A" },
	{ "osascript", NULL, "i", "+ e=E l=A" },

	/* what changes files */
	{ "chgrp", NULL, "w-1", "" },
	{ "chmod", NULL, "w-1", "" },
	{ "chown", NULL, "w-1", "" },
	{ "cp", NULL, "to", "t=W --target-directory=W S=A" },
	{ "dd", NULL, "dd", "" },
	{ "gunzip", NULL, "wr", PROGRAM_PACKER },
	{ "gzip", NULL, "wr", PROGRAM_PACKER },
	{ "install", NULL, "to",
	    "t=W --target-directory=W m=A o=A g=A S=A "
	    "--strip-program=R" },
	{ "link", NULL, "to", "" },
	{ "ln", NULL, "to", "t=W --target-directory=W S=A" },
	{ "mkdir", NULL, "w", "m=A --mode=A" },
	{ "mkfifo", NULL, "w", "m=A" },
	{ "mv", NULL, "to", "t=W --target-directory=W S=A" },
	{ "patch", NULL, "patch",
	    "--dry-run=N o=W --output=W d=K --directory=K i=L --input=L p=A r=W --reject-file=W B=A D=A F=A" },
	{ "rm", NULL, "x", "" },
	{ "rmdir", NULL, "w", "" },
	{ "rsync", NULL, "to",
	    "e=R --rsh=R --rsync-path=R f=A --exclude=A --include=A "
	    "--log-file=W --write-batch=W --only-write-batch=W --backup-dir=W "
	    "--partial-dir=W --temp-dir=W --files-from=L --password-file=L "
	    "--exclude-from=L --include-from=L n=N --dry-run=N" },
	{ "scp", NULL, "to", "S=R o=Q F=Q P=A i=A l=A c=A J=A" },
	{ "sftp", NULL, "w2", "S=R o=Q F=Q P=A i=A D=R b=Q" },
	{ "shred", NULL, "w", "n=A s=A --random-source=A" },
	{ "split", NULL, "rw2", "--filter=R b=A l=A n=A a=A C=A t=A" },
	{ "tar", NULL, "tar",
	    "--to-command=R --checkpoint-action=R --use-compress-program=R "
	    "I=R F=R --info-script=R --new-volume-script=R --rsh-command=R "
	    "--rmt-command=R f=A --file=A C=A --directory=A T=A X=A b=A "
	    "--exclude=A --transform=A" },
	{ "objcopy", NULL, "rwl",
	    "O=A I=A F=A j=A R=A N=A K=A L=A G=A W=A --add-section=A "
	    "--only-section=A --remove-section=A --set-section-flags=A" },
	{ "sponge", NULL, "w", "" },
	{ "ssh-keygen", NULL, NULL,
	    "f=W N=A P=A t=A b=A C=A I=A O=A n=A V=A s=A r=A F=A R=A D=Q "
	    "w=Q a=A z=A m=A Y=A M=A" },
	{ "strip", NULL, "w", "o=W R=A K=A N=A F=A I=A O=A" },
	{ "tee", NULL, "w", "" },
	{ "touch", NULL, "w", "d=A r=A t=A --date=A --reference=A" },
	{ "truncate", NULL, "w", "s=A r=A --size=A --reference=A" },
	{ "unlink", NULL, "w", "" },
	{ "unzip", NULL, "unpack", "d=U x=F l=N p=N c=N t=N v=N z=N Z=N" },
	{ "xz", NULL, "wr", PROGRAM_PACKER },

	/* that need the names of what they write from others */
	{ "aunpack", NULL, "unpack", "X=U --extract-to=U" },
	{ "detox", NULL, "any", "n=N --dry-run=N" },
	{ "file-rename", NULL, "names", RENAME },
	{ "hardlink", NULL, "wb", "n=N --dry-run=N" },
	{ "logrotate", NULL, "any",
	    "s=W --state=W l=W --log=W d=N --debug=N m=R --mail=R" },
	{ "mmv", NULL, "any", "n=N" },
	{ "perl-rename", NULL, "names", RENAME },
	{ "prename", NULL, "names", RENAME },
	{ "qmv", NULL, "any", "" },
	{ "rename", NULL, "names", RENAME },
	{ "rename.ul", NULL, "names", RENAME },
	{ "vidir", NULL, "any", "" },

	/* other keepers of versions */
	{ "ci", NULL, "w", "" },
	{ "co", NULL, "w", "" },
	{ "hg", "import", "any", "" },
	{ "hg", "merge", "here", "" },
	{ "hg", "mv", "to", "n=N" },
	{ "hg", "remove", "x", "n=N" },
	{ "hg", "revert", "x", "n=N r=A" },
	{ "hg", "rm", "x", "n=N" },
	{ "hg", "unshelve", "here", "" },
	{ "hg", "up", "here", "" },
	{ "hg", "update", "here", "" },
	{ "jj", "restore", "x", "f=A t=A" },
	{ "merge", NULL, "w1", "p=N L=A" },
	{ "quilt", "pop", "here", "" },
	{ "quilt", "push", "here", "" },
	{ "svn", "cp", "to", "m=A" },
	{ "svn", "mv", "to", "m=A" },
	{ "svn", "patch", "any", "" },
	{ "svn", "revert", "x", "" },
	{ "svn", "rm", "x", "" },
	{ "svn", "update", "here", "" },

	/* formatters, and what else changes files in their place */
	{ "autoflake", NULL, "wi", "i=I --in-place=I" },
	{ "autopep8", NULL, "wi", "i=I --in-place=I" },
	{ "biome", NULL, "wi", "--write=I --apply=I --fix=I" },
	{ "black", NULL, "wb", "--check=N --diff=N l=A t=A c=A" },
	{ "buildifier", NULL, "wb", "-mode=A" },
	{ "cargo", "init", "w", "--name=A --vcs=A --edition=A --registry=A" },
	{ "cargo", "new", "w", "--name=A --vcs=A --edition=A --registry=A" },
	{ "cargo", "fmt", "here", "--check=N" },
	{ "cargo", "fix", "here", "" },
	{ "clang-format", NULL, "wi", "i=I n=N --dry-run=N" },
	{ "codespell", NULL, "wi", "w=I --write-changes=I L=A S=A" },
	{ "dart", "format", "wb", "o=A --output=A" },
	{ "dos2unix", NULL, "w", "" },
	{ "eslint", NULL, "wi",
	    "--fix=I c=A --config=A --ext=A o=W --output-file=W --rulesdir=Q "
	    "--resolve-plugins-relative-to=Q --plugin=Q --parser=Q" },
	{ "go", "fix", "here", "" },
	{ "go", "fmt", "here", "n=N" },
	{ "gofmt", NULL, "wi", "w=I r=A" },
	{ "gofumpt", NULL, "wi", "w=I" },
	{ "goimports", NULL, "wi", "w=I" },
	{ "indent", NULL, "w1", "o=W" },
	{ "isort", NULL, "wb", "c=N --check=N --check-only=N --diff=N" },
	{ "jscodeshift", NULL, "wb", "d=N --dry=N t=A" },
	{ "mix", "format", "here", "--check-formatted=N" },
	{ "mogrify", NULL, "w", "" },
	{ "phpcbf", NULL, "wb", "" },
	{ "prettier", NULL, "wi",
	    "w=I --write=I --config=A --plugin=Q --plugin-search-dir=Q" },
	{ "pyupgrade", NULL, "wb", "" },
	{ "rubocop", NULL, "wi", "a=I A=I --auto-correct=I --autocorrect=I" },
	{ "ruff", "check", "wi", "--fix=I --diff=N o=W --output-file=W" },
	{ "ruff", "format", "wb", "--check=N --diff=N" },
	{ "rustfmt", NULL, "wb", "--check=N --emit=A --edition=A" },
	{ "scalafmt", NULL, "wb", "--check=N --test=N" },
	{ "sd", NULL, "w-2", "p=N --preview=N n=A f=A" },
	{ "shfmt", NULL, "wi", "w=I" },
	{ "stylelint", NULL, "wi", "--fix=I" },
	{ "stylua", NULL, "wb", "c=N --check=N" },
	{ "swiftformat", NULL, "wb", "--lint=N --dryrun=N" },
	{ "terraform", "fmt", "here", "-check=N" },
	{ "tidy", NULL, "wi", "m=I -modify=I o=W -o=W" },
	{ "unix2dos", NULL, "w", "" },
	{ "xmllint", NULL, "r", "o=W --output=W" },
	{ "yamlfmt", NULL, "wb", "-lint=N -dry=N" },
	{ "yapf", NULL, "wi", "i=I --in-place=I" },
	{ "yq", NULL, "wi", "i=I --inplace=I --in-place=I y=F o=A p=A I=A" },

	/* what makes one file of others */
	{ "aws", "s3", "rwl", "" },
	{ "cpp", NULL, "rw2", "o=W I=O D=O" },
	{ "dc3dd", NULL, "dd", "" },
	{ "dcfldd", NULL, "dd", "" },
	{ "ddrescue", NULL, "w-1", "b=A i=A s=A" },
	{ "lessc", NULL, "rw2", "" },
	{ "recode", NULL, "w-1", "" },
	{ "rpl", NULL, "w-2", "" },
	{ "sass", NULL, "rw2", "I=A" },
	{ "sphinx-build", NULL, "into", "b=A d=U c=A D=A" },
	{ "squashfuse", NULL, "w2", "" },
	{ "sshfs", NULL, "w2", "o=A p=A" },
	{ "bison", NULL, NULL, "o=W --output=W -defines=W b=A" },
	{ "convert", NULL, "wl", "" },
	{ "ctags", NULL, NULL, "f=W o=W" },
	{ "docker", "cp", "to", "" },
	{ "etags", NULL, NULL, "o=W --output=W" },
	{ "ffmpeg", NULL, "wl", "i=L f=A c=A" },
	{ "flex", NULL, NULL, "o=W --outfile=W" },
	{ "gpg", NULL, "r",
	    "o=W --output=W r=A u=A --passphrase-file=L --options=L" },
	{ "gsutil", "cp", "to", "" },
	{ "javac", NULL, NULL,
	    "d=U h=U s=U -d=U J=Q -processor=A -processorpath=Q "
	    "--processor-path=Q -Xplugin=Q -cp=A -classpath=A" },
	{ "kubectl", "cp", "to", "c=A" },
	{ "magick", NULL, "wl", "" },
	{ "nasm", NULL, NULL, "o=W l=W" },
	{ "pandoc", NULL, "r",
	    "o=W --output=W f=A t=A --filter=R F=R --lua-filter=Q L=Q "
	    "--pdf-engine=R --extract-media=U" },
	{ "pdftotext", NULL, "rw2", "" },
	{ "pip", "download", NULL, "d=U --dest=U r=L c=L" },
	{ "pip", "install", NULL,
	    "t=U --target=U r=L c=L --constraint=L --prefix=U --log=W" },
	{ "pip3", "install", NULL,
	    "t=U --target=U r=L c=L --constraint=L --prefix=U --log=W" },
	{ "podman", "cp", "to", "" },
	{ "rclone", "copy", "to", "" },
	{ "rclone", "copyto", "to", "" },
	{ "rclone", "move", "to", "" },
	{ "rclone", "sync", "to", "" },
	{ "rustc", NULL, NULL, "o=W --out-dir=U -o=W L=A C=A" },
	{ "tsc", NULL, NULL, "--outDir=U --outFile=W" },

	/* of the system */
	{ "chattr", NULL, "w-1", "p=A v=A" },
	{ "chcon", NULL, "w-1", "u=A r=A t=A l=A --reference=A" },
	{ "exch", NULL, "x", "" },
	{ "fallocate", NULL, "w", "l=A o=A --length=A --offset=A" },
	{ "mke2fs", NULL, "w1", "b=A t=A L=A d=L E=A O=A U=A" },
	{ "mkfs", NULL, "wl", "t=A --type=A" },
	{ "mknod", NULL, "w1", "m=A" },
	{ "mkswap", NULL, "w1", "L=A p=A U=A" },
	{ "mktemp", NULL, "w", "p=U --tmpdir=F --suffix=A u=N" },
	{ "script", NULL, "w", "c=A E=A I=A O=A B=A T=A o=A m=A" },
	{ "setfacl", NULL, "w", "m=A x=A M=A X=A b=F k=F" },
	{ "setfattr", NULL, "w", "n=A v=A x=A" },
	{ "updatedb", NULL, NULL, "o=W --output=W" },
	{ "utmpdump", NULL, NULL, "o=W --output=W" },
	{ "wipefs", NULL, "w", "n=N o=A t=A --no-act=N" },

	/* editors that take no commands */
	{ "joe", NULL, "w", "" },
	{ "micro", NULL, "w", "" },
	{ "nano", NULL, "w", "C=A r=A s=A T=A o=A" },
	{ "pico", NULL, "w", "" },

	/* the network */
	{ "aria2c", NULL, "url",
	    "o=W --out=W d=U --dir=U l=W --log=W x=A s=A" },
	{ "curl", NULL, "url",
	    "o=W --output=W O=P --remote-name=P --remote-name-all=P "
	    "--remote-header-name=F --etag-save=W --hsts=W --alt-svc=W "
	    "--ssl-keylog=W K=Q --config=Q D=W "
	    "--dump-header=W c=W --cookie-jar=W --trace=W --trace-ascii=W "
	    "--stderr=W --output-dir=U --libcurl=W T=L --upload-file=L H=T X=A d=T b=L e=A u=A "
	    "--cookie=L --netrc-file=L E=L --cert=L --cacert=L --capath=L "
	    "--key=L --proxy-cert=L --proxy-key=L --proxy-cacert=L "
	    "--crlfile=L --pubkey=L "
	    "F=T m=A w=A x=A r=A A=A --header=T --request=A --data=T "
	    "--data-ascii=T --data-binary=T --data-urlencode=T --json=T "
	    "--url-query=T --max-time=A --user=A --form=T --form-string=A "
	    "--retry=A" },
	{ "wget", NULL, "url",
	    "O=W --output-document=W o=W --output-file=W a=W P=U "
	    "--save-cookies=W --warc-file=W --rejected-log=W --spider=N "
	    "--input-file=L --directory-prefix=U e=Q --execute=Q --post-file=L --body-file=L --use-askpass=R U=A t=A T=A "
	    "i=L --config=L --load-cookies=L" },

	{ "nc", NULL, NULL, NETCAT },
	{ "ncat", NULL, NULL, NETCAT },
	{ "netcat", NULL, NULL, NETCAT },
	{ "nc.traditional", NULL, NULL, NETCAT },
	{ "nc.openbsd", NULL, NULL, NETCAT },

	/* builders */
	{ "c++", NULL, NULL, CC_FILES "-specs=Q -wrapper=R" },
	{ "cc", NULL, NULL, CC_FILES "-specs=Q -wrapper=R" },
	{ "clang", NULL, NULL, CC_FILES "-Xclang=Q -fpass-plugin=Q -load=Q" },
	{ "clang++", NULL, NULL, CC_FILES "-Xclang=Q -fpass-plugin=Q" },
	{ "g++", NULL, NULL, CC_FILES "-specs=Q -wrapper=R" },
	{ "gcc", NULL, NULL, CC_FILES "-specs=Q -wrapper=R" },
	{ "as", NULL, "r", "o=W -MD=W I=A" },
	{ "ld", NULL, "r",
	    "o=W -plugin=Q -Map=W --Map=W --dependency-file=W --out-implib=W "
	    "T=A L=A l=A m=A e=A" },
	{ "go", "env", NULL, "w=P u=P" },
	{ "go", "build", NULL, "o=W -toolexec=R -o=W --toolexec=R" },
	{ "go", "run", NULL, "-toolexec=R -exec=R --toolexec=R --exec=R" },
	{ "go", "test", NULL,
	    "-toolexec=R -exec=R -vettool=R --exec=R --toolexec=R o=W "
	    "-run=A -count=A -timeout=A -bench=A" },
	{ "go", "vet", NULL, "-vettool=R --vettool=R -toolexec=R" },
	{ "cargo", NULL, NULL,
	    "--config=Q p=A --package=A --target-dir=W --root=U" },
	{ "make", NULL, "make",
	    "--eval=P f=L C=A I=A o=A W=A j=O l=O --file=L --makefile=L "
	    "--directory=A E=P" },
	{ "gmake", NULL, "make",
	    "--eval=P f=L C=A I=A o=A W=A j=O l=O --file=L --makefile=L "
	    "--directory=A E=P" },
	{ "openssl", NULL, NULL,
	    "-in=L -inkey=L -key=L -out=W -keyout=W -writerand=W "
	    "-keylogfile=W -sess_out=W -engine=Q -provider-path=Q" },
	{ "pytest", NULL, NULL,
	    "p=A -junitxml=W --junitxml=W --junit-xml=W --log-file=W "
	    "--basetemp=U --debug=W --report-log=W --resultlog=W "
	    "--result-log=W --html=W --json-report-file=W "
	    "--cov-report=A --override-ini=A o=A k=A m=A c=L --config-file=L" },
	{ "ctest", NULL, NULL,
	    "O=W --output-log=W --output-junit=W --test-output-size=A S=Q "
	    "-SP=Q --script=Q j=A --parallel=A R=A E=A L=A I=A C=A D=A M=A "
	    "T=A --test-dir=A --timeout=A --test-command=D "
	    "--build-and-test=P --build-makeprogram=R --build-generator=A" },

	{ "npm", "add", NULL, NPM },
	{ "npm", "ci", NULL, NPM },
	{ "npm", "i", NULL, NPM },
	{ "npm", "install", NULL, NPM },
	{ "npm", "update", NULL, NPM },
	{ "npm", NULL, NULL,
	    "--script-shell=Q --node-options=Q --git=Q --shell=Q --editor=Q "
	    "--viewer=Q --globalconfig=Q --userconfig=Q" },

	/* of the shell itself */
	{ "history", NULL, "rw1", "d=A s=F p=F" },
	{ "bind", NULL, NULL, "x=R f=Q" },
	{ "compgen", NULL, NULL, "C=X F=A A=A W=A P=A S=A X=A G=A" },
	{ "complete", NULL, NULL, "C=X F=A A=A W=A P=A S=A X=A G=A" },
	{ "enable", NULL, NULL, "f=C" },
	{ "hash", NULL, NULL, "p=R" },
	{ "mapfile", NULL, NULL, "C=X c=A d=A n=A O=A s=A u=A" },
	{ "readarray", NULL, NULL, "C=X c=A d=A n=A O=A s=A u=A" },
};

const struct program *
program_find(const char *name, const char *sub)
{
	size_t i;

	name = program_alias(name);
	for (i = 0; i < nitems(programs) + programs_archive_n; i++) {
		const struct program *p = i < nitems(programs)
		    ? &programs[i]
		    : &programs_archive[i - nitems(programs)];

		if (p->name[0] != name[0] || strcmp(p->name, name) != 0)
			continue;
		if (p->sub == NULL || (sub != NULL && strcmp(p->sub, sub) == 0))
			return p;
	}
	return NULL;
}
