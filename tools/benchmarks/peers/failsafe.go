package main

import (
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/common"
)

// Differences of failsafe-go: it composes in each call, around a function
// without arguments, and records the time and the attempts of the execution.
// These policies do the minimum. A policy that embeds the BaseExecutor of
// failsafe-go costs several times as much.

type passFailsafe[A, B any] struct{}

func (p *passFailsafe[A, B]) ToExecutor(pair) any { return p }

type step = func(failsafe.Execution[pair]) *common.PolicyResult[pair]

func (*passFailsafe[A, B]) Apply(next step) step {
	return func(e failsafe.Execution[pair]) *common.PolicyResult[pair] { return next(e) }
}

func tenFailsafe[A any]() []failsafe.Policy[pair] {
	return []failsafe.Policy[pair]{
		&passFailsafe[A, d0]{}, &passFailsafe[A, d1]{}, &passFailsafe[A, d2]{}, &passFailsafe[A, d3]{}, &passFailsafe[A, d4]{},
		&passFailsafe[A, d5]{}, &passFailsafe[A, d6]{}, &passFailsafe[A, d7]{}, &passFailsafe[A, d8]{}, &passFailsafe[A, d9]{},
	}
}

var failsafeLinks = fifty(tenFailsafe[d0], tenFailsafe[d1], tenFailsafe[d2], tenFailsafe[d3], tenFailsafe[d4])

func endFailsafe() (pair, error) { return end(ctx, request) }

func failsafeCalls(n int) func(int) {
	executor := failsafe.With(failsafeLinks[:n]...)
	return func(calls int) {
		for range calls {
			_, _ = executor.Get(endFailsafe)
		}
	}
}
