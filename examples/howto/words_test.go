package howto

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// Item stands for an object of an operator.
type Item struct {
	Name, Namespace, Kind, State string
	DependsOn                    []checks.Ref
	Deleting, Detached           bool
}

type (
	itemExt = flow.Extensions[*Item]
	itemReq = *checks.Request[*Item]
)

func dependencies(i *Item) []checks.Ref { return i.DependsOn }

func alive(_ context.Context, req itemReq) bool { return !req.Deleting }

// A HelmRelease of Flux must have its dependencies also while it is in sync, and not when it is deleted.

func fluxInSyncByHand() itemExt {
	return itemExt{EntryCheck: chain.New(chain.When(alive, checks.ReferenceReady("dependency", dependencies)))}
}

func fluxInSync() itemExt {
	return itemExt{GetCheck: chain.New(checks.ReferenceReady("dependency", dependencies))}
}

// A release depends on releases of other namespaces only if they are shared.

func fluxSharedByHand() itemExt {
	return itemExt{PreCheck: chain.New(checks.Check("dependency", func(ctx context.Context, req itemReq) (checks.Result, error) {
		for _, ref := range req.Resource.DependsOn {
			o, err := req.Resolver(ctx, ref)
			if err != nil {
				return checks.Result{}, err
			}
			if !o.Found() {
				return checks.Block(checks.ReasonReferenceNotFound, ref.String()+" was not found", checks.WithWaitingFor(ref)), nil
			}
			if other, ok := o.Value.(*Item); !ok || ref.Namespace != req.Resource.Namespace && other.State != "Shared" {
				return checks.Block(checks.ReasonReferenceUnsuitable, ref.String()+" is not shared", checks.WithWaitingFor(ref)), nil
			}
			req.Follow(ctx, ref)
		}
		return checks.Proceed(), nil
	}))}
}

func fluxShared() itemExt {
	return itemExt{PreCheck: chain.New(checks.ReferenceIs("dependency", dependencies, func(i *Item, o checks.Object) string {
		if other, ok := o.Value.(*Item); !ok || o.Ref.Namespace != i.Namespace && other.State != "Shared" {
			return "it is not shared"
		}
		return ""
	}))}
}

// A request of cert-manager for an issuer of another group belongs to another controller.

func certManagerByHand() itemExt {
	return itemExt{EntryCheck: chain.New(checks.Check("issuer", func(_ context.Context, req itemReq) (checks.Result, error) {
		if kind := req.Resource.Kind; kind != "Mine" {
			return checks.Ignore("the issuer is a " + kind), nil
		}
		return checks.Proceed(), nil
	}))}
}

func certManager() itemExt {
	return itemExt{EntryCheck: chain.New(checks.ResourceIs("issuer", func(i *Item) string {
		if i.Kind != "Mine" {
			return "the issuer is a " + i.Kind
		}
		return ""
	}, checks.WithVerdict(checks.Ignore(""))))}
}

// A user of an external object store of Rook is never made.

func rookExternalByHand() itemExt {
	return itemExt{OwnerCheck: chain.New(checks.Check("external", func(_ context.Context, req *checks.OwnerRequest) (checks.Result, error) {
		store, ok := req.Owner.Value.(*Item)
		if !ok {
			return checks.Block(checks.ReasonOwnerNotFound, "the store was not found", checks.WithWaitingFor(req.Owner.Ref)), nil
		}
		if store.State == "External" && !req.Deleting {
			return checks.Finished("External", "the store is external"), nil
		}
		return checks.Proceed(), nil
	}))}
}

func rookExternal() itemExt {
	return itemExt{OwnerCheck: chain.New(checks.OwnerIs("external", func(store *Item) string {
		if store.State == "External" {
			return "the store is external"
		}
		return ""
	}, checks.WithVerdict(checks.Finished("External", ""))))}
}

// A cluster of CloudNativePG may name a Secret for its superuser before that exists.

func cnpgByHand() itemExt {
	return itemExt{PreCheck: chain.New(checks.Check("superuser", func(ctx context.Context, req itemReq) (checks.Result, error) {
		for _, ref := range req.Resource.DependsOn {
			o, err := req.Resolver(ctx, ref)
			if err != nil {
				return checks.Result{}, err
			}
			req.Follow(ctx, ref)
			if o.Found() && o.Readiness.State != checks.Ready {
				return checks.Block(checks.ReasonReferenceNotReady, ref.String()+" is not ready", checks.WithWaitingFor(ref)), nil
			}
		}
		return checks.Proceed(), nil
	}))}
}

