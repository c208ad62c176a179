package toolimpl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/runtime"
	"github.com/toolgen/toolgen/runtime/internal/fixture"
	"github.com/toolgen/toolgen/runtime/internal/fixture/fixturetools"
)

const (
	smallArgs  = `{"city":"Lisbon","days":3,"unit":"celsius"}`
	mediumArgs = `{"order":{"id":"A-1001","customer":9007199254740993,"priority":"high","placed":"2026-03-01T10:00:00Z",` +
		`"ship":{"street":"1 Main Street","city":"Lisbon","zip":"1000-001"},"bill":{"street":"2 Side Street","city":"Porto","zip":"4000-001"},` +
		`"lines":[{"sku":"B-1","quantity":2,"price":12.5,"tags":["new","paper"]},{"sku":"B-2","quantity":1,"price":8},{"sku":"B-3","quantity":10,"price":0.99}],` +
		`"meta":{"source":"web","campaign":"spring"},"note":"leave at the door \u2013 thanks"}}`
)

func largeArgs() string {
	points := make([]string, 1000)
	for i := range points {
		points[i] = fmt.Sprintf(`{"x":%d,"y":%d,"name":"point %d"}`, i, -i, i)
	}
	return `{"points":[` + strings.Join(points, ",") + `]}`
}

// tool returns a generated tool of the fixture.
func tool(tb testing.TB, name string) runtime.Tool {
	tb.Helper()
	tools, err := fixturetools.NewService(&fixture.Service{}).Tools(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	for _, t := range tools {
		if t.Definition().Name == name {
			return t
		}
	}
	tb.Fatalf("there is no tool %s", name)
	return nil
}

// handCall is the whole call by hand: decode, hook, result.
func handCall(ctx context.Context, name string, args []byte) (*runtime.Result, error) {
	var s fixture.Service
	if name == "fixture_small" {
		city, days, unit, err := handSmall(args)
		if err != nil {
			return nil, err
		}
		w, err := s.Small(ctx, city, days, unit)
		return handWeather(w), err
	}
	order, err := handMedium(args)
	if err != nil {
		return nil, err
	}
	r, err := s.Medium(ctx, order)
	return handReceipt(&r), err
}

var calls = []struct{ name, args string }{
	{"fixture_small", smallArgs},
	{"fixture_medium", mediumArgs},
}

// BenchmarkCall measures a generated call and the hand-written one in turns,
// and reports the ratio of their times.
func BenchmarkCall(b *testing.B) {
	ctx := context.Background()
	for _, c := range calls {
		t, args := tool(b, c.name), []byte(c.args)
		generated := func() { use(b)(t.Call(ctx, args)) }
		byHand := func() { use(b)(handCall(ctx, c.name, args)) }
		b.Run(c.name, func(b *testing.B) { ratio(b, generated, byHand) })
	}
}

// BenchmarkStandard compares a generated call with encoding/json, which checks
// less.
func BenchmarkStandard(b *testing.B) {
	ctx := context.Background()
	medium := tool(b, "fixture_medium")
	var s fixture.Service
	b.Run("medium", func(b *testing.B) {
		ratio(b, func() { use(b)(medium.Call(ctx, []byte(mediumArgs))) }, func() {
			var args struct{ Order fixture.Order }
			if err := json.Unmarshal([]byte(mediumArgs), &args); err != nil {
				b.Fatal(err)
			}
			r, _ := s.Medium(ctx, args.Order)
			if _, err := json.Marshal(r); err != nil {
				b.Fatal(err)
			}
		})
	})
}

func use(tb testing.TB) func(*runtime.Result, error) {
	tb.Helper()
	return func(r *runtime.Result, err error) {
		if err != nil || r == nil {
			tb.Fatal(r, err)
		}
	}
}

// ratio runs two functions in turns, so that what else the machine does hits
// both alike.
func ratio(b *testing.B, ours, theirs func()) {
	b.Helper()
	const turn = 200
	var mine, other stopwatch
	for b.Loop() {
		mine.run(turn, ours)
		other.run(turn, theirs)
	}
	b.ReportMetric(mine.median()/other.median(), "ratio")
	b.ReportMetric(testing.AllocsPerRun(100, ours), "allocs/call")
	b.ReportMetric(testing.AllocsPerRun(100, theirs), "allocs/other")
	b.ReportMetric(0, "ns/op")
}

// TestR17Allocations pins what a call allocates: the strings, slices, pointers
// and maps of the arguments, and one for a small result.
func TestR17Allocations(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		args string
		most float64
	}{
		"fixture_small":  {smallArgs, 2 + 1},
		"fixture_medium": {mediumArgs, 27 + 1},
		"fixture_large":  {largeArgs(), 1000 + 10 + 1},
	} {
		tl, args := tool(t, name), []byte(c.args)
		n := testing.AllocsPerRun(50, func() {
			if _, err := tl.Call(ctx, args); err != nil {
				t.Fatal(err)
			}
		})
		if n > c.most+raceSlack {
			t.Errorf("%s: %.0f allocations, want at most %.0f", name, n, c.most)
		}
	}
}
