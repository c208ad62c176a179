package lock_test

import (
	"os"
	"testing"
	"time"

	"github.com/toolgen/toolgen/gen/internal/diag"
	"github.com/toolgen/toolgen/gen/internal/lock"
)

func nowhere(string, string) diag.Position { return diag.Position{} }

// FuzzCompare reads locks that anybody may have written, and compares them both
// ways with a real one and with themselves.
func FuzzCompare(f *testing.F) {
	seed, err := os.ReadFile("../../../toolgen.lock")
	if err != nil {
		f.Fatal(err)
	}
	kept, err := lock.Parse(seed)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		`{"tools":{"a":{"hook":"h","input":{"$ref":"#/$defs/N","$defs":{"N":{"properties":{"b":{"$ref":"#/$defs/N"}}}}},"sha256":""}},"version":1}`,
		`{"tools":{"a":{"hook":"h","input":{"$ref":"#/$defs/N","$defs":{"N":{"$ref":"#/$defs/N"}}},"sha256":""}},"version":1}`,
		`{"tools":{"a":{"hook":"h","input":{"type":["string"],"properties":[],"required":1,"enum":{},"anyOf":[1,{"properties":{"type":{"const":"x"}}}]},"sha256":""}},"version":1}`,
		`{"tools":{"a":{"hook":"h","input":{"minimum":1e1000000000,"maximum":"x","multipleOf":0},"output":{"items":false},"sha256":""}},"version":1}`,
		`{"tools":{"a":{"hook":"h","input":null,"sha256":""}},"version":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		other, err := lock.Parse(data)
		if err != nil {
			return
		}
		begin := time.Now()
		for _, pair := range [][2]*lock.File{{other, kept}, {kept, other}, {other, other}} {
			changes, err := lock.Compare(pair[0], pair[1], nowhere)
			if err == nil && pair[0] == pair[1] && len(changes) > 0 {
				t.Errorf("compared with itself: %v", changes)
			}
			for _, c := range changes {
				_ = c.String()
			}
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

// TestCompareEnds compares types that contain each other in another rhythm.
func TestCompareEnds(t *testing.T) {
	t.Parallel()
	parse := func(text string) *lock.File {
		f, err := lock.Parse([]byte(`{"tools":{"a":{"hook":"h","input":` + text + `,"sha256":""}},"version":1}`))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	even := parse(`{"properties":{"n":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"n":{"properties":{"n":{"$ref":"#/$defs/A"}}}}}}}`)
	odd := parse(`{"properties":{"n":{"properties":{"n":{"$ref":"#/$defs/A"}}}},"$defs":{"A":{"properties":{"n":{"properties":{"n":{"$ref":"#/$defs/A"}}}}}}}`)
	if changes, err := lock.Compare(even, odd, nowhere); err != nil || len(changes) != 0 {
		t.Errorf("%v, %v; want no change", changes, err)
	}
}
