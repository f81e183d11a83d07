// Package remote understands where repositories are.
package remote

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Remote is a place such as "git@host:team/project.git".
type Remote struct {
	Scheme string // "ssh", "https", "git" or "file"
	User   string
	Host   string // with the port; empty for a file
	Path   string // without a slash at the beginning, without ".git"
}

// ErrEmpty is the error of a text that names nothing.
var ErrEmpty = errors.New("no repository")

// Parse understands URLs, host:path and paths.
func Parse(text string) (Remote, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Remote{}, ErrEmpty
	}
	if strings.Contains(text, "://") {
		return parseURL(text)
	}
	if host, rest, ok := strings.Cut(text, ":"); ok && !strings.Contains(host, "/") {
		r := Remote{Scheme: "ssh", Host: host, Path: project(rest)}
		if user, name, ok := strings.Cut(host, "@"); ok {
			r.User, r.Host = user, name
		}
		return r, r.check()
	}
	r := Remote{Scheme: "file", Path: strings.TrimSuffix(path.Clean(text), ".git")}
	return r, nil
}

func parseURL(text string) (Remote, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Remote{}, err
	}
	r := Remote{Scheme: u.Scheme, User: u.User.Username(), Host: u.Host}
	switch u.Scheme {
	case "file":
		r.Path = strings.TrimSuffix(path.Clean(u.Path), ".git")
		return r, nil
	case "git+ssh":
		r.Scheme = "ssh"
	case "ssh", "https", "http", "git":
	default:
		return Remote{}, fmt.Errorf("%s: unknown scheme", u.Scheme)
	}
	r.Path = project(u.Path)
	return r, r.check()
}

// project brings "/team/project.git/" to "team/project".
func project(p string) string {
	p = strings.Trim(p, "/")
	return strings.TrimSuffix(p, ".git")
}

func (r Remote) check() error {
	if r.Host == "" || r.Path == "" {
		return ErrEmpty
	}
	return nil
}

// Name is the last part of the path.
func (r Remote) Name() string { return path.Base(r.Path) }

// Same reports whether two remotes are the same repository, whatever the
// way there.
func (r Remote) Same(other Remote) bool {
	return strings.EqualFold(r.Host, other.Host) && r.Path == other.Path
}

// String is the shortest form that Parse understands.
func (r Remote) String() string {
	switch {
	case r.Scheme == "file":
		return r.Path
	case r.Scheme == "ssh" && r.User != "" && !strings.Contains(r.Host, ":"):
		return r.User + "@" + r.Host + ":" + r.Path + ".git"
	}
	u := url.URL{Scheme: r.Scheme, Host: r.Host, Path: "/" + r.Path + ".git"}
	if r.User != "" {
		u.User = url.User(r.User)
	}
	return u.String()
}
