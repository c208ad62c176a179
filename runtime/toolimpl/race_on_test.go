//go:build race

package toolimpl_test

// raceSlack is what the race detector adds to the allocations of a call: it
// makes pools drop a part of what they are given, on purpose.
const raceSlack = 4
