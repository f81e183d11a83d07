/* programs.c - programs whose options or operands run or write; see programs.h
 * for the columns and opts.h for the last. Sources: the manual pages. */
#include "common/compat.h"

#include <strings.h>

#include "sandbox/policy/programs.h"
#include "sandbox/policy/rules.h"

#define NETCAT \
	"e=R c=R --exec=R --sh-exec=R --lua-exec=Q o=W --output=W w=A p=A " \
	"s=A i=A q=A X=A x=A"

static const struct program programs[] = {
	/* git: what throws work away, goes around hooks, or names a program */
	{ "git", "add", NULL, "e=F" },
	{ "git", "am", NULL, "--no-verify=B S=O C=A p=A" },
	{ "git", "apply", "any",
	    "--check=N --stat=N --numstat=N --summary=N --cached=N p=A C=A "
	    "--exclude=A --include=A --directory=A --whitespace=A" },
	{ "git", "archive", NULL,
	    "o=W --output=W --exec=C --remote=A --format=A --prefix=A" },
	{ "git", "bisect", NULL, "" },
	{ "git", "blame", NULL, "L=A --contents=A" },
	{ "git", "branch", NULL, "u=A" },
	{ "git", "bundle", NULL, "" },
	{ "git", "checkout", "x", "b=A B=A --orphan=A" },
	{ "git", "clean", NULL,
	    "f=B --force=B e=A --exclude=A n=N --dry-run=N" },
	{ "git", "clone", "w-1",
	    "u=C --upload-pack=C c=G --config=G --template=Q b=A --branch=A "
	    "o=A --origin=A --depth=A j=A --jobs=A --reference=A" },
	{ "git", "commit", NULL,
	    "--no-verify=B n=B m=A --message=A F=A --file=A C=A c=A t=A "
	    "--template=A --author=A --date=A S=O u=O --fixup=A --trailer=A "
	    "--cleanup=A --pathspec-from-file=A --no-post-rewrite=B" },
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
	{ "git", "format-patch", NULL, "o=W --output-directory=W --output=W" },
	{ "git", "grep", NULL,
	    "O=M --open-files-in-pager=M f=A e=A A=A B=A C=A m=A" },
	{ "git", "init", "w",
	    "b=A --initial-branch=A --template=Q --object-format=A" },
	{ "git", "instaweb", NULL, "b=R --browser=R d=R --httpd=R" },
	{ "git", "log", NULL,
	    "--output=W --ext-diff=P G=A S=A O=A L=A n=A U=O" },
	{ "git", "ls-remote", NULL, "--upload-pack=C --exec=C" },
	{ "git", "merge", NULL,
	    "--no-verify=B m=A F=A s=A --strategy=A X=A S=O" },
	{ "git", "mergetool", NULL, "t=A" },
	{ "git", "mv", "to", "n=N --dry-run=N" },
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
	{ "git", "worktree", NULL, "" },

	/* readers and searchers */
	{ "7z", NULL, NULL, "-o=W" },
	{ "ag", NULL, "r-1", "--pager=R G=A p=A A=A B=A C=A m=A" },
	{ "b2sum", NULL, "r", "" },
	{ "base32", NULL, "r", "w=A" },
	{ "base64", NULL, "r", "w=A" },
	{ "basenc", NULL, "r", "w=A" },
	{ "batcat", NULL, "r", "--pager=R l=A r=A H=A" },
	{ "bzcat", NULL, "r", "" },
	{ "cksum", NULL, "r", "a=A" },
	{ "diff3", NULL, "r", "" },
	{ "fmt", NULL, "r", "w=A p=A g=A" },
	{ "hd", NULL, "r", "n=A s=A" },
	{ "iconv", NULL, "r", "o=W --output=W f=A t=A" },
	{ "join", NULL, "r", "t=A o=A e=A j=A 1=A 2=A a=A v=A" },
	{ "look", NULL, "r-1", "t=A" },
	{ "lz4", NULL, "rwl", "" },
	{ "numfmt", NULL, NULL, "" },
	{ "pr", NULL, "r", "h=A l=A w=A o=A" },
	{ "ptx", NULL, "r", "w=A g=A" },
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
	{ "zstd", NULL, "wr", "o=W c=N d=F T=A" },
	{ "zstdcat", NULL, "r", "" },
	{ "bat", NULL, "r", "--pager=R l=A r=A H=A" },
	{ "bzip2", NULL, "wr", "c=N k=F" },
	{ "cat", NULL, "r", "" },
	{ "cmp", NULL, "r", "i=A n=A" },
	{ "column", NULL, "r", "s=A c=A o=A N=A" },
	{ "comm", NULL, "r", "" },
	{ "csplit", NULL, NULL, "f=W --prefix=W" },
	{ "cut", NULL, "r", "d=A f=A c=A b=A" },
	{ "diff", NULL, "r", "U=A C=A x=A X=A I=A L=A D=A --output=W" },
	{ "expand", NULL, "r", "t=A" },
	{ "fd", NULL, NULL,
	    "x=D --exec=D X=D --exec-batch=D e=A t=A d=A E=A S=A c=A j=A" },
	{ "fdfind", NULL, NULL,
	    "x=D --exec=D X=D --exec-batch=D e=A t=A d=A E=A S=A c=A j=A" },
	{ "file", NULL, "r", "f=A m=A C=P --compile=P F=A P=A" },
	{ "fold", NULL, "r", "w=A" },
	{ "grep", NULL, "r-1", "--file=L e=A f=L m=A A=A B=A C=A D=A d=A" },
	{ "egrep", NULL, "r-1", "--file=L e=A f=L m=A A=A B=A C=A" },
	{ "fgrep", NULL, "r-1", "--file=L e=A f=L m=A A=A B=A C=A" },
	{ "head", NULL, "r", "n=A c=A" },
	{ "hexdump", NULL, "r", "n=A s=A e=A f=A" },
	{ "jq", NULL, "r-1",
	    "f=A L=A --from-file=A --tab=F --indent=A --arg=A --argjson=A" },
	{ "less", NULL, "r+", "o=W O=W --log-file=W --LOG-FILE=W p=A k=Q" },
	{ "man", NULL, NULL, "P=R --pager=R H=O -html=R C=Q --preprocessor=A" },
	{ "md5sum", NULL, "r", "" },
	{ "more", NULL, "r+", "" },
	{ "nl", NULL, "r", "b=A w=A s=A v=A" },
	{ "od", NULL, "r", "A=A t=A N=A j=A" },
	{ "paste", NULL, "r", "d=A" },
	{ "rg", NULL, "r-1",
	    "--file=L --pre=R --hostname-bin=R --pre-glob=A e=A f=L g=A t=A T=A A=A "
	    "B=A C=A m=A M=A j=A d=A r=A E=A --glob=A --type=A --regexp=A" },
	{ "sha1sum", NULL, "r", "" },
	{ "sha256sum", NULL, "r", "" },
	{ "sort", NULL, "r",
	    "o=W --output=W --compress-program=R T=A S=A k=A t=A "
	    "--key=A --field-separator=A --buffer-size=A "
	    "--temporary-directory=W --files0-from=A --parallel=A" },
	{ "stat", NULL, NULL, "c=A f=F" },
	{ "strings", NULL, "r", "n=A t=A e=A" },
	{ "tac", NULL, "r", "s=A" },
	{ "tail", NULL, "r", "n=A c=A s=A" },
	{ "tree", NULL, NULL, "o=W L=A P=A I=A" },
	{ "uniq", NULL, "rw2", "f=A s=A w=A" },
	{ "wc", NULL, "r", "" },
	{ "xxd", NULL, "rw2", "l=A s=A c=A g=A o=A" },
	{ "zip", NULL, "zip", "m=I --move=I -TT=R T=F x=A i=A b=W O=W" },

	/* editors of streams, and others with a language of their own */
	{ "awk", NULL, "awk",
	    "f=Q v=A F=A e=S --source=S --file=Q --assign=A "
	    "--field-separator=A i=Q --include=Q l=Q --load=Q E=A d=O o=O p=O "
	    "W=Q" },
	{ "ed", NULL, "w", "p=A" },
	{ "emacs", NULL, "w", "--eval=P --batch=F l=A --load=A f=A -eval=P" },
	{ "ex", NULL, "w+", "c=R S=A s=F" },
	{ "gdb", NULL, NULL, "-ex=R -x=P --eval-command=R --command=P" },
	{ "sed", NULL, "sed",
	    "e=S --expression=S f=Q --file=Q i=I --in-place=I l=A "
	    "--line-length=A" },
	{ "sqlite3", NULL, "db",
	    "-init=Q -cmd=Q -readonly=N --readonly=N -separator=A -newline=A "
	    "-nullvalue=A -vfs=A -maxsize=A -mmap=A -heap=A" },
	{ "vi", NULL, "w+", "c=R S=A u=Q --cmd=R" },
	{ "vim", NULL, "w+", "c=R S=A u=Q --cmd=R" },
	{ "nvim", NULL, "w+", "c=R S=A u=Q --cmd=R" },

	/* interpreters */
	{ "bun", NULL, NULL, "+ e=E p=E --eval=E --print=E r=A" },
	{ "deno", "eval", "c", "--ext=A --config=A c=A" },
	{ "elixir", NULL, "i", "+ e=E --eval=E r=A S=A" },
	{ "expect", NULL, "i", "+ c=E f=A" },
	{ "guile", NULL, "i", "+ c=E e=A l=A L=A s=A" },
	{ "ipython", NULL, "i", "+ c=E m=Z" },
	{ "julia", NULL, "i", "+ e=E E=E --eval=E --print=E L=A t=A p=A" },
	{ "lua", NULL, "i", "+ e=E l=A" },
	{ "luajit", NULL, "i", "+ e=E l=A" },
	{ "node", NULL, "i",
	    "+ -pe=E e=E p=E --eval=E --print=E r=L --require=L --import=L" },
	{ "nodejs", NULL, "i",
	    "+ -pe=E e=E p=E --eval=E --print=E r=L --require=L" },
	{ "perl", NULL, "ii", "+ e=E E=E I=A i=I M=O m=O n=F 0=O F=O x=O" },
	{ "php", NULL, "i", "+ r=E B=E R=E E=E c=A d=A f=A F=A" },
	{ "pwsh", NULL, NULL, "+ c=Q -c=Q -Command=Q -command=Q e=Q -e=Q" },
	{ "python", NULL, "i", "+ c=E m=Z W=A X=A" },
	{ "python2", NULL, "i", "+ c=E m=Z W=A" },
	{ "python3", NULL, "i", "+ c=E m=Z W=A X=A" },
	{ "Rscript", NULL, "i", "+ e=E" },
	{ "ruby", NULL, "ii", "+ e=E I=A r=A i=I E=A F=O x=O 0=O" },
	{ "osascript", NULL, "i", "+ e=E l=A" },

	/* what changes files */
	{ "chgrp", NULL, "w-1", "" },
	{ "chmod", NULL, "w-1", "" },
	{ "chown", NULL, "w-1", "" },
	{ "cp", NULL, "to", "t=W --target-directory=W S=A" },
	{ "dd", NULL, "dd", "" },
	{ "gunzip", NULL, "wr", "c=N k=F" },
	{ "gzip", NULL, "wr", "c=N k=F" },
	{ "install", NULL, "to", "t=W --target-directory=W m=A o=A g=A S=A" },
	{ "link", NULL, "to", "" },
	{ "ln", NULL, "to", "t=W --target-directory=W S=A" },
	{ "mkdir", NULL, "w", "m=A --mode=A" },
	{ "mkfifo", NULL, "w", "m=A" },
	{ "mv", NULL, "to", "t=W --target-directory=W S=A" },
	{ "patch", NULL, "patch",
	    "--dry-run=N o=W --output=W d=A i=A p=A r=W --reject-file=W B=A D=A F=A" },
	{ "rm", NULL, "x", "" },
	{ "rmdir", NULL, "w", "" },
	{ "rsync", NULL, "to",
	    "e=R --rsh=R --rsync-path=R f=A --exclude=A --include=A "
	    "--log-file=W --write-batch=W --backup-dir=W" },
	{ "scp", NULL, "to", "S=R o=Q F=Q P=A i=A l=A c=A J=A" },
	{ "sftp", NULL, NULL, "S=R o=Q F=Q P=A i=A D=R b=Q" },
	{ "shred", NULL, "w", "n=A s=A --random-source=A" },
	{ "split", NULL, "w2", "--filter=R b=A l=A n=A a=A C=A t=A" },
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
	{ "unzip", NULL, "unzip", "d=W x=A l=N p=N c=N t=N v=N z=N Z=N" },
	{ "xz", NULL, "wr", "c=N k=F" },

	/* the network */
	{ "curl", NULL, NULL,
	    "o=W --output=W O=P --remote-name=P K=Q --config=Q D=W "
	    "--dump-header=W c=W --cookie-jar=W --trace=W --trace-ascii=W "
	    "--stderr=W --output-dir=W --libcurl=W T=L --upload-file=L H=T X=A d=T b=A e=A u=A "
	    "F=T m=A w=A x=A r=A A=A --header=T --request=A --data=T "
	    "--data-ascii=T --data-binary=T --data-urlencode=T --json=T "
	    "--url-query=T --max-time=A --user=A --form=T --form-string=A "
	    "--retry=A" },
	{ "wget", NULL, NULL,
	    "O=W --output-document=W o=W --output-file=W a=W P=W "
	    "--directory-prefix=W e=Q --execute=Q --post-file=L --body-file=L --use-askpass=R U=A t=A T=A "
	    "i=A" },

	{ "nc", NULL, NULL, NETCAT },
	{ "ncat", NULL, NULL, NETCAT },
	{ "netcat", NULL, NULL, NETCAT },
	{ "nc.traditional", NULL, NULL, NETCAT },
	{ "nc.openbsd", NULL, NULL, NETCAT },

	/* builders */
	{ "ar", NULL, "w2", "" },
	{ "c++", NULL, NULL, "o=W -specs=Q B=Q -wrapper=Q -fplugin=Q" },
	{ "cc", NULL, NULL, "o=W -specs=Q B=Q -wrapper=Q -fplugin=Q" },
	{ "clang", NULL, NULL, "o=W B=Q -fplugin=Q" },
	{ "clang++", NULL, NULL, "o=W B=Q -fplugin=Q" },
	{ "g++", NULL, NULL, "o=W -specs=Q B=Q -wrapper=Q -fplugin=Q" },
	{ "gcc", NULL, NULL, "o=W -specs=Q B=Q -wrapper=Q -fplugin=Q" },
	{ "ld", NULL, NULL, "o=W -plugin=Q" },
	{ "go", "build", NULL, "o=W -toolexec=R -o=W --toolexec=R" },
	{ "go", "run", NULL, "-toolexec=R -exec=R --toolexec=R --exec=R" },
	{ "go", "test", NULL,
	    "-toolexec=R -exec=R -vettool=R --exec=R --toolexec=R o=W "
	    "-run=A -count=A -timeout=A -bench=A" },
	{ "go", "vet", NULL, "-vettool=R --vettool=R -toolexec=R" },
	{ "cargo", NULL, NULL, "--config=Q p=A --package=A --target-dir=W" },
	{ "make", NULL, "make",
	    "--eval=P f=A C=A I=A o=A W=A j=O l=O --file=A --makefile=A "
	    "--directory=A "
	    "E=P" },
	{ "gmake", NULL, "make",
	    "--eval=P f=A C=A I=A o=A W=A j=O l=O --file=A --makefile=A E=P" },
	{ "openssl", NULL, NULL, "-in=L -out=W -engine=Q -provider-path=Q" },
	{ "pytest", NULL, NULL, "p=A -junitxml=W --junitxml=W --junit-xml=W" },

	{ "npm", NULL, NULL,
	    "--script-shell=Q --node-options=Q --git=Q --shell=Q --editor=Q "
	    "--viewer=Q --globalconfig=Q --userconfig=Q" },

	/* of the shell itself */
	{ "bind", NULL, NULL, "x=Q f=Q" },
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

	for (i = 0; i < nitems(programs); i++) {
		const struct program *p = &programs[i];

		if (p->name[0] != name[0] || strcmp(p->name, name) != 0)
			continue;
		if (p->sub == NULL || (sub != NULL && strcmp(p->sub, sub) == 0))
			return p;
	}
	/* gawk, mawk and python3.12 are theirs */
	if (strcmp(name, "gawk") == 0 || strcmp(name, "mawk") == 0 ||
	    strcmp(name, "nawk") == 0)
		return program_find("awk", NULL);
	if (strncmp(name, "python3.", 8) == 0)
		return program_find("python3", NULL);
	if (strcmp(name, "gsed") == 0 || strcmp(name, "gtar") == 0)
		return program_find(name + 1, NULL);
	return NULL;
}

