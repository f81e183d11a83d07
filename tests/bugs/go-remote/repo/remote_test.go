package remote

import "testing"

func parse(t *testing.T, text string) Remote {
	t.Helper()
	r, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

func is(t *testing.T, text, scheme, user, host, path string) {
	t.Helper()
	if got := parse(t, text); got != (Remote{scheme, user, host, path}) {
		t.Errorf("%s: got %+v", text, got)
	}
}

func TestHostAndPath(t *testing.T) {
	is(t, "git@example.org:team/project.git", "ssh", "git", "example.org", "team/project")
	is(t, "example.org:project", "ssh", "", "example.org", "project")
}

func TestURL(t *testing.T) {
	is(t, "https://example.org/team/project.git", "https", "", "example.org", "team/project")
	is(t, "ssh://git@example.org:2222/team/project", "ssh", "git", "example.org:2222", "team/project")
	is(t, "git+ssh://git@example.org/a/b/c.git/", "ssh", "git", "example.org", "a/b/c")
}

func TestPath(t *testing.T) {
	is(t, "../project.git", "file", "", "", "../project")
	is(t, "/srv/git/project.git/", "file", "", "", "/srv/git/project")
	is(t, "file:///srv/git/project.git", "file", "", "", "/srv/git/project")
	is(t, "./a:b", "file", "", "", "a:b")
}

func TestNamesThatEndLikeTheSuffix(t *testing.T) {
	is(t, "git@example.org:team/widgit.git", "ssh", "git", "example.org", "team/widgit")
	is(t, "https://example.org/team/legit", "https", "", "example.org", "team/legit")
}

func TestErrors(t *testing.T) {
	for _, text := range []string{"", "  ", "https://example.org/", "git@example.org:", "ftp://example.org/a"} {
		if r, err := Parse(text); err == nil {
			t.Errorf("%q: got %+v", text, r)
		}
	}
}

func TestName(t *testing.T) {
	if got := parse(t, "git@example.org:team/tools/edit.git").Name(); got != "edit" {
		t.Error(got)
	}
	if got := parse(t, "/srv/project.git").Name(); got != "project" {
		t.Error(got)
	}
}

func TestSame(t *testing.T) {
	a := parse(t, "git@Example.org:team/project.git")
	if !a.Same(parse(t, "https://example.org/team/project")) {
		t.Error("two ways to the same")
	}
	if a.Same(parse(t, "https://example.org/team/other")) {
		t.Error("another project")
	}
}

func TestString(t *testing.T) {
	for _, text := range []string{
		"git@example.org:team/project.git",
		"https://example.org/team/project.git",
		"ssh://git@example.org:2222/team/project.git",
		"/srv/git/project",
	} {
		if got := parse(t, text).String(); got != text {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

func TestShort(t *testing.T) {
	for ref, want := range map[string]string{
		"refs/heads/main":          "main",
		"refs/tags/v1.0":           "v1.0",
		"refs/remotes/origin/main": "origin/main",
		"refs/notes/commits":       "refs/notes/commits",
		"HEAD":                     "HEAD",
	} {
		if got := Short(ref); got != want {
			t.Errorf("%s: got %s, want %s", ref, got, want)
		}
	}
}

func TestBranch(t *testing.T) {
	for _, name := range []string{"main", "topic/heads", "feature/login", "release/1.0"} {
		if got, ok := Branch("refs/heads/" + name); !ok || got != name {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestNoBranch(t *testing.T) {
	for _, ref := range []string{"refs/tags/v1.0", "HEAD", "main", ""} {
		if name, ok := Branch(ref); ok {
			t.Errorf("%s: got %s", ref, name)
		}
	}
}

func TestMapping(t *testing.T) {
	m, err := ParseMapping("+refs/heads/*:refs/remotes/origin/*")
	if err != nil || !m.Force {
		t.Fatal(m, err)
	}
	if got, ok := m.Map("refs/heads/a/b"); !ok || got != "refs/remotes/origin/a/b" {
		t.Error(got, ok)
	}
	if got, ok := m.Map("refs/tags/v1"); ok {
		t.Error(got)
	}
}

func TestMappingWithoutStar(t *testing.T) {
	m, err := ParseMapping("refs/heads/main:refs/heads/copy")
	if err != nil || m.Force {
		t.Fatal(m, err)
	}
	if got, ok := m.Map("refs/heads/main"); !ok || got != "refs/heads/copy" {
		t.Error(got, ok)
	}
	if _, ok := m.Map("refs/heads/other"); ok {
		t.Error("other is not mapped")
	}
}

func TestBadMappings(t *testing.T) {
	for _, text := range []string{"", "+", "a", "a:", ":b", "a/*:b", "*/*:*/*"} {
		if m, err := ParseMapping(text); err == nil {
			t.Errorf("%q: got %+v", text, m)
		}
	}
}

func TestValid(t *testing.T) {
	for _, name := range []string{"main", "feature/x-1", "a.b"} {
		if !Valid(name) {
			t.Errorf("%s is valid", name)
		}
	}
	for _, name := range []string{"", "-x", "a..b", "a/.b", "a//b", "x.lock", "a b", "a@{1}", "@"} {
		if Valid(name) {
			t.Errorf("%s is not valid", name)
		}
	}
}
