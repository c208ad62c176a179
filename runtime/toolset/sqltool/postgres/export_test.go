package postgres

import "context"

// ReservedSQL is the query of the types that name what there is.
var ReservedSQL = reservedSQL

// IsBuiltIn is the rule of functions.txt.
func IsBuiltIn(name string, steady, clean bool) bool { return isBuiltIn(name, steady, clean) }

// KeepParser starts the parser, waits for it, and keeps it.
func KeepParser() error {
	parsers.open()
	_, err := parsers.parse(context.Background(), "SELECT 1")
	return err
}
