package classify

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// ownRules returns n rules with a code each. The last one has a condition on
// the message, too.
func ownRules(n int) Table {
	t := make(Table, n)
	for i := range t {
		t[i] = Rule{Code: fmt.Sprintf("OwnCode%d", i), Retry: Fast}
	}
	t[n-1].Message = Contains("try again later")
	return t
}

const busy = "The resource is busy with another operation, please try again later."

func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations are not exact under the race detector")
	}
	ctx := context.Background()
	handle := Compose(ownRules(30).Chain())
	code := ownRules(30)[29].Code
	hit := respErr(code, 409, busy, "Retry-After", "15")
	bare := respErr("Conflict", 409, "")
	failure := newFailure(hit, "2024-05-01", noon)
	long := "x" + fmt.Sprintf("%0100d", 0)

	cases := map[string]struct {
		reason string
		work   func() Classification
		rule   string
		want   float64
	}{
		"contains":      {"a failure and a classification", func() Classification { return decided(handle(ctx, newFailure(hit, "2024-05-01", noon))) }, code + `, message contains "try again later"`, 2},
		"default":       {"a failure and a classification", func() Classification { return decided(handle(ctx, newFailure(bare, "", noon))) }, "Conflict", 2},
		"classify only": {"a classification", func() Classification { return decided(handle(ctx, failure)) }, code + `, message contains "try again later"`, 1},
		"unknown":       {"a classification and a failure, after all general rules", func() Classification { return decided(handle(ctx, &Failure{Code: long, Message: busy})) }, "Unknown", 2},
		"clock":         {"the wall clock adds no allocation", func() Classification { return decided(handle(ctx, newFailure(bare, "", time.Time{}))) }, "Conflict", 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.work().Rule(); got != c.rule {
				t.Fatalf("decided by %q, want %q", got, c.rule)
			}
			if got := testing.AllocsPerRun(200, func() { c.work() }); got != c.want {
				t.Errorf("%s: %v allocations, want %v", c.reason, got, c.want)
			}
		})
	}
}

func decided(c Classification, _ error) Classification { return c }

// Contains takes as long for a long text as for a short one. The message
// matches the start of the text at each letter.
func TestContainsRatio(t *testing.T) {
	ratio.InVerify(t)
	f := &Failure{Message: strings.Repeat("a", 100_000)}
	mismatch := func(length int) func() {
		m := Contains(strings.Repeat("a", length-1) + "b")
		return func() { m.matches(nil, f) }
	}
	// A naive search would take about fifty times as long.
	if r := ratio.Of(mismatch(10_000), mismatch(100), ratio.Options{}); r > 10 {
		t.Errorf("a text of 10,000 letters takes %.1f times as long as one of 100", r)
	}
}
