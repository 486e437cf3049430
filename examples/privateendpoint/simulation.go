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

// checkEvery is the interval between passes of an endpoint that waits for a
// person. People take minutes, so the back-off begins with a minute.
const checkEvery = time.Minute

// endpointTakes is the duration of a create or an update of an endpoint.
const endpointTakes = 30 * time.Second

// Simulation is one run of the stories with its own cloud.
type Simulation struct {
	cloud     *armsim.Server
	engine    *sim.Engine
	endpoints *flow.Reconciler[*Endpoint]
	stories   []Story
}

// NewSimulation sets up a run. It does not change the stories. Without get the
// reconciler writes without reading first.
func NewSimulation(stories []Story, get bool) (*Simulation, error) {
	s := &Simulation{engine: sim.NewEngine(), stories: stories}
	s.cloud = armsim.NewServer(s.engine.Now)
	s.cloud.Takes(endpointType, endpointTakes)
	events := otherEnd{}
	s.cloud.Reports(endpointType, events.show)

	api, err := connect(s.cloud)
	if err != nil {
		return nil, err
	}
	operations := endpointOperations(api)
	if !get {
		operations.Get = nil
	}
	options := append(s.engine.Options(len(stories)), flow.WithErrors(azure.Errors()), flow.WithBackoff(flow.NewBackoff(
		flow.WithBackoffSteps(classify.Slow, checkEvery, checkEvery),
		flow.WithBackoffResync(sim.Resync), flow.WithBackoffJitter(0, 0), flow.WithBackoffClock(s.engine.Now))))
	s.endpoints = flow.New(endpointKind, operations, endpointExtensions(), options...)

	for _, story := range stories {
		e := story.Endpoint
		for _, event := range story.Events {
			happens := func() { events[strings.ToLower(e.Name)+"/"+event.Connection] = event }
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

// ended reports whether a story has ended. p is the last pass of its endpoint.
func (s Story) ended(p flowtest.Pass) bool { return p.At >= s.over() && p.Reason == s.End }

// done reports whether all stories have ended.
func (s *Simulation) done() bool {
	for i, p := range s.engine.Last() { // in the order of the stories
		if !s.stories[i].ended(p) {
			return false
		}
	}
	return true
}

// late returns the error of a run that is not done after timeout. It names the
// endpoints whose story has not ended.
func (s *Simulation) late(timeout time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "not all stories have ended after %s:", timeout)
	for i, p := range s.engine.Last() {
		if !s.stories[i].ended(p) {
			fmt.Fprintf(&b, "\n  %s should end with %s, but is %s", p.Resource, s.stories[i].End, s.engine.Outcome(p.Resource))
		}
	}
	return errors.New(b.String())
}

// requests returns the requests about an endpoint that were counted so far.
func (s *Simulation) requests(name string) armsim.Tally {
	return s.cloud.TallyOf(func(id string) bool { return strings.EqualFold(id, endpointID(name)) })
}
