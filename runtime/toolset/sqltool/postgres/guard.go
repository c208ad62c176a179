package postgres

import (
	"context"
	"errors"
	"slices"

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
	return &statement{session: s, sql: sql, verdict: v, params: f.params}, nil
}

// checkText refuses what the parser shouldn't see.
func checkText(sql string) *sqltool.Refusal {
	tokens := lexis.Tokens(sql)
	if len(tokens) == 0 {
		return sqltool.Refuse("the statement is empty: write one")
	}
	return sqltool.CheckCaps(tokens)
}

// verdict asks the catalogue about a statement, and decides.
func (e *engine) verdict(ctx context.Context, s *session, f *found) (*sqltool.Verdict, error) {
	a, err := s.resolve(ctx, f)
	if err != nil {
		return nil, err
	}
	v, err := e.judge(f, a)
	if err != nil {
		return nil, err
	}
	if f.kind == sqltool.Explain && !e.options.AllTables && slices.ContainsFunc(a.Functions, func(c functionAnswer) bool { return !c.Native && c.Schema != systemSchema && called(f, c.Name) }) {
		return nil, sqltool.Refuse(explainShows) // it may be part of the plan
	}
	return v, e.beneath(ctx, s, f)
}

// called reports whether a statement calls a function of a name, or may.
func called(f *found, name string) bool {
	for a := range f.attrs {
		if a.name == name && !f.isColumn(a) {
			return true
		}
	}
	return slices.ContainsFunc(f.functions, func(c *function) bool { return c.name == name })
}
