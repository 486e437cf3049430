package sim

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// pollEvery is the longest Retry-After of an operation under way.
const pollEvery = 30 * time.Second

// Properties are the properties of a resource in the cloud. "provisioningState"
// is Creating or Updating during an operation, and else Succeeded.
type Properties map[string]string

// Cloud is a simulated cloud in memory. Its operations take virtual time, and
// nothing runs in the background. Make it with [NewCloud].
type Cloud struct {
	// Takes has the duration of the PUTs of a kind. Zero: they are done at once.
	Takes map[string]time.Duration
	// Rules refuse requests, in order.
	Rules []func(Request) error
	// Created adds the properties that the service itself sets, by default none.
	Created func(checks.Ref, Properties)
	// NotFound returns the error of a missing resource, by default a Refusal.
	NotFound func(checks.Ref) error
	// Code returns the code of an error that is no Refusal, for the counts.
	Code func(error) string

	engine     *Engine
	resources  map[checks.Ref]*stored
	operations []*stored // by token
}

// Request is a request as a rule sees it. A POLL has the resource of its
// operation.
type Request struct {
	Verb string // GET, PUT, POLL
	Ref  checks.Ref
}

// stored is a resource in the cloud, with its last operation.
type stored struct {
	ref        checks.Ref
	properties Properties
	state      string        // during the operation
	until      time.Duration // the end of the operation
	failed     error
}

// NewCloud returns an empty cloud with the clock of an engine.
func NewCloud(e *Engine) *Cloud {
	return &Cloud{
		Takes: map[string]time.Duration{}, engine: e, resources: map[checks.Ref]*stored{}, Created: func(checks.Ref, Properties) {},
		NotFound: func(checks.Ref) error { return &Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound"} },
	}
}

// Change changes a resource as a person would do it, at once. change may also
// read the properties. A missing resource has none.
func (c *Cloud) Change(ref checks.Ref, change func(Properties)) {
	if there := c.resources[ref]; there != nil {
		change(there.properties)
	} else {
		change(Properties{})
	}
}

// Fail ends the operation of a new resource with an error. The resource does not
// exist then.
func (c *Cloud) Fail(ref checks.Ref, err error) {
	there := c.resources[ref]
	there.until, there.failed = c.engine.Elapsed(), err
	delete(c.resources, ref)
}

// send counts a request. It returns the error of the first rule that refuses it.
func (c *Cloud) send(r Request) error {
	c.engine.Tally.Request(r.Verb)
	for _, rule := range c.Rules {
		if err := rule(r); err != nil {
			return c.refuse(r, err)
		}
	}
	return nil
}

// refuse counts the error of a request, and returns it as an SDK does.
func (c *Cloud) refuse(r Request, err error) error {
	if refusal, ok := err.(*Refusal); ok {
		c.engine.Tally.Refused(r.Verb, fmt.Sprint(refusal.Status, " ", refusal.Code))
		return refusal.ResponseError()
	}
	c.engine.Tally.Refused(r.Verb, c.Code(err))
	return err
}

// show returns the properties as a response has them.
func (c *Cloud) show(s *stored) Properties {
	shown := maps.Clone(s.properties)
	shown["provisioningState"] = "Succeeded"
	if c.engine.Elapsed() < s.until {
		shown["provisioningState"] = s.state
	}
	return shown
}

// get returns the properties of a resource; nil: it does not exist.
func (c *Cloud) get(ref checks.Ref) (Properties, error) {
	r := Request{http.MethodGet, ref}
	if err := c.send(r); err != nil {
		return nil, err
	}
	there := c.resources[ref]
	if there == nil {
		_ = c.refuse(r, c.NotFound(ref)) // it is counted
		return nil, nil
	}
	return c.show(there), nil
}

// put begins to create or change a resource.
func (c *Cloud) put(ref checks.Ref, desired Properties) (*stored, error) {
	if err := c.send(Request{http.MethodPut, ref}); err != nil {
		return nil, err
	}
	there := c.resources[ref]
	if there == nil {
		there = &stored{ref: ref, properties: Properties{}, state: "Creating"}
		c.resources[ref] = there
		c.Created(ref, there.properties)
	} else {
		there.state = "Updating"
	}
	maps.Copy(there.properties, desired)
	there.until = c.engine.Elapsed() + c.Takes[ref.Kind]
	return there, nil
}

// Item is a resource that the cloud stores.
type Item interface {
	Resource
	Desired() Properties
	// Observe stores what the cloud reports. nil: the resource does not exist.
	Observe(Properties)
}

// Operations returns the functions that read and write an item, as they would do
// it with the SDK of a cloud. owner names the owner; nil: it has none. examples/aks
// has these functions for the Azure SDK.
func Operations[T Item](c *Cloud, owner func(T) checks.Ref) flow.Operations[T] {
	ops := flow.Operations[T]{
		Key: func(item T) string { return item.Ref().Name },

		Get: func(_ context.Context, req *flow.Request[T]) (flow.Observation, error) {
			found, err := c.get(req.Resource.Ref())
			if err != nil {
				return flow.Observation{}, err
			}
			req.Resource.Observe(found)
			if found == nil {
				return flow.Observation{Presence: checks.Absent}, nil
			}
			inSync := true
			for name, value := range req.Resource.Desired() {
				inSync = inSync && found[name] == value
			}
			return flow.Observation{Presence: checks.Present, InSync: inSync}, nil
		},

		Apply: func(_ context.Context, req *flow.Request[T]) (flow.Progress, error) {
			there, token := (*stored)(nil), req.Token
			if token == "" {
				var err error
				if there, err = c.put(req.Resource.Ref(), req.Resource.Desired()); err != nil {
					return flow.Progress{}, err
				}
				c.operations = append(c.operations, there)
				token = fmt.Sprintf("op-%d", len(c.operations))
			} else {
				n := 0
				_, _ = fmt.Sscanf(token, "op-%d", &n)
				there = c.operations[n-1]
				if err := c.send(Request{"POLL", there.ref}); err != nil {
					return flow.Progress{}, err // unknown: the flow keeps the token and polls again
				}
			}
			if left := there.until - c.engine.Elapsed(); left > 0 {
				return flow.InProgress(token, min(left, pollEvery)), nil
			}
			if there.failed != nil {
				return flow.Progress{}, flow.Failed(there.failed) // ended: the next pass starts another operation
			}
			req.Resource.Observe(c.show(there))
			return flow.Done(), nil
		},
	}
	if owner != nil {
		ops.Owner = func(ctx context.Context, item T) (checks.Object, error) { return c.engine.Resolve(ctx, owner(item)) }
	}
	return ops
}
