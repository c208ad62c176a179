package sqltool

import "strings"

// A Token is a piece of a statement. Tokens bound a statement before a parser reads it,
// and say which names are in it; they decide nothing that a grammar should.
type Token struct {
	Kind TokenKind
	Text string // of Quoted and Literal what is between the quotes, doubled ones once
	At   int    // byte
}

// A TokenKind is the kind of a token.
type TokenKind uint8

// The kinds of tokens.
const (
	Word     TokenKind = iota // a keyword or a name without quotes
	Quoted                    // a name in quotes
	Literal                   // a string in single quotes
	Number                    // begins with a digit
	Variable                  // ?1, and $a, @a, :a, #a where the dialect has them
	Operator                  // one or more of + - * / % < > = ~ ! @ # & | ^ :
	Other                     // one of ( ) [ ] , ; . and what else there is
)

// A Lexis is how a dialect writes names and comments.
type Lexis struct {
	Quotes         []string // pairs around names: `""`, "``", "[]"
	NestedComments bool     // /* /* */ */
	HashComments   bool     // # to the end of the line
	Backslashes    bool     // escape in single quotes
	EscapeStrings  bool     // E'…', in which backslashes escape
	DollarQuotes   bool     // $tag$ … $tag$
	ReturnEnds     bool     // a comment to the end of the line, as a carriage return does
	MoreOperators  string   // signs of operators beyond those of all dialects; ? is no variable then
	Variables      bool     // $a, @a, :a and #a, and what may follow in brackets: $a(x)
}

const operators = "+-*/%<>=~!@#&|^:"

// Tokens splits a statement. A quote or a comment that is open at the end goes to the
// end.
func (l Lexis) Tokens(sql string) []Token {
	var out []Token
	for i := 0; i < len(sql); {
		c := sql[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			i++
			continue
		case strings.HasPrefix(sql[i:], "--"), l.HashComments && c == '#':
			if end := strings.IndexAny(sql[i:], l.lineEnds()); end >= 0 {
				i += end
				continue
			}
			return out
		case strings.HasPrefix(sql[i:], "/*"):
			i = l.comment(sql, i)
			continue
		case c == '\'':
			escapes := l.Backslashes || l.EscapeStrings && i > 0 && (sql[i-1] == 'e' || sql[i-1] == 'E') && endsInE(out, i)
			text, end := l.quoted(sql, i, '\'', escapes)
			out, i = append(out, Token{Literal, text, i}), end
			continue
		case c == '$' && l.DollarQuotes:
			if text, end := dollarQuoted(sql, i); end > i {
				out, i = append(out, Token{Literal, text, i}), end
				continue
			}
		}
		if closing, ok := l.closing(c); ok {
			text, end := l.quoted(sql, i, closing, false)
			out, i = append(out, Token{Quoted, text, i}), end
			continue
		}
		if end := l.variable(sql, i); end > i {
			out, i = append(out, Token{Variable, sql[i:end], i}), end
			continue
		}
		kind, end := l.class(sql, i)
		out, i = append(out, Token{kind, sql[i:end], i}), end
	}
	return out
}

// endsInE reports whether the last token is the word E, right before a byte.
func endsInE(tokens []Token, at int) bool {
	last := tokens[len(tokens)-1]
	return last.Kind == Word && len(last.Text) == 1 && last.At == at-1
}

// dollarQuoted returns the text between $tag$ and $tag$, and where that ends: where it
// begins, if there is no such beginning.
func dollarQuoted(sql string, at int) (text string, end int) {
	tag := at + 1
	for tag < len(sql) && sql[tag] != '$' {
		if !isWord(sql[tag]) || tag == at+1 && isDigit(sql[tag]) {
			return "", at
		}
		tag++
	}
	if tag == len(sql) {
		return "", at
	}
	delimiter, rest := sql[at:tag+1], sql[tag+1:]
	text, _, closed := strings.Cut(rest, delimiter)
	if !closed {
		return rest, len(sql)
	}
	return text, tag + 1 + len(text) + len(delimiter)
}

func (l Lexis) lineEnds() string {
	if l.ReturnEnds {
		return "\r\n"
	}
	return "\n"
}

