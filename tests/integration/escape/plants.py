"""What is left in the tree for those who come after: the person's git, and
foray itself. hook.sh in the tree touches the tripwire when it runs outside.

A row is (name, setup, command, after). setup is done unconfined before. after:
    GIT     the person's git works in the tree, then foray does
    FORAY   foray does. (A person who runs programs out of the tree, or git in
            a repository that was made inside, can't be helped.)
    a function(world, way): evidence that something is wrong, or ""
Each is made in a tree of its own, unconfined first.
"""
import os
import shutil
import stat

import lib

GIT, FORAY = "git", "foray"

PERSONS_GIT = """
for d in . sub nested wt; do
    test -e $d || continue
    (cd $d; git status; echo more >>a.txt; git diff; git add -A
     git commit -q -m more; git checkout -q -b other; git log -n1)
done >/dev/null 2>&1
true
"""

EVIL = "cp -r .git evil.git && git config -f evil.git/config core.fsmonitor " \
       "$PWD/hook.sh && "
EXCHANGE = "python3 -c \"import ctypes; exit(ctypes.CDLL(None)." \
           "renameat2(-100, b'%s', -100, b'%s', 2))\""
NESTED = "cp -r nested/.git e.git && git config -f e.git/config " \
         "core.fsmonitor $PWD/hook.sh && "


def prepare(w):
    """The tree that all begin with."""
    w.clean = None
    w.box.env["GIT_TEMPLATE_DIR"] = ""  # no sample hooks: fewer files
    top = w.box.repo("plants", {
        "a.txt": "a\n", "plant": "p\n", "list.sh": "ls\n",
        ".gitignore": "nested/\nwt/\n.venv/\nlist.json\ninside.py\n",
        "hook.sh": "#!/bin/sh\ntouch %s/hit\ncat >/dev/null\n" % w.trip})
    w.box.repo("subsource", {"a.txt": "a\n"})
    w.box.repo("plants/nested", {"a.txt": "a\n"})
    lib.write(os.path.join(top, ".venv/bin/tool"), "#!/bin/sh\n")
    done = w.box.call(["sh", "-c", "git -c protocol.file.allow=always "
                       "submodule add -q ../subsource sub; "
                       "git commit -q -m sub"], cwd=top,
                      env={"GIT_ALLOW_PROTOCOL": "file"})
    lib.check(done.status == 0, "a submodule", done)
    return top


def git_directories(w):
    """What decides which programs git runs."""
    found = {}
    for path in (".git", "sub/.git", "nested/.git", "wt/.git", "real",
                 "../real.git", "../real2.git"):
        where = os.path.join(w.repo, path)
        try:
            found[path] = lib.fingerprint(where) if os.path.isdir(where) \
                and not os.path.islink(where) else (
                    os.lstat(where).st_ino, os.lstat(where).st_mtime_ns)
        except OSError:
            found[path] = None
    return found


def foray_works(w, path=""):
    """What foray does with a tree: look for its top, copy it, show it, change
    it. The status and the text of it all."""
    repo = os.path.join(w.repo, path)
    env = {"PATH": os.path.join(w.repo, ".venv/bin") + ":" +
           w.box.env["PATH"], "PYTHONPATH": w.repo}
    all_of_it = []
    for args in (["sandbox", "-C", repo, "--", "true"],
                 ["tool", "-C", repo, "--apply", "run_command",
                  '{"command": "echo more >>a.txt"}'],
                 ["doctor"]):
        all_of_it.append(w.box.do(*args, env=env, timeout=30))
    return all_of_it


def hit(w):
    return os.path.exists(os.path.join(w.trip, "hit"))


def after_git(w, way):
    if git_directories(w) == w.before:
        return ""
    w.box.call(["sh", "-c", PERSONS_GIT], cwd=w.repo)
    return "the person's git ran it" if hit(w) else ""


def moved(w, way):
    return "" if git_directories(w) == w.before else "not as it was"


