package postgres_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/toolgen/toolgen/runtime/toolset/sqltool/postgres"
)

const head = `# The built-in functions that a statement may call, made from the catalogue of PostgreSQL
# 15 by the rule of functions.go, and reviewed. Newer servers, and older ones, are judged by
# this list too, and by the rule again: go test -run TestS22FunctionList -update
`

// TestS22FunctionList makes the list of functions anew.
func TestS22FunctionList(t *testing.T) {
	t.Parallel()
	c := admin(t, "template1")
	var version, reserved string
	if err := c.QueryRow(context.Background(), "SELECT current_setting('server_version_num'), ("+postgres.ReservedSQL+")").Scan(&version, &reserved); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(version, "15") {
		t.Skipf("the list is that of PostgreSQL 15, and the server's version is %s", version)
	}
	rows, err := c.Query(context.Background(), `SELECT proname, bool_and(provolatile <> 'v'),
		bool_and(NOT $1::oid[] && (proargtypes::oid[] || prorettype || coalesce(proallargtypes, '{}')))
		FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace GROUP BY proname ORDER BY proname COLLATE "C"`, reserved)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var b strings.Builder
	b.WriteString(head)
	for rows.Next() {
		var name string
		var steady, clean bool
		if err := rows.Scan(&name, &steady, &clean); err != nil {
			t.Fatal(err)
		}
		if postgres.IsBuiltIn(name, steady, clean) {
			b.WriteString(name + "\n")
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("functions.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if now, err := os.ReadFile("functions.txt"); err != nil || string(now) != b.String() {
		t.Errorf("functions.txt isn't what the catalogue gives: run with -update, and read the difference (%v)", err)
	}
}
