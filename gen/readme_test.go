package gen_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestREADME finds the code of README.md in the files that it is from.
func TestREADME(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		data, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	readme := read("README.md")
	sources := read("hooks/sqlitedb/sqlitedb.go") + read("examples/demo/main.go")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readme, -1)
	if len(blocks) < 2 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(sources, b[1]) {
			t.Errorf("this code of the README is nowhere in the tree:\n%s", b[1])
		}
	}
	script := read("cmd/toolgen/testdata/script/breaking.txtar")
	for _, line := range regexp.MustCompile(`(?m)^orders/orders.go:.*$`).FindAllString(readme, -1) {
		if !strings.Contains(script, line+"\n") {
			t.Errorf("no script prints this line of the README: %s", line)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(readme, -1) {
		if _, err := os.Stat("../" + link[1]); err != nil {
			t.Errorf("the README links %s: %v", link[1], err)
		}
	}
}
