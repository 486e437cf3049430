package checks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

// The laws hold for all links that a user can write. So here links are data: a
// program is a list of steps, and each step can be made into a link. An oracle
// computes the answer of a program by recursion over the list.

// op is the behaviour of a link.
type op string

const (
	// Checks, which never see next.
	proceed   op = "proceed"
	block     op = "block"
	skip      op = "skip"
	ignore    op = "ignore"
	finish    op = "finish"
	release   op = "release"
	fail      op = "fail"      // an error
	withError op = "withError" // proceed and an error
	zero      op = "zero"      // the zero Result
	panicking op = "panicking" // panics
	all       op = "all"       // All, of the parts
	gate      op = "gate"      // a Gate that proceeds
	nested    op = "nested"    // a block of a chain that the check runs
	// Raw links.
	pass        op = "pass"        // calls next
	copying     op = "copying"     // calls next with a copy of the request
	restoring   op = "restoring"   // calls next, and restores the request as it was before
	twice       op = "twice"       // calls next twice
	repeatFirst op = "repeatFirst" // calls next once, then repeats that answer
	blockAfter  op = "blockAfter"  // calls next, and blocks
	failAfter   op = "failAfter"   // calls next, and returns an error
	recoverFail op = "recoverFail" // returns its own error for the panic of an inner link
	before      op = "before"      // runs chains of its own, and calls next
	after       op = "after"       // calls next, and runs chains of its own
	// Raw links with a fault.
	forget         op = "forget"         // proceeds and does not call next
	override       op = "override"       // calls next, and proceeds whatever next returned
	recoverProceed op = "recoverProceed" // proceeds after the panic of an inner link
	ownRequest     op = "ownRequest"     // passes on a request of its own
	nilRequest     op = "nilRequest"     // passes on nil
	panicAfter     op = "panicAfter"     // calls next, and panics
	instead        op = "instead"        // returns the proceed of a chain of its own
)

var (
	decisions = []op{proceed, proceed, proceed, block, skip, ignore, finish, release, fail, withError, zero, panicking}
	anything  = append([]op{all, gate, nested, pass, pass, copying, copying, restoring, twice, repeatFirst, blockAfter, failAfter, recoverFail, before, after, forget, override, override,
		recoverProceed, ownRequest, nilRequest, panicAfter, instead}, decisions...)
)

// step is one link as data.
type step struct {
	ID    string
	Op    op
	Parts []step // of all
}

// failure is an error, and a value of a panic, that differs from others by its
// text.
type failure string

func (f failure) Error() string { return string(f) }

// decides returns the result of a step, or panics with it.
func (s step) decides() (checks.Result, error) {
	switch s.Op {
	case block, nested, blockAfter:
		return checks.Block(s.ID, "blocked by "+s.ID, checks.WithWaitingFor(checks.Ref{Name: s.ID})), nil
	case skip:
		return checks.Skip(s.ID), nil
	case ignore:
		return checks.Ignore(s.ID), nil
	case finish:
		return checks.Finished(s.ID, ""), nil
	case release:
		return checks.Release(s.ID), nil
	case fail, failAfter, recoverFail:
		return checks.Result{}, failure(s.ID)
	case withError:
		return checks.Proceed(), failure(s.ID)
	case zero:
		return checks.Result{}, nil
	case panicking, panicAfter, recoverProceed:
		panic(failure(s.ID))
	}
	return checks.Proceed(), nil
}

// trace records the links that a call ran, in order.
type trace struct{ asked []string }

type traceKey struct{}

func note(ctx context.Context, id string) {
	t := ctx.Value(traceKey{}).(*trace)
	t.asked = append(t.asked, id)
}

// composing composes links. Its function also names the link that decided.
type composing[R any] = func(links ...chain.Middleware[R, checks.Result]) func(ctx context.Context, req R) (res checks.Result, by string, err error)

