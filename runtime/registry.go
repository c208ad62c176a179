package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A Registry is the toolsets of a program, gathered once. It is safe for
// concurrent use; each agent run has a [Run] of its own.
type Registry struct {
	toolsets []Toolset
	opened   lifecycle
	scoped   bool // a toolset asks for state of the run

	mu       sync.Mutex
	consumed []string // decisions that were used, the latest last
}

// NewRegistry makes a registry of toolsets, whose order is the order in which
// a model sees their tools. It opens nothing: toolsets below which there is no
// [Opener] are listed here, so that a name that is not valid, or that two
// tools share but for case, is an error now; the others are checked at the
// first step.
func NewRegistry(toolsets ...Toolset) (*Registry, error) {
	r := &Registry{toolsets: slices.Clone(toolsets)}
	ids := make(map[string]bool, len(toolsets))
	var closed []Toolset
	for i, ts := range r.toolsets {
		if ts == nil {
			return nil, fmt.Errorf("toolset %d is nil: leave it out", i+1)
		}
		if err := checkBelow(ts, ids); err != nil {
			return nil, err
		}
		_, opens := As[Opener](ts)
		_, scoped := As[RunScoped](ts)
		r.scoped = r.scoped || scoped
		if !opens && !scoped {
			closed = append(closed, ts)
		}
	}
	if _, err := list(context.Background(), closed); err != nil {
		return nil, err
	}
	return r, nil
}

// checkBelow checks a toolset and those that it wraps.
func checkBelow(ts Toolset, ids map[string]bool) error {
	for inner := range walk(ts) {
		if id, ok := inner.(Identified); ok {
			if ids[id.ID()] {
				return fmt.Errorf("two toolsets have the ID %q: give each one of its own", id.ID())
			}
			ids[id.ID()] = true
		}
		if _, opens := inner.(Opener); opens && !reflect.TypeOf(inner).Comparable() {
			return fmt.Errorf("toolset %s can be opened, but not told from another: use a pointer to it", ownerName(inner))
		}
	}
	return nil
}

// Open opens every [Opener] that isn't open, in order. Run.Step does it too, so
// calling Open is a matter of when errors are seen. If one fails, those opened
// by this call are closed again, in reverse, and the next use tries again.
func (r *Registry) Open(ctx context.Context) error {
	_, err := r.opened.open(ctx, r.toolsets)
	return err
}

// Open opens the [Opener]s of a toolset that is in no registry, inner ones first,
// and returns what closes them again, in reverse. It is for wrappers that make
// toolsets as a run goes on.
func Open(ctx context.Context, ts Toolset) (closeAll func() error, err error) {
	var l lifecycle
	if _, err := l.open(ctx, []Toolset{ts}); err != nil {
		return nil, err
	}
	return l.close, nil
}

// Close closes what Open opened, in reverse order. It may be called twice.
func (r *Registry) Close() error {
	return r.opened.close()
}

// Instructions returns the texts of all [Instructor] toolsets for the system
// prompt, without secrets: static ones first, each group in registry order.
func (r *Registry) Instructions(ctx context.Context) ([]Instruction, error) {
	var static, dynamic []Instruction
	masker := NewMasker(slices.Collect(each[Secrets](r.toolsets))...)
	for in := range each[Instructor](r.toolsets) {
		texts, err := in.Instructions(ctx)
		if err != nil {
			return nil, fmt.Errorf("toolset %s: instructions: %w", ownerName(in), err)
		}
		for _, text := range texts {
			if len(text.Text) > maxInstruction {
				return nil, fmt.Errorf("toolset %s: an instruction has %d bytes, the limit is %d", ownerName(in), len(text.Text), maxInstruction)
			}
			text.Text = masker.Mask(text.Text)
			if text.Dynamic {
				dynamic = append(dynamic, text)
			} else {
				static = append(static, text)
			}
		}
	}
	return append(static, dynamic...), nil
}

// maxInstruction is how many bytes one text for the system prompt may have.
const maxInstruction = 16 << 10

