package main

import (
	"context"
	"errors"

	"github.com/windlass-go/windlass/classify/grpc"
	"github.com/windlass-go/windlass/examples/buckets/internal/storage"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// Options are the differences between runs.
type Options struct {
	Story  story
	Reader bool // the reconcilers read the errors of gRPC
	Plain  bool // a failed operation is reported as any error, not with flow.Failed
}

// Simulation is one run with its own service.
type Simulation struct {
	cloud  *storage.Server
	api    *storage.Client
	engine *sim.Engine
}

// NewSimulation starts the service and sets up a run. Close it at the end.
func NewSimulation(o Options) (s *Simulation, err error) {
	s = &Simulation{engine: sim.NewEngine()}
	if s.cloud, err = storage.Start(s.engine.Now); err != nil {
		return nil, err
	}
	if s.api, err = storage.Dial(s.cloud.Address()); err != nil {
		s.cloud.Stop()
		return nil, err
	}
	o.Story.happens(s)

	options := s.engine.Options(10)
	if o.Reader {
		options = append(options, flow.WithErrors(grpc.Errors())) // the line that this example is about
	}
	accounts := flow.New(accountKind, accountOperations(s.api), flow.Extensions[*Account]{}, options...)
	bucketOps := bucketOperations(s.api, s.engine.Store.Resolve)
	if o.Plain {
		bucketOps.Apply = plain(bucketOps.Apply)
	}
	buckets := flow.New(bucketKind, bucketOps, bucketExtensions(), options...)

	a := &Account{Name: account}
	sim.Add(s.engine, accounts, sim.Resource[*Account]{
		Ref: accountRef(a.Name), Value: a, State: func() string { return a.State }, Cloud: "the service",
	})
	for _, name := range o.Story.buckets {
		b := &Bucket{Name: name, Account: a.Name, Class: "STANDARD"}
		sim.Add(s.engine, buckets, sim.Resource[*Bucket]{Ref: bucketRef(b.Name), Value: b})
	}
	return s, nil
}

// Close stops the service.
func (s *Simulation) Close() {
	_ = s.api.Close()
	s.cloud.Stop()
}

type applyBucket = func(context.Context, *flow.Request[*Bucket]) (flow.Progress, error)

// plain makes the mistake that flow.Failed prevents.
func plain(apply applyBucket) applyBucket {
	return func(ctx context.Context, req *flow.Request[*Bucket]) (flow.Progress, error) {
		progress, err := apply(ctx, req)
		if failed, ok := errors.AsType[*flow.FailedError](err); ok {
			err = failed.Err
		}
		return progress, err
	}
}
