package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool"
)

// Classify implements [sqltool.Engine].
func (e *engine) Classify(err error) sqltool.Problem {
	var (
		refusal *sqltool.Refusal
		syntax  *syntaxError
		missing *missingError
		params  *sqltool.ParamsError
		server  *pgconn.PgError
		large   *pgproto3.ExceededMaxBodyLenErr
	)
	switch {
	case errors.As(err, &refusal):
		return sqltool.Problem{Class: sqltool.Refused, Message: refusal.Error()}
	case errors.As(err, &syntax):
		return sqltool.Problem{Class: sqltool.Syntax, Message: syntax.message + around(syntax.sql, syntax.at)}
	case errors.As(err, &missing):
		return sqltool.Problem{Class: missing.class, Name: missing.name, Message: missing.Error()}
	case errors.As(err, &params):
		return sqltool.Problem{Class: sqltool.WrongParams, Message: params.Error()}
	case errors.Is(err, errNUL):
		return sqltool.Problem{Class: sqltool.InvalidValue, Message: errNUL.Error()}
	case errors.Is(err, errDeaf):
		return sqltool.Problem{Class: sqltool.Conflict, Message: errDeaf.Error()}
	case errors.As(err, &large):
		return sqltool.Problem{Class: sqltool.TooBig, Message: "a row is too large"}
	case errors.As(err, &server):
		return serverProblem(server, err)
	case errors.Is(err, context.DeadlineExceeded):
		return sqltool.Problem{Class: sqltool.TimedOut}
	case errors.Is(err, context.Canceled):
		return sqltool.Problem{}
	}
	return lost(err)
}

// lost is the problem of a connection that is gone. A write has a transaction, which the
// server undoes, unless it was told to commit.
func lost(err error) sqltool.Problem {
	var commit *commitError
	if pgconn.Timeout(err) && !errors.As(err, &commit) {
		return sqltool.Problem{Class: sqltool.TimedOut}
	}
	return sqltool.Problem{Class: sqltool.ConnectionLost, MayHaveRun: errors.As(err, &commit)}
}

// ofStates are the problems by the beginning of the server's SQLSTATE, the longest first
// that fits: a code, or a class of codes. Messages without words are the server's own.
var ofStates = []struct {
	state   string
	class   sqltool.Class
	message string
}{
	{"42P01", sqltool.UnknownTable, ""},
	{"42703", sqltool.UnknownColumn, ""},
	{"42883", sqltool.UnknownFunction, ""},
	{"42501", sqltool.Permission, ""},
	{"42", sqltool.Syntax, ""},
	{"0A", sqltool.Syntax, ""},
	{"26", sqltool.Syntax, ""},
	{"22P02", sqltool.InvalidValue, "a text is no value of the type that it is to have"},
	{"22003", sqltool.InvalidValue, "a number is out of the range of its type"},
	{"22012", sqltool.InvalidValue, "a number is divided by zero"},
	{"22001", sqltool.InvalidValue, "a text is longer than its type allows"},
	{"22007", sqltool.InvalidValue, "a text is no date or time"},
	{"22008", sqltool.InvalidValue, "a date or time is out of range"},
	{"22", sqltool.InvalidValue, "a value is not one that this operation takes"},
	{"21", sqltool.InvalidValue, "a subquery that stands for one value has more than one row"},
	{"23502", sqltool.Constraint, "a column that may not be null would be"},
	{"23503", sqltool.Constraint, "a row that this one refers to is not there, or one refers to this"},
	{"23505", sqltool.Constraint, "a row with this key is there already"},
	{"23514", sqltool.Constraint, "a CHECK constraint of the table is not met"},
	{"23", sqltool.Constraint, "a constraint of the table is not met"},
	{"44", sqltool.Constraint, "the view doesn't take this row"},
	{"P0", sqltool.Constraint, "a function or a trigger of the database has refused it"},
	{"25006", sqltool.Refused, "the database may only be read"},
	{"57014", sqltool.TimedOut, ""},
	{"40", sqltool.Conflict, "another transaction was in the way"},
	{"55P03", sqltool.Conflict, "a lock is held by another transaction"},
	{"54", sqltool.TooBig, "the statement is too complex for the server"},
	{"53200", sqltool.TooBig, "the server has no memory for this"},
	{"53400", sqltool.TooBig, "the server has no room for this"},
	{"53100", sqltool.TooBig, "the server has no room for this"},
	{"53", sqltool.ConnectionLost, ""},
	{"57", sqltool.ConnectionLost, ""},
	{"08", sqltool.ConnectionLost, ""},
	{"28", sqltool.ConnectionLost, ""},
	{"3D", sqltool.ConnectionLost, ""},
}

// serverProblem is the problem by the server's code. Its details and hints quote rows and
// names: they are not shown.
func serverProblem(server *pgconn.PgError, err error) sqltool.Problem {
	for _, s := range ofStates {
		if !strings.HasPrefix(server.Code, s.state) {
			continue
		}
		p := sqltool.Problem{Class: s.class, Message: s.message}
		if s.class == sqltool.ConnectionLost {
			var commit *commitError
			p.MayHaveRun = errors.As(err, &commit)
		}
		if s.message == "" && isOfText(server, err) {
			p.Message = server.Message + place(server, err)
		} else if s.class == sqltool.Syntax {
			p.Message = "the server can't run this (SQLSTATE " + server.Code + ")"
		}
		if s.class == sqltool.UnknownTable && p.Message != "" {
			p.Name = quotedName.FindString(server.Message)
		}
		return p
	}
	return sqltool.Problem{Class: sqltool.Syntax, Message: "the server can't run this (SQLSTATE " + server.Code + "): write it in another way"}
}

// isOfText reports whether the server's message is about the text of the statement: from
// reading it, or with a place in it. Functions and triggers may use any code for words of
// their own.
func isOfText(server *pgconn.PgError, err error) bool {
	const untypedParam = "42P18" // which has no place
	p, ok := errors.AsType[*placedError](err)
	return ok && server.Where == "" && server.InternalQuery == "" && (server.Position > 0 || p.analysed && server.Code == untypedParam)
}

// quotedName is a name in a message; another language than English has the same quotes.
var quotedName = regexp.MustCompile(`"[^"]+"`)

// place says where in the statement the server has found something.
func place(server *pgconn.PgError, err error) string {
	var p *placedError
	if !errors.As(err, &p) || server.Position == 0 {
		return ""
	}
	return around(p.sql, int(server.Position)-p.begin)
}

// maxAround is how much of a statement is quoted, in characters.
const maxAround = 40

// around says where in a statement a character is, from 1, and what stands there.
func around(sql string, at int) string {
	text := []rune(sql)
	if at < 1 || at > len(text) {
		return ""
	}
	before := string(text[:at-1])
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
	rest := text[at-1:]
	if len(rest) > maxAround {
		rest = append(append([]rune{}, rest[:maxAround]...), '…')
	}
	return fmt.Sprintf(" (line %d, column %d, at %q)", line, column, string(rest))
}
