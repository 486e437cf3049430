package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim"
)

// How long things take, in virtual time.
const (
	cacheTakes        = 2 * time.Minute
	linkedServerTakes = time.Minute
)

// nameFreed is when a person deletes the cache of another subscription that has the name of ours.
const nameFreed = 90 * time.Second

// maintained is when the first maintenance of east is over. It begins when east is made, and east says Succeeded all the
// time, so that nobody can see it from outside.
const maintained = 4*time.Minute + 10*time.Second

// fault is what Azure refuses some PUTs with, up to a time.
type fault struct {
	until   time.Duration
	about   func(armsim.Request) bool
	refusal armsim.Refusal
	tells   bool // it says when it is over, by Retry-After
}

// faults are in the order in which Azure looks for them.
var faults = []fault{
	{
		until:   nameFreed,
		about:   func(r armsim.Request) bool { return strings.EqualFold(r.ID, cacheID("west")) },
		refusal: conflict("The name 'west' is taken: no two caches in all of Azure have the same."),
	},
	{
		until:   maintained,
		about:   func(r armsim.Request) bool { return inEast(r) && r.Is(patchScheduleType) },
		refusal: conflict("The cache 'east' is under maintenance and takes no changes at present. Please try again later."),
		tells:   true,
	},
	{
		until:   maintained,
		about:   inEast,
		refusal: conflict("The cache 'east' is under maintenance and takes no changes at present. Please try again later."),
	},
	{
		until: 5*time.Minute + 30*time.Second,
		about: func(r armsim.Request) bool { return r.Is(linkedServerType) },
		refusal: armsim.Refusal{Status: http.StatusBadRequest, Code: "BadRequest",
			Message: "The caches cannot be linked: replication from 'east' to 'west' is being prepared."},
	},
}

func inEast(r armsim.Request) bool { return strings.EqualFold(r.ParentID, cacheID("east")) }

func conflict(message string) armsim.Refusal {
	return armsim.Refusal{Status: http.StatusConflict, Code: "Conflict", Message: message}
}

// script tells the cloud how long things take and what it refuses, and the engine what people do.
func script(cloud *armsim.Server, engine *sim.Engine) {
	cloud.Takes(cacheType, cacheTakes)
	cloud.Takes(linkedServerType, linkedServerTakes)
	for _, f := range faults {
		cloud.Rule(func(r armsim.Request) *armsim.Refusal {
			left := f.until - engine.Elapsed()
			if r.Verb != http.MethodPut || !f.about(r) || left <= 0 {
				return nil
			}
			refusal := f.refusal
			if f.tells {
				refusal.RetryAfter = left
			}
			return &refusal
		})
	}
	engine.At(nameFreed, "the name west", "freed by a person", nil)
}
