package expr

import (
	"errors"
	"testing"
)

func expect(t *testing.T, text string, want int64) {
	t.Helper()
	got, err := Eval(text, Vars{"a": 5, "b": -2, "zero": 0})
	if err != nil || got != want {
		t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
	}
}

func fails(t *testing.T, text string, want string) {
	t.Helper()
	if got, err := Eval(text, Vars{"a": 5}); err == nil || err.Error() != want {
		t.Errorf("%s: got %d, %v, want %s", text, got, err, want)
	}
}

func TestNumber(t *testing.T) { expect(t, " 42 ", 42) }

func TestOrderOfOperators(t *testing.T) {
	expect(t, "2 + 3 * 4", 14)
	expect(t, "(2 + 3) * 4", 20)
	expect(t, "10 - 3 - 2", 5)
	expect(t, "17 / 5 % 2", 1)
}

func TestUnary(t *testing.T) {
	expect(t, "-3 - -4", 1)
	expect(t, "!0 + !7", 1)
	expect(t, "-(a + b)", -3)
}

func TestNames(t *testing.T) {
	expect(t, "a * b", -10)
	fails(t, "1 + c", "column 5: unknown name c")
}

func TestComparisons(t *testing.T) {
	expect(t, "a > b", 1)
	expect(t, "a <= 4", 0)
	expect(t, "1 + 1 == 2", 1)
	expect(t, "a != 5", 0)
}

func TestLogic(t *testing.T) {
	expect(t, "a > 0 && b < 0", 1)
	expect(t, "zero || b", 1)
	expect(t, "0 && 0 || 1", 1)
}

func TestRemainder(t *testing.T) {
	expect(t, "7 % 3", 1)
	expect(t, "-7 % 3", -1)
}

func TestSyntaxErrors(t *testing.T) {
	fails(t, "", "column 1: unexpected end")
	fails(t, "1 +", "column 4: unexpected end")
	fails(t, "(1 + 2", "column 7: unexpected end")
	fails(t, "1 2", "column 3: unexpected 2")
	fails(t, "1 $ 2", "column 3: unexpected '$'")
}

func TestFunctions(t *testing.T) {
	expect(t, "max(1, a, b)", 5)
	expect(t, "min(1, a, b) + sum(1, 2)", 1)
	expect(t, "avg(1, 2, 6)", 3)
	expect(t, "sum()", 0)
	fails(t, "med(1)", "column 1: unknown function med")
}

func TestCallSyntax(t *testing.T) {
	fails(t, "max(1, )", "column 8: unexpected )")
	fails(t, "max(1", "column 6: unexpected end")
}

func TestMissingArguments(t *testing.T) {
	for _, text := range []string{"max()", "min()", "1 + avg()"} {
		if _, err := Eval(text, nil); !errors.Is(err, ErrArguments) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDivisionByZero(t *testing.T) {
	for _, text := range []string{"1 / 0", "a / zero", "5 % 0", "2 * (3 / (1 - 1))"} {
		if _, err := Eval(text, Vars{"a": 5, "zero": 0}); !errors.Is(err, ErrDivide) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