// composedAs composes links by Compose, after a change of the chain.
func composedAs[R any](change func(chain.Chain[R, checks.Result]) chain.Chain[R, checks.Result]) composing[R] {
	return func(links ...chain.Middleware[R, checks.Result]) func(context.Context, R) (checks.Result, string, error) {
		h := checks.Compose(change(chain.New(links...)))
		return func(ctx context.Context, req R) (checks.Result, string, error) {
			res, err := h(ctx, req)
			return res, decidedBy(req), err
		}
	}
}

// as changes nothing.
func as[R any](c chain.Chain[R, checks.Result]) chain.Chain[R, checks.Result] { return c }

// linksOf makes the links of a program.
func linksOf[R any](p []step, k kind[R]) []chain.Middleware[R, checks.Result] {
	out := make([]chain.Middleware[R, checks.Result], len(p))
	for n, s := range p {
		out[n] = linkOf(s, k)
	}
	return out
}

func linkOf[R any](s step, k kind[R]) chain.Middleware[R, checks.Result] {
	decide := func(ctx context.Context, req R) (checks.Result, error) {
		note(ctx, s.ID)
		return s.decides()
	}
	switch s.Op {
	case proceed, block, skip, ignore, finish, release, fail, withError, zero, panicking:
		return checks.Check(s.ID, decide)
	case gate:
		return chain.Named(s.ID, checks.Gate(s.ID, decide))
	case all:
		return chain.Named(s.ID, checks.All(linksOf(s.Parts, k)...))
	case nested:
		inner := checks.Compose(chain.New(checks.Check("inside "+s.ID, func(context.Context, R) (checks.Result, error) { return s.decides() })))
		return checks.Check(s.ID, func(ctx context.Context, req R) (checks.Result, error) {
			note(ctx, s.ID)
			return inner(ctx, req)
		})
	}
	var kept func() (checks.Result, error) // the first answer, for repeatFirst
	return raw(s.ID, func(ctx context.Context, req R, next chain.Handler[R, checks.Result]) (res checks.Result, err error) {
		note(ctx, s.ID)
		var none R
		switch s.Op {
		case forget:
			return checks.Proceed(), nil
		case copying:
			return next(ctx, k.copied(req))
		case ownRequest:
			return next(ctx, k.fresh())
		case nilRequest:
			return next(ctx, none)
		case restoring:
			defer k.restored(req)()
		case repeatFirst:
			if kept == nil {
				res, err := next(ctx, req)
				kept = func() (checks.Result, error) { return res, err }
			}
			return kept()
		case twice:
			_, _ = next(ctx, req)
		case before:
			_ = ownChains(ctx, req)
		case instead:
			return ownChains(ctx, req), nil
		}
		res, err = next(ctx, req)
		if s.Op == after {
			_ = ownChains(ctx, req)
		}
		_, panicked := err.(*chain.PanicError)
		switch {
		case s.Op == override, s.Op == recoverProceed && panicked:
			return checks.Proceed(), nil
		case s.Op == blockAfter, s.Op == failAfter, s.Op == panicAfter, s.Op == recoverFail && panicked:
			return s.decides()
		}
		return res, err
	})
}

// ownChains runs chains that block, panic and proceed with the request of
// another chain. It returns the answer of the last one.
func ownChains[R any](ctx context.Context, req R) (last checks.Result) {
	block := returns[R]("own", checks.Block("Own", "own"), nil)
	for _, links := range [][]chain.Middleware[R, checks.Result]{
		{block}, {open[R]("open"), block}, {checks.Check("own", func(context.Context, R) (checks.Result, error) { panic("own") })},
		{}, {open[R]("open"), returns[R]("own", checks.Proceed(), nil)}, {returns[R]("own", checks.Proceed(), nil)},
	} {
		last, _ = checks.Compose(chain.New(links...))(ctx, req)
	}
	return last
}

// outcome is the answer of a call.
type outcome struct {
	Asked  []string
	Result string
	Err    string // the kind of error, and the link that returned it
	By     string // the link that decided
}

