package gen_test

import (
	"context"
	"fmt"

	"github.com/toolgen/toolgen/gen"
)

// Generating is pure: Check, Diff and Apply act on the result.
func ExampleGenerate() {
	ctx := context.Background()
	result, err := gen.Generate(ctx, gen.Options{Dir: "..", Patterns: []string{"./hooks/gitrepo"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range result.Diagnostics {
		if d.Severity != "note" { // such as that a run over a part leaves the lock alone
			fmt.Println(d)
		}
	}
	for _, t := range result.Tools {
		fmt.Println(t.Name, t.Hints)
	}
	changes, err := gen.Check(result)
	fmt.Println(len(changes), "changes,", err)
	// Output:
	// git_blame [readonly closedworld]
	// git_grep [readonly closedworld]
	// git_log [readonly closedworld]
	// git_show [readonly closedworld]
	// 0 changes, <nil>
}
