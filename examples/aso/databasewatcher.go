package aso

import (
	"context"
	"regexp"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// SharedPrivateLink is a private way from a watcher to a resource that it watches.
type SharedPrivateLink struct {
	Name string
	Spec struct {
		PrivateLinkResource checks.Ref // what it leads to
	}
}

// Connection is a private endpoint connection of a resource, seen from the resource.
type Connection struct {
	ID, Name            string
	Status, Description string
}

// ConnectionAPI sees to the connections of the resource that a link leads to.
type ConnectionAPI interface {
	Operation[*SharedPrivateLink]
	// Connections lists the connections of the resource with this ID.
	Connections(ctx context.Context, resourceID string) ([]Connection, error)
	// Approve begins to approve a connection and gives the token to follow it with; empty: it was over at once.
	Approve(ctx context.Context, connection Connection) (token string, err error)
}

// SharedPrivateLinkExtensions approve the connection that Azure opens on the resource that the link leads to, where it waits
// for approval and says nothing of that on the link. Only a pending one is approved: who rejected or disconnected it did so on
// purpose. An identity that may not approve leaves it to a person.
//
// As in ASO, a link to what is known by its ID only is not looked into, which the trace says.
func SharedPrivateLinkExtensions(api ConnectionAPI) flow.Extensions[*SharedPrivateLink] {
	return flow.Extensions[*SharedPrivateLink]{
		PostCheck: chain.New(checks.Gate("Approval", func(ctx context.Context, req *checks.Request[*SharedPrivateLink]) (checks.Result, error) {
			link, ref := req.Resource, req.Resource.Spec.PrivateLinkResource
			if ref == (checks.Ref{}) || ref.ByIDOnly() {
				chain.Note(ctx, "the resource of the link is known by its ID only, if at all")
				return checks.Proceed(), nil
			}
			if req.Resolver == nil {
				return checks.Result{}, checks.ErrNoResolver
			}
			target, err := req.Resolver(ctx, ref)
			switch {
			case err != nil:
				return checks.Result{}, err
			case !target.Found():
				return checks.Block(checks.ReasonReferenceNotFound, ref.String()+" was not found: waiting until it is created",
					checks.WithWaitingFor(ref)), nil
			case target.Ref.ID == "":
				return checks.Block(checks.ReasonReferenceNotReady, ref.String()+" is not in Azure yet: waiting until it is",
					checks.WithWaitingFor(ref)), nil
			}
			if underWay, ended, err := follow(ctx, api, link); err != nil {
				return checks.Result{}, err
			} else if underWay && !ended {
				return checks.Block(checks.ReasonApprovalPending, "the connection to "+ref.String()+" is being approved"), nil
			}
			return approve(ctx, api, link, target.Ref)
		})),
	}
}

// approve decides on the connection of a link as it is now.
func approve(ctx context.Context, api ConnectionAPI, link *SharedPrivateLink, target checks.Ref) (checks.Result, error) {
	all, err := api.Connections(ctx, target.ID)
	if err != nil {
		return checks.Result{}, err
	}
	connection := link.connection(all)
	what := "the connection to " + target.String()
	switch status := strings.ToLower(strings.TrimSpace(connection.Status)); status {
	case "approved":
		return checks.Proceed(), nil
	case "rejected":
		return checks.Block(checks.ReasonApprovalRejected, what+" was rejected: a person has to approve it or to remove the link",
			checks.WithRetry(classify.OnChange)), nil
	case "disconnected":
		return checks.Block(checks.ReasonApprovalDisconnected, what+" was disconnected: a person has to make the link anew",
			checks.WithRetry(classify.OnChange)), nil
	case "":
		return checks.Block(checks.ReasonApprovalAbsent, what+" is not open yet: waiting for Azure"), nil
	case "pending":
	default:
		return checks.Block(checks.ReasonApprovalUnknown, what+" is in state "+connection.Status+": waiting until it is another one"), nil
	}

	token, err := api.Approve(ctx, connection)
	if failure(err).Code == "AuthorizationFailed" {
		return checks.Block(checks.ReasonApprovalPending, what+" must be approved by a person, for this identity may not"), nil
	}
	if err := begin(ctx, api, link, token, err); err != nil {
		return checks.Result{}, err
	}
	return checks.Block(checks.ReasonApprovalPending, what+" is being approved"), nil
}

// connection finds what Azure opened for the link, which goes by the link's name and a GUID: so no link takes one for its own
// whose link has a longer name. The zero Connection: there is none yet.
func (l *SharedPrivateLink) connection(all []Connection) Connection {
	for _, c := range all {
		if id, ok := strings.CutPrefix(c.Name, l.Name+"-"); ok && guid.MatchString(id) {
			return c
		}
	}
	return Connection{}
}

var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Watcher watches databases, which are its targets.
type Watcher struct {
	Name string
	Spec struct {
		Datastore *string // where it writes to; nil: nowhere
	}
}

// Target is a database that is watched.
type Target struct{ Name string }

// WatcherAPI sees to the watcher of a target.
type WatcherAPI interface {
	Operation[*Target]
	// State is Running, Stopped, or what else Azure says of the watcher just now.
	State(ctx context.Context, watcher *Watcher) (string, error)
	// Start begins to start the watcher and gives the token to follow it with; empty: it was over at once.
	Start(ctx context.Context, watcher *Watcher) (token string, err error)
}

// TargetExtensions start the watcher of the target. Azure makes each watcher stopped, has no field in its spec to start it, and
// refuses to start one without a target; so it falls to the first target to do it. A watcher that is on its way from one state
// to another is not touched.
//
// A watcher of which only the ID is known is not ours to start. In ASO a target with any other owner, or with none, passes like
// that; here it is a mistake, and found before the PUT. One without a datastore would refuse to start.
func TargetExtensions(api WatcherAPI) flow.Extensions[*Target] {
	hasWatcher := checks.OwnerIs("HasWatcher", func(*Watcher) string { return "" }, checks.WithUnknownAllowed())
	return flow.Extensions[*Target]{
		OwnerCheck: chain.New(hasWatcher),
		PostCheck: chain.New(
			checks.OnOwner[*Target](hasWatcher), // again, for it may have gone while the target was in the making
			checks.Gate("Start", func(ctx context.Context, req *checks.Request[*Target]) (checks.Result, error) {
				watcher, ok := req.Owner.Value.(*Watcher)
				if !ok || watcher == nil {
					return checks.Proceed(), nil
				}
				return start(ctx, api, req.Resource, watcher, req.Owner.Ref)
			}),
		),
	}
}

// start follows a start that is under way to its end, and else decides on what the watcher does now.
func start(ctx context.Context, api WatcherAPI, target *Target, watcher *Watcher, ref checks.Ref) (checks.Result, error) {
	waits := checks.Block("WatcherNotRunning", "the targets of "+ref.String()+" are watched once it runs: it does not yet")
	switch underWay, ended, err := follow(ctx, api, target); {
	case err != nil:
		return checks.Result{}, err
	case ended:
		return checks.Proceed(), nil
	case underWay:
		return waits, nil
	}

	state, err := api.State(ctx, watcher)
	if err != nil {
		return checks.Result{}, err
	}
	switch state = strings.ToLower(strings.TrimSpace(state)); {
	case state == "running":
		return checks.Proceed(), nil
	case state != "stopped":
		return waits, nil
	case watcher.Spec.Datastore == nil:
		return checks.Block("WatcherWithoutDatastore", ref.String()+" cannot be started, for it has no datastore: give it one",
			checks.WithWaitingFor(ref)), nil
	}
	token, err := api.Start(ctx, watcher)
	if err := begin(ctx, api, target, token, err); err != nil {
		return checks.Result{}, err
	}
	return waits, nil
}
