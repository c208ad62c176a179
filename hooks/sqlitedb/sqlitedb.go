// Package sqlitedb is a bookshop in one SQLite file: what a team would expose
// of a database of its own. Its methods are questions and actions with names
// and types, not SQL.
package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // registers sqlite3
)

// Errors that a caller can act on.
var (
	ErrNotFound = errors.New("not found")
	ErrRefused  = errors.New("refused")
)

// Status is how far an order has come.
type Status string

// The states of an order.
const (
	Open      Status = "open"      // paid, not yet sent
	Shipped   Status = "shipped"   // on its way or delivered
	Cancelled Status = "cancelled" // will never be sent
)

// Shop is an open shop.
//
//toolgen:toolset prefix=shop
type Shop struct {
	db *sql.DB
}

// OpenShop opens the shop in an existing file.
func OpenShop(ctx context.Context, path string) (*Shop, error) {
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=rw&_pragma=busy_timeout(5000)&_pragma=foreign_keys(on)")
	if err != nil {
		return nil, fmt.Errorf("open shop %s: %w", path, err)
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open shop %s: %w", path, err), db.Close())
	}
	return &Shop{db: db}, nil
}

// Close closes the file.
func (s *Shop) Close() error { return s.db.Close() }

// Customer is somebody who has bought something.
type Customer struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	City  string `json:"city"`
}

// FindCustomers finds customers by a part of their name or e-mail address.
//
// Parameters:
//   - text: a part of the name or address
//   - limit: how many to return
//
// Returns: the customers, ordered by name
//
//toolgen:expose
//toolgen:readonly
//toolgen:closedworld
//toolgen:param text minLength=2
//toolgen:param limit default=20 minimum=1 maximum=100
func (s *Shop) FindCustomers(ctx context.Context, text string, limit int) ([]Customer, error) {
	pattern := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text) + "%"
	const query = `SELECT id, name, email, city FROM customers
		WHERE name LIKE ?1 ESCAPE '\' OR email LIKE ?1 ESCAPE '\' ORDER BY name, id LIMIT ?2`
	return collect(ctx, s.db, func(rows *sql.Rows) (c Customer, err error) {
		return c, rows.Scan(&c.ID, &c.Name, &c.Email, &c.City)
	}, query, pattern, limit)
}

// collect scans all rows of a query.
func collect[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), query string, args ...any) (out []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// OrderSummary is an order without its lines.
type OrderSummary struct {
	ID         int64     `json:"id"`
	Status     Status    `json:"status"`
	OrderedAt  time.Time `json:"ordered_at"`
	TotalCents int64     `json:"total_cents"`
}

// OrderFilter says which orders are wanted. A field that is left out filters
// nothing.
type OrderFilter struct {
	Status *Status    `json:"status,omitempty"` // how far the orders have come
	Since  *time.Time `json:"since,omitempty"`  // only orders from then on
}

// ListOrders lists the orders of a customer, the newest first, at most 100.
//
// Parameters:
//   - customerID: the customer's number, as [Shop.FindCustomers] returns it
//   - filter: which of the orders
//
//toolgen:expose
//toolgen:readonly
//toolgen:closedworld
//toolgen:errors failed=ErrNotFound
func (s *Shop) ListOrders(ctx context.Context, customerID int64, filter OrderFilter) ([]OrderSummary, error) {
	if err := s.exists(ctx, "customers", customerID); err != nil {
		return nil, err
	}
	const query = `SELECT o.id, o.status, o.ordered_at, coalesce(sum(l.quantity * l.unit_cents), 0)
		FROM orders o LEFT JOIN order_lines l ON l.order_id = o.id
		WHERE o.customer_id = ?1 AND (?2 IS NULL OR o.status = ?2) AND (?3 IS NULL OR o.ordered_at >= ?3)
		GROUP BY o.id ORDER BY o.ordered_at DESC, o.id DESC LIMIT 100`
	var since *string
	if filter.Since != nil {
		text := filter.Since.UTC().Format(time.RFC3339)
		since = &text
	}
	return collect(ctx, s.db, func(rows *sql.Rows) (o OrderSummary, err error) {
		return o, rows.Scan(&o.ID, &o.Status, &o.OrderedAt, &o.TotalCents)
	}, query, customerID, filter.Status, since)
}

// exists returns ErrNotFound if a table has no row with an id.
func (s *Shop) exists(ctx context.Context, table string, id int64) error {
	var one int
	err := s.db.QueryRowContext(ctx, "SELECT 1 FROM "+table+" WHERE id = ?", id).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %s has no number %d", ErrNotFound, table, id)
	}
	return err
}

// Line is one article of an order.
type Line struct {
	Title     string `json:"title"`
	Quantity  int    `json:"quantity"`
	UnitCents int64  `json:"unit_cents"`
}

// Order is an order with all that belongs to it.
type Order struct {
	OrderSummary
	Customer      Customer `json:"customer"`
	Lines         []Line   `json:"lines"`
	RefundedCents int64    `json:"refunded_cents"`
}

