//go:build race

package sqltest

// Slow is how many times as long things may take.
const Slow = 10
