package router

import (
	"fmt"
	"sort"
	"strings"
)

type route struct {
	method   string
	pattern  string
	segments []segment
}

// Router is a list of routes, the most special first.
type Router struct {
	routes []route
}

// Match is a route that was found.
type Match struct {
	Pattern string
	Values  map[string]string
}

// Add adds a route; the same one twice is an error.
func (r *Router) Add(method, pattern string) error {
	segments, err := parse(pattern)
	if err != nil {
		return err
	}
	for _, other := range r.routes {
		if other.method == method && sameShape(other.segments, segments) {
			return fmt.Errorf("%s %s is %s", method, pattern, other.pattern)
		}
	}
	r.routes = append(r.routes, route{method, pattern, segments})
	sort.SliceStable(r.routes, func(i, j int) bool {
		return before(r.routes[i].segments, r.routes[j].segments)
	})
	return nil
}

// before compares segment by segment: a literal comes before a parameter.
func before(a, b []segment) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i].kind != b[i].kind {
			return a[i].kind < b[i].kind
		}
	}
	return len(a) > len(b)
}

func sameShape(a, b []segment) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].kind != b[i].kind {
			return false
		}
		if a[i].kind == literal && a[i].text != b[i].text {
			return false
		}
	}
	return true
}

// Find returns the first route for a method and a path.
func (r *Router) Find(method, path string) (Match, bool) {
	parts := split(path)
	for _, route := range r.routes {
		if route.method != method {
			continue
		}
		if values, ok := match(route.segments, parts); ok {
			return Match{route.pattern, values}, true
		}
	}
	return Match{}, false
}

// Allowed names the methods that a path has, in order.
func (r *Router) Allowed(path string) string {
	seen := map[string]bool{}
	var methods []string
	for _, route := range r.routes {
		if _, ok := match(route.segments, split(path)); ok && !seen[route.method] {
			seen[route.method] = true
			methods = append(methods, route.method)
		}
	}
	sort.Strings(methods)
	return strings.Join(methods, ", ")
}
