package armsim

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
)

// poll is the verb of a request for the status of an operation.
const poll = "POLL"

// Request is a request as a [Server.Rule] sees it. IDs are in lower case. Type
// and Name are as they were sent. A POLL has those of its operation's resource.
type Request struct {
	Verb       string // GET, PUT, DELETE, POLL
	ID         string
	Type, Name string         // as in "Microsoft.Kusto/clusters/databases"; the last part of the ID
	ParentID   string         // empty: the resource group is the parent
	Body       map[string]any // of a PUT; else nil

	operation *operation // of a POLL
	id        string     // as it was sent
}

// Is reports whether the request is for a resource of the type. The case does
// not matter.
func (r Request) Is(resourceType string) bool { return strings.EqualFold(r.Type, resourceType) }

// read parses a request and refuses requests that are invalid for every
// service.
func (s *Server) read(req *http.Request) (Request, *Refusal) {
	path := strings.TrimRight(req.URL.Path, "/")
	var r Request
	op := s.operations[strings.ToLower(path)]
	if op != nil && req.Method == http.MethodGet {
		r = op.about
		r.Verb, r.Body, r.operation = poll, nil, op
	} else {
		var ok bool
		if r, ok = parseID(path); !ok {
			r = Request{Verb: req.Method, ID: strings.ToLower(path)}
			return r, &Refusal{Status: http.StatusBadRequest, Code: "InvalidResourceId", Message: "'" + path + "' is not the ID of a resource."}
		}
		r.Verb = req.Method
	}
	if req.URL.Query().Get("api-version") == "" {
		return r, &Refusal{Status: http.StatusBadRequest, Code: "MissingApiVersionParameter",
			Message: "The api-version query parameter (?api-version=) is required for all requests."}
	}
	if r.Verb == http.MethodPut {
		var body []byte
		if req.Body != nil {
			body, _ = io.ReadAll(req.Body) // a body that ends early does not parse
		}
		if err := json.Unmarshal(body, &r.Body); err != nil || r.Body == nil {
			return r, &Refusal{Status: http.StatusBadRequest, Code: "InvalidRequestContent", Message: "The request content is not a JSON object."}
		}
		if p, given := r.Body["properties"]; given {
			if _, ok := p.(map[string]any); !ok {
				return r, &Refusal{Status: http.StatusBadRequest, Code: "InvalidRequestContent", Message: "The properties are not a JSON object."}
			}
		}
	}
	return r, nil
}

// parseID reads the ID of a resource:
// /subscriptions/S/resourceGroups/G/providers/NAMESPACE/TYPE/NAME/TYPE/NAME.
// The ID of an extension resource, such as a lock, begins with the ID of
// another resource.
func parseID(id string) (Request, bool) {
	parts := strings.Split(id, "/")
	if len(parts) < 9 || parts[0] != "" || slices.Contains(parts[1:], "") ||
		!strings.EqualFold(parts[1], "subscriptions") || !strings.EqualFold(parts[3], "resourceGroups") {
		return Request{}, false
	}
	last := 0                            // the index of the last "providers"
	for i := 5; i < len(parts); i += 2 { // the parts between are names
		if strings.EqualFold(parts[i], "providers") {
			last = i
		}
	}
	if last == 0 || !strings.EqualFold(parts[5], "providers") {
		return Request{}, false
	}
	own := parts[last+2:]
	if len(own) < 2 || len(own)%2 != 0 {
		return Request{}, false
	}
	r := Request{ID: strings.ToLower(id), id: id, Name: parts[len(parts)-1], Type: parts[last+1]}
	for i := 0; i < len(own); i += 2 {
		r.Type += "/" + own[i]
	}
	switch {
	case len(own) > 2:
		r.ParentID = strings.Join(parts[:len(parts)-2], "/")
	case last > 5:
		r.ParentID = strings.Join(parts[:last], "/")
	}
	r.ParentID = strings.ToLower(r.ParentID)
	return r, true
}