def after_foray(w, way):
    if way == "control":
        env = {"PATH": w.repo + "/.venv/bin:" + w.box.env["PATH"],
               "PYTHONPATH": w.repo}
        w.box.call(["sh", "-c", "python3 -c pass; for d in . new bare; do "
                    "(cd $d && git status); done"], cwd=w.repo, env=env)
        return "ran" if hit(w) else ""
    for path in ("", "new", "bare"):
        if os.path.isdir(os.path.join(w.repo, path)):
            foray_works(w, path)
    return "foray ran it" if hit(w) else ""


def special(w, way):
    """Set-uid, set-gid, device."""
    for base, folders, files in os.walk(w.repo):
        for name in files + folders:
            mode = os.lstat(os.path.join(base, name)).st_mode
            if name != "suid-it" and (
                    mode & 0o6000 and not stat.S_ISDIR(mode) or
                    stat.S_ISCHR(mode) or stat.S_ISBLK(mode)):
                return "%s has mode %o" % (name, mode)
    return ""


def comes_through(w, way):
    """Whatever stands in the tree, foray works on, and within the tree."""
    if way == "control":
        return "made" if len(lib.fingerprint(w.repo)) != w.size else ""
    for r in foray_works(w):
        if r.status is None or r.status < 0 or r.status > 125 or \
                "Sanitizer" in r.text:
            return "foray does not come through: %s" % r
    made = os.path.join(w.repo, "made-by-name")
    return "a name was run" if os.path.exists(made) else ""


def fifo(w, way):
    if way == "control":
        path = os.path.join(w.repo, "fifo")
        return "hangs" if w.box.call(["timeout", "0.3", "cat", path]
                                     ).status == 124 else ""
    return comes_through(w, way)


def reads_link(w, way):
    if way == "control":
        text = w.box.call(["cat", "leak", "leaks/id_ed25519"],
                          cwd=w.repo).text
    else:
        text = w.box.tool(w.repo, "read_file", {"path": "leak"}).text + \
            w.box.tool(w.repo, "read_file", {"path": "leaks/id_ed25519"}
                       ).text + \
            w.box.do("sandbox", "-C", w.repo, "--copy", "--", "cat", "leak",
                     "leaks/id_ed25519").text
    return "the key was read" if w.secrets["ssh key"] in text else ""


def writes_link(w, way):
    made = os.path.join(w.out, "by-link")
    if way == "control":
        w.box.call(["sh", "-c", "echo x >way/by-link"], cwd=w.repo)
    else:
        w.box.tool(w.repo, "run_command",
                   {"command": "rm way; mkdir way; echo x >way/by-link"},
                   "--apply")
        w.box.do("tool", "-C", w.repo, "--apply", "write_file",
                 '{"path": "way/by-link", "content": "x"}')
    if os.path.exists(made):
        os.unlink(made)
        return "written through the link"
    return ""


def shows_venv(w, way):
    r = w.box.do("sandbox", "-C", w.repo, "--", "cat",
                 w.box.home + "/.ssh/id_ed25519", w.out + "/link-secret") \
        if way != "control" else w.box.call(
            ["cat", w.box.home + "/.ssh/id_ed25519"])
    return "a home is shown" if w.secrets["ssh key"] in r.text or \
        w.secrets["link-secret"] in r.text else ""


def replaced(w, way):
    """A file of the tree as a link out of it."""
    if way != "control":
        foray_works(w)
    else:
        w.box.call(["sh", "-c", "echo more >>a.txt"], cwd=w.repo)
    path = os.path.join(w.out, "full")
    body = lib.read(path)
    with open(path, "w", encoding="utf-8") as f:
        f.write("as it was\n")
    return "" if body == "as it was\n" else "written through the link"


