package sqlitedb_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolgen/toolgen/hooks/sqlitedb"
	"github.com/toolgen/toolgen/hooks/sqlitedb/sqlitedbtools"
	"github.com/toolgen/toolgen/runtime"
)

func open(t *testing.T) *sqlitedb.Shop {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	if err := sqlitedb.Seed(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	shop, err := sqlitedb.OpenShop(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shop.Close(); err != nil {
			t.Error(err)
		}
	})
	return shop
}

// TestSeedIsTheSame makes the data set twice.
func TestSeedIsTheSame(t *testing.T) {
	t.Parallel()
	var sums [2][sha256.Size]byte
	for i := range sums {
		path := filepath.Join(t.TempDir(), "shop.db")
		if err := sqlitedb.Seed(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(data)
	}
	if sums[0] != sums[1] {
		t.Error("two data sets differ")
	}
}

func TestShop(t *testing.T) {
	t.Parallel()
	shop, ctx := open(t), t.Context()
	found, err := shop.FindCustomers(ctx, "ada", 3)
	if err != nil || len(found) != 3 || !strings.Contains(strings.ToLower(found[0].Name), "ada") {
		t.Fatalf("%v, %v", found, err)
	}
	if found, err := shop.FindCustomers(ctx, "%%", 20); err != nil || len(found) != 0 {
		t.Errorf("a wildcard is taken for one: %v, %v", found, err)
	}
	status := sqlitedb.Shipped
	orders, err := shop.ListOrders(ctx, found[0].ID, sqlitedb.OrderFilter{Status: &status})
	if err != nil || len(orders) == 0 {
		t.Fatalf("%v, %v", orders, err)
	}
	order, err := shop.GetOrder(ctx, orders[0].ID)
	if err != nil || order.TotalCents != orders[0].TotalCents || order.Customer.ID != found[0].ID || len(order.Lines) == 0 {
		t.Fatalf("%+v, %v", order, err)
	}
	from := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	best, err := shop.BestSellers(ctx, from, from.AddDate(0, 1, 0), 3)
	if err != nil || len(best) != 3 || best[0].Copies < best[1].Copies || best[0].RevenueCents == 0 {
		t.Errorf("%v, %v", best, err)
	}
	if _, err := shop.BestSellers(ctx, from, from, 10); !errors.Is(err, sqlitedb.ErrRefused) {
		t.Errorf("an empty period: %v", err)
	}
}

func TestRefund(t *testing.T) {
	t.Parallel()
	shop, ctx := open(t), t.Context()
	order, err := shop.GetOrder(ctx, 7)
	if err != nil {
		t.Fatal(err)
	}
	r, err := shop.RefundOrder(ctx, 7, order.TotalCents-1, "late")
	if err != nil || r.LeftCents != 1 || r.ID != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, cents := range []int64{0, -1, 2} {
		if _, err := shop.RefundOrder(ctx, 7, cents, "late"); !errors.Is(err, sqlitedb.ErrRefused) {
			t.Errorf("%d cents: %v", cents, err)
		}
	}
	if _, err := shop.RefundOrder(ctx, 1<<40, 1, "late"); !errors.Is(err, sqlitedb.ErrNotFound) {
		t.Errorf("an order that isn't there: %v", err)
	}
	if r, err := shop.RefundOrder(ctx, 7, 1, "rest"); err != nil || r.LeftCents != 0 {
		t.Errorf("after refusals: %+v, %v", r, err)
	}
}

// TestTools calls the generated tools as a model does.
func TestTools(t *testing.T) {
	t.Parallel()
	registry, err := runtime.NewRegistry(sqlitedbtools.NewShop(open(t)))
	if err != nil {
		t.Fatal(err)
	}
	run, err := registry.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, args string
		kind       runtime.Kind
		has        string
	}{
		{"shop_list_orders", `{"customer_id":7}`, runtime.OK, `"status"`},
		{"shop_list_orders", `{"customer_id":7,"filter":{"status":"open","since":"2025-01-01T00:00:00Z"}}`, runtime.OK, `"result"`},
		{"shop_list_orders", `{"customer_id":7,"filter":{"status":"lost"}}`, runtime.Retry, `/filter/status: want one of "open", "shipped", "cancelled", got the string "lost"`},
		{"shop_list_orders", `{"customer_id":7000}`, runtime.Failed, "customers has no number 7000"},
		{"shop_get_order", `{"order_id":1}`, runtime.OK, `"lines":[{"title"`},
		{"shop_find_customers", `{"text":"a"}`, runtime.Retry, "at least 2 characters"},
	} {
		out, err := run.Call(context.Background(), runtime.Call{ID: "1", Name: c.tool, Args: json.RawMessage(c.args)})
		if err != nil {
			t.Errorf("%s %s: %v", c.tool, c.args, err)
			continue
		}
		text := out[0].Message
		if out[0].Kind == runtime.OK {
			text = string(out[0].Result.Structured)
		}
		if out[0].Kind != c.kind || !strings.Contains(text, c.has) {
			t.Errorf("%s %s: %s %.200s; want %s with %s", c.tool, c.args, out[0].Kind, text, c.kind, c.has)
		}
	}
}