// play calls a handler.
func play[R any](h func(context.Context, R) (checks.Result, string, error), req R) (out outcome, res checks.Result) {
	t := &trace{}
	defer func() {
		out.Asked = t.asked
		if v := recover(); v != nil {
			out.Err = fmt.Sprintf("panic that came out: %v", v)
		}
	}()
	res, by, err := h(context.WithValue(context.Background(), traceKey{}, t), req)
	out.Result, out.By, out.Err = res.String(), by, kindOf(err)
	return out, res
}

// kindOf names the kind of an error in a word. For joined errors it names each
// kind.
func kindOf(err error) string {
	if err == nil {
		return ""
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var kinds string
		for _, err := range joined.Unwrap() {
			kinds += kindOf(err) + ". "
		}
		return kinds
	}
	for kind, is := range map[string]error{"no decision": checks.ErrNoDecision, "end not reached": checks.ErrEndNotReached, "nil request": checks.ErrNilRequest, "foreign request": checks.ErrForeignRequest} {
		if errors.Is(err, is) {
			return kind
		}
	}
	var p *chain.PanicError
	var f failure
	errors.As(err, &f)
	if errors.As(err, &p) {
		return "panic " + string(f) + " in " + p.Link
	}
	return "failure " + string(f)
}

// oracle predicts the answers of a program. kept holds what the links that
// repeat their first answer received.
type oracle struct {
	asked []string
	kept  map[string]answered
}

// answered is the predicted answer of a step and its inner steps.
type answered struct {
	res    checks.Result
	err    string
	by     string
	panics bool
}

func (o *oracle) call(p []step) outcome {
	o.asked = nil
	a := o.run(p)
	return outcome{Asked: o.asked, Result: a.res.String(), Err: a.err, By: a.by}
}

func (o *oracle) run(p []step) answered {
	if len(p) == 0 {
		return answered{res: checks.Proceed()}
	}
	s, inner := p[0], p[1:]
	o.asked = append(o.asked, s.ID)
	fault := func(kind string) answered { return answered{err: kind, by: s.ID} }
	own := func(res checks.Result, err string) answered { return answered{res: res, err: err, by: s.ID} }

	switch s.Op {
	case proceed, gate, pass, copying, restoring, before, after:
		return o.run(inner)
	case block, skip, ignore, finish, release, nested:
		res, _ := s.decides()
		return own(res, "")
	case fail:
		return fault("failure " + s.ID)
	case withError:
		return fault("failure " + s.ID)
	case zero:
		return fault("no decision")
	case panicking:
		return answered{err: "panic " + s.ID + " in " + s.ID, by: s.ID, panics: true}
	case forget, instead:
		return fault("end not reached")
	case ownRequest:
		return fault("foreign request")
	case nilRequest:
		return fault("nil request")
	case all:
		o.asked = o.asked[:len(o.asked)-1]
		a := o.all(s.Parts)
		if a.err == "" && a.res.Equal(checks.Proceed()) {
			return o.run(inner)
		}
		a.by = s.ID
		return a
	case repeatFirst:
		if a, ok := o.kept[s.ID]; ok {
			if a.err == "" && a.res.Equal(checks.Proceed()) {
				return fault("end not reached")
			}
			a.by = s.ID
			return a
		}
	}

	a := o.run(inner)
	switch s.Op {
	case recoverFail:
		if a.panics {
			return fault("failure " + s.ID)
		}
	case recoverProceed:
		if a.panics {
			return fault("end not reached")
		}
	case twice:
		return o.run(inner)
	case repeatFirst:
		o.kept[s.ID] = a
	case blockAfter:
		res, _ := s.decides()
		return own(res, "")
	case failAfter:
		return fault("failure " + s.ID)
	case panicAfter:
		return answered{err: "panic " + s.ID + " in " + s.ID, by: s.ID, panics: true}
	case override:
		if a.err != "" || !a.res.Equal(checks.Proceed()) {
			return fault("end not reached")
		}
	}
	return a
}