// Watch calls changed after each change that a [Watcher] tells of, from any goroutine,
// until stop is called.
func (r *Registry) Watch(changed func()) (stop func()) {
	var stops []func()
	for w := range each[Watcher](r.toolsets) {
		stops = append(stops, w.Watch(changed))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// A listing is the tools of one step.
type listing struct {
	tools   []Tool
	entries []entry        // of tools, by index
	owners  []Toolset      // likewise
	byName  map[string]int // folded name to index
	masker  Masker
	waiting map[string]string // names of tools that are to be found first, and by which tool
	sources [][]Tool          // what each toolset returned: the same again is the same listing

	opening int // of the registry, in which it was made
}

// An entry is a tool with what a run needs to know of it, found once.
type entry struct {
	tool      Tool
	def       *Definition
	observers []Observer
	switches  []switched // of the observers, where all of them have one
}

// relist lists the tools of toolsets. Where all of them return what they did for
// the last listing, that is returned.
func relist(ctx context.Context, toolsets []Toolset, last *listing) (*listing, error) {
	if last == nil || len(last.sources) != len(toolsets) {
		return list(ctx, toolsets)
	}
	for i, ts := range toolsets {
		tools, err := ts.Tools(ctx)
		if err != nil {
			return nil, fmt.Errorf("toolset %s: %w", ownerName(ts), err)
		}
		if was := last.sources[i]; len(tools) != len(was) || len(was) > 0 && &tools[0] != &was[0] {
			return list(ctx, toolsets)
		}
	}
	return last, nil
}

// list asks every toolset for its tools and checks what they are called.
func list(ctx context.Context, toolsets []Toolset) (*listing, error) {
	l := &listing{sources: make([][]Tool, len(toolsets))}
	for i, ts := range toolsets {
		tools, err := ts.Tools(ctx)
		if err != nil {
			return nil, fmt.Errorf("toolset %s: %w", ownerName(ts), err)
		}
		l.sources[i] = tools
		if l.tools == nil {
			l.grow(len(tools))
		}
		for _, t := range tools {
			if err := l.add(ts, t); err != nil {
				return nil, err
			}
		}
		for inner := range walk(ts) {
			if s, ok := inner.(Secrets); ok {
				l.masker.secrets = append(l.masker.secrets, s)
			}
			if u, ok := inner.(Unloading); ok {
				l.keepBack(u.Unloaded(ctx))
			}
		}
	}
	return l, nil
}

func (l *listing) keepBack(names []string, search string) {
	if l.waiting == nil {
		l.waiting = make(map[string]string)
	}
	for _, name := range names {
		l.waiting[name] = search
	}
}

func (l *listing) grow(n int) {
	l.tools = make([]Tool, 0, n)
	l.entries = make([]entry, 0, n)
	l.owners = make([]Toolset, 0, n)
	l.byName = make(map[string]int, n)
}

func (l *listing) add(ts Toolset, t Tool) error {
	if t == nil {
		return fmt.Errorf("toolset %s: a tool is nil", ownerName(ts))
	}
	def := t.Definition()
	if err := def.check(); err != nil {
		return fmt.Errorf("toolset %s: %w", ownerName(ts), err)
	}
	if i, taken := l.byName[strings.ToLower(def.Name)]; taken {
		return fmt.Errorf("tool %s of %s and tool %s of %s have the same name: use wrap.Prefix or wrap.Rename on one",
			l.tools[i].Definition().Name, ownerName(l.owners[i]), def.Name, ownerName(ts))
	}
	hashed, err := def.withHash()
	if err != nil {
		return fmt.Errorf("toolset %s: %w", ownerName(ts), err)
	}
	if hashed != def {
		t = described{Tool: t, definition: hashed}
	}
	observers := observersOf(t)
	l.put(ts, entry{t, t.Definition(), observers, switchesOf(observers)})
	return nil
}

// put adds a tool that was checked.
func (l *listing) put(ts Toolset, e entry) {
	l.byName[strings.ToLower(e.def.Name)] = len(l.tools)
	l.tools = append(l.tools, e.tool)
	l.entries = append(l.entries, e)
	l.owners = append(l.owners, ts)
}

// find returns the tool with exactly that name.
func (l *listing) find(name string) (*entry, bool) {
	i, ok := l.byName[strings.ToLower(name)]
	if !ok || l.entries[i].def.Name != name {
		return nil, false
	}
	return &l.entries[i], true
}

func (l *listing) names() []string {
	names := make([]string, len(l.tools))
	for i, t := range l.tools {
		names[i] = t.Definition().Name
	}
	slices.Sort(names)
	return names
}

// described is a tool with a definition that the registry filled in.
type described struct {
	Tool
	definition *Definition
}

func (d described) Definition() *Definition { return d.definition }
func (d described) Unwrap() Tool            { return d.Tool }

// lifecycle keeps what is open.
type lifecycle struct {
	mu     sync.Mutex
	isOpen map[Opener]bool
	order  []Opener
	closed int // how often
}

// current tells the time between one closing and the next from others.
func (l *lifecycle) current() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

func (l *lifecycle) open(ctx context.Context, toolsets []Toolset) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.order)
	for _, ts := range toolsets {
		if err := l.openBelow(ctx, ts); err != nil {
			return 0, errors.Join(err, l.closeDownTo(before))
		}
	}
	return l.closed, nil
}

// openBelow opens the openers of ts, inner ones first: a wrapper that opens
// something may need what it wraps.
func (l *lifecycle) openBelow(ctx context.Context, ts Toolset) error {
	if w, ok := ts.(ToolsetWrapper); ok {
		for _, inner := range w.Unwrap() {
			if err := l.openBelow(ctx, inner); err != nil {
				return err
			}
		}
	}
	o, ok := ts.(Opener)
	if !ok || l.isOpen[o] {
		return nil
	}
	if err := o.Open(ctx); err != nil {
		return fmt.Errorf("toolset %s: open: %w", ownerName(ts), err)
	}
	if l.isOpen == nil {
		l.isOpen = make(map[Opener]bool)
	}
	l.isOpen[o] = true
	l.order = append(l.order, o)
	return nil
}

func (l *lifecycle) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed++
	return l.closeDownTo(0)
}

func (l *lifecycle) closeDownTo(n int) error {
	var errs []error
	for len(l.order) > n {
		last := l.order[len(l.order)-1]
		l.order = l.order[:len(l.order)-1]
		delete(l.isOpen, last)
		if c, ok := last.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
