package storage

import (
	"context"
	"maps"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Server is the object store. It is safe for concurrent use. Make it with
// [Start].
type Server struct {
	grpc    *grpc.Server
	address string
	now     func() time.Time

	mu         sync.Mutex
	rules      []func(Request) error
	takes      time.Duration
	quota      int
	accounts   map[string]*Account
	buckets    map[string]*Bucket
	operations []*operation
	tally      Tally
}

// Request is a call as a [Server.Rule] sees it.
type Request struct {
	Method string // such as "CreateBucket"
	Object string // the account or bucket of the call: "acme", "acme/logs"; of a poll: the object of its operation
}

// Tally counts calls.
type Tally struct {
	Sent     int            // all calls
	Methods  map[string]int // all calls by method
	Failures map[string]int // failed calls by method and code, such as "GetOperation Unavailable"
	Started  map[string]int // operations by object
}

// Start serves an empty store on loopback. now is its clock.
func Start(now func() time.Time) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{
		address: listener.Addr().String(), now: now, quota: 100,
		accounts: map[string]*Account{}, buckets: map[string]*Bucket{},
		tally: Tally{Methods: map[string]int{}, Failures: map[string]int{}, Started: map[string]int{}},
	}
	s.grpc = grpc.NewServer(grpc.ForceServerCodec(codec{}), grpc.UnaryInterceptor(s.intercept))
	s.grpc.RegisterService(&grpc.ServiceDesc{ServiceName: service, HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{
		method("GetAccount", s.getAccount),
		method("CreateAccount", s.createAccount),
		method("GetBucket", s.getBucket),
		method("CreateBucket", s.createBucket),
		method("GetOperation", s.getOperation),
	}}, s)
	go func() { _ = s.grpc.Serve(listener) }() // nil after Stop
	return s, nil
}

// Address returns the host and port of the server.
func (s *Server) Address() string { return s.address }

// Stop closes the listener and all connections.
func (s *Server) Stop() { s.grpc.Stop() }

// Takes sets the duration of later creates.
func (s *Server) Takes(d time.Duration) { s.locked(func() { s.takes = d }) }

// Quota sets the maximum number of buckets of an account.
func (s *Server) Quota(n int) { s.locked(func() { s.quota = n }) }

// Verify makes an account active.
func (s *Server) Verify(account string) {
	s.locked(func() {
		if a := s.accounts[account]; a != nil {
			a.State = StateActive
		}
	})
}

// Fail ends the operation under way for an object with an error.
func (s *Server) Fail(object string, code codes.Code, message string) {
	s.locked(func() {
		for _, op := range s.operations {
			if op.object == object && !op.ended {
				op.until, op.err = s.now(), &OperationError{Code: code, Message: message}
			}
		}
	})
}

// Rule adds a rule. Each call asks the rules first. The first error is the
// response.
func (s *Server) Rule(rule func(Request) error) { s.locked(func() { s.rules = append(s.rules, rule) }) }

// Tally returns the calls that were counted so far.
func (s *Server) Tally() Tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Tally{
		Sent: s.tally.Sent, Methods: maps.Clone(s.tally.Methods),
		Failures: maps.Clone(s.tally.Failures), Started: maps.Clone(s.tally.Started),
	}
}

func (s *Server) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	do()
}

// intercept counts a call and calls the rules and the method. It holds the lock
// during all of it.
func (s *Server) intercept(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (res any, err error) {
	s.locked(func() {
		r := Request{Method: info.FullMethod[len(service)+2:], Object: s.object(req)}
		s.tally.Sent++
		s.tally.Methods[r.Method]++
		for i := 0; err == nil && i < len(s.rules); i++ {
			err = s.rules[i](r)
		}
		if err == nil {
			res, err = next(ctx, req)
		}
		if err != nil {
			s.tally.Failures[r.Method+" "+status.Code(err).String()]++
		}
	})
	return res, err
}

// method returns the description of a method, which a code generator would
// write.
func method[Req, Res any](name string, serve func(*Req) (*Res, error)) grpc.MethodDesc {
	info := &grpc.UnaryServerInfo{FullMethod: "/" + service + "/" + name}
	handle := func(_ context.Context, req any) (any, error) { return serve(req.(*Req)) }
	return grpc.MethodDesc{MethodName: name, Handler: func(
		_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor,
	) (any, error) {
		req := new(Req)
		if err := decode(req); err != nil {
			return nil, err
		}
		return intercept(ctx, req, info, handle)
	}}
}