const char *
program_globals(const char *name)
{
	static const struct {
		const char *name, *spec;
	} rows[] = {
		{ "git",
		    "C=A c=G --git-dir=Q --work-tree=A --namespace=A "
		    "--exec-path=Q --config-env=Q --super-prefix=A p=F "
		    "--attr-source=A" },
		{ "npm", "C=A --prefix=A w=A --workspace=A" },
		{ "pnpm", "C=A --dir=A F=A --filter=A" },
		{ "yarn", "--cwd=A" },
		{ "cargo", "C=A Z=A --config=Q --color=A --manifest-path=A" },
		{ "go", "C=A -C=A" },
		{ "docker",
		    "H=A --host=A c=A --context=A l=A --log-level=A "
		    "--config=A" },
		{ "podman", "H=A c=A --log-level=A --root=A" },
		{ "kubectl", "n=A --namespace=A --context=A --kubeconfig=Q" },
		{ "helm", "n=A --namespace=A --kube-context=A" },
		{ "gh", "R=A --repo=A" },
		{ "systemctl", "H=A M=A p=A" },
		{ "pip", "--proxy=A --cache-dir=A --log=A" },
		{ "pip3", "--proxy=A --cache-dir=A --log=A" },
		{ "uv", "--directory=A --project=A --cache-dir=A" },
		{ "poetry", "C=A --directory=A P=A --project=A" },
		{ "terraform", "-chdir=A" },
		{ "hg", "R=A --cwd=A --config=Q" },
		{ "svn", "" },
		{ "apt", "o=Q c=Q t=A" },
		{ "apt-get", "o=Q c=Q t=A" },
	};
	size_t i;

	for (i = 0; i < nitems(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].spec;
	return NULL;
}

/* --- names ---------------------------------------------------------------- */

static bool
in(const char *const *list, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rule_star(list[i], name, true))
			return true;
	return false;
}

