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

// provisioningState is the property that holds the state.
const provisioningState = "provisioningState"

// resource is a resource of the server. The last operation and the time decide
// its state.
type resource struct {
	about      Request        // its ID, type and name as they were created
	envelope   map[string]any // everything but the properties: location, kind, tags
	properties map[string]any
	operation  *operation // the last one; nil: no operation took time
}

// Put creates a resource or replaces its properties, as a person would do it:
// at once, without rules and without counting. The provisioningState is
// Succeeded if the properties have none. Put panics if id is no ID of a
// resource or if the parent does not exist.
func (s *Server) Put(id string, properties map[string]any) {
	about, ok := parseID(id)
	if !ok {
		panic(fmt.Sprintf("azure: Server.Put: %q is not the ID of a resource", id))
	}
	if about.ParentID != "" && s.find(about.ParentID) == nil {
		panic(fmt.Sprintf("azure: Server.Put: %q has no parent: put %q first", id, about.ParentID))
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

// Change calls change with the properties of a resource, as a person or the
// service would change them: at once, without rules and without counting. A
// script may also read them so. A provisioningState set here shows after the
// operation under way. Change returns false if the resource does not exist.
func (s *Server) Change(id string, change func(properties map[string]any)) bool {
	there := s.find(strings.ToLower(id))
	if there == nil {
		return false
	}
	change(there.properties)
	return true
}

// Has reports whether the resource exists. A resource that is being created or
// deleted exists.
func (s *Server) Has(id string) bool { return s.find(strings.ToLower(id)) != nil }

// Delete removes a resource and its children at once, as a person would do it.
// It returns false if the resource does not exist.
func (s *Server) Delete(id string) bool {
	id = strings.ToLower(id)
	if s.find(id) == nil {
		return false
	}
	s.remove(id)
	return true
}

// Shown returns the properties that a GET would show now, without rules and
// without counting. Rules and reports use it for other resources. ok is false
// if the resource does not exist.
func (s *Server) Shown(id string) (properties map[string]any, ok bool) {
	there := s.find(strings.ToLower(id))
	if there == nil {
		return nil, false
	}
	return s.show(there)["properties"].(map[string]any), true
}

// find returns the resource with a lower-case ID, or nil if it does not exist
// now.
func (s *Server) find(id string) *resource {
	there := s.resources[id]
	if there == nil {
		return nil
	}
	if parent := there.about.ParentID; parent != "" && s.find(parent) == nil {
		return nil // it was deleted with its parent
	}
	if op := there.operation; op != nil && op.state == deleting && !op.underWay(s.now()) {
		s.remove(id)
		return nil
	}
	return there
}

// remove removes a resource and its children.
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

// put creates or updates a resource. It keeps the properties that the body does
// not have, because a service keeps the properties that it sets itself.
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
	there.properties[provisioningState] = succeeded // the server alone sets the state
	a := s.begin(there, state)
	a.status, a.body = status, s.show(there)
	return a, nil
}

func (s *Server) delete(r Request) (answer, *Refusal) {
	there := s.find(r.ID)
	if there == nil {
		return answer{status: http.StatusNoContent}, nil
	}
	if op := there.operation; op != nil && op.state == deleting { // a second DELETE
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

// show returns the resource as a GET shows it.
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

// copyOf returns a deep copy of a JSON object.
func copyOf(object map[string]any) map[string]any {
	made := map[string]any{}
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil {
		panic(fmt.Sprintf("azure: Server: the properties are no JSON object: %v", err))
	}
	if made == nil { // the properties were nil
		made = map[string]any{}
	}
	return made
}
