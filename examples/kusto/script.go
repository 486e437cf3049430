package main

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"
)

// step is an event of the script.
type step struct {
	at      time.Duration
	object  string
	what    string
	happens func()
}

// script returns the events of the cluster and its databases. With events, the
// engine receives an event when a person stops or starts the cluster, like a
// subscriber of Azure's events. It receives none when Azure has done so.
func script(s *Simulation, cluster *Cluster, databases []*Database, events bool) []step {
	id, name := clusterID(cluster.Meta.Name), cluster.Ref().String()
	all := fmt.Sprintf("%d %s", len(databases), databaseKind)
	if len(databases) == 1 {
		all = databases[0].Ref().String()
	}
	azure := func(state armkusto.State) func() { return func() { s.azure.SetState(id, state) } }
	person := func(state armkusto.State) func() {
		return func() {
			s.azure.SetState(id, state)
			if events {
				s.engine.Edit(cluster.Ref())
			}
		}
	}
	notice := ", without an event"
	if events {
		notice = ", with an event"
	}
	return []step{
		{14 * time.Minute, name, "a person stops it" + notice, person(armkusto.StateStopping)},
		{14 * time.Minute, all, "a person sets the hot cache to 31 days", func() {
			for _, d := range databases {
				d.Spec.HotCachePeriod = "P31D"
				d.Meta.Generation++
				s.engine.Edit(d.Ref())
			}
		}},
		{16 * time.Minute, name, "Azure has stopped it, without an event", azure(armkusto.StateStopped)},
		{24 * time.Minute, name, "a person starts it" + notice, person(armkusto.StateStarting)},
		{27 * time.Minute, name, "Azure has started it, without an event", azure(armkusto.StateRunning)},
	}
}

// follow schedules the steps of a script.
func (s *Simulation) follow(script []step) {
	s.script = script
	for _, next := range script {
		s.engine.At(next.at, next.object, next.what, func() {
			s.script = s.script[1:]
			next.happens()
		})
	}
}
