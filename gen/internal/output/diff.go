package output

import (
	"fmt"
	"slices"
	"strings"
)

// around is how many equal lines are shown around a difference.
const around = 3

// Diff returns changes as a unified diff, with names relative to what rel
// makes of them.
func Diff(changes []Change, rel func(string) string) string {
	var b strings.Builder
	for _, c := range changes {
		from, to := "a/"+rel(c.Path), "b/"+rel(c.Path)
		if c.Kind == Create {
			from = "/dev/null"
		}
		if c.Kind == Delete {
			to = "/dev/null"
		}
		fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
		unified(&b, splitLines(c.Old), splitLines(c.New))
	}
	return b.String()
}

func splitLines(data []byte) []string {
	return slices.Collect(strings.Lines(string(data)))
}

// An edit is a run of lines of the old text that is replaced by a run of the
// new one.
type edit struct{ oldStart, oldEnd, newStart, newEnd int }

// edits finds what differs. It anchors on lines that are there once in both
// texts, in order, as patience diff does: fast, and it follows declarations.
func edits(a, b []string) []edit {
	var out []edit
	i, j := 0, 0
	for _, anchor := range append(anchors(a, b), [2]int{len(a), len(b)}) {
		x, y := anchor[0], anchor[1]
		for i < x && j < y && a[i] == b[j] {
			i, j = i+1, j+1
		}
		endX, endY := x, y
		for endX > i && endY > j && a[endX-1] == b[endY-1] {
			endX, endY = endX-1, endY-1
		}
		if i < endX || j < endY {
			out = append(out, edit{i, endX, j, endY})
		}
		i, j = x+1, y+1
	}
	return out
}

// anchors returns pairs of lines that are unique and equal, the longest
// sequence in which both numbers rise.
func anchors(a, b []string) [][2]int {
	once := func(lines []string) map[string]int {
		at := make(map[string]int, len(lines))
		for i, l := range lines {
			if _, twice := at[l]; twice {
				at[l] = -1
				continue
			}
			at[l] = i
		}
		return at
	}
	inA, inB := once(a), once(b)
	var pairs [][2]int
	for i, l := range a {
		if j, ok := inB[l]; ok && j >= 0 && inA[l] == i {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	return rising(pairs)
}

// rising returns the longest subsequence whose second numbers rise.
func rising(pairs [][2]int) [][2]int {
	var tails []int // index in pairs of the last of the best sequence of each length
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(tails, p[1], func(t, y int) int { return pairs[t][1] - y })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	var out [][2]int
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			out = append(out, pairs[i])
		}
	}
	slices.Reverse(out)
	return out
}

// unified writes hunks: edits that are near each other share one.
func unified(b *strings.Builder, old, now []string) {
	list := edits(old, now)
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].oldStart-list[n-1].oldEnd <= 2*around {
			n++
		}
		hunk(b, old, now, list[:n])
		list = list[n:]
	}
}

func hunk(b *strings.Builder, old, now []string, list []edit) {
	first, last := list[0], list[len(list)-1]
	lead := min(around, first.oldStart)
	tail := min(around, len(old)-last.oldEnd)
	oldFrom, newFrom := first.oldStart-lead, first.newStart-lead
	oldLen, newLen := last.oldEnd+tail-oldFrom, last.newEnd+tail-newFrom
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(oldFrom, oldLen), span(newFrom, newLen))
	at := oldFrom
	for _, e := range list {
		writeLines(b, " ", old[at:e.oldStart])
		writeLines(b, "-", old[e.oldStart:e.oldEnd])
		writeLines(b, "+", now[e.newStart:e.newEnd])
		at = e.oldEnd
	}
	writeLines(b, " ", old[at:last.oldEnd+tail])
}

// span is a range of lines as a hunk's header has it.
func span(from, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, n)
}

func writeLines(b *strings.Builder, mark string, lines []string) {
	for _, l := range lines {
		b.WriteString(mark + l)
		if !strings.HasSuffix(l, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
