package component

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/flow"
)

// waves applies the waves in their order, until one is not ready.
func (y *system) waves(ctx context.Context, s *Set) (checks.Result, error) {
	all := s.split()
	for _, w := range all {
		order := int(w.members[0].applyOrder)
		if res, err := s.purge(ctx, order-1); err != nil || !res.Proceeds() { // also one that an earlier pass began
			return res, err
		}
		res, err := decided(y.wave(ctx, w))
		if err != nil {
			return checks.Result{}, err
		}
		if !res.Proceeds() {
			ready := len(slices.DeleteFunc(slices.Clone(w.results), func(r dependents.Result) bool { return !r.IsSettled() }))
			text := fmt.Sprintf("%s: %d of %d objects are ready: %s", w.name(), ready, len(w.members), res.Message())
			if s.Plan == nil {
				return reworded(res, text), nil
			}
			s.waits(res) // of a link of the user
		}
	}
	return s.purge(ctx, math.MaxInt16)
}

// split returns the waves of a set, without the objects that are purged.
func (s *Set) split() (all []*Set) {
	for _, o := range s.objects {
		if o.purgeOrder != nil && o.known {
			if item := s.find(o.ref); item != nil && item.Purge == o.request.Digest() {
				continue
			}
		}
		if n := len(all); n == 0 || all[n-1].members[0].applyOrder != o.applyOrder || all[n-1].members[0].stage != o.stage {
			all = append(all, &Set{Component: s.Component, Plan: s.Plan, state: s.state, wave: wave{number: n + 1}})
		}
		w := all[len(all)-1]
		w.members = append(w.members, o)
	}
	for _, w := range all {
		w.of, w.results = len(all), make([]dependents.Result, len(w.members))
	}
	return all
}

const unserved = "its kind is not served yet: its definition is being installed, or its API server does not answer"

// look compares the objects with the cache. Only those that differ are read
// live and written.
func look(next Handler) Handler {
	return func(ctx context.Context, s *Set) (checks.Result, error) {
		var errs []error
		for i, o := range s.members {
			if !o.known && s.Plan != nil {
				continue
			}
			if !o.known { // the inventory lacks it, so this pass does not write it
				s.results[i] = dependents.Result{Outcome: dependents.Waiting, Message: unserved + o.down}
				continue
			}
			res, err := s.system.readOnly.ApplyChecked(ctx, o.request)
			if err != nil {
				errs = append(errs, err)
			}
			if s.results[i] = res; res.Pending != nil {
				s.pending = append(s.pending, i)
			}
		}
		if err := errors.Join(errs...); err != nil {
			return checks.Result{}, err
		}
		return next(ctx, s)
	}
}

// preflight tries all writes of a wave by dry-run. If one fails, or if an
// object belongs to another owner, nothing of the wave is written.
func preflight(next Handler) Handler {
	return func(ctx context.Context, s *Set) (checks.Result, error) {
		var errs []error
		for _, i := range s.pending {
			res, err := s.system.dryRun.ApplyChecked(ctx, s.results[i].Pending)
			if err != nil && res.Pending != nil && (s.unchecked(s.members[i], err) || noDryRun(err)) {
				err, res.Outcome = nil, dependents.Created
				if res.Pending.Live != nil {
					res.Outcome = dependents.Updated
				}
			}
			s.results[i], errs = res, append(errs, err)
		}
		s.pending = slices.DeleteFunc(s.pending, func(i int) bool { return s.results[i].Pending == nil })
		var awaited []checks.Ref
		for i, res := range s.results {
			if res.Outcome == dependents.NotOurs {
				errs = append(errs, refusal(s.members[i].ref, res))
				awaited = append(awaited, s.members[i].ref)
			}
		}
		if err := errors.Join(errs...); err != nil && s.Plan == nil {
			return checks.Result{}, flow.WaitFor(fmt.Errorf("%s is not written: %w", s.name(), err), s.awaited(awaited)...)
		} else if err != nil {
			s.Plan.Problems = append(s.Plan.Problems, strings.Split(err.Error(), "\n")...)
		}
		return next(ctx, s)
	}
}

// unchecked reports whether a dry-run failed because the namespace or the
// definition of the object is only planned.
func (s *Set) unchecked(o *object, err error) bool {
	if s.Plan == nil || !apierrors.IsNotFound(err) {
		return false
	}
	planned := func(outer *object) bool { return outer.has(o) && s.Plan.has(create, outer.ref) }
	return s.Plan.has(create, checks.Ref{Kind: kindNamespace.Kind, Name: o.ref.Namespace}) || slices.ContainsFunc(s.objects, planned)
}

// noDryRun reports whether the API server cannot try a write, because a webhook
// has side effects. The error has no type.
func noDryRun(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run")
}