func cnpg() itemExt {
	return itemExt{PreCheck: chain.New(checks.ReferenceReady("superuser", dependencies, checks.WithMissingAllowed()))}
}

// A cluster of Rook waits while another one of its namespace upgrades.

func clustersOf(*Item) checks.Query { return checks.Query{Kind: "CephCluster"} }

func rookByHand() itemExt {
	return itemExt{PreCheck: chain.New(checks.Check("clusters", func(ctx context.Context, req itemReq) (checks.Result, error) {
		query := clustersOf(req.Resource)
		all, err := req.Lister(ctx, query)
		if err != nil {
			return checks.Result{}, err
		}
		for _, o := range all {
			other, ok := o.Value.(*Item)
			if !o.Self && (!ok || other.State == "Upgrading") {
				return checks.Block(checks.ReasonReferenceUnsuitable, o.Ref.String()+" upgrades", checks.WithWaitingFor(query.Ref())), nil
			}
		}
		return checks.Proceed(), nil
	}))}
}

func rook() itemExt {
	return itemExt{PreCheck: chain.New(checks.SetIs("clusters", clustersOf, func(_, other *Item) string {
		if other.State == "Upgrading" {
			return "it upgrades"
		}
		return ""
	}))}
}

// A resource of ORC that is detached is only forgotten, also while its cloud does not answer.

func orcByHand() itemExt {
	return itemExt{
		Get: chain.New(chain.Named("detached", func(next flow.GetHandler[*Item]) flow.GetHandler[*Item] {
			return func(ctx context.Context, req *flow.Request[*Item]) (flow.Observation, error) {
				if req.Deleting && req.Resource.Detached {
					return flow.Observation{}, nil
				}
				return next(ctx, req)
			}
		})),
		DeleteCheck: chain.New(checks.Check("detached", func(_ context.Context, req itemReq) (checks.Result, error) {
			if req.Resource.Detached {
				return checks.Release("it is detached"), nil
			}
			return checks.Proceed(), nil
		})),
	}
}

func orc() itemExt {
	return itemExt{DeleteCheck: chain.New(checks.ResourceIs("detached", func(i *Item) string {
		if i.Detached {
			return "it is detached"
		}
		return ""
	}, checks.WithVerdict(checks.Release(""))))}
}

// The Azure provider of Cluster API asks for a quota. Its errors are retried after ten minutes.

var errQuota = errors.New("the quota cannot be read")

func askQuota(_ context.Context, req itemReq) (checks.Result, error) {
	if req.Resource.State == "NoAnswer" {
		return checks.Result{}, errors.New("503")
	}
	return checks.Proceed(), nil
}

func capzByHand() itemExt {
	return itemExt{
		PreCheck: chain.New(checks.Check("quota", func(ctx context.Context, req itemReq) (checks.Result, error) {
			res, err := askQuota(ctx, req)
			if err != nil {
				err = errors.Join(errQuota, err)
			}
			return res, err
		})),
		Classify: classify.Table{{Name: "quota", Is: errQuota, Retry: classify.Slow, After: 10 * time.Minute}}.Chain(),
	}
}

func capz() itemExt {
	return itemExt{
		PreCheck: chain.New(checks.Check("quota", askQuota)),
		Classify: classify.Table{{Link: "quota", Retry: classify.Slow, After: 10 * time.Minute}}.Chain(),
	}
}