PLANTS = [
    ("git: hook", "", "mkdir -p .git/hooks && cp hook.sh "
     ".git/hooks/pre-commit", GIT),
    ("git: hook by link", "", "mkdir -p .git/hooks && ln -s $PWD/hook.sh "
     ".git/hooks/post-checkout", GIT),
    ("git: hooks replaced", "mkdir -p .git/hooks", "mv .git/hooks .git/gone; "
     "mkdir .git/hooks && cp hook.sh .git/hooks/pre-commit", GIT),
    ("git: fsmonitor", "", "git config core.fsmonitor $PWD/hook.sh", GIT),
    ("git: config appended", "",
     "printf '[core]\\nfsmonitor = %s/hook.sh\\n' $PWD >>.git/config", GIT),
    ("git: config replaced", "", "cp .git/config c && git config -f c "
     "core.fsmonitor $PWD/hook.sh && mv c .git/config", GIT),
    ("git: config by lock", "", "cp .git/config c && git config -f c "
     "core.fsmonitor $PWD/hook.sh && ln -f c .git/config", GIT),
    ("git: hooksPath", "", "mkdir h && cp hook.sh h/pre-commit && "
     "git config core.hooksPath h", GIT),
    ("git: external diff", "", "git config diff.external $PWD/hook.sh", GIT),
    ("git: textconv", "", "echo 'a.txt diff=evil' >>.gitattributes && "
     "git config diff.evil.textconv $PWD/hook.sh", GIT),
    ("git: filter by info/attributes", "", "mkdir -p .git/info && "
     "echo '* filter=evil' >>.git/info/attributes && "
     "git config filter.evil.clean $PWD/hook.sh", GIT),
    ("git: signing", "", "git config commit.gpgSign true && "
     "git config gpg.program $PWD/hook.sh", GIT),
    ("git: include", "", "printf '[core]\\nfsmonitor = %s/hook.sh\\n' $PWD "
     ">inc && git config include.path ../inc", GIT),
    ("git: config.worktree", "", "git config extensions.worktreeConfig true; "
     "git config -f .git/config.worktree core.fsmonitor $PWD/hook.sh", GIT),
    ("git: .git moved away", "", EVIL + "mv .git gone && mv evil.git .git",
     GIT),
    ("git: .git removed", "", EVIL + "rm -rf .git; mv evil.git .git", GIT),
    ("git: .git exchanged", "", EVIL + EXCHANGE % (".git", "evil.git"), GIT),
    ("git: .git as a file", "", EVIL + "mv .git gone; rm -rf .git; "
     "echo gitdir: evil.git >.git", GIT),
    ("git: .git as a link", "", EVIL + "mv .git gone; rm -rf .git; "
     "ln -s evil.git .git", GIT),
    ("git: races for .git", "", "py git_exchange", moved),
    ("git: commondir", "", EVIL + "echo ../evil.git >.git/commondir", GIT),
    ("git: the tree moved", "", EVIL + "cd .. && mv plant-tree t2 && "
     "mkdir plant-tree && cp -r t2/. plant-tree && rm -rf plant-tree/.git && "
     "mv plant-tree/evil.git plant-tree/.git", GIT),
    ("git: submodule's directory", "",
     "git config -f .git/modules/sub/config core.fsmonitor $PWD/hook.sh", GIT),
    ("git: submodule's .git", "", EVIL + "echo gitdir: $PWD/evil.git "
     ">sub/.git", GIT),
    ("git: nested config", "",
     "git config -f nested/.git/config core.fsmonitor $PWD/hook.sh", GIT),
    ("git: nested hook", "", "mkdir -p nested/.git/hooks && "
     "cp hook.sh nested/.git/hooks/pre-commit", GIT),
    ("git: nested .git moved", "", NESTED + "mv nested/.git gone && "
     "mv e.git nested/.git", GIT),
    ("git: nested tree moved", "", NESTED + "mv nested gone && mkdir nested "
     "&& cp gone/a.txt nested && mv e.git nested/.git", GIT),
    ("git: linked worktree in the tree", "git worktree add -q wt",
     EVIL + "echo gitdir: $PWD/evil.git >wt/.git", GIT),
    ("git: .git is a link", "mv .git ../real.git && ln -s ../real.git .git",
     "rm .git; git init -q && git config core.fsmonitor $PWD/hook.sh", GIT),
    ("git: .git is a link in the tree", "mv .git real && ln -s real .git",
     "git config -f real/config core.fsmonitor $PWD/hook.sh", GIT),
    ("git: .git is a file for the tree", "mv .git real && "
     "echo gitdir: real >.git",
     "git config -f real/config core.fsmonitor $PWD/hook.sh", GIT),
    ("git: .git is a file", "mv .git ../real2.git && "
     "echo gitdir: ../real2.git >.git",
     "rm -f .git; git init -q && git config core.fsmonitor $PWD/hook.sh",
     GIT),
    ("git: a new repository", "", "git init -q new && cd new && "
     "git config core.fsmonitor $PWD/../hook.sh && echo a >a.txt", FORAY),
    ("git: a bare one", "", "git init -q --bare bare && cd bare && "
     "git config core.bare false && git config core.worktree $PWD && "
     "git config core.fsmonitor $PWD/../hook.sh", FORAY),
    ("git: none before", "rm -rf .git", "git init -q && "
     "git config core.fsmonitor $PWD/hook.sh", FORAY),
    ("PATH: git", "", "cp hook.sh .venv/bin/git", FORAY),
    ("PATH: python3", "", "cp hook.sh .venv/bin/python3", FORAY),
    ("PATH: all that foray runs", "", "for p in git bwrap rg foray "
     "foray-host foray-worker sh env newuidmap less man; do "
     "cp hook.sh .venv/bin/$p; done", FORAY),
    ("python: sitecustomize", "", "printf 'import os\\nos.system(\"sh "
     "%s/hook.sh </dev/null\")\\n' $PWD >sitecustomize.py", FORAY),
    ("inode: set-uid", "", "py setuid", special),
    ("inode: set-gid", "", "py setgid", special),
    ("inode: set-uid by cp and install", "", "cp -p suid-it copied; "
     "install -m 4755 hook.sh installed; chmod u+s hook.sh; "
     "tar cf - --mode=4755 hook.sh | tar xpf - -C sub", special),
    ("inode: set-uid by sh", "", "umask 0; chmod 6777 plant; "
     "chmod +s hook.sh", special),
    ("inode: whiteout", "", "py whiteout", special),
    ("inode: device", "", "py device", special),
    ("inode: FIFO", "", "mkfifo fifo a.fifo .git/fifo; true", fifo),
    ("inode: socket", "", "py bound_socket", comes_through),
    ("inode: names", "", "py names", comes_through),
    ("inode: deep", "", "py deep", comes_through),
    ("inode: xattrs of overlays", "", "py xattrs", comes_through),
    ("inode: closed directory", "", "mkdir shut && echo x >shut/f && "
     "chmod 0 shut", comes_through),
    ("inode: circle of links", "", "ln -s loop2 loop; ln -s loop loop2; "
     "ln -s . here; ln -s / root; ln -s /proc/self/fd fds", comes_through),
    ("inode: FIFO for a known file", "", "for f in AGENTS.md Makefile "
     "package.json .python-version .gitignore pyvenv.cfg .venv/pyvenv.cfg "
     ".gitmodules .gitattributes; do rm -f $f; mkfifo $f; done", comes_through),
    ("link: to a key", "", "ln -s $H/.ssh/id_ed25519 leak; "
     "ln -s $H/.ssh leaks", reads_link),
    ("link: a way out", "", "ln -s $OUT way", writes_link),
    ("link: for a file", "", "rm a.txt; ln -s $OUT/full a.txt", replaced),
    ("venv: home of keys", "", "printf 'home = %s\\n' $H/.ssh "
     ">.venv/pyvenv.cfg", shows_venv),
    ("venv: a way by links", "", "mkdir -p fake/lib/python3.11 fake/bin; "
     "touch fake/lib/python3.11/os.py fake/bin/python3; ln -s $OUT fake/o; "
     "printf 'home = %s\\n' $PWD/fake/o/../bin >.venv/pyvenv.cfg; "
     "ln -s $H/.ssh fake/s; ln -s fake/s .venv/s; "
     "printf 'home = %s/fake/s/bin\\n' $PWD >>.venv/pyvenv.cfg", shows_venv),
]