// write is the end of the wave chain in a pass.
func (y *system) write(ctx context.Context, s *Set) (checks.Result, error) {
	if err := s.ahead(ctx); err != nil {
		return checks.Result{}, err
	}
	var errs []error
	for _, i := range s.pending { // an error about one object does not keep the others from being written
		res, err := s.system.dependents.ApplyChecked(ctx, s.results[i].Pending)
		s.results[i], errs = res, append(errs, err)
	}
	s.proven()
	failed := errors.Join(errs...) != nil
	var awaited []checks.Ref
	var texts, problems []string
	for i, r := range s.results {
		ref := s.members[i].ref
		switch {
		case r.Outcome == "" && !failed:
			errs = append(errs, fmt.Errorf("%s: no link has applied it: keep the link Look in the wave chain", ref))
			continue
		case r.IsSettled() || r.Outcome == "":
			continue
		case r.After > 0 || r.Outcome == dependents.NotOurs: // the latter if the owner changed after the preflight
			errs = append(errs, refusal(ref, r))
		default:
			text := fmt.Sprintf("%s: %s", short(ref), strings.TrimPrefix(r.Message, "it is not ready: "))
			if r.Outcome != dependents.Terminating && ready.Problem(r.Object) != "" {
				problems = append(problems, text)
			} else {
				texts = append(texts, text)
			}
		}
		if s.members[i].known { // the back-off looks for the kind of another one
			awaited = append(awaited, ref)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return checks.Result{}, flow.WaitFor(err, s.awaited(awaited)...)
	}
	if texts = append(texts, problems...); len(texts) == 0 {
		return checks.Proceed(), nil
	}
	return s.block(reasonProcessing, listed(texts), 0, awaited), nil
}

// planned is the end of the wave chain in a plan. It adds the changes of a wave, by the
// results of the cache and of the dry-runs. Nothing is written.
func planned(ctx context.Context, s *Set) (checks.Result, error) {
	if err := s.ahead(ctx); err != nil { // it adds to the inventory
		return checks.Result{}, err
	}
	actions := map[dependents.Outcome]string{dependents.Created: create, dependents.Updated: update, dependents.Terminating: recreate}
	for i, res := range s.results {
		o := s.members[i]
		change := Change{Wave: s.name(), Ref: o.ref, Action: actions[res.Outcome], Unchecked: res.Object == nil && res.Outcome != dependents.Terminating}
		switch {
		case !o.known:
			change.Action = create
		case res.Pending == nil || change.Action == "":
			continue
		case change.Action == update && res.Object != nil:
			var removed []string
			change.Fields, removed = changes(res, s.system.name, o.gvk.GroupKind() == schema.GroupKind{Kind: "Secret"})
			change.Unchecked = len(removed) > 0
		}
		s.Plan.Changes = append(s.Plan.Changes, change)
	}
	return checks.Proceed(), nil
}

// refusal returns the error about an object that is not ours, or contested.
func refusal(ref checks.Ref, res dependents.Result) error {
	_, reason := res.Describe()
	return ctrlx.NewRetriableError(fmt.Errorf("%s: %s", ref, res.Message), &res.After).WithReason(reason)
}

// namespaces creates the missing namespaces of new objects, as the policy says.
// A namespace that the set has is an object like others.
func namespaces(next Handler) Handler {
	return func(ctx context.Context, s *Set) (checks.Result, error) {
		if len(s.pending) == 0 {
			return next(ctx, s)
		}
		exists := map[string]bool{s.Component.GetNamespace(): !s.remote(), "": true} // the component is in its own one
		for _, o := range s.objects {
			if o.stage == stageNamespaces {
				exists[o.ref.Name] = true
			}
		}
		for _, i := range s.pending {
			name := s.members[i].ref.Namespace
			if exists[name] || s.results[i].Object != nil || s.namespaces == MissingNamespacesDoNotCreate {
				continue // under this policy, the API server refuses the object
			}
			if exists[name] = true; s.Plan != nil && s.Plan.has(create, checks.Ref{Kind: kindNamespace.Kind, Name: name}) {
				continue
			}
			if err := s.namespace(ctx, name); err != nil {
				return checks.Result{}, fmt.Errorf("%s is not written: the namespace %s: %w", s.name(), name, err)
			}
		}
		return next(ctx, s)
	}
}

// namespace creates a namespace if it is missing. It needs the right to get
// namespaces.
func (s *Set) namespace(ctx context.Context, name string) error {
	live, err := s.liveNamespace(ctx, name)
	switch {
	case err != nil || live != nil:
		return err
	case s.Plan != nil:
		ref := checks.Ref{Kind: kindNamespace.Kind, Name: name}
		s.Plan.Changes = append(s.Plan.Changes, Change{Wave: s.name(), Ref: ref, Action: create})
		return nil
	}
	ns := &unstructured.Unstructured{} // the scheme may lack the core group
	ns.SetGroupVersionKind(kindNamespace.WithVersion("v1"))
	ns.SetName(name)
	err = s.access.Client.Create(ctx, ns, client.FieldOwner(s.system.name))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
