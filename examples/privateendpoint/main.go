// Command privateendpoint reconciles private endpoints that wait for people to
// approve their connections.
//
// Read endpointExtensions first and copy from it: it has the check of private
// endpoints. simulate sets up the run, and stories has the actions of people.
package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// endpointExtensions returns the check of private endpoints. A new endpoint works
// after the owner of the service has approved each of its connections. The check
// only defers Ready. Meanwhile the flow does not write, because Get reports InSync.
func endpointExtensions() flow.Extensions[*Endpoint] {
	return flow.Extensions[*Endpoint]{
		PostCheck: chain.New(
			checks.ApprovalPending(
				func(e *Endpoint) []Connection { return e.Connections },
				func(c Connection) checks.Approval {
					return checks.Approval{Name: "connection " + c.Name, Status: c.Status, Description: c.Description}
				},
				checks.WithMinimum(1), // an endpoint without connections is not ready
			),
		),
	}
}

// Endpoint is a private endpoint: an address in a network that leads to another
// owner's service.
type Endpoint struct {
	Name        string
	Services    string       // the names of its connections, separated by spaces
	Connections []Connection // the last report of Azure
	State       string       // the last report of Azure
}

// Connection is the state of a connection.
type Connection struct {
	Name        string
	Status      string // Approved, Pending, Rejected or Disconnected; empty: not reported
	Description string // the text of the service's owner
}

func (e *Endpoint) Ref() checks.Ref         { return checks.Ref{Kind: "Endpoint", Name: e.Name} }
func (e *Endpoint) Shown() string           { return e.State }
func (e *Endpoint) Desired() sim.Properties { return sim.Properties{"connections": e.Services} }

// Observe stores the states that Azure reports.
func (e *Endpoint) Observe(p sim.Properties) {
	e.State, e.Connections = p["provisioningState"], nil
	for _, name := range strings.Fields(p["connections"]) {
		e.Connections = append(e.Connections, Connection{name, p["status "+name], p["text "+name]})
	}
}

const (
	service = "the service"
	owner   = "the owner of the service"
)

// event changes the status of a connection.
type event struct {
	at                          time.Duration // 0: when the endpoint is created
	connection, who, is, reason string
}

// stories has the endpoints, each with the events of its connections.
var stories = []struct {
	endpoint, services string
	events             []event
}{
	{"web", "web", []event{{0, "web", service, "Approved", "auto-approved"}}}, // by a rule
	{"billing", "billing", []event{ // a person approves after some minutes
		{0, "billing", service, "Pending", "awaiting approval"},
		{3 * time.Minute, "billing", owner, "Approved", "welcome"},
	}},
	{"audit", "audit", []event{ // retries do not help; a question to that person does
		{0, "audit", service, "Pending", "awaiting approval"},
		{time.Minute, "audit", owner, "Rejected", "ask the security team first"},
		{5 * time.Minute, "audit", owner, "Approved", "the security team agrees"},
	}},
	{"partner", "partner", []event{ // the person does not change the decision
		{0, "partner", service, "Pending", "awaiting approval"},
		{2 * time.Minute, "partner", owner, "Rejected", "partners go through the gateway"},
	}},
	{"legacy", "legacy", []event{ // no request fails after the end, so the resync finds it
		{0, "legacy", service, "Pending", "awaiting approval"},
		{45 * time.Second, "legacy", owner, "Approved", "until the move"},
		{4 * time.Minute, "legacy", owner, "Disconnected", "the server has moved"},
	}},
	{"reports", "reports", []event{ // it has no status at first
		{2 * time.Minute, "reports", service, "Pending", "awaiting approval"},
		{4 * time.Minute, "reports", owner, "Approved", "welcome"},
	}},
	{"gateway", "files keys", []event{ // it is ready after two approvals
		{0, "files", service, "Pending", "awaiting approval"},
		{0, "keys", service, "Pending", "awaiting approval"},
		{time.Minute, "files", owner, "Approved", "welcome"},
		{5 * time.Minute, "keys", owner, "Approved", "this is the gateway for partners"},
	}},
}

// simulate sets up a run. Without get the reconciler writes without reading first.
func simulate(get bool) *sim.Engine {
	e := sim.NewEngine()
	cloud := sim.NewCloud(e)
	cloud.Takes["Endpoint"] = 30 * time.Second
	operations := sim.Operations[*Endpoint](cloud, nil)
	if !get {
		operations.Get = nil
	}
	// People take minutes, so the back-off begins with a minute.
	endpoints := flow.New("Endpoint", operations, endpointExtensions(),
		append(e.Options(len(stories), flow.WithBackoffSteps(classify.Slow, time.Minute, time.Minute)), flow.WithErrors(azure.Errors()))...)

	set := func(p sim.Properties, ev event) {
		p["status "+ev.connection], p["text "+ev.connection] = ev.is, ev.reason
	}
	cloud.Created = func(ref checks.Ref, p sim.Properties) {
		for _, s := range stories {
			for _, ev := range s.events {
				if s.endpoint == ref.Name && ev.at == 0 {
					set(p, ev)
				}
			}
		}
	}
	for _, s := range stories {
		endpoint := &Endpoint{Name: s.endpoint, Services: s.services}
		sim.Add(e, endpoints, endpoint)
		for _, ev := range s.events {
			if ev.at > 0 {
				e.At(ev.at, endpoint.Ref().String(), fmt.Sprintf("%s on connection %s: %s, %q", ev.who, ev.connection, ev.is, ev.reason),
					func() { cloud.Change(endpoint.Ref(), func(p sim.Properties) { set(p, ev) }) })
			}
		}
	}
	return e
}

var program = sim.Program{
	Name: "privateendpoint", Runs: [2]string{"with Get", "without Get"}, New: simulate, End: 7 * time.Minute,
	About: `Reconciles private endpoints, each with its own story: the connection is approved by a rule, approved by a person after
a while, rejected, disconnected while in use, or has no status at first. A waiting endpoint is read but not written
again. A rejected connection is read again at the resync, every 5 minutes here and about every hour by default.

Endpoints: web, billing, audit, partner, legacy, reports, gateway.
`,
}

func main() { program.Main() }
