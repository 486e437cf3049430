package main

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/checks"
)

// The kinds of the example.
const (
	cacheKind         = "Cache"
	firewallRuleKind  = "FirewallRule"
	patchScheduleKind = "PatchSchedule"
	linkedServerKind  = "LinkedServer"
)

// Cache is a Redis cache.
type Cache struct {
	Name, Location string
	Size           int32                      // the number after the P of a Premium size
	State          armredis.ProvisioningState // the last report of Azure; empty: none
}

// FirewallRule allows a range of addresses to connect to a cache.
type FirewallRule struct {
	Name, Cache string
	From, To    string
}

// PatchSchedule sets the time of a cache's patches. A cache has at most one.
type PatchSchedule struct {
	Name, Cache string
	Day         armredis.DayOfWeek
	FromHour    int32 // UTC
}

// LinkedServer keeps a copy of a cache in another cache.
type LinkedServer struct {
	Name, Cache string
	Linked      string // the name of the cache that has the copy
}

func cacheRef(name string) checks.Ref { return checks.Ref{Kind: cacheKind, Name: name} }
