package aso

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// SharedPrivateLink is a private connection from a watcher to a resource that
// it watches.
type SharedPrivateLink struct {
	Name string
	Spec struct {
		PrivateLinkResource checks.Ref // the target of the link
	}
}

// Connection is a private endpoint connection, as the target reports it.
type Connection struct {
	ID, Name            string
	Status, Description string
}

// ConnectionAPI lists and approves the connections of a link's target.
type ConnectionAPI interface {
	Operation[*SharedPrivateLink]
	// Connections lists the connections of the resource with this ID.
	Connections(ctx context.Context, resourceID string) ([]Connection, error)
	// Approve begins to approve a connection. It returns the operation's token,
	// or "" if the operation has already ended.
	Approve(ctx context.Context, connection Connection) (token string, err error)
}

// SharedPrivateLinkExtensions approve the connection that Azure opens on the
// link's target. The connection waits for approval there, and the link does not
// show it. Only a pending connection is approved, because a person rejected or
// disconnected the others. If the identity must not approve, a person has to.
//
// As in ASO, a link to a target that is known only by its ID proceeds. The
// trace says so.
func SharedPrivateLinkExtensions(api ConnectionAPI) flow.Extensions[*SharedPrivateLink] {
	return flow.Extensions[*SharedPrivateLink]{
		PostCheck: chain.New(checks.Gate("Approval", func(ctx context.Context, req *checks.Request[*SharedPrivateLink]) (checks.Result, error) {
			link, ref := req.Resource, req.Resource.Spec.PrivateLinkResource
			if ref == (checks.Ref{}) || ref.ByIDOnly() {
				chain.Note(ctx, "the target of the link is known only by its ID, or not at all")
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
				return checks.Block(checks.ReasonReferenceNotReady, ref.String()+" has no ID in Azure yet: waiting until it is created there",
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

// approve decides on the connection of a link.
func approve(ctx context.Context, api ConnectionAPI, link *SharedPrivateLink, target checks.Ref) (checks.Result, error) {
	all, err := api.Connections(ctx, target.ID)
	if err != nil {
		return checks.Result{}, err
	}
	var connection Connection
	what, own := "the connection to "+target.String(), link.connections(all)
	if len(own) > 0 {
		connection = own[0]
	}
	if i := slices.IndexFunc(own, func(c Connection) bool { return c.state() != "approved" }); i >= 0 && len(own) > 1 {
		return checks.Block(checks.ReasonApprovalUnknown, fmt.Sprintf("%s is one of %d that may be of this link, and %s is %s; approve or delete each of them", what, len(own), own[i].Name, own[i].Status)), nil
	}
	switch connection.state() {
	case "approved":
		return checks.Proceed(), nil
	case "rejected":
		return checks.Block(checks.ReasonApprovalRejected, what+" was rejected; approve the connection or remove the link",
			checks.WithRetry(classify.OnChange)), nil
	case "disconnected":
		return checks.Block(checks.ReasonApprovalDisconnected, what+" was disconnected; create the link again",
			checks.WithRetry(classify.OnChange)), nil
	case "":
		return checks.Block(checks.ReasonApprovalAbsent, what+" does not exist yet: waiting for Azure"), nil
	case "pending":
	default:
		return checks.Block(checks.ReasonApprovalUnknown, what+" is in state "+connection.Status+"; waiting for Pending or Approved"), nil
	}

	token, err := api.Approve(ctx, connection)
	if failure(err).Code == "AuthorizationFailed" {
		return checks.Block(checks.ReasonApprovalPending, what+" must be approved by a person; this identity has no permission"), nil
	}
	if err := begin(ctx, api, link, token, err); err != nil {
		return checks.Result{}, err
	}
	return checks.Block(checks.ReasonApprovalPending, what+" is being approved"), nil
}

// connections returns the connections that Azure may have opened for the link. Their names are the link's name, a hyphen
// and a GUID. A link whose name is longer has other connections. A link of another watcher may have the same name, and a
// connection may be left of a link that was deleted. So the gate approves none of several.
func (l *SharedPrivateLink) connections(all []Connection) (own []Connection) {
	for _, c := range all {
		if id, ok := strings.CutPrefix(c.Name, l.Name+"-"); ok && guid.MatchString(id) {
			own = append(own, c)
		}
	}
	return own
}

// state returns the status of a connection in lower case.
func (c *Connection) state() string { return strings.ToLower(strings.TrimSpace(c.Status)) }

var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Watcher watches databases, which are its targets.
type Watcher struct {
	Spec struct {
		Datastore *string // the destination of the data; nil: none
	}
}

// Target is a watched database.
type Target struct{}

// WatcherAPI reads and starts the watcher of a target.
type WatcherAPI interface {
	Operation[*Target]
	// State reads the state of the watcher from Azure: Running, Stopped or
	// another one.
	State(ctx context.Context, watcher *Watcher) (string, error)
	// Start begins to start the watcher. It returns the operation's token, or
	// "" if the operation has already ended.
	Start(ctx context.Context, watcher *Watcher) (token string, err error)
}

// TargetExtensions start the watcher of the target. Azure creates each watcher
// stopped, has no field in its spec to start it, and refuses to start it
// without a target. So the first target starts it. A watcher in any state but
// Stopped stays unchanged.
//
// A watcher that is known only by its ID is not started. Another owner, or
// none, is a mistake that blocks before the PUT; in ASO it proceeds. A watcher
// without a datastore cannot start and blocks.
func TargetExtensions(api WatcherAPI) flow.Extensions[*Target] {
	hasWatcher := checks.OwnerIs("HasWatcher", func(*Watcher) string { return "" }, checks.WithUnknownAllowed())
	return flow.Extensions[*Target]{
		OwnerCheck: chain.New(hasWatcher),
		PostCheck: chain.New(
			checks.OnOwner[*Target](hasWatcher), // again, because the owner may be gone after the PUT
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

// start polls a start under way. Otherwise it decides on the watcher's state.
func start(ctx context.Context, api WatcherAPI, target *Target, watcher *Watcher, ref checks.Ref) (checks.Result, error) {
	waits := checks.Block("WatcherNotRunning", ref.String()+" does not run yet; its targets are not watched")
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
		return checks.Block("WatcherWithoutDatastore", ref.String()+" cannot start without a datastore; set its datastore",
			checks.WithWaitingFor(ref)), nil
	}
	token, err := api.Start(ctx, watcher)
	if err := begin(ctx, api, target, token, err); err != nil {
		return checks.Result{}, err
	}
	return waits, nil
}
