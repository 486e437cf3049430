package component

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// system holds the chains of a reconciler, and the clients of a cluster.
type system struct {
	*options
	name       string
	cluster    dependents.Cluster
	dependents *dependents.Dependents
	types      catalog
	recorder   events.EventRecorder // nil: no events
	kinds      sync.Map             // the kinds that the API server serves, by schema.GroupVersionKind
	missing    sync.Map             // the time.Time since which a wave waits for a kind, by schema.GroupVersionKind

	apply, remove Handler
	wave          WaveHandler
}

// systemOf returns the system of a cluster.
func (r *Reconciler[T]) systemOf(c dependents.Cluster) (*system, error) {
	if isNil(c) {
		return nil, fmt.Errorf("the cluster is nil: give the manager")
	}
	y := &system{options: &r.options, name: r.name, cluster: c}
	single := append([]dependents.Option{
		dependents.WithPolicies(r.policies),
		dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) {
			c, err := c.InsertAfter("Recover", chain.Named("Component", y.component))
			if err != nil {
				return c, err
			}
			return c.InsertAfter("InSync", chain.Named("DryRun", dryRun))
		}),
		dependents.WithDeleteChain(func(c dependents.Chain) (dependents.Chain, error) {
			return c.InsertAfter("Recover", chain.Named("Component", y.component))
		}),
	}, r.single...)
	y.dependents = dependents.New(r.name, ends{through{c.GetClient(), &r.options}, past{}}, single...)
	y.apply = r.applyChain.Then(y.waves)
	y.remove = r.deleteChain.Then(y.removeAll)
	y.wave = r.waveChain.Then(y.write)
	return y, nil
}

// ends is the [dependents.Cluster] of a system.
type ends struct {
	client client.Client
	live   client.Reader
}

func (c ends) GetClient() client.Client    { return c.client }
func (c ends) GetAPIReader() client.Reader { return c.live }

// component is the outermost link around each object. It sets the policies of the
// component, and keeps the request for the set.
func (y *system) component(next dependents.Handler) dependents.Handler {
	return func(ctx context.Context, r *dependents.Request) (dependents.Result, error) {
		c := callOf(ctx)
		if c == nil {
			return dependents.Result{}, errNoCall
		}
		inner := *r
		given := func(key string) bool { return r.Object.GetAnnotations()[y.name+"/"+key] != "" }
		if p := c.policies.Adoption; p != "" && !given("adoption-policy") {
			inner.Policies.Adoption = p
		}
		if p := c.policies.Update; p != "" && !given("update-policy") {
			inner.Policies.Update = p
		}
		if p := c.policies.Delete; p != "" && !given("delete-policy") {
			inner.Policies.Delete = p
		}
		if d := c.policies.ReapplyInterval; d > 0 && !given("reapply-interval") {
			inner.Policies.ReapplyInterval = d
		}
		c.request = &inner
		if c.mode == validating {
			return dependents.Result{Outcome: dependents.Waiting}, nil
		}
		return next(ctx, &inner)
	}
}

// dryRun is the link around the writes of one object. A look ends here. The
// result of a dry-run is kept for the set. The links outside see that nothing was
// written, so that they remember no write.
func dryRun(next dependents.Handler) dependents.Handler {
	return func(ctx context.Context, r *dependents.Request) (dependents.Result, error) {
		c := callOf(ctx)
		if c == nil {
			return dependents.Result{}, errNoCall
		}
		c.reached = true
		c.request = r
		notWritten := dependents.Result{Outcome: dependents.Waiting, Object: r.Live, Message: "it was not written yet"}
		switch c.mode {
		case looking:
			return notWritten, nil
		case trying:
			res, err := next(ctx, r)
			c.write = &res
			return notWritten, err
		}
		return next(ctx, r)
	}
}

