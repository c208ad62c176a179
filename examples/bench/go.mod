module github.com/toolgen/toolgen/examples/bench

go 1.26.0

require (
	github.com/pganalyze/pg_query_go/v6 v6.2.2
	google.golang.org/protobuf v1.36.12
)