// TestWords verifies that each word decides as the code by hand, for an object in each state.
func TestWords(t *testing.T) {
	shop, base := checks.Ref{Kind: "Item", Namespace: "shop", Name: "db"}, checks.Ref{Kind: "Item", Namespace: "base", Name: "dns"}
	ready := checks.Readiness{State: checks.Ready}
	world := map[checks.Ref]checks.Object{
		shop: {Ref: shop, Value: &Item{}, Readiness: ready}, base: {Ref: base, Value: &Item{State: "Private"}},
	}
	missing := checks.Ref{Kind: "Item", Name: "none"}
	depends := func(refs ...checks.Ref) *Item { return &Item{Namespace: "shop", Kind: "Mine", DependsOn: refs} }
	cases := map[string]struct {
		reason       string
		byHand, word itemExt
		rows         []*Item
		want         []string // of the states
	}{
		"fluxInSync":   {"a dependency that is not ready stops a release in sync, and no deletion", fluxInSyncByHand(), fluxInSync(), []*Item{depends(shop), depends(base), depends(missing), {DependsOn: []checks.Ref{base}, Deleting: true}}, []string{"ready", "blocked", "blocked", "gone"}},
		"fluxShared":   {"a release of another namespace must be shared", fluxSharedByHand(), fluxShared(), []*Item{depends(shop), depends(base), depends(missing)}, []string{"ready", "blocked", "blocked"}},
		"certManager":  {"the request of another issuer is left alone", certManagerByHand(), certManager(), []*Item{depends(), {Kind: "Other"}}, []string{"ready", "ignored"}},
		"rookExternal": {"a user of an external store is finished", rookExternalByHand(), rookExternal(), []*Item{{Kind: "External"}, {}, {Kind: "None"}}, []string{"finished", "ready", "blocked"}},
		"cnpg":         {"a Secret that does not exist is awaited without a block", cnpgByHand(), cnpg(), []*Item{depends(missing), depends(shop), depends(base)}, []string{"ready", "ready", "blocked"}},
		"rook":         {"one cluster upgrades at a time", rookByHand(), rook(), []*Item{{Kind: "Mine"}, {Kind: "Busy"}}, []string{"ready", "blocked"}},
		"orc":          {"Get fails for a detached resource, and does not hold its deletion", orcByHand(), orc(), []*Item{{Detached: true, State: "NoGet", Deleting: true}, {Deleting: true}}, []string{"gone", "gone"}},
		"capz":         {"an error of the quota has a delay of its own", capzByHand(), capz(), []*Item{{State: "NoAnswer"}, {}}, []string{"failed 10m0s", "ready"}},
	}
	page, err := os.ReadFile("../../docs/checks/words.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := linesOf(t, "words_test.go")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			states := func(ext itemExt) (all []string) {
				for _, item := range tc.rows {
					all = append(all, stateOf(ext, item, world, name == "fluxInSync"))
				}
				return all
			}
			if diff := cmp.Diff([2][]string{tc.want, tc.want}, [2][]string{states(tc.byHand), states(tc.word)}); diff != "" {
				t.Errorf("%s: -want, +got by hand and with the word:\n%s", tc.reason, diff)
			}
			if row := fmt.Sprintf("| `%s` | %d | %d |", name, lines[name+"ByHand"], lines[name]); !strings.Contains(string(page), row) {
				t.Errorf("docs/checks/words.md should say %s", row)
			}
		})
	}
}

// stateOf returns the state that an object ends in, and the delay of a failure.
func stateOf(ext itemExt, item *Item, world map[checks.Ref]checks.Object, inSync bool) string {
	ops := flow.Operations[*Item]{
		Key:        func(*Item) string { return "item" },
		Generation: func(*Item) int64 { return 1 },
		Deleting:   func(i *Item) bool { return i.Deleting },
		Get: func(_ context.Context, req *flow.Request[*Item]) (flow.Observation, error) {
			if req.Resource.State == "NoGet" {
				return flow.Observation{}, errors.New("no answer")
			}
			return flow.Observation{Presence: checks.Present, InSync: inSync}, nil
		},
		Owner: func(context.Context, *Item) (checks.Object, error) {
			store := checks.Object{Ref: checks.Ref{Kind: "ObjectStore", Name: "media"}}
			if item.Kind != "None" {
				store.Value = &Item{State: item.Kind}
			}
			return store, nil
		},
		Apply:  func(context.Context, *flow.Request[*Item]) (flow.Progress, error) { return flow.Done(), nil },
		Delete: func(context.Context, *flow.Request[*Item]) (flow.Progress, error) { return flow.Done(), nil },
	}
	r := flow.New("Item", ops, ext, flow.WithResolver(func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		if o, ok := world[ref]; ok {
			return o, nil
		}
		return checks.Object{Ref: ref}, nil
	}), flow.WithLister(func(context.Context, checks.Query) ([]checks.Object, error) {
		other := &Item{Name: "other"}
		if item.Kind == "Busy" {
			other.State = "Upgrading"
		}
		return []checks.Object{{Ref: checks.Ref{Kind: "CephCluster", Name: "own"}, Value: item, Self: true}, {Ref: checks.Ref{Kind: "CephCluster", Name: "other"}, Value: other}}, nil
	}))
	out := r.Reconcile(context.Background(), item)
	if out.Final() {
		return "finished"
	}
	if out.After() > 0 {
		return fmt.Sprint(out.State(), " ", out.After())
	}
	return out.State().String()
}

// linesOf counts the lines of each function of a file, with its first and its last.
func linesOf(t *testing.T, file string) map[string]int {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			lines[f.Name.Name] = files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
		}
	}
	lines["fluxInSyncByHand"] += lines["alive"]
	return lines
}
