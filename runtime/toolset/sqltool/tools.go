package sqltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/schema"
	"github.com/toolgen/toolgen/runtime/tabular"
	"github.com/toolgen/toolgen/runtime/toolimpl"
)

// grace is how much longer a run waits for a call than the call itself takes, so that
// what it says of the end of its time is what a model reads.
const grace = 5 * time.Second

// tool is one of the four.
type tool struct {
	set  *Toolset
	def  *runtime.Definition
	call func(t *Toolset, ctx context.Context, name string, args json.RawMessage) (*runtime.Result, error)
}

// Definition implements [runtime.Tool].
func (t *tool) Definition() *runtime.Definition { return t.def }

// Call implements [runtime.Tool].
func (t *tool) Call(ctx context.Context, args json.RawMessage) (*runtime.Result, error) {
	within, cancel := context.WithTimeout(ctx, t.set.options.Timeout)
	defer cancel()
	r, err := t.call(t.set, within, t.def.Name, args)
	if err != nil && ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded) && !saysWhy(err) {
		err = t.set.problem(t.def.Name, Problem{Class: TimedOut}, err)
	}
	return r, err
}

// saysWhy reports whether an error is about the statement itself, and no matter of time.
func saysWhy(err error) bool {
	t, ok := errors.AsType[*told](err)
	return ok && (t.class == Refused || t.class == WrongParams)
}

const nameOfTable = `"table_name":{"type":"string","description":"As list_tables shows it."}`

const cursorSchema = `"cursor":{"type":"string","description":"The next_cursor of the page before."}`

const statement = `"sql":{"type":"string","minLength":1,"description":"One statement in the database's own SQL."}`

const paramsSchema = `"params":{"type":"array","items":{"type":["string","number","boolean","null"]},"description":"The values of the statement's parameters, in order."}`

func object(properties string, required string) json.RawMessage {
	if required != "" {
		required = `,"required":["` + required + `"]`
	}
	return json.RawMessage(`{"type":"object","properties":{` + properties + `}` + required + `,"additionalProperties":false}`)
}

func (t *Toolset) makeTools() []runtime.Tool {
	o := &t.options
	reads := runtime.Hints{ReadOnly: runtime.Yes, Destructive: runtime.No, Idempotent: runtime.Yes, OpenWorld: runtime.No}
	runs := reads
	about := "Runs one statement that reads, and shows its rows."
	if o.AllowWrites {
		runs = runtime.Hints{ReadOnly: runtime.No, Destructive: runtime.Yes, Idempotent: runtime.No, OpenWorld: runtime.No}
		about = "Runs one statement: one that reads, and shows its rows, or INSERT, UPDATE or DELETE, which changes the database for good."
	}
	one := func(name, title, description string, input json.RawMessage, hints runtime.Hints, call func(*Toolset, context.Context, string, json.RawMessage) (*runtime.Result, error)) runtime.Tool {
		return &tool{t, &runtime.Definition{
			Name: o.Prefix + name, Title: title, Description: description, Input: input, Hints: hints,
			Sequential: hints.ReadOnly != runtime.Yes, Timeout: o.Timeout + grace, MaxResult: o.MaxResultBytes + tabular.Envelope,
		}, call}
	}
	return []runtime.Tool{
		one("list_tables", "List tables", "Lists the tables and views that may be used, sorted by name. row_estimate is a statistic, not a count.",
			object(`"match":{"type":"string","description":"Only those with this in their name, in any case."},`+cursorSchema, ""), reads, (*Toolset).listTables),
		one("get_schema", "Describe a table", "Shows the columns of a table or view, its primary key and its foreign keys.",
			object(nameOfTable+","+cursorSchema, "table_name"), reads, (*Toolset).getSchema),
		one("query", "Run SQL", about+fmt.Sprintf(" At most %d rows are shown; hint says what to ask where there are more.", o.MaxRows),
			object(statement+","+paramsSchema, "sql"), runs, (*Toolset).query),
		one("check_query", "Check SQL", "Checks whether query would take a statement, and says which columns it has and how many params it wants. Nothing runs.",
			object(statement, "sql"), reads, (*Toolset).checkQuery),
	}
}

// statementArgs are the arguments of query and check_query.
type statementArgs struct {
	sql    string
	params []Param
}

var statementFields = []toolimpl.Field{{Name: "sql", Required: true}, {Name: "params"}}

func readStatement(name string, args json.RawMessage, withParams bool) (s statementArgs, err error) {
	fields := statementFields
	if !withParams {
		fields = fields[:1]
	}
	r := toolimpl.Read(name, args, 0)
	o := r.Object(fields)
	for r.Next(&o) {
		switch key := string(r.Key()); {
		case key == "sql":
			if r.Field(&o, 0) {
				s.sql = r.String()
			}
		case key == "params" && withParams:
			if r.Field(&o, 1) {
				list := r.Array()
				for r.Element(&list) {
					s.params = append(s.params, Param{r.Raw()})
				}
			}
		default:
			r.Unknown(&o)
		}
	}
	r.End(&o)
	if err := r.Close(); err != nil {
		return s, err
	}
	for i, p := range s.params {
		if len(p.JSON) > 0 && (p.JSON[0] == '{' || p.JSON[0] == '[') {
			return s, runtime.Retryf("%s: param %d is an object or an array: want a string, a number, a boolean or null", name, i+1)
		}
	}
	return s, nil
}

