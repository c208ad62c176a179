package main

import (
	"strings"
	"testing"
)

// TestTour takes the tour, which is an error if a stop ends in another way
// than it should.
func TestTour(t *testing.T) {
	t.Setenv("DEMO_DATA", t.TempDir())
	var out strings.Builder
	agent, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := tour(t.Context(), &out, agent.registry); err != nil {
		t.Fatal(err)
	}
	if err := agent.close(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		`/orderId: unknown property; did you mean "order_id"?`,
		"refused: 99999999 cents can't be refunded",
		`"isbn":"9780000000001"`,
		"shop_opening_hours",
		`{"columns":["name","sold"],"rows":[["`,
		"table customers is not allowed; allowed: authors, books, order_lines, orders",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tour doesn't show %q", want)
		}
	}
}
