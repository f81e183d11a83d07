// Package quota shares out space in a tree of groups: what is charged to a
// group is charged to all above it, too.
package quota

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

var (
	ErrUnknown = errors.New("no such group")
	ErrExists  = errors.New("group exists")
	ErrBusy    = errors.New("group is in use")
	ErrAmount  = errors.New("bad amount")
)

// OverError says which group has not enough left.
type OverError struct {
	Group string
	Left  int64
}

func (e *OverError) Error() string {
	return fmt.Sprintf("%s has %d left", e.Group, e.Left)
}

type group struct {
	name        string
	parent      *group
	children    int
	limit, used int64 // limit 0: none of its own
}

func (g *group) left() int64 { return g.limit - g.used }

// Tree has one root, the group "".
type Tree struct {
	groups map[string]*group
}

// New returns a tree without groups; total is the limit of all together.
func New(total int64) *Tree {
	return &Tree{map[string]*group{"": {limit: total}}}
}

// Create makes a group "a/b" below "a".
func (t *Tree) Create(name string, limit int64) error {
	if _, ok := t.groups[name]; ok {
		return ErrExists
	}
	above := ""
	if i := strings.LastIndex(name, "/"); i >= 0 {
		above = name[:i]
	}
	parent, ok := t.groups[above]
	if !ok {
		return ErrUnknown
	}
	if limit < 0 {
		return ErrAmount
	}
	t.groups[name] = &group{name: name, parent: parent, limit: limit}
	parent.children++
	return nil
}

// Remove removes a group that neither has groups below it nor uses anything.
func (t *Tree) Remove(name string) error {
	g, ok := t.groups[name]
	if !ok {
		return ErrUnknown
	}
	if g.parent == nil || g.children > 0 || g.used > 0 {
		return ErrBusy
	}
	g.parent.children--
	delete(t.groups, name)
	return nil
}

// Charge takes an amount for a group; when it is too much for the group, or
// for one above, nothing changes.
func (t *Tree) Charge(name string, amount int64) error {
	first, ok := t.groups[name]
	if !ok {
		return ErrUnknown
	}
	if amount < 0 {
		return ErrAmount
	}
	for g := first; g != nil; g = g.parent {
		if g.limit > 0 && amount > g.left() {
			return &OverError{g.name, g.left()}
		}
		g.used += amount
	}
	return nil
}

// Release gives back what was charged.
func (t *Tree) Release(name string, amount int64) error {
	first, ok := t.groups[name]
	if !ok {
		return ErrUnknown
	}
	if amount < 0 || amount > first.used {
		return ErrAmount
	}
	for g := first; g != nil; g = g.parent {
		g.used -= amount
	}
	return nil
}

// Used is what a group and all below it use.
func (t *Tree) Used(name string) int64 {
	if g, ok := t.groups[name]; ok {
		return g.used
	}
	return 0
}

// SetLimit changes a limit; it may be lower than what is used already.
func (t *Tree) SetLimit(name string, limit int64) error {
	g, ok := t.groups[name]
	if !ok {
		return ErrUnknown
	}
	if limit < 0 {
		return ErrAmount
	}
	g.limit = limit
	return nil
}

// Report has a line for each group, "name used/limit".
func (t *Tree) Report() string {
	var lines []string
	for name, g := range t.groups {
		line := fmt.Sprintf("%s %d", name, g.used)
		if g.limit > 0 {
			line += fmt.Sprintf("/%d", g.limit)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