// with does something with the database: what is open, or what is opened.
func (t *Toolset) with(ctx context.Context, do func(e Engine) error) error {
	lease, err := t.engine.Get(ctx)
	if err != nil {
		return &ConnectionError{Connection: t.id, Err: err}
	}
	defer lease.Release()
	err = do(lease.Value)
	if p, ok := errors.AsType[*ConnectionError](err); ok && p != nil {
		lease.Invalidate() // the next call opens it anew
	}
	return err
}

// guard has the engine's guard read a statement, which is to be closed.
func (t *Toolset) guard(ctx context.Context, e Engine, name, sql string) (Statement, error) {
	sql, err := clip(sql)
	if err == nil {
		var s Statement
		if s, err = e.Guard(ctx, sql); err == nil {
			return s, nil
		}
	}
	if r, ok := errors.AsType[*Refusal](err); ok {
		return nil, t.problem(name, Problem{Class: Refused, Message: r.Error()}, err)
	}
	return nil, t.mended(ctx, e, name, err)
}

// mended is the problem that an engine has, with what comes near where a name is unknown.
func (t *Toolset) mended(ctx context.Context, e Engine, name string, err error) error {
	p := e.Classify(err)
	if p.Class == UnknownTable && p.Name != "" {
		return t.noTable(ctx, e, name, p.Name)
	}
	return t.problem(name, p, err)
}

func (t *Toolset) query(ctx context.Context, name string, args json.RawMessage) (result *runtime.Result, err error) {
	s, err := readStatement(name, args, true)
	if err != nil {
		return nil, err
	}
	err = t.with(ctx, func(e Engine) error {
		r, again, err := t.run(ctx, e, name, s)
		if again { // on another connection
			r, _, err = t.run(ctx, e, name, s)
		}
		result = r
		return err
	})
	return result, err
}

// run runs a statement. Again says that its connection was lost before it had done or
// shown anything.
func (t *Toolset) run(ctx context.Context, e Engine, name string, s statementArgs) (r *runtime.Result, again bool, err error) {
	lost := func(err error) bool {
		_, ok := errors.AsType[*ConnectionError](err)
		return ok && ctx.Err() == nil
	}
	statement, err := t.guard(ctx, e, name, s.sql)
	if err != nil {
		return nil, lost(err), err
	}
	var w *tabular.Writer
	affected, err := statement.Query(ctx, s.params, func(columns []string) *tabular.Writer {
		w = tabular.New(ctx, columns, tabular.Bounds{MaxRows: t.options.MaxRows, MaxResultBytes: t.options.MaxResultBytes})
		return w
	})
	kind := statement.Verdict().Kind
	closed := statement.Close()
	switch {
	case err != nil:
		err = t.mended(ctx, e, name, err)
		return nil, lost(err) && w == nil && kind != Write, err
	case closed != nil:
		return nil, false, t.mended(ctx, e, name, closed)
	case w == nil:
		return &runtime.Result{Structured: fmt.Appendf(nil, `{"columns":[],"rows":[],"row_count":0,"rows_affected":%d}`, affected)}, false, nil
	case w.Err() != nil:
		return nil, false, fmt.Errorf("the rows can't be masked, and are withheld: %w", w.Err())
	default:
		return w.Finish(false, -1), false, nil
	}
}

func (t *Toolset) checkQuery(ctx context.Context, name string, args json.RawMessage) (result *runtime.Result, err error) {
	s, err := readStatement(name, args, false)
	if err != nil {
		return nil, err
	}
	err = t.with(ctx, func(e Engine) error {
		result, err = t.checked(ctx, e, name, s.sql)
		return err
	})
	return result, err
}

// checked is what check_query says of a statement: a problem of its own is a result.
func (t *Toolset) checked(ctx context.Context, e Engine, name, sql string) (*runtime.Result, error) {
	statement, err := t.guard(ctx, e, name, sql)
	var columns []Column
	params := 0
	if err == nil {
		columns, params, err = statement.Describe(ctx)
		if err = errors.Join(err, statement.Close()); err != nil {
			err = t.mended(ctx, e, name, err)
		}
	}
	out := []byte(`{"valid":true,"columns":[`)
	if told, ok := errors.AsType[*told](err); ok && told.class != TimedOut {
		out = schema.AppendString([]byte(`{"valid":false,"class":`), string(told.class))
		out = schema.AppendString(append(out, `,"error":`...), told.message)
		return &runtime.Result{Structured: append(out, '}')}, nil
	}
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		if i > 0 {
			out = append(out, ',')
		}
		out = schema.AppendString(append(out, `{"name":`...), c.Name)
		if c.Type != "" {
			out = schema.AppendString(append(out, `,"type":`...), c.Type)
		}
		out = append(out, '}')
	}
	out = fmt.Appendf(append(out, `],"params":`...), "%d}", params)
	return &runtime.Result{Structured: out}, nil
}

// A ConnectionError says that the database can't be reached, or was lost. It ends the
// run; a model doesn't read it.
type ConnectionError struct {
	Connection string // which
	MayHaveRun bool   // the statement, which may have changed something
	Err        error
}

// Error says whether the statement may have run.
func (e *ConnectionError) Error() string {
	text := e.Connection + ": the database can't be reached"
	if e.MayHaveRun {
		text = e.Connection + ": the database was lost, and the statement may have run"
	}
	return fmt.Sprintf("%s: %v", text, e.Err)
}

// Unwrap returns the cause.
func (e *ConnectionError) Unwrap() error { return e.Err }
