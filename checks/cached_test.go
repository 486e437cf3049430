package checks_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Cached remembers 1,024 keys.
func TestCachedSize(t *testing.T) {
	ran := 0
	check := checks.Compose(chain.New(checks.Cached(time.Hour, func(req request) int { return req.Resource.Version },
		checks.Check("a", func(context.Context, request) (checks.Result, error) { ran++; return checks.Proceed(), nil }))))
	ask := func(version int) { _, _ = check(t.Context(), ofDatabase(&Database{Version: version})) }
	for v := range 1025 {
		ask(v + 1)
	}
	ran = 0
	ask(2)
	ask(1025)
	if ran != 0 {
		t.Error("one of 1,024 keys is not remembered")
	}
	if ask(1); ran != 1 {
		t.Error("of 1,025 keys the oldest is remembered")
	}
}

// A key that is not equal to itself is not remembered, and takes no room of
// other keys. The trace shows a remembered proceed.
func TestCachedOddKeys(t *testing.T) {
	key := func(req request) float64 {
		if req.Resource.Version == 0 {
			return math.NaN()
		}
		return float64(req.Resource.Version)
	}
	check := checks.Cached(time.Hour, key, returns[request]("a", checks.Proceed(), nil))
	mustAnswer(t, "the check runs for an unknown key", proceeding(), check, ofDatabase(&Database{Version: 1}))
	for range 1024 {
		if _, err := ask(t, check, ofDatabase(&Database{})); err != nil {
			t.Fatal(err)
		}
	}
	mustAnswer(t, "1,024 keys that are not remembered drop no other key", proceeding("remembered"), check, ofDatabase(&Database{Version: 1}))
	fails := checks.Cached(time.Hour, func(request) int { return 1 }, returns[request]("a", checks.Result{}, errTest))
	if _, err := ask(t, fails, ofDatabase(nil)); !errors.Is(err, errTest) {
		t.Errorf("the error of the check is lost: %v", err)
	}
	odd := checks.Cached(time.Hour, func(request) any { return []int{1} }, returns[request]("a", checks.Proceed(), nil))
	_, err := ask(t, odd, ofDatabase(nil))
	if p := (&chain.PanicError{}); !errors.As(err, &p) || p.Link != "Cached(a)" {
		t.Errorf("a key that cannot be compared must fail: error %v", err)
	}
}

// A check decides otherwise in a deletion and after Apply. So what it decided
// there is remembered for the like requests only, whatever the key is.
func TestCachedFacts(t *testing.T) {
	key := func(request) int { return 1 }
	ofOwner := func(deleting bool) request {
		req := ofDatabase(&Database{})
		req.Owner = checks.Object{Ref: prod, Value: &Cluster{}, Deleting: true}
		req.Deleting = deleting
		return req
	}
	owner := checks.Cached(time.Hour, key, checks.OnOwner[*Database](checks.OwnerReady()))
	if got, err := ask(t, owner, ofOwner(true)); err != nil || !got.Result.Proceeds() {
		t.Errorf("an owner that is being deleted does not hold a deletion: got %v, %v", got, err)
	}
	if got, err := ask(t, owner, ofOwner(false)); err != nil || !got.Result.Blocked() {
		t.Errorf("the same owner blocks a resource that no user deletes: got %v, %v", got, err)
	}
	mustAnswer(t, "the next deletion is remembered", proceeding("remembered"), owner, ofOwner(true))

	failed := "Failed"
	ofState := func(applied bool) request {
		req := ofDatabase(&Database{})
		req.Applied = applied
		return req
	}
	state := checks.Cached(time.Hour, key, checks.ProvisioningState(func(*Database) *string { return &failed }))
	mustAnswer(t, "a failed resource may be changed", proceeding(), state, ofState(false))
	if got, err := ask(t, state, ofState(true)); err != nil || !got.Result.Blocked() {
		t.Errorf("a failed resource is not Ready after Apply: got %v, %v", got, err)
	}
}

func TestCachedSetUp(t *testing.T) {
	key := func(request) int { return 1 }
	a := returns[request]("a", checks.Proceed(), nil)
	mustPanic(t, map[string]setUp{
		"NoKey":  {"the key function is required", func() { checks.Cached[request, int](time.Hour, nil, a) }, "checks: Cached(a): the key function is nil"},
		"NoTime": {"a ttl of zero remembers nothing", func() { checks.Cached(0, key, a) }, "checks: Cached(a): the ttl is 0s: give a positive duration"},
		"Nil":    {"the check is required", func() { checks.Cached(time.Hour, key, nil) }, "checks: Cached: link nil" + rawRefused},
		"Raw":    {"Cached refuses a raw link", func() { checks.Cached(time.Hour, key, chain.Named("raw", func(next handler) handler { return next })) }, "checks: Cached: link raw" + rawRefused},
		"Gate":   {"Cached refuses a gate, which must act in each pass", func() { checks.Cached(time.Hour, key, checks.Gate("backup", proceeds)) }, "checks: Cached: link Gate(backup)" + rawRefused},
	})
	checks.Cached(1, key, a) // a nanosecond is positive
}
