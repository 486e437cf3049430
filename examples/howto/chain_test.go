package howto

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
	"pgregory.net/rapid"
)

func audit(next checks.Handler[*Database]) checks.Handler[*Database] {
	return func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
		return next(ctx, req)
	}
}

// links:

func TestLinks(t *testing.T) {
	links := chain.New(audit, sizeInRange, checks.Paused(func(d *Database) bool { return d.Name == "paused" }))
	checkstest.Run(t, links, checkstest.Cases[*Database]{
		"Fits":     {Reason: "the size is allowed", Request: checkstest.Request(&Database{Size: 1}), Want: checkstest.Proceeds()},
		"TooLarge": {Reason: "the service rejects it", Request: checkstest.Request(&Database{Size: 101}), Want: checkstest.Blocks("SizeOutOfRange")},
	})

	requests := rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
		return checkstest.Request(&Database{Size: rapid.IntRange(0, 200).Draw(t, "size")})
	})
	checkstest.Laws(t, links, requests) // no link forgets next, changes the request or hides a panic
	chaintest.Order(t, links, "howto.audit", "SizeInRange", "Paused")
}

// :links

// flow:

func TestTimeline(t *testing.T) {
	w := &flowtest.World[*Database]{Resource: &Database{Size: 1}, Extensions: flow.Extensions[*Database]{PreCheck: chain.New(sizeInRange)}}
	w.Apply.Fail(flowtest.Response(http.StatusConflict, "Conflict", "the server is busy", 0)).
		Then(flow.InProgress("op-1", 20*time.Second), flow.Done())
	w.Run(t).Want(t, `
		00:00  failed at Apply: Conflict  again in 1s   [Apply]
		00:01  in progress at Apply       again in 20s  [Apply]
		00:21  ready                      again in 1h   [Apply(op-1)]`)
}

// :flow
