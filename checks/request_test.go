package checks_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// The slots of the tests.
var (
	region = checks.NewSlot[string]("region")
	parent = checks.NewSlot[*Cluster]("cluster")
	cause  = checks.NewSlot[error]("cause")
)

// sets is a check that sets a slot.
func sets[R checks.PassRequest, V any](slot *checks.Slot[V], value V) chain.Middleware[R, checks.Result] {
	return checks.Check("sets", func(_ context.Context, req R) (checks.Result, error) {
		slot.Set(req, value)
		return checks.Proceed(), nil
	})
}

// reads is a check that blocks with the value of a slot as its message.
func reads[R checks.PassRequest, V any](slot *checks.Slot[V]) chain.Middleware[R, checks.Result] {
	return checks.Check("reads", func(_ context.Context, req R) (checks.Result, error) {
		value, err := slot.Get(req)
		if err != nil {
			return checks.Result{}, err
		}
		return checks.Block("Read", fmt.Sprintf("%+v", value)), nil
	})
}

func TestSlot(t *testing.T) {
	type in = request
	copying := raw("copies", func(ctx context.Context, req in, next handler) (checks.Result, error) {
		c := *req
		return next(ctx, &c)
	})
	cases := map[string]struct {
		reason string
		links  []link
		want   string // the value that reads found; empty: the slot is unset
	}{
		"SetTwice":   {"the later value replaces the earlier one", []link{sets[in](region, "north"), sets[in](region, "south"), reads[in](region)}, "south"},
		"NilPointer": {"a nil pointer is a value", []link{sets[in](parent, nil), reads[in](parent)}, "<nil>"},
		"OnOwner":    {"an owner check sets a slot for checks of the resource", []link{checks.OnOwner[*Database](sets[ownerRequest](region, "north")), reads[in](region)}, "north"},
		"All":        {"each check in All runs", []link{checks.All(sets[in](region, "north"), sets[in](cause, errTest)), reads[in](region)}, "north"},
		"When":       {"a check inside When sets a slot for all later checks", []link{chain.When(func(context.Context, in) bool { return true }, sets[in](region, "north")), reads[in](region)}, "north"},
		"Copy":       {"a copy of the request shares the values", []link{sets[in](cause, errTest), copying, sets[in](region, "north"), copying, reads[in](region)}, "north"},
		"Unset":      {"no check set the slot", []link{reads[in](region)}, ""},
		"SameName":   {"another slot of the same name is another slot", []link{sets[in](checks.NewSlot[string]("region"), "north"), reads[in](region)}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res, err := checks.Compose(chain.New(tc.links...))(t.Context(), &checks.Request[*Database]{})
			if errors.Is(err, checks.ErrSlotUnset) != (tc.want == "") || err == nil && res.Message() != tc.want {
				t.Errorf("%s: got %s, %v, want %q", tc.reason, res, err, tc.want)
			}
		})
	}
}

// The checks of two versions of an API and the caller share the slots.
func TestSlotConvert(t *testing.T) {
	type newer struct{}
	old := checks.Convert(chain.New(sets[request](region, "north")), func(newer) (*Database, error) { return &Database{}, nil })
	req := &checks.Request[newer]{}
	res, err := checks.Compose(old.Append(reads[*checks.Request[newer]](region)))(t.Context(), req)
	if after, unset := region.Get(req); err != nil || res.Message() != "north" || unset != nil || after != "north" {
		t.Errorf("%s, %v; the caller reads %q, %v", res, err, after, unset)
	}
}

// The texts name the slot, the place that declares it, and the place that reads
// it.
func TestSlotErrors(t *testing.T) {
	unset := "it is not set in this pass: a check before the reader must run and call Set; a check that Cached remembers, a check that is left out, and a poll of an operation under way set nothing"
	var none *checks.Slot[string]
	cases := map[string]struct {
		reason string
		slot   *checks.Slot[string]
		req    checks.PassRequest
		want   string
		is     error
	}{
		"Unset":      {"the slot has no value", region, &checks.OwnerRequest{}, "checks: slot region, declared at checks/request_test.go:N and read at checks/request_test.go:N: " + unset, checks.ErrSlotUnset},
		"Nil":        {"there is no request", region, nil, "checks: slot region, used at checks/request_test.go:N: the request is nil", checks.ErrNilRequest},
		"NilRequest": {"a nil pointer is no request", region, request(nil), "checks: slot region, used at checks/request_test.go:N: the request is nil", checks.ErrNilRequest},
		"NilSlot":    {"a nil slot holds nothing", none, &checks.OwnerRequest{}, "checks: the slot used at checks/request_test.go:N was not declared: make it with checks.NewSlot", nil},
	}
	line := regexp.MustCompile(`_test\.go:\d+`)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.slot.Get(tc.req)
			if diff := cmp.Diff(tc.want, line.ReplaceAllString(fmt.Sprint(err), "_test.go:N")); diff != "" || got != "" || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s: %q, -want, +got:\n%s", tc.reason, got, diff)
			}
			if tc.is == checks.ErrSlotUnset {
				return
			}
			if text := line.ReplaceAllString(panicOf(func() { tc.slot.Set(tc.req, "") }), "_test.go:N"); text != tc.want {
				t.Errorf("%s: Set panics with %q", tc.reason, text)
			}
		})
	}
	declared, read, _ := strings.Cut(fmt.Sprint(func() error { _, err := region.Get(&checks.OwnerRequest{}); return err }()), " and read at ")
	if place, _, _ := strings.Cut(read, ": "); strings.HasSuffix(declared, place) {
		t.Errorf("both places are %s", place)
	}
}

func TestSlotAllocations(t *testing.T) {
	req := &checks.Request[*Database]{}
	check := checks.Compose(chain.New(sets[request](parent, &Cluster{})))
	if n := testing.AllocsPerRun(100, func() {
		_, _ = check(ctx, req)
		_, _ = parent.Get(req)
	}); n != 0 {
		t.Errorf("setting a pointer again and reading it: %v allocations, want none", n)
	}
}