// all predicts the answer of All for checks that decide alone.
func (o *oracle) all(parts []step) answered {
	var blocks []step
	var errs string
	first := map[op]checks.Result{}
	for _, s := range parts {
		o.asked = append(o.asked, s.ID)
		switch s.Op {
		case block:
			blocks = append(blocks, s)
		case skip, ignore, finish, release:
			if _, ok := first[s.Op]; !ok {
				first[s.Op], _ = s.decides()
			}
		case fail, withError:
			errs += "failure " + s.ID + ". "
		case zero:
			errs += "no decision" + ". "
		case panicking:
			errs += "panic " + s.ID + " in " + s.ID + ". "
		}
	}
	res := checks.Proceed()
	switch {
	case first[ignore] != (checks.Result{}):
		return answered{res: first[ignore]}
	case first[finish] != (checks.Result{}) && errs == "":
		return answered{res: first[finish]}
	case first[finish] != (checks.Result{}), len(blocks) == 0 && errs != "":
		res = checks.Result{}
	case len(blocks) == 0 && first[release] != (checks.Result{}):
		res = first[release]
	case len(blocks) == 0 && first[skip] != (checks.Result{}):
		res = first[skip]
	case len(blocks) == 0:
	case len(blocks) == 1:
		res, _ = blocks[0].decides()
	default:
		var messages []string
		var refs []checks.Ref
		for _, s := range blocks {
			r, _ := s.decides()
			messages = append(messages, s.ID+": "+r.Message())
			refs = append(refs, r.WaitingFor()...)
		}
		res = checks.Block(blocks[0].ID, strings.Join(messages, "; "), checks.WithWaitingFor(refs...))
	}
	return answered{res: res, err: errs}
}

// draw draws a program of up to 7 links out of ops.
func draw(t *rapid.T, ops []op) []step {
	drawn := rapid.SliceOfN(rapid.SampledFrom(ops), 0, 7).Draw(t, "program")
	program := make([]step, len(drawn))
	for i, op := range drawn {
		program[i] = step{ID: fmt.Sprint("l", i), Op: op}
		if op == all {
			for j, op := range rapid.SliceOfN(rapid.SampledFrom(decisions), 1, 4).Draw(t, "parts") {
				program[i].Parts = append(program[i].Parts, step{ID: fmt.Sprint("l", i, "p", j), Op: op})
			}
		}
	}
	return program
}

// Every check of this package keeps the rules of checkstest, with every option
// that changes its decision.

func TestOwnerChecksConform(t *testing.T) {
	clusterState := func(c *Cluster) *string { return c.Status.ProvisioningState }
	tooOld := func(c *Cluster) string {
		if c.Version < 12 || *c.Status.ProvisioningState == "Upgrading" {
			return fmt.Sprintf("version %d is not enough", c.Version)
		}
		return ""
	}
	ready := checks.OwnerReady()
	links := map[string]checks.OwnerMiddleware{
		"OwnerReady":                            ready,
		"OwnerReady/ByIDBlocked":                checks.OwnerReady(checks.WithByIDBlocked()),
		"OwnerFound":                            checks.OwnerFound(),
		"OwnerFound/RequiredOwner":              checks.OwnerFound(checks.WithRequiredOwner(), checks.WithByIDBlocked()),
		"OwnerProvisioningState":                checks.OwnerProvisioningState(clusterState),
		"OwnerProvisioningState/UnknownAllowed": checks.OwnerProvisioningState(clusterState, checks.WithUnknownAllowed()),
		"OwnerIs":                               checks.OwnerIs("OwnerIs", tooOld),
		"OwnerIs/UnknownAllowed":                checks.OwnerIs("OwnerIs", tooOld, checks.WithUnknownAllowed()),
		"All":                                   checks.All(ready, checks.OwnerProvisioningState(clusterState), checks.OwnerIs("OwnerIs", tooOld)),
	}
	for name, link := range links {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkstest.Laws(t, link, ownerRequests())
		})
	}
	t.Run("Chain", func(t *testing.T) {
		checkstest.Laws(t, chain.New(ready, checks.OwnerProvisioningState(clusterState)), ownerRequests())
	})
}