# Those that can be made together, in one start: when something comes of them,
# each is made by itself. What is left of one must not hinder the next.
GROUPS = {
    "git: all that leave .git where it is": [
        r for r in PLANTS if r[3] == GIT and not r[1] and not any(
            word in r[2] for word in ("evil.git", "e.git", "gitattributes",
                                      "exchange"))],
    "PATH and python": [r for r in PLANTS if r[3] == FORAY and
                        r[0].startswith(("PATH", "python"))],
    "inode: all modes": [r for r in PLANTS if r[3] == special],
    "inode: all for foray": [r for r in PLANTS if r[3] in (comes_through, fifo)
                             and r[0] != "inode: FIFO for a known file"],
}


def grouped(way):
    """All plants, with groups in the place of what is in them."""
    members = [r[0] for rows in GROUPS.values() for r in rows]
    return [(name, "", [r[2] for r in rows], rows[0][3])
            for name, rows in GROUPS.items()] + \
        [r for r in PLANTS if r[0] not in members]


def one(w, template, row, way):
    """Plant it by that way, and see what comes of it: evidence or ""."""
    name, setup, command, after = row
    w.repo = os.path.join(w.box.src, "plant-tree")
    fresh_tree(w, template)
    if setup:
        done = w.box.call(["sh", "-c", setup], cwd=w.repo)
        lib.check(done.status == 0, "%s: %s: set up" % (w.who, name), done)
    if os.path.exists(os.path.join(w.trip, "hit")):
        os.unlink(os.path.join(w.trip, "hit"))
    w.before, w.size = git_directories(w), len(lib.fingerprint(w.repo))
    line = plant_line(w, command)
    if way == "control":
        r = w.box.call(["sh", "-c", line], cwd=w.repo)
    elif way == "one layer":
        r = w.box.do("sandbox", "-C", w.repo, "--", "sh", "-c", line)
    else:
        r = w.box.tool(w.repo, "run_command", {"command": line}, "--apply")
    # foray may refuse the tree, or the patch that comes of it.
    lib.check("tried it" in r.out or r.status in (1, 2, 125),
              "%s: %s: %s was planted" % (w.who, way, name), r)
    if after == GIT:
        return after_git(w, way)
    if after == FORAY:
        return after_foray(w, way)
    return after(w, way)


def fresh_tree(w, template):
    """The one there is, when nobody changed it."""
    if w.clean is not None and lib.fingerprint(w.repo) == w.clean:
        return
    for path in (w.repo, w.box.src + "/real.git", w.box.src + "/real2.git",
                 w.box.src + "/t2"):
        shutil.rmtree(path, ignore_errors=True)
        if os.path.isdir(path):  # something is shut
            w.box.call(["chmod", "-R", "u+rwx", path])
            shutil.rmtree(path)
    w.box.call(["cp", "-a", template, w.repo])
    w.clean = lib.fingerprint(w.repo)


def plant_line(w, command):
    """For sh, with the facts that it may name."""
    line = "H=%s OUT=%s; " % (w.box.home, w.out)
    commands = command if isinstance(command, list) else [command]
    listed = [["plant%d" % i, c] for i, c in enumerate(commands)
              if c.startswith("py ")]
    if listed:
        w.write_list(listed, False)
        line += "python3 inside.py list.json; "
    for c in commands:
        if not c.startswith("py "):
            line += "(" + c + "\n); "
    return line + "\necho tried it"
