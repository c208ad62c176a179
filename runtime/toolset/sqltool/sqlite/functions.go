package sqlite

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

// allowedFunctions are those of pragma_function_list that are reviewed: they compute with
// their arguments, and see no file, no connection, no schema and no setting. Left out are
// what answers about the connection (changes, last_insert_rowid, total_changes), about
// how SQLite was built, what writes to its log, the decimal and IEEE functions and
// json_patch, which take squared time, and regular expressions, which can't be interrupted.
var allowedFunctions = set(`-> ->> abs acos acosh asin asinh atan atan2 atanh avg base64 ceil ceiling char coalesce concat concat_ws
	cos cosh count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format
	glob group_concat hex if ifnull iif instr json json_array json_array_insert json_array_length json_error_position json_extract
	json_group_array json_group_object json_insert json_object json_pretty json_quote json_remove json_replace json_set
	json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert
	jsonb_object jsonb_remove jsonb_replace jsonb_set julianday lag last_value lead length like likelihood likely ln log
	log10 log2 lower ltrim max min mod nth_value ntile nullif octet_length percent_rank pi pow power printf quote radians random
	randomblob rank replace round row_number rtrim sign sin sinh soundex sqrt strftime string_agg substr substring subtype sum tan
	tanh time timediff total trim trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely upper zeroblob`)

// identity are functions that say what the database is.
var identity = set("sqlite_version")

// tableFunctions are those that stand in FROM.
var tableFunctions = set("json_each json_tree generate_series")

func set(names string) map[string]bool {
	m := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
	return m
}

// maxPattern is how long a pattern of LIKE or GLOB may be.
const maxPattern = 1000

// replaceFunctions registers functions of ours in the place of some that SQLite can't be
// stopped in.
func replaceFunctions(db *sqlite3.Conn) error {
	const pure = sqlite3.DETERMINISTIC | sqlite3.INNOCUOUS
	like := func(c sqlite3.Context, args ...sqlite3.Value) { matchCall(c, likeRules, args) }
	glob := func(c sqlite3.Context, args ...sqlite3.Value) { matchCall(c, globRules, args) }
	return errors.Join(
		db.CreateFunction("instr", 2, pure, instr),
		db.CreateFunction("replace", 3, pure, replace),
		db.CreateFunction("like", 2, pure, like),
		db.CreateFunction("like", 3, pure, like),
		db.CreateFunction("glob", 2, pure, glob),
		db.CreateFunction("unhex", 1, pure, unhex),
		db.CreateFunction("unhex", 2, pure, unhex),
		trims(db, "trim", strings.TrimFunc),
		trims(db, "ltrim", strings.TrimLeftFunc),
		trims(db, "rtrim", strings.TrimRightFunc),
	)
}

// trims registers trim, ltrim or rtrim, with a set of characters or without: SQLite's own
// compare each character with all of the set.
func trims(db *sqlite3.Conn, name string, trim func(string, func(rune) bool) string) error {
	f := func(c sqlite3.Context, args ...sqlite3.Value) {
		if anyNull(args) {
			return
		}
		in := map[rune]bool{' ': true}
		if len(args) == 2 {
			clear(in)
			for _, r := range args[1].Text() {
				in[r] = true
			}
		}
		c.ResultText(trim(args[0].Text(), func(r rune) bool { return in[r] }))
	}
	const pure = sqlite3.DETERMINISTIC | sqlite3.INNOCUOUS
	return errors.Join(db.CreateFunction(name, 1, pure, f), db.CreateFunction(name, 2, pure, f))
}

