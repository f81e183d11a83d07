package expr

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrDivide is the error of a division by zero.
var ErrDivide = errors.New("division by zero")

// Vars are the values of names.
type Vars map[string]int64

type parser struct {
	tokens []token
	vars   Vars
}

var levels = [][]string{
	{"||"}, {"&&"}, {"==", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%"},
}

// Eval evaluates a text; what is true is 1, what is false 0.
func Eval(text string, vars Vars) (int64, error) {
	tokens, err := lex(text)
	if err != nil {
		return 0, err
	}
	p := &parser{tokens, vars}
	value, err := p.binary(0)
	if err != nil {
		return 0, err
	}
	if p.tokens[0].kind != end {
		return 0, p.unexpected()
	}
	return value, nil
}

func (p *parser) unexpected() error {
	t := p.tokens[0]
	if t.kind == end {
		return fmt.Errorf("column %d: unexpected end", t.at+1)
	}
	return fmt.Errorf("column %d: unexpected %s", t.at+1, t.text)
}

func (p *parser) take(signs ...string) (string, bool) {
	t := p.tokens[0]
	for _, s := range signs {
		if t.kind == sign && t.text == s {
			p.tokens = p.tokens[1:]
			return s, true
		}
	}
	return "", false
}

func (p *parser) binary(level int) (int64, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		op, ok := p.take(levels[level]...)
		if !ok {
			break
		}
		var right int64
		if right, err = p.binary(level + 1); err == nil {
			left, err = apply(op, left, right)
		}
	}
	return left, err
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func apply(op string, a, b int64) (int64, error) {
	switch op {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/":
		if b == 0 {
			return 0, ErrDivide
		}
		return a / b, nil
	case "%":
		if b == 0 {
			return 0, ErrDivide
		}
		return a % b, nil
	case "<":
		return truth(a < b), nil
	case "<=":
		return truth(a <= b), nil
	case ">":
		return truth(a > b), nil
	case ">=":
		return truth(a >= b), nil
	case "==":
		return truth(a == b), nil
	case "!=":
		return truth(a != b), nil
	case "&&":
		return truth(a != 0 && b != 0), nil
	}
	return truth(a != 0 || b != 0), nil
}

func (p *parser) unary() (int64, error) {
	if _, ok := p.take("-"); ok {
		value, err := p.unary()
		return -value, err
	}
	if _, ok := p.take("!"); ok {
		value, err := p.unary()
		return truth(value == 0), err
	}
	return p.primary()
}

func (p *parser) primary() (int64, error) {
	t := p.tokens[0]
	switch {
	case t.kind == number:
		p.tokens = p.tokens[1:]
		return strconv.ParseInt(t.text, 10, 64)
	case t.kind == name:
		p.tokens = p.tokens[1:]
		if _, ok := p.take("("); ok {
			return p.call(t)
		}
		value, ok := p.vars[t.text]
		if !ok {
			return 0, fmt.Errorf("column %d: unknown name %s", t.at+1, t.text)
		}
		return value, nil
	}
	if _, ok := p.take("("); !ok {
		return 0, p.unexpected()
	}
	value, err := p.binary(0)
	if err != nil {
		return 0, err
	}
	if _, ok := p.take(")"); !ok {
		return 0, p.unexpected()
	}
	return value, nil
}

// call evaluates the arguments of a function whose "(" was taken.
func (p *parser) call(name token) (int64, error) {
	var args []int64
	if _, ok := p.take(")"); !ok {
		for {
			value, err := p.binary(0)
			if err != nil {
				return 0, err
			}
			args = append(args, value)
			if _, more := p.take(","); more {
				continue
			}
			if _, ok := p.take(")"); !ok {
				return 0, p.unexpected()
			}
			break
		}
	}
	f, ok := functions[name.text]
	if !ok {
		return 0, fmt.Errorf("column %d: unknown function %s", name.at+1, name.text)
	}
	return f(args)
}
