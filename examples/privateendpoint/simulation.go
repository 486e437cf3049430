package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// lookEvery is how often an endpoint is looked at that waits for a person who may act any time. People take minutes, so
// the engine's back-off need not begin with seconds.
const lookEvery = time.Minute

// endpointTakes is how long Azure takes to make an endpoint, or to change one.
const endpointTakes = 30 * time.Second

// Simulation is one run of the stories against a cloud of its own.
type Simulation struct {
	cloud     *armsim.Server
	engine    *sim.Engine
	endpoints *flow.Reconciler[*Endpoint]
	stories   []Story
}

// NewSimulation puts a run together. The stories may be used for others, too. Without get the reconciler does not look
// before it writes.
func NewSimulation(stories []Story, get bool, w sim.Watcher) (*Simulation, error) {
	s := &Simulation{engine: sim.NewEngine(w), stories: stories}
	s.cloud = armsim.NewServer(s.engine.Clock.Now)
	s.cloud.Takes(endpointType, endpointTakes)
	said := otherEnd{}
	s.cloud.Reports(endpointType, said.show)

	api, err := connect(s.cloud)
	if err != nil {
		return nil, err
	}
	operations := endpointOperations(api)
	if !get {
		operations.Get = nil
	}
	options := append(s.engine.Options(len(stories)), flow.WithErrors(azure.Errors()), flow.WithBackoff(flow.NewBackoff(
		flow.BackoffSteps(classify.Slow, lookEvery, lookEvery),
		flow.BackoffResync(sim.Resync), flow.BackoffJitter(0, 0), flow.BackoffClock(s.engine.Clock.Now))))
	s.endpoints = flow.New(endpointKind, operations, endpointExtensions(), options...)

	for _, story := range stories {
		e := story.Endpoint
		for _, event := range story.Events {
			happens := func() { said[strings.ToLower(e.Name)+"/"+event.Connection] = event }
			if event.At == 0 {
				happens()
				continue
			}
			s.engine.At(event.At, func() {
				happens()
				s.engine.Happened(e.Ref().String(), event.String())
			})
		}
		s.engine.Store.Add(e.Ref(), &e)
		s.engine.Reconcile(sim.Resource{
			Ref:        e.Ref(),
			Generation: func() int64 { return 1 }, // nobody changes a spec here
			Pass:       func(ctx context.Context) flow.Outcome { return s.endpoints.Reconcile(ctx, &e) },
			State:      func() string { return e.Status.ProvisioningState },
		})
	}
	return s, nil
}

// ended tells whether a story, whose endpoint was last looked at in that pass, has come to its end.
func (s Story) ended(p sim.Pass) bool {
	return p.At >= s.over() && p.Outcome.Reason() == s.End
}

// done tells whether each story has come to its end.
func (s *Simulation) done() bool {
	for i, p := range s.engine.Passes() { // in the order of the stories
		if !s.stories[i].ended(p) {
			return false
		}
	}
	return true
}

// late is the error of a run that timeout was not enough for: it says which endpoints are not at their end.
func (s *Simulation) late(timeout time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "not each story has come to its end after %s:", timeout)
	for i, p := range s.engine.Passes() {
		if !s.stories[i].ended(p) {
			fmt.Fprintf(&b, "\n  %s should come to %s: it is %s", p.Ref, s.stories[i].End, p.Outcome)
		}
	}
	return errors.New(b.String())
}

// explain says why an endpoint is where it is; false if it was not reconciled.
func (s *Simulation) explain(ref checks.Ref) (flow.Explanation, bool) {
	return s.endpoints.Explain(ref.Name)
}

// requests is what was counted of requests about an endpoint.
func (s *Simulation) requests(name string) armsim.Tally {
	return s.cloud.TallyOf(func(id string) bool { return strings.EqualFold(id, endpointID(name)) })
}