// GetOrder returns an order with its customer, lines and refunds.
//
// Parameters:
//   - orderID: the number of the order
//
//toolgen:expose
//toolgen:readonly
//toolgen:closedworld
//toolgen:errors failed=ErrNotFound
func (s *Shop) GetOrder(ctx context.Context, orderID int64) (*Order, error) {
	const query = `SELECT o.id, o.status, o.ordered_at, c.id, c.name, c.email, c.city,
			(SELECT coalesce(sum(cents), 0) FROM refunds WHERE order_id = o.id)
		FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = ?`
	var o Order
	err := s.db.QueryRowContext(ctx, query, orderID).Scan(&o.ID, &o.Status, &o.OrderedAt,
		&o.Customer.ID, &o.Customer.Name, &o.Customer.Email, &o.Customer.City, &o.RefundedCents)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: there is no order %d", ErrNotFound, orderID)
	}
	if err != nil {
		return nil, err
	}
	const lines = `SELECT b.title, l.quantity, l.unit_cents FROM order_lines l JOIN books b ON b.id = l.book_id
		WHERE l.order_id = ? ORDER BY l.id`
	o.Lines, err = collect(ctx, s.db, func(rows *sql.Rows) (l Line, err error) {
		return l, rows.Scan(&l.Title, &l.Quantity, &l.UnitCents)
	}, lines, orderID)
	for _, l := range o.Lines {
		o.TotalCents += int64(l.Quantity) * l.UnitCents
	}
	return &o, err
}

// Sales is how well a book sold.
type Sales struct {
	Title        string `json:"title"`
	Author       string `json:"author"`
	Copies       int64  `json:"copies"`
	RevenueCents int64  `json:"revenue_cents"`
}

// BestSellers lists the books that sold best in a period, cancelled orders left
// out.
//
// Parameters:
//   - from: the beginning of the period
//   - to: its end, not included
//   - limit: how many books
//
//toolgen:expose
//toolgen:readonly
//toolgen:closedworld
//toolgen:param limit default=10 minimum=1 maximum=50
//toolgen:errors retry=ErrRefused
func (s *Shop) BestSellers(ctx context.Context, from, to time.Time, limit int) ([]Sales, error) {
	if !from.Before(to) {
		return nil, fmt.Errorf("%w: from must be before to", ErrRefused)
	}
	const query = `SELECT b.title, b.author, sum(l.quantity), sum(l.quantity * l.unit_cents)
		FROM order_lines l JOIN orders o ON o.id = l.order_id JOIN books b ON b.id = l.book_id
		WHERE o.status <> 'cancelled' AND o.ordered_at >= ?1 AND o.ordered_at < ?2
		GROUP BY b.id ORDER BY 3 DESC, b.title LIMIT ?3`
	return collect(ctx, s.db, func(rows *sql.Rows) (v Sales, err error) {
		return v, rows.Scan(&v.Title, &v.Author, &v.Copies, &v.RevenueCents)
	}, query, from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), limit)
}

// Refund is money paid back.
type Refund struct {
	ID        int64 `json:"id"`
	OrderID   int64 `json:"order_id"`
	Cents     int64 `json:"cents"`
	LeftCents int64 `json:"left_cents"` // of the order, still to be refunded
}

// RefundOrder pays a part of an order back to its customer. It can't be undone.
//
// Parameters:
//   - orderID: the number of the order
//   - cents: how much, in cents, at most what is left of the order's total
//   - reason: why, for the customer's statement
//
//toolgen:expose
//toolgen:destructive
//toolgen:closedworld
//toolgen:sequential
//toolgen:timeout 10s
//toolgen:param cents minimum=1
//toolgen:param reason minLength=1 maxLength=200
//toolgen:errors failed=ErrNotFound,ErrRefused
func (s *Shop) RefundOrder(ctx context.Context, orderID, cents int64, reason string) (r Refund, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return Refund{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	var left int64
	const query = `SELECT (SELECT coalesce(sum(quantity * unit_cents), 0) FROM order_lines WHERE order_id = o.id)
		- (SELECT coalesce(sum(cents), 0) FROM refunds WHERE order_id = o.id) FROM orders o WHERE o.id = ?`
	switch err := tx.QueryRowContext(ctx, query, orderID).Scan(&left); {
	case errors.Is(err, sql.ErrNoRows):
		return Refund{}, fmt.Errorf("%w: there is no order %d", ErrNotFound, orderID)
	case err != nil:
		return Refund{}, err
	case cents < 1 || cents > left:
		return Refund{}, fmt.Errorf("%w: %d cents can't be refunded: %d cents of order %d are left", ErrRefused, cents, left, orderID)
	}
	const insert = `INSERT INTO refunds (order_id, cents, reason) VALUES (?, ?, ?) RETURNING id`
	r = Refund{OrderID: orderID, Cents: cents, LeftCents: left - cents}
	if err := tx.QueryRowContext(ctx, insert, orderID, cents, reason).Scan(&r.ID); err != nil {
		return Refund{}, err
	}
	return r, tx.Commit()
}
