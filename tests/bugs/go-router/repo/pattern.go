// Package router finds the route of a path.
package router

import (
	"fmt"
	"strings"
)

type kind int

const (
	literal kind = iota
	param        // ":name", one segment
	rest         // "*name", all that is left
)

type segment struct {
	kind kind
	text string
}

// parse splits a pattern such as "/users/:id/files/*path".
func parse(pattern string) ([]segment, error) {
	if !strings.HasPrefix(pattern, "/") {
		return nil, fmt.Errorf("%q does not begin with a slash", pattern)
	}
	var segments []segment
	seen := map[string]bool{}
	parts := split(pattern)
	for i, part := range parts {
		s := segment{literal, part}
		if part != "" && (part[0] == ':' || part[0] == '*') {
			s = segment{param, part[1:]}
			if part[0] == '*' {
				s.kind = rest
			}
			if s.text == "" || seen[s.text] {
				return nil, fmt.Errorf("%q: bad name %q", pattern, part)
			}
			if s.kind == rest && i < len(parts)-1 {
				return nil, fmt.Errorf("%q: %q is not the last", pattern, part)
			}
			seen[s.text] = true
		}
		segments = append(segments, s)
	}
	return segments, nil
}

// split returns the segments of a path; "/a/" has two, "a" and "".
func split(path string) []string {
	return strings.Split(strings.TrimPrefix(path, "/"), "/")
}

// match reports whether the segments fit, and with which values.
func match(segments []segment, parts []string) (map[string]string, bool) {
	values := map[string]string{}
	for i, s := range segments {
		if s.kind == rest && len(parts) > i {
			values[s.text] = strings.Join(parts[i:], "/")
			return values, true
		}
		if i >= len(parts) {
			return nil, false
		}
		switch {
		case s.kind == param:
			values[s.text] = parts[i]
		case s.kind == literal && s.text == parts[i]:
		default:
			return nil, false
		}
	}
	return values, len(parts) == len(segments)
}