// unhex makes bytes of hexadecimal digits, with characters of a second text between the
// pairs; NULL, if there is anything else. SQLite's own looks through that text for each.
func unhex(c sqlite3.Context, args ...sqlite3.Value) {
	if anyNull(args) {
		return
	}
	between := make(map[rune]bool)
	if len(args) == 2 {
		for _, r := range args[1].Text() {
			between[r] = true
		}
	}
	text, out := args[0].Text(), []byte{}
	for len(text) > 0 {
		if pair, err := hex.DecodeString(text[:min(2, len(text))]); err == nil {
			out, text = append(out, pair...), text[2:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if !between[r] || isHex(text[0]) {
			return
		}
		text = text[size:]
	}
	c.ResultBlob(out)
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func anyNull(args []sqlite3.Value) bool {
	for _, a := range args {
		if a.Type() == sqlite3.NULL {
			return true
		}
	}
	return false
}

// instr is where the second text begins in the first, from 1, in characters, or in bytes
// of two blobs; 0: nowhere.
func instr(c sqlite3.Context, args ...sqlite3.Value) {
	if anyNull(args) {
		return
	}
	if args[0].Type() == sqlite3.BLOB && args[1].Type() == sqlite3.BLOB {
		c.ResultInt(bytes.Index(args[0].RawBlob(), args[1].RawBlob()) + 1)
		return
	}
	text := args[0].Text()
	at := strings.Index(text, args[1].Text())
	if at >= 0 {
		at = utf8.RuneCountInString(text[:at])
	}
	c.ResultInt(at + 1)
}

var errTooBig = errors.New("the result is longer than 16 MiB")

func replace(c sqlite3.Context, args ...sqlite3.Value) {
	if anyNull(args) {
		return
	}
	text, from, to := args[0].Text(), args[1].Text(), args[2].Text()
	if from == "" {
		c.ResultText(text)
		return
	}
	if n := strings.Count(text, from); len(text)+n*(len(to)-len(from)) > maxLength {
		c.ResultError(errTooBig)
		return
	}
	c.ResultText(strings.ReplaceAll(text, from, to))
}

// rules are those of a kind of patterns.
type rules struct {
	many, one byte // % and _, * and ?
	sets      bool // [a-z]
	folds     bool // ASCII letters are the same in both cases
}

var (
	likeRules = rules{'%', '_', false, true}
	globRules = rules{'*', '?', true, false}
)

var errPattern = errors.New("a pattern of LIKE or GLOB is longer than 1000 bytes: shorten it")

// matchCall is like(pattern, text [, escape]) or glob(pattern, text).
func matchCall(c sqlite3.Context, r rules, args []sqlite3.Value) {
	if anyNull(args) {
		return
	}
	escape := utf8.RuneError
	if len(args) == 3 {
		runes := []rune(args[2].Text())
		if len(runes) != 1 {
			c.ResultError(errors.New("ESCAPE expression must be a single character"))
			return
		}
		escape = runes[0]
	}
	pattern := args[0].Text()
	if len(pattern) > maxPattern {
		c.ResultError(errPattern)
		return
	}
	ok, err := r.match(c.Conn().GetInterrupt(), r.compile(pattern, escape), args[1].Text())
	if err != nil {
		c.ResultError(err)
		return
	}
	c.ResultBool(ok)
}

// An atom is what one character of a text is compared with.
type atom struct {
	many bool // any number of any characters
	any  bool // any one
	r    rune
	set  []rune // pairs: from, to
	not  bool   // of the set
	bad  bool   // a set that doesn't end: nothing matches
}

func (r rules) compile(pattern string, escape rune) []atom {
	var out []atom
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == escape && escape != utf8.RuneError && i+1 < len(runes):
			i++
			out = append(out, atom{r: r.fold(runes[i])})
		case c == escape && escape != utf8.RuneError:
			out = append(out, atom{bad: true})
		case c == rune(r.many):
			if len(out) == 0 || !out[len(out)-1].many {
				out = append(out, atom{many: true})
			}
		case c == rune(r.one):
			out = append(out, atom{any: true})
		case c == '[' && r.sets:
			a, end := parseSet(runes, i+1)
			out, i = append(out, a), end
		default:
			out = append(out, atom{r: r.fold(c)})
		}
	}
	return out
}

// parseSet reads [a-z], behind its first bracket.
func parseSet(runes []rune, i int) (atom, int) {
	a := atom{set: []rune{}}
	if i < len(runes) && runes[i] == '^' {
		a.not = true
		i++
	}
	for first := true; i < len(runes) && (runes[i] != ']' || first); i, first = i+1, false {
		if i+2 < len(runes) && runes[i+1] == '-' && runes[i+2] != ']' {
			a.set = append(a.set, runes[i], runes[i+2])
			i += 2
		} else {
			a.set = append(a.set, runes[i], runes[i])
		}
	}
	a.bad = i >= len(runes)
	return a, i
}

func (r rules) fold(c rune) rune {
	if r.folds && c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func (r rules) is(a *atom, c rune) bool {
	switch {
	case a.bad:
		return false
	case a.any:
		return true
	case a.set == nil:
		return a.r == r.fold(c)
	}
	in := false
	for i := 0; i < len(a.set); i += 2 {
		in = in || c >= a.set[i] && c <= a.set[i+1]
	}
	return in != a.not
}

// match goes back to the last "any number" only, which is enough, and looks whether it
// should stop.
func (r rules) match(ctx context.Context, pattern []atom, text string) (bool, error) {
	const lookEvery = 1 << 16
	p, i, steps := 0, 0, 0
	star, mark := -1, 0
	for i < len(text) {
		if steps++; steps%lookEvery == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case p < len(pattern) && pattern[p].many:
			star, mark = p, i
			p++
		case p < len(pattern) && r.is(&pattern[p], c):
			p++
			i += size
		case star >= 0:
			_, size := utf8.DecodeRuneInString(text[mark:])
			mark += size
			p, i = star+1, mark
		default:
			return false, nil
		}
	}
	for p < len(pattern) && pattern[p].many {
		p++
	}
	return p == len(pattern), nil
}
