package checkstest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/patience"
)

// Case is a request with the expected answer. R is the type of the request,
// *checks.Request[T] or *checks.OwnerRequest.
type Case[R any] struct {
	Reason  string // the reason for the answer; a failure prints it
	Request R      // the check gets a shallow copy of it
	Want    Want
}

// Cases are the named cases of a check of a resource.
type Cases[T any] = map[string]Case[*checks.Request[T]]

// OwnerCases are the named cases of an owner check.
type OwnerCases = map[string]Case[*checks.OwnerRequest]

// Links is a link or a whole chain.
type Links[R any] interface {
	chain.Middleware[R, checks.Result] | chain.Chain[R, checks.Result]
}

// Run calls a link or a chain for each case, and fails the test for each wrong
// answer. If t is a *testing.T, each case is a subtest. A bubble of
// testing/synctest has no subtests: pass struct{ rapid.TB }{t} there.
//
// These also fail the test: no cases, a case without Request or Want, a nil
// link, a check that panics, and a check that takes more than 5 seconds.
func Run[R any, L Links[R]](t rapid.TB, link L, cases map[string]Case[R]) {
	t.Helper()
	links := linksOf[R](t, "Run", link)
	if len(cases) == 0 {
		t.Fatalf("checkstest: Run: %s: there are no cases", links)
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		sub(t, name, func(t rapid.TB) {
			t.Helper()
			if fault := cases[name].try(links); fault != "" {
				t.Errorf("checkstest: %s: case %q (%s): %s", links, name, cases[name].Reason, fault)
			}
		})
	}
}

// try returns the fault of a case or of its answer, or "" if there is none.
func (c Case[R]) try(links chain.Chain[R, checks.Result]) (fault string) {
	switch {
	case isNil(c.Request):
		return "the request is nil"
	case c.Want.what == "":
		return "its Want is not set: use Proceeds, Blocks, Answers or Fails"
	}
	var a answer
	why := patience.Run(patience.Call, nil, func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		a.res, a.err = checks.Compose(links)(ctx, copied(c.Request))
	}).Fault(patience.Call)
	if p, ok := errors.AsType[*chain.PanicError](a.err); ok {
		why = fmt.Sprintf("it panics: %v", p.Value)
	}
	if why != "" {
		return "want " + c.Want.String() + ", but " + why
	}
	for _, has := range c.Want.has {
		if !has(a) {
			return fmt.Sprintf("want %s, got %s", c.Want, a)
		}
	}
	return ""
}

// sub runs do as a subtest if t has subtests.
func sub(t rapid.TB, name string, do func(rapid.TB)) {
	t.Helper()
	if tests, ok := t.(*testing.T); ok {
		tests.Run(name, func(t *testing.T) { t.Helper(); do(t) })
		return
	}
	do(t)
}

// answer is the answer of a chain.
type answer struct {
	res checks.Result
	err error
}

// String returns the answer in one line. The Error method of an error may
// panic.
func (a answer) String() string {
	if a.err != nil {
		return "error: " + fmt.Sprint(a.err)
	}
	return a.res.String()
}

// Want is the answer that a [Case] expects. [Proceeds], [Blocks], [Answers] and
// [Fails] make one. The zero Want fails the test.
type Want struct {
	what  string
	texts []string // the further parts
	has   []func(answer) bool
}

// and adds a part.
func (w Want) and(text string, has func(answer) bool) Want {
	return Want{w.what, append(slices.Clip(w.texts), text), append(slices.Clip(w.has), has)}
}

// wants expects a result. An empty reason means any.
func wants(verdict, reason string) Want {
	return Want{strings.TrimSpace(verdict + " " + reason), nil, []func(answer) bool{func(a answer) bool {
		got, _ := a.res.Describe()
		return a.err == nil && got == verdict && (reason == "" || reason == a.res.Reason())
	}}}
}

// Proceeds expects that the check proceeds.
func Proceeds() Want { return wants("proceed", "") }

// Blocks expects a block with the reason. The options are those of
// [checks.Block]. Run compares [checks.WithRetry], [checks.WithAfter],
// [checks.WithWaitingForSelf] and [checks.WithStatusKept] if they are given. With [checks.WithWaitingFor], the awaited objects must be
// exactly these, in any order.
func Blocks(reason string, opts ...checks.BlockOption) Want {
	// A block shows the settings of the options. A second block with another
	// Retry shows whether the options set one.
	w, given := wants("block", reason), checks.Block("Wanted", "wanted", opts...)
	other := checks.Block("Wanted", "wanted", append([]checks.BlockOption{checks.WithRetry(classify.OnChange)}, opts...)...)
	if given.Retry() == other.Retry() {
		w = w.and(given.Retry().String(), func(a answer) bool { return a.res.Retry() == given.Retry() })
	}
	if given.After() > 0 {
		w = w.and("in "+given.After().String(), func(a answer) bool { return a.res.After() == given.After() })
	}
	if given.WaitsForSelf() {
		w = w.and("waiting for itself", func(a answer) bool { return a.res.WaitsForSelf() })
	}
	if given.KeepsStatus() {
		w = w.and("keeping the status", func(a answer) bool { return a.res.KeepsStatus() })
	}
	if refs := sorted(given.WaitingFor()); len(refs) > 0 {
		w = w.and(fmt.Sprint("waiting for ", refs), func(a answer) bool { return slices.Equal(refs, sorted(a.res.WaitingFor())) })
	}
	return w
}

// Answers expects a result with the verdict and the reason of res:
// Answers(checks.Skip("")), Answers(checks.Finished("Issued", "")).
func Answers(res checks.Result) Want {
	verdict, _ := res.Describe()
	return wants(verdict, res.Reason())
}

// Fails expects an error in which errors.Is finds all of errs; without errs,
// any error.
func Fails(errs ...error) Want {
	w := Want{"error", nil, []func(answer) bool{func(a answer) bool { return a.err != nil }}}
	for _, err := range errs {
		w = w.and(err.Error(), func(a answer) bool { return errors.Is(a.err, err) })
	}
	return w
}

// Saying returns a Want that also expects each part in the message of the
// result, or in the text of the error.
func (w Want) Saying(parts ...string) Want {
	for _, part := range parts {
		w = w.and(fmt.Sprintf("saying %q", part), func(a answer) bool {
			return strings.Contains(a.res.Message(), part) || a.err != nil && strings.Contains(a.String(), part)
		})
	}
	return w
}

// String returns the expected answer in one line.
func (w Want) String() string {
	if len(w.texts) == 0 {
		return w.what
	}
	return w.what + " [" + strings.Join(w.texts, ", ") + "]"
}

func sorted(refs []checks.Ref) []checks.Ref {
	slices.SortFunc(refs, func(a, b checks.Ref) int {
		return cmp.Compare(fmt.Sprintf("%q", a), fmt.Sprintf("%q", b))
	})
	return refs
}