func TestChecksConform(t *testing.T) {
	state := func(d *Database) *string { return d.Status.ProvisioningState }
	network := checks.ReferenceReady("network", func(d *Database) []checks.Ref { return []checks.Ref{d.Network} })
	connections := func(d *Database) []Connection { return d.Status.Connections }
	approval := func(c Connection) checks.Approval { return checks.Approval{Name: c.Name, Status: c.Status} }
	ahead := func(d *Database, c *Cluster) string {
		if d.Version > c.Version && *c.Status.ProvisioningState != "" {
			return fmt.Sprintf("version %d is ahead of %d", d.Version, c.Version)
		}
		return ""
	}
	networkOf := func(d *Database) []checks.Ref { return []checks.Ref{d.Network} }
	sameVersion := func(d *Database, n *Cluster) string {
		if d.Version != n.Version && *n.Status.ProvisioningState != "" {
			return fmt.Sprintf("it has version %d, and the database %d", n.Version, d.Version)
		}
		return ""
	}
	owner := checks.OnOwner[*Database](checks.OwnerReady(), checks.OwnerIs("Known", func(c *Cluster) string { return "" }))
	links := map[string]link{
		"ProvisioningState":                checks.ProvisioningState(state),
		"ProvisioningState/UnknownAllowed": checks.ProvisioningState(state, checks.WithUnknownAllowed()),
		"LiveState": checks.LiveState(func(ctx context.Context, r request) (string, error) {
			if r.Resource.Status == nil {
				return "", errTest
			}
			return known(state(r.Resource)), ctx.Err()
		}),
		"ReferenceReady": network,
		"ReferenceReady/ByIDBlocked": checks.ReferenceReady("network", func(d *Database) []checks.Ref {
			if d.Version > 12 {
				return []checks.Ref{d.Network, {ID: "/x"}}
			}
			return []checks.Ref{d.Network}
		}, checks.WithByIDBlocked()),
		"ApprovalPending":          checks.ApprovalPending(connections, approval),
		"OwnerFits":                checks.OwnerFits("OwnerFits", ahead),
		"OwnerFits/UnknownAllowed": checks.OwnerFits("OwnerFits", ahead, checks.WithUnknownAllowed()),
		"OnOwner":                  owner,
		"ReferenceIs":              checks.ReferenceIs("network", networkOf, sameVersion),
		"ReferenceIs/Allowed":      checks.ReferenceIs("network", networkOf, sameVersion, checks.WithUnknownAllowed(), checks.WithReason("TooOld")),
		"Unused":                   checks.Unused("hosts", claimsOf),
		"Unique":                   checks.Unique("host", claimsOf, checks.WithFollowing(true)),
		"ResourceIs": checks.ResourceIs("Offered", func(d *Database) string {
			if d.Version < 12 || *d.Status.ProvisioningState == "Deleting" {
				return "version 12 is the oldest"
			}
			return ""
		}),
		"Paused": checks.Paused(func(d *Database) bool { return d.Paused || *d.Status.ProvisioningState == "Paused" }),
		"All":    checks.All(owner, network, checks.ProvisioningState(state), checks.OwnerFits("OwnerFits", ahead)),
		"Cached": checks.Cached(time.Hour, func(r request) Database { return keyOf(r.Resource) }, checks.ProvisioningState(state)),
	}
	for name, link := range links {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkstest.Laws(t, link, requests())
		})
	}
	t.Run("Chain", func(t *testing.T) {
		all := chain.New(checks.Paused(func(d *Database) bool { return d.Paused }), links["ResourceIs"], owner, network, links["ApprovalPending"], links["OwnerFits"],
			links["ProvisioningState/UnknownAllowed"])
		checkstest.Laws(t, all, requests())
		chaintest.Order(t, all, "Paused", "Offered", "OnOwner(OwnerReady, Known)", "ReferenceReady(network)",
			"ApprovalPending", "OwnerFits", "ProvisioningState")
	})
	t.Run("Convert", func(t *testing.T) {
		type newer struct{ Old *Database }
		converted := checks.Convert(chain.New(owner, network, checks.ProvisioningState(state)), func(n *newer) (*Database, error) { return n.Old, nil })
		checkstest.Laws(t, converted, rapid.Custom(func(t *rapid.T) *checks.Request[*newer] {
			old := requests().Draw(t, "old")
			return &checks.Request[*newer]{OwnerRequest: old.OwnerRequest, Resource: &newer{old.Resource}, Presence: old.Presence}
		}))
	})
}

