package main

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/checks"
)

// The kinds of resources that the example knows.
const (
	cacheKind         = "Cache"
	firewallRuleKind  = "FirewallRule"
	patchScheduleKind = "PatchSchedule"
	linkedServerKind  = "LinkedServer"
)

// Cache is a Redis cache.
type Cache struct {
	Name, Location string
	Size           int32                      // the number behind the P of the tier Premium
	State          armredis.ProvisioningState // as Azure said last; empty: never
}

// FirewallRule lets a range of addresses into a cache.
type FirewallRule struct {
	Name, Cache string
	From, To    string
}

// PatchSchedule says when a cache may be patched. A cache has one at most.
type PatchSchedule struct {
	Name, Cache string
	Day         armredis.DayOfWeek
	FromHour    int32 // UTC
}

// LinkedServer keeps a copy of a cache in another one.
type LinkedServer struct {
	Name, Cache string
	Linked      string // the name of the cache that has the copy
}

func cacheRef(name string) checks.Ref { return checks.Ref{Kind: cacheKind, Name: name} }
