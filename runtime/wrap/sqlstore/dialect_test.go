package sqlstore

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver"
)

// TestR34SQLiteDurable has a connection whose commits aren't synced sync them, and only
// while a record is kept.
func TestR34SQLiteDurable(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	level := func() (now int) {
		if err := conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	for before, within := range map[int]int{0: 2, 1: 2, 2: 2, 3: 3} {
		if err := pragma(t.Context(), conn, "synchronous", before); err != nil {
			t.Fatal(err)
		}
		restore, err := sqliteSet(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
		if got := level(); got != within {
			t.Errorf("synchronous=%d: %d while a record is kept, want %d", before, got, within)
		}
		if restore(); level() != before {
			t.Errorf("synchronous=%d: %d afterwards", before, level())
		}
	}
}
