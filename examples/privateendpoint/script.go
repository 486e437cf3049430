package main

import (
	"fmt"
	"path"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Story is an endpoint with the events of its connections.
type Story struct {
	Endpoint Endpoint
	Events   []Event // sorted by time
	// End is the reason of the condition Ready after the last event.
	End string
}

// Event changes the status of a connection.
type Event struct {
	At         time.Duration // 0: when the connection is created
	Connection string
	Who        string
	Status     string
	Text       string
}

// String formats the event for the timeline.
func (e Event) String() string {
	return fmt.Sprintf("%s on connection %s: %s, %q", e.Who, e.Connection, e.Status, e.Text)
}

const (
	service = "the service"
	owner   = "the owner of the service"
)

// stories holds the stories of a run.
var stories = []Story{
	{
		// A rule of the service approves all connections from this
		// subscription.
		Endpoint: endpoint("web", ConnectionSpec{Name: "web", Service: "Microsoft.Storage/storageAccounts/assets", Group: "blob"}),
		Events:   []Event{{0, "web", service, "Approved", "auto-approved"}},
		End:      flow.ReasonSucceeded,
	},
	{
		// A person approves after some minutes.
		Endpoint: endpoint("billing", ask("billing", "Microsoft.Sql/servers/ledger", "sqlServer")),
		Events: []Event{
			{0, "billing", service, "Pending", "awaiting approval"},
			{3 * time.Minute, "billing", owner, "Approved", "welcome"},
		},
		End: flow.ReasonSucceeded,
	},
	{
		// A person rejects it. Retries do not help; a question to that person
		// does.
		Endpoint: endpoint("audit", ask("audit", "Microsoft.Sql/servers/ledger", "sqlServer")),
		Events: []Event{
			{0, "audit", service, "Pending", "awaiting approval"},
			{time.Minute, "audit", owner, "Rejected", "ask the security team first"},
			{5 * time.Minute, "audit", owner, "Approved", "the security team agrees"},
		},
		End: flow.ReasonSucceeded,
	},
	{
		// A person rejects it and does not change the decision.
		Endpoint: endpoint("partner", ask("partner", "Microsoft.KeyVault/vaults/secrets", "vault")),
		Events: []Event{
			{0, "partner", service, "Pending", "awaiting approval"},
			{2 * time.Minute, "partner", owner, "Rejected", "partners go through the gateway"},
		},
		End: checks.ReasonApprovalRejected,
	},
	{
		// It is approved and in use, and then disconnected. No request fails,
		// so the resync finds it.
		Endpoint: endpoint("legacy", ask("legacy", "Microsoft.Sql/servers/archive", "sqlServer")),
		Events: []Event{
			{0, "legacy", service, "Pending", "awaiting approval"},
			{45 * time.Second, "legacy", owner, "Approved", "until the move"},
			{4 * time.Minute, "legacy", owner, "Disconnected", "the server has moved"},
		},
		End: checks.ReasonApprovalDisconnected,
	},
	{
		// It has no status at first.
		Endpoint: endpoint("reports", ask("reports", "Microsoft.Storage/storageAccounts/reports", "blob")),
		Events: []Event{
			{2 * time.Minute, "reports", service, "Pending", "awaiting approval"},
			{4 * time.Minute, "reports", owner, "Approved", "welcome"},
		},
		End: flow.ReasonSucceeded,
	},
	{
		// Two connections have two owners. The endpoint is ready after both
		// approvals.
		Endpoint: endpoint("gateway",
			ask("files", "Microsoft.Storage/storageAccounts/files", "file"),
			ask("keys", "Microsoft.KeyVault/vaults/secrets", "vault")),
		Events: []Event{
			{0, "files", service, "Pending", "awaiting approval"},
			{0, "keys", service, "Pending", "awaiting approval"},
			{time.Minute, "files", owner, "Approved", "welcome"},
			{5 * time.Minute, "keys", owner, "Approved", "this is the gateway for partners"},
		},
		End: flow.ReasonSucceeded,
	},
}

func endpoint(name string, connections ...ConnectionSpec) Endpoint {
	return Endpoint{Name: name, Spec: EndpointSpec{Subnet: "hub/endpoints", Connections: connections}}
}

// ask returns a connection that a person has to approve.
func ask(name, service, group string) ConnectionSpec {
	return ConnectionSpec{Name: name, Service: service, Group: group, Message: "for the shop, please"}
}

// over returns the time of the last event.
func (s Story) over() time.Duration {
	var last time.Duration
	for _, e := range s.Events {
		last = max(last, e.At)
	}
	return last
}

// otherEnd holds the last event of each connection, by "endpoint/connection".
// Azure shows it in the endpoint, and a PUT of the endpoint does not change it.
type otherEnd map[string]Event

// show adds the state of each connection to the properties of an endpoint.
func (o otherEnd) show(id string, properties map[string]any) {
	for _, list := range []string{"manualPrivateLinkServiceConnections", "privateLinkServiceConnections"} {
		connections, _ := properties[list].([]any)
		for _, c := range connections {
			c := c.(map[string]any)
			event, ok := o[path.Base(id)+"/"+c["name"].(string)]
			if !ok {
				continue
			}
			c["properties"].(map[string]any)["privateLinkServiceConnectionState"] = map[string]any{
				"status": event.Status, "description": event.Text, "actionsRequired": "None",
			}
		}
	}
}
