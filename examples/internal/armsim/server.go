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

// Server is a small Azure Resource Manager: any resources, by their IDs, in memory, in virtual time. It speaks the wire
// format, so that the real SDK clients talk to it, also those that come without a fake server. It is a policy.Transporter.
// What is special about a service is a [Server.Rule], and what it takes and reports ([Server.Takes], [Server.Reports]).
// One goroutine uses it. It is made by [NewServer].
type Server struct {
	now        func() time.Time
	takes      map[string]time.Duration // by lower-case type, as the next
	reports    map[string][]func(id string, p map[string]any)
	rules      []func(Request) *Refusal
	resources  map[string]*resource  // by lower-case ID
	operations map[string]*operation // by lower-case path
	tally      Tally
	tallies    map[string]*Tally // by lower-case ID of the resource that was asked for
}

// NewServer makes a server with nothing in it that looks at its clock by now.
func NewServer(now func() time.Time) *Server {
	return &Server{
		now:       now,
		takes:     map[string]time.Duration{},
		reports:   map[string][]func(string, map[string]any){},
		resources: map[string]*resource{}, operations: map[string]*operation{},
		tallies: map[string]*Tally{},
	}
}

// Takes says how long a PUT or a DELETE of a type of resource takes, as in "Microsoft.Kusto/clusters/databases", whatever
// the case. Zero, as for types of which nothing was said: it is done at once.
func (s *Server) Takes(resourceType string, d time.Duration) {
	s.takes[strings.ToLower(resourceType)] = d
}

// Reports adds what resources of a type say of themselves besides what they were told. It is asked whenever one is shown,
// and may change what is shown: these properties are a copy, with the provisioningState in it.
func (s *Server) Reports(resourceType string, add func(id string, properties map[string]any)) {
	key := strings.ToLower(resourceType)
	s.reports[key] = append(s.reports[key], add)
}

// Rule adds a rule of a service: it is asked before each request is looked into, and a refusal is the answer. Rules are
// asked in the order in which they were added, and the first refusal wins. They may use the server's other methods.
func (s *Server) Rule(rule func(Request) *Refusal) { s.rules = append(s.rules, rule) }

// Tally is what was counted up to now.
func (s *Server) Tally() Tally { return s.tally.Clone() }

// TallyOf is what was counted up to now of requests about the resources whose lower-case IDs match. A poll of an operation
// counts for the resource that it works on.
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
		return nil, err // a real one would not send it either
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

// answer does what is asked for.
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

// answer is what is said to a request that was not refused.
type answer struct {
	status    int
	operation string // the path of an operation that was begun; empty: none
	again     time.Duration
	body      map[string]any // nil: none
}

func (a answer) response(req *http.Request) (*http.Response, error) {
	header := http.Header{}
	var body []byte
	if a.body != nil {
		var err error
		if body, err = json.Marshal(a.body); err != nil {
			return nil, err // a script put in what is no JSON
		}
		header.Set("Content-Type", "application/json")
	}
	if a.operation != "" {
		at := *req.URL
		at.Path, at.RawPath = a.operation, ""
		header.Set("Azure-AsyncOperation", at.String()) // with the api-version of the request, as Azure does
	}
	if a.again > 0 {
		header.Set("Retry-After", Seconds(a.again))
	}
	return &http.Response{
		StatusCode: a.status, Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}
