package armsim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Server simulates Azure Resource Manager. It holds resources of any type in
// memory and uses virtual time. It is a policy.Transporter that speaks the wire
// format, so the SDK's own clients work with it. [Server.Rule], [Server.Takes]
// and [Server.Reports] add the behaviour of a service. Use it from one
// goroutine. Make it with [NewServer].
type Server struct {
	now        func() time.Time
	takes      map[string]time.Duration                       // by lower-case type
	reports    map[string][]func(id string, p map[string]any) // by lower-case type
	rules      []func(Request) *Refusal
	resources  map[string]*resource  // by lower-case ID
	operations map[string]*operation // by lower-case path
	tally      Tally
	tallies    map[string]*Tally // by lower-case ID of the resource
}

// NewServer returns a server without resources. now is its clock.
func NewServer(now func() time.Time) *Server {
	return &Server{
		now:       now,
		takes:     map[string]time.Duration{},
		reports:   map[string][]func(string, map[string]any){},
		resources: map[string]*resource{}, operations: map[string]*operation{},
		tallies: map[string]*Tally{},
	}
}

// Takes sets the duration of a PUT or a DELETE of a resource type, such as
// "Microsoft.Kusto/clusters/databases". The case of the type does not matter.
// With zero, the default, the operation is done at once.
func (s *Server) Takes(resourceType string, d time.Duration) {
	s.takes[strings.ToLower(resourceType)] = d
}

// Reports adds a function that changes the properties which a response shows
// for resources of a type. The properties are a copy that includes the
// provisioningState.
func (s *Server) Reports(resourceType string, add func(id string, properties map[string]any)) {
	key := strings.ToLower(resourceType)
	s.reports[key] = append(s.reports[key], add)
}

// Rule adds a rule of a service. The server calls the rules before each
// request, in the order in which they were added. The first refusal is the
// response. A rule may use the server's other methods.
func (s *Server) Rule(rule func(Request) *Refusal) { s.rules = append(s.rules, rule) }

// Tally returns the requests that were counted so far.
func (s *Server) Tally() Tally { return s.tally.Clone() }

// TallyOf returns the requests that were counted so far for the resources whose
// lower-case IDs match. A poll counts for the resource of its operation.
func (s *Server) TallyOf(match func(id string) bool) Tally {
	sum := Tally{Verbs: map[string]int{}, Failures: map[string]int{}}
	for id, t := range s.tallies {
		if !match(id) {
			continue
		}
		sum.Sent += t.Sent
		sum.Failed += t.Failed
		for verb, n := range t.Verbs {
			sum.Verbs[verb] += n
		}
		for kind, n := range t.Failures {
			sum.Failures[kind] += n
		}
	}
	return sum
}

// Do answers a request, as the transport of the SDK's clients.
func (s *Server) Do(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err // a real transport does not send it either
	}
	r, refused := s.read(req)
	if s.tallies[r.ID] == nil {
		s.tallies[r.ID] = &Tally{}
	}
	tallies := []*Tally{&s.tally, s.tallies[r.ID]}
	for _, t := range tallies {
		t.Request(r.Verb)
	}
	for i := 0; refused == nil && i < len(s.rules); i++ {
		refused = s.rules[i](r)
	}
	var a answer
	if refused == nil {
		a, refused = s.answer(r)
	}
	if refused != nil {
		for _, t := range tallies {
			t.Refused(r.Verb, refused)
		}
		return refused.Response(req)
	}
	return a.response(req)
}

// answer handles a request that no rule refused.
func (s *Server) answer(r Request) (answer, *Refusal) {
	if r.Verb == poll {
		return s.poll(r), nil
	}
	if r.ParentID != "" && s.find(r.ParentID) == nil {
		return answer{}, &Refusal{Status: http.StatusNotFound, Code: "ParentResourceNotFound",
			Message: "Can not perform requested operation on nested resource. Parent resource '" + r.ParentID + "' not found."}
	}
	switch r.Verb {
	case http.MethodGet:
		return s.get(r)
	case http.MethodPut:
		return s.put(r)
	case http.MethodDelete:
		return s.delete(r)
	}
	return answer{}, &Refusal{Status: http.StatusMethodNotAllowed, Code: "MethodNotAllowed",
		Message: "The resource type '" + r.Type + "' does not support " + r.Verb + " here."}
}

// answer is the response to a request that was not refused.
type answer struct {
	status    int
	operation string // the path of an operation that began; empty: none
	again     time.Duration
	body      map[string]any // nil: none
}

func (a answer) response(req *http.Request) (*http.Response, error) {
	header := http.Header{}
	var body []byte
	if a.body != nil {
		var err error
		if body, err = json.Marshal(a.body); err != nil {
			return nil, err // a rule or a report added a value that JSON cannot hold
		}
		header.Set("Content-Type", "application/json")
	}
	if a.operation != "" {
		at := *req.URL
		at.Path, at.RawPath = a.operation, ""
		header.Set("Azure-AsyncOperation", at.String()) // with the api-version of the request, as Azure does it
	}
	if a.again > 0 {
		header.Set("Retry-After", Seconds(a.again))
	}
	return &http.Response{
		StatusCode: a.status, Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}
