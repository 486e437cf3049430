package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
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

// NewSimulation sets up a run. The stories may be used for other runs, too. Without get the reconciler does not read before
// it writes.
func NewSimulation(stories []Story, get bool) (*Simulation, error) {
	s := &Simulation{engine: sim.NewEngine(), stories: stories}
	s.cloud = armsim.NewServer(s.engine.Now)
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
		flow.WithBackoffSteps(classify.Slow, lookEvery, lookEvery),
		flow.WithBackoffResync(sim.Resync), flow.WithBackoffJitter(0, 0), flow.WithBackoffClock(s.engine.Now))))
	s.endpoints = flow.New(endpointKind, operations, endpointExtensions(), options...)

	for _, story := range stories {
		e := story.Endpoint
		for _, event := range story.Events {
			happens := func() { said[strings.ToLower(e.Name)+"/"+event.Connection] = event }
			if event.At == 0 {
				happens()
				continue
			}
			s.engine.At(event.At, e.Ref().String(), event.String(), happens)
		}
		sim.Add(s.engine, s.endpoints, sim.Resource[*Endpoint]{
			Ref: e.Ref(), Value: &e, State: func() string { return e.Status.ProvisioningState },
		})
	}
	return s, nil
}

// ended reports whether a story has come to its end. p is the last pass over its endpoint.
func (s Story) ended(p flowtest.Pass) bool { return p.At >= s.over() && p.Reason == s.End }

// done reports whether each story has come to its end.
func (s *Simulation) done() bool {
	for i, p := range s.engine.Last() { // in the order of the stories
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
	for i, p := range s.engine.Last() {
		if !s.stories[i].ended(p) {
			fmt.Fprintf(&b, "\n  %s should come to %s: it is %s", p.Resource, s.stories[i].End, s.engine.Outcome(p.Resource))
		}
	}
	return errors.New(b.String())
}

// requests is what was counted of requests about an endpoint.
func (s *Simulation) requests(name string) armsim.Tally {
	return s.cloud.TallyOf(func(id string) bool { return strings.EqualFold(id, endpointID(name)) })
}
