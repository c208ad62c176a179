package toolimpl_test

import (
	"slices"
	"time"
)

// A stopwatch takes the times of turns.
type stopwatch struct{ turns []float64 }

func (s *stopwatch) run(n int, f func()) {
	start := time.Now()
	for range n {
		f()
	}
	s.turns = append(s.turns, float64(time.Since(start))/float64(n))
}

// median is the time of one call in the middle turn.
func (s *stopwatch) median() float64 {
	slices.Sort(s.turns)
	return s.turns[len(s.turns)/2]
}
