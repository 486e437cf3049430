package main

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"
)

// step is something of the script that happens at a time.
type step struct {
	at      time.Duration
	object  string
	what    string
	happens func()
}

// script is what happens to the cluster and its databases besides being reconciled. If told, the engine hears of it when
// a person stops or starts the cluster, as from the events that Azure sends to those who subscribe; nobody ever tells
// when Azure has done so.
func script(s *Simulation, cluster *Cluster, databases []*Database, told bool) []step {
	id, name := clusterID(cluster.Meta.Name), cluster.Ref().String()
	all := fmt.Sprintf("%d %s", len(databases), databaseKind)
	if len(databases) == 1 {
		all = databases[0].Ref().String()
	}
	azure := func(state armkusto.State) func() { return func() { s.azure.SetState(id, state) } }
	person := func(state armkusto.State) func() {
		return func() {
			s.azure.SetState(id, state)
			if told {
				s.engine.Edit(cluster.Ref())
			}
		}
	}
	heard := "; the engine is not told"
	if told {
		heard = "; the engine is told"
	}
	return []step{
		{14 * time.Minute, name, "a person stops it" + heard, person(armkusto.StateStopping)},
		{14 * time.Minute, all, "a person sets the hot cache to 31 days", func() {
			for _, d := range databases {
				d.Spec.HotCachePeriod = "P31D"
				d.Meta.Generation++
				s.engine.Edit(d.Ref())
			}
		}},
		{16 * time.Minute, name, "Azure has stopped it; the engine is not told", azure(armkusto.StateStopped)},
		{24 * time.Minute, name, "a person starts it" + heard, person(armkusto.StateStarting)},
		{27 * time.Minute, name, "Azure has started it; the engine is not told", azure(armkusto.StateRunning)},
	}
}

// follow makes a script happen.
func (s *Simulation) follow(script []step) {
	s.script = script
	for _, next := range script {
		s.engine.At(next.at, next.object, next.what, func() {
			s.script = s.script[1:]
			next.happens()
		})
	}
}
