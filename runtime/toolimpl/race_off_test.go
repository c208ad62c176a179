//go:build !race

package toolimpl_test

// raceSlack is nothing: allocations are exact.
const raceSlack = 0