bool
name_is_dangerous(const char *name, size_t len)
{
	static const char *const names[] = { "LD_*", "DYLD_*", "GLIBC_TUNABLES",
		"PATH", "BASH_ENV", "ENV", "IFS", "SHELL", "SHELLOPTS",
		"BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "BASH_FUNC_*",
		"GIT_CONFIG*", "GIT_SSH*", "GIT_EXTERNAL_DIFF", "GIT_EDITOR",
		"GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_ASKPASS",
		"GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR",
		"GIT_DIR", "GIT_ATTR_SOURCE", "GIT_ALLOW_PROTOCOL",
		"GIT_TRACE*", "SSH_ASKPASS", "EDITOR", "VISUAL", "*PAGER",
		"BROWSER", "MANOPT", "LESSOPEN", "LESSCLOSE", "LESSEDIT",
		"LESS", "LESSKEY*", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME",
		"PYTHONBREAKPOINT", "PYTHONINSPECT", "PYTHONEXECUTABLE",
		"NODE_OPTIONS", "NODE_PATH", "NPM_CONFIG_*", "npm_config_*",
		"PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "RUBYOPT",
		"RUBYLIB", "GEM_PATH", "GEM_HOME", "BUNDLE_GEMFILE",
		"LUA_INIT*", "LUA_PATH*", "LUA_CPATH*", "PHPRC",
		"PHP_INI_SCAN_DIR", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
		"JDK_JAVA_OPTIONS", "CLASSPATH", "MAVEN_OPTS", "GRADLE_OPTS",
		"MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "CC", "CXX", "LD",
		"RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTDOC",
		"RUSTFLAGS", "CARGO_TARGET_*_RUNNER", "CARGO_TARGET_*_LINKER",
		"CARGO_HOME", "GOFLAGS", "GOROOT", "GCC_EXEC_PREFIX",
		"COMPILER_PATH", "RIPGREP_CONFIG_PATH", "FZF_DEFAULT_COMMAND",
		"FZF_DEFAULT_OPTS", "TAR_OPTIONS", "RSYNC_RSH", "CVS_RSH",
		"TERMINFO*", "OPENSSL_CONF", "GCONV_PATH", "LOCPATH",
		"HOSTALIASES", "XDG_CONFIG_HOME", "HOME", "ZDOTDIR",
		"PYTEST_ADDOPTS", "PYTEST_PLUGINS", "DOCKER_HOST",
		"KUBECONFIG" };
	char copy[64];

	if (len >= sizeof copy)
		return false;
	memcpy(copy, name, len);
	copy[len] = '\0';
	return in(names, nitems(names), copy);
}

