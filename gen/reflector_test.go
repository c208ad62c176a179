package gen_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v84/github"
	"github.com/invopop/jsonschema"

	"github.com/toolgen/toolgen/gen"
	"github.com/toolgen/toolgen/hooks/gitrepo"
	"github.com/toolgen/toolgen/hooks/httpapi"
	"github.com/toolgen/toolgen/hooks/sqlitedb"
)

// TestReflector compares the schemas of results with what the reflector of
// invopop/jsonschema makes of the same compiled types: same properties, same
// kinds, however deep. The differences that package schema lists are taken out
// on both sides.
func TestReflector(t *testing.T) {
	t.Parallel()
	r, err := gen.Generate(t.Context(), gen.Options{Dir: ".."})
	if err != nil {
		t.Fatal(err)
	}
	s := scenario{T: t}
	for tool, value := range map[string]any{
		"shop_get_order":    sqlitedb.Order{},
		"shop_refund_order": sqlitedb.Refund{},
		"git_show":          gitrepo.Details{},
		"api_get":           httpapi.Response{},
		"github_get_readme": github.RepositoryContent{},
		"github_get_issue":  github.Issue{},
	} {
		reflector := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Mapper: knownTypes}
		theirs, err := json.Marshal(reflector.Reflect(value))
		if err != nil {
			t.Fatal(err)
		}
		c := comparison{ours: parse(t, s.schema(r, tool, "output")), theirs: parse(t, string(theirs)), done: make(map[string]bool)}
		c.compare("", c.ours, c.theirs)
		if len(c.differences) > 0 {
			t.Errorf("%s:\n%s", tool, strings.Join(c.differences, "\n"))
		}
		if c.properties == 0 {
			t.Errorf("%s: nothing was compared", tool)
		}
	}
}

// knownTypes are those that the reflector takes for structs.
func knownTypes(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[github.Timestamp]() {
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	}
	return nil
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

type comparison struct {
	ours, theirs map[string]any // whole
	done         map[string]bool
	properties   int
	differences  []string
}

func (c *comparison) differf(at, format string, args ...any) {
	c.differences = append(c.differences, at+": "+fmt.Sprintf(format, args...))
}

// resolve follows references, and reports false for one that was compared.
func (c *comparison) resolve(root map[string]any, s map[string]any) (map[string]any, string) {
	ref, ok := s["$ref"].(string)
	if !ok {
		return s, ""
	}
	defs, _ := root["$defs"].(map[string]any)
	name := strings.TrimPrefix(ref, "#/$defs/")
	target, _ := defs[name].(map[string]any)
	return target, name
}

func (c *comparison) compare(at string, ours, theirs map[string]any) {
	ours, name := c.resolve(c.ours, ours)
	theirs, _ = c.resolve(c.theirs, theirs)
	if name != "" {
		if c.done[name] {
			return
		}
		c.done[name] = true
	}
	for _, key := range []string{"type", "format", "contentEncoding"} {
		if fmt.Sprint(ours[key]) != fmt.Sprint(theirs[key]) {
			c.differf(at, "%s is %v, the reflector says %v", key, ours[key], theirs[key])
		}
	}
	mine, _ := ours["properties"].(map[string]any)
	other, _ := theirs["properties"].(map[string]any)
	if a, b := slices.Sorted(maps.Keys(mine)), slices.Sorted(maps.Keys(other)); !slices.Equal(a, b) {
		c.differf(at, "properties are %v, the reflector says %v", a, b)
		return
	}
	for name := range mine {
		c.properties++
		c.sub(at+"/"+name, mine[name], other[name])
	}
	c.sub(at+"/items", ours["items"], theirs["items"])
	c.sub(at+"/*", ours["additionalProperties"], theirs["additionalProperties"])
}

func (c *comparison) sub(at string, ours, theirs any) {
	mine, isSchema := ours.(map[string]any)
	other, otherIs := theirs.(map[string]any)
	switch {
	case isSchema && otherIs:
		c.compare(at, mine, other)
	case isSchema && len(mine) == 0 && (theirs == true || theirs == nil): // any
	case isSchema && mine["type"] == nil && theirs == true: // any, described
	case isSchema != otherIs && (ours != nil || theirs != false): // results are open, the reflector closes objects
		c.differf(at, "is %v, the reflector says %v", ours, theirs)
	}
}
