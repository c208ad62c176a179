package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/toolgen/toolgen/gen"
)

// progressAfter is how long a run may take before it says what it does.
const progressAfter = time.Second

// progress shows one line on a terminal while a run takes long: what it does.
// The function that it returns takes the line away.
func (c *command) progress() (stop func()) {
	f, ok := c.stderr.(*os.File)
	if !ok || c.quiet || os.Getenv("TERM") == "dumb" || os.Getenv("CI") != "" {
		return func() {}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return func() {}
	}
	p := &progressLine{w: f}
	timer := time.AfterFunc(progressAfter, p.show)
	c.options.Progress = p.set
	return func() {
		timer.Stop()
		p.clear()
	}
}

// A progressLine is a line of a terminal that is written over.
type progressLine struct {
	mu    sync.Mutex
	w     io.Writer
	text  string
	shown bool
	ended bool
}

func (p *progressLine) set(e gen.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = e.Stage
	if p.shown {
		p.print()
	}
}

func (p *progressLine) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.shown = true
		p.print()
	}
}

func (p *progressLine) print() { fmt.Fprintf(p.w, "\r\x1b[Ktoolgen: %s", p.text) }

func (p *progressLine) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown && !p.ended {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.shown, p.ended = false, true
}
