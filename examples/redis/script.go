package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim"
)

// The durations of creates, in virtual time.
const (
	cacheTakes        = 2 * time.Minute
	linkedServerTakes = time.Minute
)

// nameFreed is the time at which a person deletes another subscription's cache
// with the name west.
const nameFreed = 90 * time.Second

// maintained is the time at which the first maintenance of east ends. It begins
// when east is created. East reports Succeeded meanwhile, so a check cannot see
// it.
const maintained = 4*time.Minute + 10*time.Second

// fault is a refusal of some PUTs until a time.
type fault struct {
	until      time.Duration
	matches    func(armsim.Request) bool
	refusal    armsim.Refusal
	retryAfter bool // the refusal has Retry-After
}

// faults is in the order of Azure's checks.
var faults = []fault{
	{
		until:   nameFreed,
		matches: func(r armsim.Request) bool { return strings.EqualFold(r.ID, cacheID("west")) },
		refusal: conflict("The name 'west' is taken: no two caches in all of Azure have the same."),
	},
	{
		until:      maintained,
		matches:    func(r armsim.Request) bool { return inEast(r) && r.Is(patchScheduleType) },
		refusal:    conflict("The cache 'east' is under maintenance and takes no changes at present. Please try again later."),
		retryAfter: true,
	},
	{
		until:   maintained,
		matches: inEast,
		refusal: conflict("The cache 'east' is under maintenance and takes no changes at present. Please try again later."),
	},
	{
		until:   5*time.Minute + 30*time.Second,
		matches: func(r armsim.Request) bool { return r.Is(linkedServerType) },
		refusal: armsim.Refusal{Status: http.StatusBadRequest, Code: "BadRequest",
			Message: "The caches cannot be linked: replication from 'east' to 'west' is being prepared."},
	},
}

func inEast(r armsim.Request) bool { return strings.EqualFold(r.ParentID, cacheID("east")) }

func conflict(message string) armsim.Refusal {
	return armsim.Refusal{Status: http.StatusConflict, Code: "Conflict", Message: message}
}

// script sets the durations and refusals of the cloud, and schedules the
// actions of people.
func script(cloud *armsim.Server, engine *sim.Engine) {
	cloud.Takes(cacheType, cacheTakes)
	cloud.Takes(linkedServerType, linkedServerTakes)
	for _, f := range faults {
		cloud.Rule(func(r armsim.Request) *armsim.Refusal {
			left := f.until - engine.Elapsed()
			if r.Verb != http.MethodPut || !f.matches(r) || left <= 0 {
				return nil
			}
			refusal := f.refusal
			if f.retryAfter {
				refusal.RetryAfter = left
			}
			return &refusal
		})
	}
	engine.At(nameFreed, "the name west", "freed by a person", nil)
}
