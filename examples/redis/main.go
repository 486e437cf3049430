// Command redis reconciles two caches and their children. Azure refuses many
// requests with 409 Conflict. Some of these conflicts end in a moment, others
// last.
//
// Read busy and preparing first and copy from them: two tables of one row each
// decide when a refused request is repeated. simulate sets up the run and the
// refusals.
package main

import (
	"net/http"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// busy retries a Conflict of a busy cache soon. The default table cannot separate
// it from a lasting Conflict; the message can.
var busy = classify.Table{{
	Name:    "CacheIsBusy",
	Code:    "Conflict",
	Message: classify.Contains("try again later"),
	Retry:   classify.Fast,
}}

// preparing retries a BadRequest of linked servers that ends within minutes. The
// default table would retry it at the resync. The row holds for API versions
// before 2023-08-01; check a newer version before you add it.
var preparing = classify.Table{{
	Name:        "ReplicationIsBeingPrepared",
	Code:        "BadRequest",
	Message:     classify.Contains("being prepared"),
	APIVersions: "<2023-08-01",
	Retry:       classify.Slow,
}}

// cacheExtensions returns the rule of caches.
func cacheExtensions() flow.Extensions[*Cache] {
	return flow.Extensions[*Cache]{Classify: busy.Chain()}
}

// childExtensions returns the check and the rules of a cache's children.
func childExtensions() flow.Extensions[*Child] {
	return flow.Extensions[*Child]{
		OwnerCheck: chain.New(checks.OwnerReady()),
		PreCheck:   chain.New(checks.ReferenceReady("cache", (*Child).LinkedRefs)),
		Classify:   chain.New(busy.Link(), preparing.Link()),
	}
}

// Cache is a Redis cache.
type Cache struct{ Name, State string }

func (c *Cache) Ref() checks.Ref          { return checks.Ref{Kind: "Cache", Name: c.Name} }
func (c *Cache) Desired() sim.Properties  { return sim.Properties{"size": "P1"} }
func (c *Cache) Observe(p sim.Properties) { c.State = p["provisioningState"] }
func (c *Cache) Shown() string            { return c.State }

// Child is a FirewallRule, PatchSchedule or LinkedServer of a cache.
type Child struct {
	Kind, Name, Cache string
	Linked            string // of a LinkedServer: the cache that has the copy
}

func (c *Child) Ref() checks.Ref        { return checks.Ref{Kind: c.Kind, Name: c.Name} }
func (c *Child) OwnerRef() checks.Ref   { return (&Cache{Name: c.Cache}).Ref() }
func (c *Child) Observe(sim.Properties) {}
func (c *Child) Shown() string          { return "" }
func (c *Child) Desired() sim.Properties {
	return sim.Properties{"linkedRedisCache": c.Linked}
}

// LinkedRefs names the other cache of a LinkedServer.
func (c *Child) LinkedRefs() []checks.Ref {
	if c.Linked == "" {
		return nil
	}
	return []checks.Ref{(&Cache{Name: c.Linked}).Ref()}
}

// The times of the script. nameFreed is the time at which a person deletes another
// subscription's cache with the name west. The maintenance of east ends at
// maintained. East reports Succeeded meanwhile, so a check cannot see it.
const (
	nameFreed  = 90 * time.Second
	maintained = 4*time.Minute + 10*time.Second
	prepared   = 5*time.Minute + 30*time.Second
)

// simulate sets up a run, with or without the rows of classification.
func simulate(withRows bool) *sim.Engine {
	e := sim.NewEngine()
	cloud := sim.NewCloud(e)
	cloud.Takes["Cache"], cloud.Takes["LinkedServer"] = 2*time.Minute, time.Minute
	e.At(nameFreed, "the name west", "freed by a person", nil)
	cloud.Rules = append(cloud.Rules, func(r sim.Request) error {
		now := e.Elapsed()
		switch {
		case r.Verb != http.MethodPut:
		case r.Ref.Name == "west" && now < nameFreed:
			return &sim.Refusal{Status: http.StatusConflict, Code: "Conflict", Message: "The name 'west' is taken: no two caches in all of Azure have the same."}
		case r.Ref.Kind != "Cache" && now < maintained:
			busy := &sim.Refusal{Status: http.StatusConflict, Code: "Conflict",
				Message: "The cache 'east' is under maintenance and takes no changes at present. Please try again later."}
			if r.Ref.Kind == "PatchSchedule" {
				busy.RetryAfter = maintained - now
			}
			return busy
		case r.Ref.Kind == "LinkedServer" && now < prepared:
			return &sim.Refusal{Status: http.StatusBadRequest, Code: "BadRequest",
				Message: "The caches cannot be linked: replication from 'east' to 'west' is being prepared."}
		}
		return nil
	})

	caches, children := cacheExtensions(), childExtensions()
	if !withRows {
		caches.Classify, children.Classify = classify.Chain{}, classify.Chain{}
	}
	options := append(e.Options(3), flow.WithErrors(azure.Errors()), flow.WithAPIVersion("2023-04-01"))
	cache := flow.New("Cache", sim.Operations[*Cache](cloud, nil), caches, options...)
	sim.Add(e, cache, &Cache{Name: "east"})
	sim.Add(e, cache, &Cache{Name: "west"})
	child := flow.New("Child", sim.Operations(cloud, (*Child).OwnerRef), children, options...)
	for _, c := range []*Child{
		{Kind: "FirewallRule", Name: "office", Cache: "east"},
		{Kind: "PatchSchedule", Name: "sunday", Cache: "east"},
		{Kind: "LinkedServer", Name: "pair", Cache: "east", Linked: "west"},
	} {
		sim.Add(e, child, c)
	}
	return e
}

var program = sim.Program{
	Name: "redis", Runs: [2]string{"with rows", "without rows"}, New: simulate, Each: true,
	About: `Reconciles the caches east and west, and the FirewallRule office, PatchSchedule sunday and LinkedServer pair of east.
At times a cache is busy although its state is Succeeded: Azure then refuses with Conflict and "try again later". A
name that is taken is a Conflict, too. The second run has no rows of classification.
`,
}

func main() { program.Main() }
