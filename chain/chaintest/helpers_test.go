package chaintest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// request is the request of the links of these tests.
type request struct {
	Name  string
	Nodes int
	Tags  map[string]string
	Next  *request
}

// outcome is their result.
type outcome struct{ Message string }

type (
	handler = chain.Handler[*request, outcome]
	link    = chain.Middleware[*request, outcome]
	links   = chain.Chain[*request, outcome]
)

// around makes a link that calls fn.
func around(name string, fn func(ctx context.Context, req *request, next handler) (outcome, error)) link {
	return chain.Named(name, func(next handler) handler {
		return func(ctx context.Context, req *request) (outcome, error) { return fn(ctx, req, next) }
	})
}

// pass makes a link that only calls next.
func pass(name string) link {
	return around(name, func(ctx context.Context, req *request, next handler) (outcome, error) { return next(ctx, req) })
}

// fake is a test that records its errors and logs.
type fake struct {
	mu     sync.Mutex
	name   string
	failed bool
	errors []string
	logs   []string
}

var _ rapid.TB = &fake{}

// run calls fn with a fake test in a new goroutine, which fn may end.
func run(t testing.TB, fn func(rapid.TB)) *fake {
	f := &fake{name: t.Name()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn(f)
	}()
	<-done
	return f
}

func (f *fake) add(list *[]string, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*list = append(*list, text)
}

func (f *fake) reported() string { return strings.Join(f.errors, "\n") }

func (f *fake) Helper()                   {}
func (f *fake) Name() string              { return f.name }
func (f *fake) Logf(s string, a ...any)   { f.add(&f.logs, fmt.Sprintf(s, a...)) }
func (f *fake) Log(a ...any)              { f.add(&f.logs, fmt.Sprint(a...)) }
func (f *fake) Skipf(s string, a ...any)  { f.Logf(s, a...); f.SkipNow() }
func (f *fake) Skip(a ...any)             { f.Log(a...); f.SkipNow() }
func (f *fake) SkipNow()                  { runtime.Goexit() }
func (f *fake) Errorf(s string, a ...any) { f.add(&f.errors, fmt.Sprintf(s, a...)); f.Fail() }
func (f *fake) Error(a ...any)            { f.add(&f.errors, fmt.Sprint(a...)); f.Fail() }
func (f *fake) Fatalf(s string, a ...any) { f.Errorf(s, a...); runtime.Goexit() }
func (f *fake) Fatal(a ...any)            { f.Error(a...); runtime.Goexit() }
func (f *fake) FailNow()                  { f.Fail(); runtime.Goexit() }
func (f *fake) Fail()                     { f.mu.Lock(); f.failed = true; f.mu.Unlock() }
func (f *fake) Failed() bool              { f.mu.Lock(); defer f.mu.Unlock(); return f.failed }
