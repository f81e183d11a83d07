package quota

import (
	"errors"
	"testing"
)

// build makes a(60) with a/x(20) and a/y(none), and b(50), of 100 in all.
func build(t *testing.T) *Tree {
	t.Helper()
	tree := New(100)
	for _, g := range []struct {
		name  string
		limit int64
	}{{"a", 60}, {"a/x", 20}, {"a/y", 0}, {"b", 50}} {
		if err := tree.Create(g.name, g.limit); err != nil {
			t.Fatal(g.name, err)
		}
	}
	return tree
}

func charge(t *testing.T, tree *Tree, name string, amount int64) {
	t.Helper()
	if err := tree.Charge(name, amount); err != nil {
		t.Fatalf("charge %s %d: %v", name, amount, err)
	}
}

func over(t *testing.T, err error, name string, left int64) {
	t.Helper()
	var e *OverError
	if !errors.As(err, &e) || e.Group != name || e.Left != left {
		t.Errorf("got %v, want %s with %d left", err, name, left)
	}
}

func used(t *testing.T, tree *Tree, name string, want int64) {
	t.Helper()
	if got := tree.Used(name); got != want {
		t.Errorf("%q uses %d, want %d", name, got, want)
	}
}

func TestCharge(t *testing.T) {
	tree := build(t)
	charge(t, tree, "a/x", 5)
	charge(t, tree, "a/y", 30)
	charge(t, tree, "b", 7)
	used(t, tree, "a/x", 5)
	used(t, tree, "a", 35)
	used(t, tree, "", 42)
}

func TestExactlyFull(t *testing.T) {
	tree := build(t)
	charge(t, tree, "a/x", 20)
	over(t, tree.Charge("a/x", 1), "a/x", 0)
	charge(t, tree, "a/x", 0)
}

func TestOverItsOwnLimit(t *testing.T) {
	tree := build(t)
	charge(t, tree, "a/x", 15)
	over(t, tree.Charge("a/x", 6), "a/x", 5)
	used(t, tree, "a/x", 15)
	used(t, tree, "", 15)
}

func TestOverTheLimitAbove(t *testing.T) {
	tree := build(t)
	charge(t, tree, "a/y", 50)
	over(t, tree.Charge("a/x", 15), "a", 10)
	used(t, tree, "a/x", 0)
	used(t, tree, "a", 50)
	used(t, tree, "", 50)
}

func TestOverTheTotal(t *testing.T) {
	tree := build(t)
	charge(t, tree, "a/y", 55)
	charge(t, tree, "b", 40)
	over(t, tree.Charge("b", 6), "", 5)
	used(t, tree, "b", 40)
	charge(t, tree, "b", 5)
}

func TestRelease(t *testing.T) {
	tree := build(t)
	charge(t, tree, "a/x", 20)
	if err := tree.Release("a/x", 8); err != nil {
		t.Fatal(err)
	}
	used(t, tree, "a", 12)
	charge(t, tree, "a/x", 8)
}

func TestReleaseTooMuch(t *testing.T) {
	tree := build(t)
	charge(t, tree, "a/x", 5)
	charge(t, tree, "a/y", 5)
	if err := tree.Release("a/x", 6); err != ErrAmount {
		t.Error(err)
	}
	used(t, tree, "a/x", 5)
	used(t, tree, "a", 10)
}

func TestNegative(t *testing.T) {
	tree := build(t)
	if tree.Charge("a", -1) != ErrAmount || tree.Release("a", -1) != ErrAmount {
		t.Error("negative amount")
	}
	if tree.Create("c", -1) != ErrAmount || tree.SetLimit("a", -1) != ErrAmount {
		t.Error("negative limit")
	}
}

func TestUnknown(t *testing.T) {
	tree := build(t)
	if tree.Charge("c", 1) != ErrUnknown || tree.Release("c", 1) != ErrUnknown {
		t.Error("c is unknown")
	}
	if tree.Create("c/x", 1) != ErrUnknown || tree.Create("a", 1) != ErrExists {
		t.Error("create")
	}
	used(t, tree, "c", 0)
}

func TestRemove(t *testing.T) {
	tree := build(t)
	if tree.Remove("") != ErrBusy || tree.Remove("a") != ErrBusy {
		t.Error("they are needed")
	}
	charge(t, tree, "a/x", 1)
	if tree.Remove("a/x") != ErrBusy {
		t.Error("a/x uses something")
	}
	tree.Release("a/x", 1)
	if err := tree.Remove("a/x"); err != nil {
		t.Error(err)
	}
	if tree.Remove("a/x") != ErrUnknown {
		t.Error("a/x is gone")
	}
}

func TestLowerLimit(t *testing.T) {
	tree := build(t)
	charge(t, tree, "b", 30)
	if err := tree.SetLimit("b", 20); err != nil {
		t.Fatal(err)
	}
	over(t, tree.Charge("b", 1), "b", -10)
	if err := tree.SetLimit("b", 0); err != nil {
		t.Fatal(err)
	}
	charge(t, tree, "b", 60)
}

func TestReport(t *testing.T) {
	tree := build(t)
	charge(t, tree, "a/y", 3)
	want := "3/100\na 3/60\na/x 0/20\na/y 3\nb 0/50"
	if got := tree.Report(); got != want {
		t.Errorf("got\n%s", got)
	}
}
