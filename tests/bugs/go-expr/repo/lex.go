// Package expr evaluates whole-number expressions such as "(a + 2) * -3".
package expr

import "fmt"

type tokenKind int

const (
	end tokenKind = iota
	number
	name
	sign
)

type token struct {
	kind tokenKind
	text string
	at   int
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

var twoSigns = map[string]bool{
	"<=": true, ">=": true, "==": true, "!=": true, "&&": true, "||": true,
}

// lex splits a text; the last token has the kind end.
func lex(text string) ([]token, error) {
	var tokens []token
	for i := 0; i < len(text); {
		from, c := i, text[i]
		switch {
		case c == ' ' || c == '\t':
			i++
			continue
		case isDigit(c):
			for i < len(text) && isDigit(text[i]) {
				i++
			}
			tokens = append(tokens, token{number, text[from:i], from})
		case isLetter(c):
			for i < len(text) && (isLetter(text[i]) || isDigit(text[i])) {
				i++
			}
			tokens = append(tokens, token{name, text[from:i], from})
		case i+1 < len(text) && twoSigns[text[i:i+2]]:
			i += 2
			tokens = append(tokens, token{sign, text[from:i], from})
		case c == '+' || c == '-' || c == '*' || c == '/' || c == '%' ||
			c == '(' || c == ')' || c == '<' || c == '>' || c == '!' || c == ',':
			i++
			tokens = append(tokens, token{sign, text[from:i], from})
		default:
			return nil, fmt.Errorf("column %d: unexpected %q", i+1, c)
		}
	}
	return append(tokens, token{end, "", len(text)}), nil
}
