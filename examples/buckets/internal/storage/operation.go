package storage

import (
	"fmt"
	"slices"
	"time"
)

// operation is a create. It ends when its time is over; nothing sleeps.
type operation struct {
	name, object string
	until        time.Time
	made         func() // stores the object
	ended        bool
	err          *OperationError
}

func (o *operation) message() *Operation {
	m := &Operation{Name: o.name, Done: o.ended}
	if o.ended {
		m.Error = o.err
	}
	return m
}

func (s *Server) operation(name string) *operation {
	if i := slices.IndexFunc(s.operations, func(o *operation) bool { return o.name == name }); i >= 0 {
		return s.operations[i]
	}
	return nil
}

// start starts an operation, even if one for the same object is under way.
func (s *Server) start(object string, made func()) *Operation {
	op := &operation{name: fmt.Sprintf("op-%d", len(s.operations)+1), object: object, until: s.now().Add(s.takes), made: made}
	s.operations = append(s.operations, op)
	s.tally.Started[object]++
	return op.message()
}

// settle ends the operations whose time has come.
func (s *Server) settle() {
	for _, op := range s.operations {
		if op.ended || s.now().Before(op.until) {
			continue
		}
		op.ended = true
		if op.err == nil {
			op.made()
		}
	}
}
