package chaintest_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
)

func TestOrder(t *testing.T) {
	abc := chain.New(pass("a"), pass("b"), pass("c"))
	cases := map[string]struct {
		reason string
		names  []string
		want   string // a part of the error; empty: no error
	}{
		"Same":    {"the order is equal", []string{"a", "b", "c"}, ""},
		"Swapped": {"another order fails", []string{"a", "c", "b"}, "want: a -> c -> b\n  got:  a -> b -> c"},
		"TooMany": {"the chain lacks a link of the list", []string{"a", "b", "c", "d"}, "want: a -> b -> c -> d\n"},
		"None":    {"the list is empty", nil, "got:  a -> b -> c"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, func(t rapid.TB) { chaintest.Order(t, abc, tc.names...) })
			if got.Failed() != (tc.want != "") || !strings.Contains(got.Reported(), tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.Reported(), tc.want)
			}
		})
	}
}
