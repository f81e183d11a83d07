package router

import (
	"fmt"
	"testing"
)

func build(t *testing.T, patterns ...string) *Router {
	t.Helper()
	r := &Router{}
	for _, p := range patterns {
		if err := r.Add("GET", p); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func expect(t *testing.T, r *Router, path, pattern, values string) {
	t.Helper()
	m, ok := r.Find("GET", path)
	if !ok {
		m.Pattern = "none"
	}
	if m.Pattern != pattern {
		t.Fatalf("%s: got %s, want %s", path, m.Pattern, pattern)
	}
	if got := fmt.Sprint(m.Values)[3:]; ok && got != values {
		t.Errorf("%s: got %s, want %s", path, got, values)
	}
}

func TestLiteral(t *testing.T) {
	r := build(t, "/", "/about", "/about/us")
	expect(t, r, "/", "/", "[]")
	expect(t, r, "/about", "/about", "[]")
	expect(t, r, "/about/us", "/about/us", "[]")
}

func TestUnknown(t *testing.T) {
	r := build(t, "/about")
	expect(t, r, "/", "none", "")
	expect(t, r, "/abou", "none", "")
	expect(t, r, "/about/us", "none", "")
}

func TestParam(t *testing.T) {
	r := build(t, "/users/:id", "/users/:id/files/:name")
	expect(t, r, "/users/7", "/users/:id", "[id:7]")
	expect(t, r, "/users/7/files/a.txt", "/users/:id/files/:name", "[id:7 name:a.txt]")
	expect(t, r, "/users/7/files", "none", "")
}

func TestParamIsNeverEmpty(t *testing.T) {
	r := build(t, "/users/:id", "/users/:id/files")
	expect(t, r, "/users/", "none", "")
	expect(t, r, "/users//files", "none", "")
}

func TestTrailingSlash(t *testing.T) {
	r := build(t, "/users/:id", "/users/")
	expect(t, r, "/users/", "/users/", "[]")
	expect(t, r, "/users", "none", "")
}

func TestListBesideItem(t *testing.T) {
	r := build(t, "/users/:id", "/users/*filter")
	expect(t, r, "/users/7", "/users/:id", "[id:7]")
	expect(t, r, "/users/", "/users/*filter", "[filter:]")
}

func TestRest(t *testing.T) {
	r := build(t, "/static/*path")
	expect(t, r, "/static/css/main.css", "/static/*path", "[path:css/main.css]")
	expect(t, r, "/static/", "/static/*path", "[path:]")
	expect(t, r, "/static", "none", "")
}

func TestLiteralBeforeParam(t *testing.T) {
	r := build(t, "/users/:id", "/users/new", "/:page/new")
	expect(t, r, "/users/new", "/users/new", "[]")
	expect(t, r, "/users/old", "/users/:id", "[id:old]")
	expect(t, r, "/blog/new", "/:page/new", "[page:blog]")
}

func TestParamBeforeRest(t *testing.T) {
	r := build(t, "/f/*all", "/f/:one")
	expect(t, r, "/f/a", "/f/:one", "[one:a]")
	expect(t, r, "/f/a/b", "/f/*all", "[all:a/b]")
}

func TestMethods(t *testing.T) {
	r := build(t, "/users/:id")
	if err := r.Add("DELETE", "/users/:id"); err != nil {
		t.Fatal(err)
	}
	if err := r.Add("POST", "/users"); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Find("POST", "/users/7"); ok {
		t.Error("POST /users/7 is no route")
	}
	if got := r.Allowed("/users/7"); got != "DELETE, GET" {
		t.Error(got)
	}
	if got := r.Allowed("/nothing"); got != "" {
		t.Error(got)
	}
}

func TestSameTwice(t *testing.T) {
	r := build(t, "/users/:id")
	if r.Add("GET", "/users/:name") == nil {
		t.Error("the same route was added twice")
	}
	if err := r.Add("GET", "/:users/id"); err != nil {
		t.Error(err)
	}
}

func TestBadPatterns(t *testing.T) {
	r := &Router{}
	for _, p := range []string{"", "users", "/a/:", "/*", "/*all/x", "/:a/:a"} {
		if r.Add("GET", p) == nil {
			t.Errorf("%q was taken", p)
		}
	}
}
