package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// subnetID is the slot of the tests.
var subnetID = checks.NewSlot[string]("subnet ID")

// sets is a check or an operation that sets the slot, and needs one that fails if it is unset.
func sets[R checks.PassRequest, Res any](res Res) func(context.Context, R) (Res, error) {
	return func(_ context.Context, req R) (Res, error) {
		subnetID.Set(req, "s-1")
		return res, nil
	}
}

func needs[R checks.PassRequest, Res any](res Res) func(context.Context, R) (Res, error) {
	return func(_ context.Context, req R) (Res, error) {
		_, err := subnetID.Get(req)
		return res, err
	}
}

func TestSlot(t *testing.T) {
	type ofPool = *checks.Request[*pool]
	found := chain.New(checks.Check("finds", sets[ofPool](checks.Proceed())))
	needed := chain.New(checks.Check("needs", needs[ofPool](checks.Proceed())))
	restores := link("restores", restoring[checks.Request[*pool], checks.Result])
	present := flow.Observation{Presence: checks.Present}
	get, reads := sets[*request](present), needs[*request](present)
	creates, applies := sets[*request](flow.Done()), needs[*request](flow.Done())
	copies := linkOn("copies", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
		c := *req
		return next(ctx, &c)
	})
	cases := map[string]struct {
		reason string
		set    func(*ops, *ext, *pool)
		unset  bool
	}{
		"OwnerCheck": {"Apply reads what an owner check found", func(o *ops, e *ext, _ *pool) {
			e.OwnerCheck, o.Apply = chain.New(checks.Check("finds", sets[*checks.OwnerRequest](checks.Proceed()))), applies
		}, false},
		"GetCheck": {"Get reads what its check found", func(o *ops, e *ext, _ *pool) { e.GetCheck, o.Get = found, reads }, false},
		"GetAfterPoll": {"Get after a poll reads it, too", func(o *ops, e *ext, p *pool) {
			e.GetCheck, e.PostCheck, o.Get = found, needed, reads
			o.Token = func(*pool) (string, int64) { return "t", 0 }
			o.SetToken = func(context.Context, *pool, string, int64) error { return nil }
		}, false},
		"GetOfDeletion": {"Get before DeleteCheck reads it, also if the check then blocks", func(o *ops, e *ext, p *pool) {
			p.deleting, e.GetCheck, e.DeleteCheck, o.Get = true, chain.New(checks.Check("blocks", sets[ofPool](checks.Block("NotNow", "not now")))), needed, reads
		}, false},
		"DeleteOfGetCheck": {"Delete reads it, if there is no DeleteCheck", func(o *ops, e *ext, p *pool) { p.deleting, e.GetCheck, o.Delete = true, found, applies }, false},
		"PreCheck":         {"Apply reads what a check found", func(o *ops, e *ext, _ *pool) { e.PreCheck, o.Apply = found, applies }, false},
		"Get":              {"Apply reads what Get found", func(o *ops, _ *ext, _ *pool) { o.Get, o.Apply = get, applies }, false},
		"Apply":            {"a check after Apply reads what Apply made", func(o *ops, e *ext, _ *pool) { o.Apply, e.PostCheck = creates, needed }, false},
		"CopyForApply":     {"a copy of the request shares the values that Apply sets", func(o *ops, e *ext, _ *pool) { o.Apply, e.Apply, e.PostCheck = creates, copies, needed }, false},
		"Delete":           {"Delete reads what a delete check found", func(o *ops, e *ext, p *pool) { p.deleting, e.DeleteCheck, o.Delete = true, found, applies }, false},
		"Convert": {"Apply reads what a check of another version found", func(o *ops, e *ext, _ *pool) {
			*e = flow.Convert(ext{PreCheck: found}, func(p *pool) (*pool, error) { c := *p; return &c, nil })
			o.Apply = applies
		}, false},
		"Unset":   {"no check set the slot", func(o *ops, _ *ext, _ *pool) { o.Apply = applies }, true},
		"TooLate": {"PostCheck runs after Apply", func(o *ops, e *ext, _ *pool) { o.Apply, e.PostCheck = applies, found }, true},
		"Skipped": {"an outer link skipped the check", func(o *ops, e *ext, _ *pool) {
			o.Apply, e.PreCheck = applies, found.Prepend(returns[ofPool]("skips", checks.Skip("on request"), nil))
		}, true},
	}
	for name, tc := range cases {
		for _, restored := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restored=%t", name, restored), func(t *testing.T) {
				o, e, p := (&cloud{}).operations(), ext{}, &pool{}
				tc.set(&o, &e, p)
				if restored { // a link that restores its request after the checks changes nothing
					e.EntryCheck, e.OwnerCheck = e.EntryCheck.Prepend(restores), e.OwnerCheck.Prepend(link("restores", restoring[checks.OwnerRequest, checks.Result]))
					e.GetCheck, e.PreCheck, e.PostCheck = e.GetCheck.Prepend(restores), e.PreCheck.Prepend(restores), e.PostCheck.Prepend(restores)
				}
				out := flow.New("Pool", o, e).Reconcile(t.Context(), p)
				if got := errors.Is(out.Err(), checks.ErrSlotUnset); got != tc.unset || !got && out.Err() != nil {
					t.Errorf("%s: %s, %v", tc.reason, out, out.Err())
				}
			})
		}
	}
}

// A pass does not see the values of an earlier pass, and a poll runs no check
// before Apply.
func TestSlotIsOfThePass(t *testing.T) {
	c := &cloud{answers: []answer{{progress: flow.InProgress("token", 0)}, {progress: flow.Done()}}}
	o, read := c.storing(), []error(nil)
	operate := o.Apply
	o.Apply = func(ctx context.Context, req *request) (flow.Progress, error) {
		_, err := subnetID.Get(req)
		read = append(read, err)
		return operate(ctx, req)
	}
	finding := true
	r := flow.New("Pool", o, ext{PreCheck: chain.New(chain.When(func(context.Context, *checks.Request[*pool]) bool { return finding },
		checks.Check("finds", sets[*checks.Request[*pool]](checks.Proceed()))))})
	p := &pool{}
	r.Reconcile(t.Context(), p) // starts
	r.Reconcile(t.Context(), p) // polls
	r.Reconcile(t.Context(), p) // applies again
	finding = false
	r.Reconcile(t.Context(), p) // applies without the check
	var unset []bool
	for _, err := range read {
		unset = append(unset, errors.Is(err, checks.ErrSlotUnset))
	}
	mustEqual(t, "only a pass whose check found the subnet has it", []bool{false, true, false, true}, unset)
}

// The operations of an engine and the extensions of a kind share the slots.
func TestSlotOfRegistry(t *testing.T) {
	o := (&cloud{}).things()
	made := checks.NewSlot[string]("made")
	o.Apply = func(ctx context.Context, req *flow.Request[Resource]) (flow.Progress, error) {
		made.Set(req, "m-1")
		return needs[*flow.Request[Resource]](flow.Done())(ctx, req)
	}
	var registry flow.Registry[Resource]
	flow.Register(&registry, "Pool", ext{
		PreCheck: chain.New(checks.Check("finds", sets[*checks.Request[*pool]](checks.Proceed()))),
		PostCheck: chain.New(checks.Check("needs", func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
			_, err := made.Get(req)
			return checks.Proceed(), err
		})),
	})
	if out := must(registry.For("Pool", o)).Reconcile(t.Context(), &pool{name: "p"}); out.State() != flow.StateReady {
		t.Errorf("%s, %v", out, out.Err())
	}
}
