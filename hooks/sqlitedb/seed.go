package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// ddl makes the six tables of a shop.
const ddl = `
CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author TEXT NOT NULL, author_id INTEGER NOT NULL REFERENCES authors, cents INTEGER NOT NULL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, city TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers, status TEXT NOT NULL, ordered_at DATETIME NOT NULL);
CREATE TABLE order_lines (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders, book_id INTEGER NOT NULL REFERENCES books, quantity INTEGER NOT NULL, unit_cents INTEGER NOT NULL);
CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders, cents INTEGER NOT NULL CHECK (cents > 0), reason TEXT NOT NULL);
CREATE INDEX orders_by_customer ON orders (customer_id, ordered_at);
CREATE INDEX lines_by_order ON order_lines (order_id);
`

// The size of the data set: 40 authors, 300 books, 1,000 customers, 3,000
// orders and 8,386 lines.
const (
	authorCount   = 40
	bookCount     = 300
	customerCount = 1000
	orderCount    = 3000
)

var (
	firstNames = []string{"Ada", "Alan", "Barbara", "Carl", "Dorothy", "Edsger", "Frances", "Grace", "Hedy", "Ivan", "Joan", "Ken", "Leslie", "Margaret", "Niklaus", "Radia", "Shafi", "Tony"}
	lastNames  = []string{"Adler", "Becker", "Castillo", "Dubois", "Eriksen", "Fischer", "Gallo", "Haddad", "Ito", "Jansen", "Kowalski", "Lindqvist", "Moreau", "Novak", "Okafor", "Petrov", "Quinn", "Rossi", "Silva", "Tanaka"}
	cities     = []string{"Berlin", "Lisbon", "Oslo", "Prague", "Turin", "Utrecht", "Vienna", "Warsaw"}
	adjectives = []string{"Silent", "Crooked", "Northern", "Last", "Hidden", "Patient", "Burning", "Distant", "Glass", "Borrowed"}
	nouns      = []string{"Harbour", "Letter", "Orchard", "Compass", "Winter", "Library", "Garden", "Signal", "Bridge", "Atlas"}
)

// Seed makes a shop with a data set in a new file. The data is the same every
// time.
func Seed(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		return fmt.Errorf("seed %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("seed %s: %w", path, err)
	}
	s := seeder{ctx: ctx, tx: tx, random: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // the data must be the same every time
	s.exec(ddl)
	s.books()
	s.customers()
	s.orders()
	if s.err != nil {
		return errors.Join(fmt.Errorf("seed %s: %w", path, s.err), tx.Rollback())
	}
	return tx.Commit()
}

// seeder inserts rows; its first error ends it.
type seeder struct {
	ctx    context.Context //nolint:containedctx // lives for one call
	tx     *sql.Tx
	random *rand.Rand
	prices []int64
	err    error
}

func (s *seeder) exec(query string, args ...any) {
	if s.err == nil {
		_, s.err = s.tx.ExecContext(s.ctx, query, args...)
	}
}

func (s *seeder) pick(from []string) string { return from[s.random.IntN(len(from))] }

func (s *seeder) person() string { return s.pick(firstNames) + " " + s.pick(lastNames) }

func (s *seeder) books() {
	authors := make([]string, authorCount)
	for i := range authors {
		authors[i] = s.person()
		s.exec("INSERT INTO authors VALUES (?, ?)", i+1, authors[i])
	}
	for i := range bookCount {
		title := fmt.Sprintf("The %s %s", s.pick(adjectives), s.pick(nouns))
		if i >= len(adjectives)*len(nouns)/2 {
			title = fmt.Sprintf("%s, Volume %d", title, 2+s.random.IntN(4))
		}
		author := s.random.IntN(authorCount)
		s.prices = append(s.prices, int64(500+s.random.IntN(60)*50))
		s.exec("INSERT INTO books VALUES (?, ?, ?, ?, ?)", i+1, title, authors[author], author+1, s.prices[i])
	}
}

func (s *seeder) customers() {
	for i := range customerCount {
		name := s.person()
		s.exec("INSERT INTO customers VALUES (?, ?, ?, ?)", i+1, name, fmt.Sprintf("customer%d@example.com", i+1), s.pick(cities))
	}
}

func (s *seeder) orders() {
	start := time.Date(2025, time.January, 1, 8, 0, 0, 0, time.UTC)
	line := 0
	for i := range orderCount {
		at := start.Add(time.Duration(i)*2*time.Hour + time.Duration(s.random.IntN(7000))*time.Second)
		status := Shipped
		switch n := s.random.IntN(20); {
		case n == 0:
			status = Cancelled
		case n < 3:
			status = Open
		}
		s.exec("INSERT INTO orders VALUES (?, ?, ?, ?)", i+1, 1+s.random.IntN(customerCount), string(status), at.Format(time.RFC3339))
		for range 1 + s.random.IntN(4)*s.random.IntN(2) + s.random.IntN(3) {
			line++
			book := s.random.IntN(bookCount)
			s.exec("INSERT INTO order_lines VALUES (?, ?, ?, ?, ?)", line, i+1, book+1, 1+s.random.IntN(3), s.prices[book])
		}
	}
}
