package armsim

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
)

// poll is the verb of a request that asks how an operation is getting on.
const poll = "POLL"

// Request is what a [Server.Rule] sees of a request. IDs are in lower case, Type and Name as they were sent. A POLL has
// those of the resource that the operation works on.
type Request struct {
	Verb       string // GET, PUT, DELETE, POLL
	ID         string
	Type, Name string         // as in "Microsoft.Kusto/clusters/databases"; the last part of the ID
	ParentID   string         // empty: it stands in a resource group, not in a resource
	Body       map[string]any // of a PUT; nil for others

	operation *operation // of a POLL
	id        string     // as it was sent
}

// Is tells whether the request is about a resource of a type, whatever the case.
func (r Request) Is(resourceType string) bool { return strings.EqualFold(r.Type, resourceType) }

// read makes out what a request is about, and refuses what no service would see.
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
			body, _ = io.ReadAll(req.Body) // what is cut off does not parse
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

// parseID reads the ID of a resource: /subscriptions/S/resourceGroups/G/providers/NAMESPACE/TYPE/NAME/TYPE/NAME, and the
// same behind the ID of another resource, for what is attached to that.
func parseID(id string) (Request, bool) {
	parts := strings.Split(id, "/")
	if len(parts) < 9 || parts[0] != "" || slices.Contains(parts[1:], "") ||
		!strings.EqualFold(parts[1], "subscriptions") || !strings.EqualFold(parts[3], "resourceGroups") {
		return Request{}, false
	}
	last := 0                            // where the last "providers" stands
	for i := 5; i < len(parts); i += 2 { // names stand at the other places, and may be anything
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