// keyOf returns a key with all fields that the cached check reads.
func keyOf(d *Database) Database {
	if d.Status == nil {
		return Database{}
	}
	return Database{Version: d.Version, Network: checks.Ref{Name: known(d.Status.ProvisioningState)}}
}

func known(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Half of the requests satisfy nearly every check, so that each inner link
// runs.
func ownerRequests() *rapid.Generator[ownerRequest] {
	of := func(cluster func(*rapid.T) *Cluster) *rapid.Generator[ownerRequest] {
		return rapid.Custom(func(t *rapid.T) ownerRequest {
			return checkstest.OwnerRequest(checkstest.OwnedBy(checkstest.Ready(prod, cluster(t))))
		})
	}
	return rapid.OneOf(of(goodCluster), of(cluster))
}

func goodCluster(t *rapid.T) *Cluster {
	return &Cluster{Version: rapid.IntRange(12, 14).Draw(t, "cluster version"), Status: &ClusterStatus{ProvisioningState: new("Succeeded")}}
}

// states draws states that are good or not, in other spellings, blank and nil.
var states = rapid.Ptr(rapid.SampledFrom([]string{"Succeeded", "Failed", "canceled", " CREATING\r\n", "Updating", "Ready", "?", " "}), true)

func cluster(t *rapid.T) *Cluster {
	return &Cluster{
		Version: rapid.IntRange(10, 14).Draw(t, "cluster version"),
		Status:  &ClusterStatus{ProvisioningState: states.Draw(t, "cluster state")},
	}
}

// Half of the requests satisfy nearly every check.
func requests() *rapid.Generator[request] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) request {
			d := &Database{Version: 12, Network: lan, Status: &DatabaseStatus{
				ProvisioningState: new("Succeeded"), Connections: []Connection{{"a", "Approved"}, {"b", "Approved"}},
			}}
			return checkstest.Request(d, checkstest.OwnedBy(checkstest.Ready(prod, goodCluster(t))),
				checkstest.Resolving(checkstest.Ready(lan, &Cluster{Version: 12, Status: &ClusterStatus{ProvisioningState: new("Succeeded")}})),
				checkstest.Listing(itself(checkstest.Ready(checks.Ref{Kind: "Database", Name: "self"}, d))))
		}),
		anyRequests(),
	)
}

func anyRequests() *rapid.Generator[request] {
	return rapid.Custom(func(t *rapid.T) request {
		d := &Database{
			Version: rapid.IntRange(10, 14).Draw(t, "version"),
			Network: lan,
			Paused:  rapid.Bool().Draw(t, "paused"),
			Status:  &DatabaseStatus{ProvisioningState: states.Draw(t, "state")},
		}
		for _, status := range rapid.SliceOfN(rapid.SampledFrom([]string{"Approved", "Pending", "Rejected", "Other", ""}), 0, 3).Draw(t, "connections") {
			d.Status.Connections = append(d.Status.Connections, Connection{Name: "c", Status: status})
		}
		network := rapid.SampledFrom([]checks.Object{
			checkstest.Ready(lan, &struct{}{}), checkstest.Ready(lan, &Cluster{Version: 12}), checkstest.NotReady(lan, &struct{}{}, "Creating"), checkstest.NotFound(lan),
		}).Draw(t, "network")
		var set []checks.Object
		for i := range rapid.IntRange(0, 12).Draw(t, "databases") {
			set = append(set, checkstest.Ready(checks.Ref{Kind: "Database", Name: fmt.Sprint(i)}, &Database{}))
		}
		if n := len(set); n > 0 {
			set[rapid.IntRange(0, n-1).Draw(t, "self")].Self = true
		}
		return checkstest.Request(d, checkstest.OwnedBy(checkstest.Ready(prod, cluster(t))), checkstest.Resolving(network),
			checkstest.Listing(set...))
	})
}
