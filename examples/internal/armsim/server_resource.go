package armsim

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// The provisioning states of the server.
const (
	creating  = "Creating"
	updating  = "Updating"
	deleting  = "Deleting"
	succeeded = "Succeeded"
)

// provisioningState is the property that holds them.
const provisioningState = "provisioningState"

// resource is what the server remembers. Its state follows from the time, by the operation that was begun last.
type resource struct {
	about      Request        // its ID, type and name as it was made
	envelope   map[string]any // all besides the properties: location, kind, tags
	properties map[string]any
	operation  *operation // nil: it was all done at once
}

// Put makes a resource, or replaces its properties, as a person would: at once, uncounted and without rules. Without a
// provisioningState in the properties it is Succeeded. It panics if that is no ID, or there is no parent.
func (s *Server) Put(id string, properties map[string]any) {
	about, ok := parseID(id)
	if !ok {
		panic(fmt.Sprintf("azure: Server.Put: %q is not the ID of a resource", id))
	}
	if about.ParentID != "" && s.find(about.ParentID) == nil {
		panic(fmt.Sprintf("azure: Server.Put: %q has no parent: put %q before", id, about.ParentID))
	}
	made := &resource{about: about, properties: copyOf(properties)}
	if there := s.find(about.ID); there != nil {
		made.about, made.envelope = there.about, there.envelope
	}
	if made.properties[provisioningState] == nil {
		made.properties[provisioningState] = succeeded
	}
	s.resources[about.ID] = made
}

// Change changes the properties of a resource, as a person or the service itself would: at once, uncounted and without
// rules. It is also how a script looks at them. A provisioningState set here shows when no operation is under way. False
// if there is no such resource.
func (s *Server) Change(id string, change func(properties map[string]any)) bool {
	there := s.find(strings.ToLower(id))
	if there == nil {
		return false
	}
	change(there.properties)
	return true
}

// Has tells whether there is such a resource, also one that is being created or deleted.
func (s *Server) Has(id string) bool { return s.find(strings.ToLower(id)) != nil }

// Delete removes a resource and all that is in it, as a person would: at once. False if there was none.
func (s *Server) Delete(id string) bool {
	id = strings.ToLower(id)
	if s.find(id) == nil {
		return false
	}
	s.remove(id)
	return true
}

// Shown gives the properties of a resource as a GET would show them now, uncounted and without rules; it is for rules and
// reports that look at another resource. False if there is no such resource.
func (s *Server) Shown(id string) (properties map[string]any, ok bool) {
	there := s.find(strings.ToLower(id))
	if there == nil {
		return nil, false
	}
	return s.show(there)["properties"].(map[string]any), true
}

// find is a resource that is there now, by its lower-case ID; nil if there is none.
func (s *Server) find(id string) *resource {
	there := s.resources[id]
	if there == nil {
		return nil
	}
	if parent := there.about.ParentID; parent != "" && s.find(parent) == nil {
		return nil // it went with its parent
	}
	if op := there.operation; op != nil && op.state == deleting && !op.underWay(s.now()) {
		s.remove(id)
		return nil
	}
	return there
}

// remove forgets a resource and all that is in it.
func (s *Server) remove(id string) {
	maps.DeleteFunc(s.resources, func(other string, _ *resource) bool {
		return other == id || strings.HasPrefix(other, id+"/")
	})
}

func (s *Server) get(r Request) (answer, *Refusal) {
	there := s.find(r.ID)
	if there == nil {
		return answer{}, &Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound",
			Message: "The Resource '" + r.Type + "/" + r.Name + "' was not found."}
	}
	return answer{status: http.StatusOK, body: s.show(there)}, nil
}

// put makes a resource or updates it. What the body does not mention of the properties stays: that is where a service
// keeps what it alone can set.
func (s *Server) put(r Request) (answer, *Refusal) {
	there := s.find(r.ID)
	if refused := s.busy(there); refused != nil {
		return answer{}, refused
	}
	status, state := http.StatusOK, updating
	if there == nil {
		status, state = http.StatusCreated, creating
		about := r
		about.Body = nil
		there = &resource{about: about, properties: map[string]any{}}
		s.resources[r.ID] = there
	}
	there.envelope = maps.Clone(r.Body)
	properties, _ := r.Body["properties"].(map[string]any)
	maps.Copy(there.properties, properties)
	there.properties[provisioningState] = succeeded // whatever was sent: it is the server's to say
	a := s.begin(there, state)
	a.status, a.body = status, s.show(there)
	return a, nil
}

func (s *Server) delete(r Request) (answer, *Refusal) {
	there := s.find(r.ID)
	if there == nil {
		return answer{status: http.StatusNoContent}, nil
	}
	if op := there.operation; op != nil && op.state == deleting { // asked again
		return answer{status: http.StatusAccepted, operation: op.path, again: op.again(s.now())}, nil
	}
	if refused := s.busy(there); refused != nil {
		return answer{}, refused
	}
	a := s.begin(there, deleting)
	if a.operation == "" {
		s.remove(r.ID)
		a.status = http.StatusOK
		return a, nil
	}
	a.status = http.StatusAccepted
	return a, nil
}

// show is what a GET of the resource answers.
func (s *Server) show(r *resource) map[string]any {
	properties := copyOf(r.properties)
	if op := r.operation; op != nil && op.underWay(s.now()) {
		properties[provisioningState] = op.state
	}
	for _, add := range s.reports[strings.ToLower(r.about.Type)] {
		add(r.about.ID, properties)
	}
	shown := maps.Clone(r.envelope)
	if shown == nil {
		shown = map[string]any{}
	}
	shown["id"], shown["name"], shown["type"], shown["properties"] = r.about.id, r.about.Name, r.about.Type, properties
	return shown
}

// copyOf is a copy of a JSON object, all through.
func copyOf(object map[string]any) map[string]any {
	made := map[string]any{}
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil {
		panic(fmt.Sprintf("azure: Server: these properties are no JSON object: %v", err))
	}
	if made == nil { // they were nil
		made = map[string]any{}
	}
	return made
}
