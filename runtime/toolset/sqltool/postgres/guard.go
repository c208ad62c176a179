package postgres

import (
	"context"
	"errors"
	"unicode"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// Guard implements [sqltool.Engine].
func (e *engine) Guard(ctx context.Context, sql string) (sqltool.Statement, error) {
	if refusal := checkText(sql); refusal != nil {
		return nil, refusal
	}
	tree, err := parsers.parse(ctx, sql)
	if errors.Is(err, errOtherStatement) {
		return nil, otherStatement(&e.options)
	}
	if err != nil {
		return nil, err
	}
	f, err := read(tree, &e.options)
	if err != nil {
		return nil, err
	}
	s, err := e.begin(ctx, f.kind == sqltool.Write)
	if err != nil {
		return nil, err
	}
	v, err := e.verdict(ctx, s, f)
	if err != nil {
		s.end(ctx)
		return nil, err
	}
	return &statement{engine: e, session: s, sql: sql, verdict: v, params: f.params}, nil
}

// checkText refuses what the parser shouldn't see.
func checkText(sql string) *sqltool.Refusal {
	tokens := lexis.Tokens(sql)
	if len(tokens) == 0 {
		return sqltool.Refuse("the statement is empty: write one")
	}
	const longest = 63 // bytes of a name, which is cut, and not within a character by every server
	for _, t := range tokens {
		if (t.Kind == sqltool.Word || t.Kind == sqltool.Quoted) && len(t.Text) > longest && !isASCII(t.Text) {
			return sqltool.Refuse("a name is longer than 63 bytes: shorten it")
		}
	}
	return sqltool.CheckCaps(tokens)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] > unicode.MaxASCII {
			return false
		}
	}
	return true
}

// verdict asks the catalogue about a statement, and decides.
func (e *engine) verdict(ctx context.Context, s *session, f *found) (*sqltool.Verdict, error) {
	a, err := s.resolve(ctx, f, e.options.Schema, e.reserved)
	if err != nil {
		return nil, err
	}
	v, err := e.judge(f, a)
	if err != nil {
		return nil, err
	}
	return v, e.beneath(ctx, s, f)
}