bool
git_key_runs(const char *key)
{
	/* git-config(1); section and variable in lower case, a subsection as it
	 * is. */
	static const char *const keys[] = { "core.fsmonitor", "core.hookspath",
		"core.pager", "core.editor", "core.sshcommand", "core.askpass",
		"core.gitproxy", "core.alternaterefscommand",
		"core.attributesfile", "core.worktree", "alias.*", "pager.*",
		"diff.external", "diff.*.textconv", "diff.*.command",
		"difftool.*", "mergetool.*", "merge.*.driver", "filter.*",
		"credential.helper", "credential.*.helper", "sequence.editor",
		"gpg.program", "gpg.*.program", "gpg.ssh.defaultkeycommand",
		"sendemail.*", "uploadpack.*", "remote.*.uploadpack",
		"remote.*.receivepack", "remote.*.vcs", "remote.*.proxy",
		"protocol.*", "include.*", "includeif.*", "browser.*.cmd",
		"man.*.cmd", "web.browser", "instaweb.*", "init.templatedir",
		"submodule.*.update", "interactive.difffilter",
		"trailer.*.command", "trailer.*.cmd", "hook.*", "imap.tunnel" };
	char low[128];
	size_t i, len = strlen(key);

	if (len >= sizeof low)
		return true;
	for (i = 0; i <= len; i++)
		low[i] = key[i] >= 'A' && key[i] <= 'Z'
		    ? (char)(key[i] + ('a' - 'A'))
		    : key[i];
	return in(keys, nitems(keys), low);
}