// variable returns the end of a variable that begins at a byte, or that byte. A bracket
// right behind a name takes all up to the next one, quotes included.
func (l Lexis) variable(sql string, at int) int {
	end := at + 1
	switch c := sql[at]; {
	case c == '?' && l.MoreOperators == "":
		for end < len(sql) && sql[end] >= '0' && sql[end] <= '9' {
			end++
		}
		return end
	case !l.Variables || strings.IndexByte("$@:#", c) < 0:
		return at
	}
	named := false
	for end < len(sql) {
		switch {
		case isWord(sql[end]):
			named = true
			end++
		case strings.HasPrefix(sql[end:], "::"):
			end += 2
		case sql[end] == '(' && named:
			closing := strings.IndexAny(sql[end:], ") \t\n\r\f\v")
			if closing < 0 {
				return len(sql)
			}
			return end + closing + 1
		default:
			if !named {
				return at
			}
			return end
		}
	}
	if !named {
		return at
	}
	return end
}

func (l Lexis) closing(c byte) (byte, bool) {
	for _, pair := range l.Quotes {
		if pair[0] == c {
			return pair[1], true
		}
	}
	return 0, false
}

func (l Lexis) comment(sql string, at int) int {
	depth := 1
	for i := at + 2; i < len(sql); i++ {
		switch {
		case strings.HasPrefix(sql[i:], "*/"):
			if depth--; depth == 0 {
				return i + 2
			}
			i++
		case l.NestedComments && strings.HasPrefix(sql[i:], "/*"):
			depth++
			i++
		}
	}
	return len(sql)
}

func (l Lexis) quoted(sql string, at int, closing byte, backslashes bool) (text string, end int) {
	var b strings.Builder
	for i := at + 1; i < len(sql); i++ {
		switch {
		case backslashes && sql[i] == '\\' && i+1 < len(sql):
			i++
			b.WriteByte(sql[i])
		case sql[i] != closing:
			b.WriteByte(sql[i])
		case i+1 < len(sql) && sql[i+1] == closing && closing != ']':
			b.WriteByte(closing)
			i++
		default:
			return b.String(), i + 1
		}
	}
	return b.String(), len(sql)
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// class is the kind of the token that begins at a byte, and its end.
func (l Lexis) class(sql string, at int) (TokenKind, int) {
	c, end := sql[at], at+1
	switch {
	case isDigit(c), c == '.' && at+1 < len(sql) && isDigit(sql[at+1]):
		return Number, number(sql, at)
	case isWord(c):
		for end < len(sql) && isWord(sql[end]) {
			end++
		}
		return Word, end
	case l.isOperator(c):
		for end < len(sql) && l.isOperator(sql[end]) && !l.ends(sql[end:]) {
			end++
		}
		return Operator, end
	default:
		return Other, end
	}
}

func (l Lexis) isOperator(c byte) bool {
	return strings.IndexByte(operators, c) >= 0 || strings.IndexByte(l.MoreOperators, c) >= 0
}

// ends reports whether what follows an operator is no part of it: a comment or a variable.
func (l Lexis) ends(rest string) bool {
	return strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "/*") || l.Variables && strings.IndexByte("@:#", rest[0]) >= 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number is the end of a number: 1, 1., .5, 1.e+5, 0x1F, 1_000. A word that is written
// right behind it is part of it.
func number(sql string, at int) int {
	digits := func(i int) int {
		for i < len(sql) && isWord(sql[i]) {
			i++
		}
		return i
	}
	signed := func(i int) int { // 1e+5: the sign is within
		if i > at && i+1 < len(sql) && (sql[i-1] == 'e' || sql[i-1] == 'E') && (sql[i] == '+' || sql[i] == '-') && isDigit(sql[i+1]) {
			return digits(i + 1)
		}
		return i
	}
	hex := strings.HasPrefix(FoldASCII(sql[at:min(len(sql), at+2)]), "0x")
	end := digits(at)
	if hex {
		return end
	}
	if end == at || end < len(sql) && sql[end] == '.' {
		end = digits(end + 1)
	}
	return signed(end)
}
