package remote

import (
	"fmt"
	"strings"
)

const (
	heads   = "refs/heads/"
	tags    = "refs/tags/"
	remotes = "refs/remotes/"
)

// Branch returns the name of a local branch; false for any other reference.
func Branch(ref string) (string, bool) {
	if !strings.HasPrefix(ref, heads) {
		return "", false
	}
	return strings.TrimLeft(ref, heads), true
}

// Short is a reference as people say it: "main", "v1.0", "origin/main".
func Short(ref string) string {
	if name, ok := Branch(ref); ok {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(ref, tags), remotes)
}

// Mapping is a rule such as "+refs/heads/*:refs/remotes/origin/*".
type Mapping struct {
	Force    bool
	From, To string // with one "*" each, or none
}

// ParseMapping understands "[+]FROM:TO".
func ParseMapping(text string) (Mapping, error) {
	from, to, ok := strings.Cut(strings.TrimPrefix(text, "+"), ":")
	if !ok || from == "" || to == "" {
		return Mapping{}, fmt.Errorf("%q: not of the form FROM:TO", text)
	}
	if strings.Count(from, "*") != strings.Count(to, "*") || strings.Count(to, "*") > 1 {
		return Mapping{}, fmt.Errorf("%q: stars do not match", text)
	}
	return Mapping{strings.HasPrefix(text, "+"), from, to}, nil
}

// Map says what becomes of a reference.
func (m Mapping) Map(ref string) (string, bool) {
	before, after, ok := strings.Cut(m.From, "*")
	if !ok {
		return m.To, ref == m.From
	}
	if len(ref) < len(before)+len(after) ||
		!strings.HasPrefix(ref, before) || !strings.HasSuffix(ref, after) {
		return "", false
	}
	middle := ref[len(before) : len(ref)-len(after)]
	return strings.Replace(m.To, "*", middle, 1), true
}

// Valid reports whether a name may be that of a branch.
func Valid(name string) bool {
	if name == "" || name == "@" || strings.HasPrefix(name, "-") {
		return false
	}
	if strings.ContainsAny(name, " ~^:?*[\\") || strings.Contains(name, "@{") {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.Contains(part, "..") ||
			strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return true
}
