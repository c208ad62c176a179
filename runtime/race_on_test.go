//go:build race

package runtime_test

// raceEnabled tells tests that count allocations: the race detector makes its own.
const raceEnabled = true