// access returns the access of a pass. It needs the context of the pass.
func (y *system) access(ctx context.Context, find checks.Resolver) (*access, error) {
	own := y.cluster.GetClient()
	c, err := ctrlx.ClientFromContext(ctx)
	if err != nil {
		return nil, err
	}
	a := &access{client: c, find: find, live: y.cluster.GetAPIReader()}
	if t := reflect.TypeOf(c); t != reflect.TypeOf(own) || !t.Comparable() || c != own {
		a.find, a.live = nil, c // another identity or cluster: the cache does not show what it may read
	}
	return a.withDryRun(), nil
}

// withDryRun sets the client for dry-runs.
func (a *access) withDryRun() *access {
	a.dry, a.read = client.NewDryRunClient(a.client), &sync.Map{}
	return a
}

// in returns a context for a call of package dependents.
func (s *Set) in(ctx context.Context, m mode) (context.Context, *call) {
	c := &call{access: s.access, mode: m, policies: s.config.policies}
	return context.WithValue(ctx, callKey{}, c), c
}

// begin returns the set of a component in a pass, without its objects.
func (r *Reconciler[T]) begin(ctx context.Context, req *checks.Request[T]) (*Set, error) {
	y := r.setUp
	if y == nil {
		return nil, fmt.Errorf("component: %s was not set up: call SetupWithManager", r.name)
	}
	a, err := y.access(ctx, req.Resolver)
	if err != nil {
		return nil, err
	}
	s := &Set{Component: req.Resource, system: y, access: a}
	s.following = func(refs ...checks.Ref) { checks.Follow(ctx, req, refs...) }
	return s, s.configure(ctx)
}

// configure reads the settings of the component, and checks them.
func (s *Set) configure(ctx context.Context) error {
	y := s.system
	cfg, problems := y.configurationOf(y.name, s.Component)
	policies := map[string]string{
		"adoption-policy": string(cfg.policies.Adoption), "update-policy": string(cfg.policies.Update),
		"delete-policy": string(cfg.policies.Delete),
	}
	obj := probe.DeepCopy()
	obj.Annotations = map[string]string{}
	for key, value := range policies {
		if value != "" {
			obj.Annotations[y.name+"/"+key] = value
		}
	}
	in, read := s.in(ctx, validating)
	if _, err := y.dependents.PruneObject(in, s.Component, obj); errors.Is(err, dependents.ErrInvalid) {
		_, text, _ := strings.Cut(err.Error(), obj.Name+": ")
		problems = append(problems, "a policy of the component: "+text)
	} else if err != nil {
		return err
	} else if read.request == nil {
		return errors.New("the link Component did not see the component: add it to both chains again")
	} else {
		cfg.policies = spelled(cfg.policies, read.request.Policies)
	}
	if s.config = cfg; len(problems) > 0 {
		return invalid(fmt.Errorf("%w: %s", dependents.ErrInvalid, strings.Join(problems, "; ")))
	}
	return nil
}

// invalid gives an error about the input the reason of its condition.
func invalid(err error) error {
	return ctrlx.NewRetriableError(err, nil).WithReason(dependents.ReasonDependentInvalid)
}

// reporterOf returns the reporting controller of events, which is a name of at
// most 64 bytes.
func reporterOf(name string) string {
	if len(name) > 64 || len(validation.IsQualifiedName(name)) > 0 {
		return "windlass"
	}
	return name
}

// ownerLabel returns the label that package dependents gives to the dependents
// of a component.
func (s *Set) ownerLabel(ctx context.Context) (key, value string, err error) {
	ctx, c := s.in(ctx, validating)
	if _, err := s.system.dependents.PruneObject(ctx, s.Component, &probe); err != nil {
		return "", "", err
	}
	sum := sha256.Sum256([]byte(c.request.Owner.ID))
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
	return s.system.name + "/owner-id", strings.ToLower(text), nil
}

// spelled returns the policies that a component sets in the spelling of package
// dependents, which accepts several: if-unowned, IfUnowned and default.
func spelled(given, known dependents.Policies) dependents.Policies {
	if given.Adoption != "" {
		given.Adoption = known.Adoption
	}
	if given.Update != "" {
		given.Update = known.Update
	}
	if given.Delete != "" {
		given.Delete = known.Delete
	}
	return given
}