static const struct {
	const char *name, *words; /* that start programs, space-separated */
} interpreters[] = {
	{ "python",
	    "system popen subprocess spawn exec execv execl eval pty "
	    "__import__ importlib ctypes getattr rmtree" },
	{ "perl",
	    "system exec qx ` open fork eval unlink syscall require &{ &$ ->( "
	    "->$ CORE:: *{ rmtree" },
	{ "ruby",
	    "system exec ` popen spawn fork eval Open3 IO Kernel %x send "
	    "method(" },
	{ "node",
	    "child_process exec execSync spawn spawnSync fork eval Function "
	    "process.binding require(" },
	{ "php", "system exec shell_exec passthru popen proc_open eval `" },
	{ "lua", "execute popen load loadstring" },
	{ "ipython", "! % system popen subprocess exec spawn eval pty" },
	{ "irb", "system exec ` popen spawn fork eval Open3 IO Kernel %x" },
	{ "tclsh", "exec open eval" },
	{ "expect", "spawn exec system open eval" },
	{ "bun", "child_process exec spawn fork eval Function require( Bun $" },
	{ "deno",
	    "Command run( child_process exec spawn eval Function require( "
	    "import( dlopen" },
	{ "elixir", ":os System Port Code apply" },
	{ "guile",
	    "system popen open-pipe open-input-pipe primitive-fork eval" },
	{ "julia", "run ` pipeline eval include ccall" },
	{ "osascript", "shell" },
	{ "Rscript", "system shell pipe( eval source parse .C .Call dyn.load" },
};

static const char *
interpreter_words(const char *program)
{
	size_t i;

	for (i = 0; i < nitems(interpreters); i++)
		if (strncmp(program, interpreters[i].name,
			strlen(interpreters[i].name)) == 0)
			return interpreters[i].words;
	return NULL;
}

bool
is_interpreter(const char *name)
{
	return interpreter_words(name) != NULL;
}

bool
code_starts(const char *program, const char *code)
{
	const char *s = interpreter_words(program);
	char word[32];
	size_t n;

	while (s != NULL && *s != '\0') {
		n = strcspn(s, " ");
		if (n < sizeof word) {
			memcpy(word, s, n);
			word[n] = '\0';
			if (strstr(code, word) != NULL)
				return true;
		}
		s += n + strspn(s + n, " ");
	}
	return false;
}
