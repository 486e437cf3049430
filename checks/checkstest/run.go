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
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/patience"
)

// within limits the time of one call of a check. Only time in which the test ran
// counts, so a busy machine fails no test.
const within = 5 * time.Second

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
	case c.Want.verdict == "":
		return "its Want is not set: use Proceeds, Blocks, Answers or Fails"
	}
	var a answer
	why := patience.Run(within, nil, func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		a.res, a.err = checks.Compose(links)(ctx, copied(c.Request))
	}).Fault(within)
	if p, ok := errors.AsType[*chain.PanicError](a.err); ok {
		why = fmt.Sprintf("it panics: %v", p.Value)
	}
	if why != "" {
		return "want " + c.Want.String() + ", but " + why
	}
	if !c.Want.matches(a) {
		return fmt.Sprintf("want %s, got %s", c.Want, a)
	}
	return ""
}

// sub runs do as a subtest if t has subtests.
func sub(t rapid.TB, name string, do func(rapid.TB)) {
	t.Helper()
	if runs, ok := t.(interface {
		Run(string, func(*testing.T)) bool
	}); ok {
		runs.Run(name, func(t *testing.T) { t.Helper(); do(t) })
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
	verdict, reason string
	retry           classify.Retry // Unset: any
	after           time.Duration  // 0: any
	refs            []checks.Ref   // sorted; none: any
	parts           []string
	errs            []error
}

const verdictError = "error"

// Proceeds expects that the check proceeds.
func Proceeds() Want { return Want{verdict: "proceed"} }

// Blocks expects a block with the reason. The options are those of
// [checks.Block]. Run compares [checks.WithRetry] and [checks.WithAfter] if
// they are given. With [checks.WithWaitingFor], the awaited objects must be
// exactly these, in any order.
func Blocks(reason string, opts ...checks.BlockOption) Want {
	// A block shows the settings of the options. A second block with another
	// Retry shows whether the options set one.
	given := checks.Block("Wanted", "wanted", opts...)
	other := checks.Block("Wanted", "wanted", append([]checks.BlockOption{checks.WithRetry(classify.OnChange)}, opts...)...)
	w := Want{verdict: "block", reason: reason, after: given.After(), refs: sorted(given.WaitingFor())}
	if given.Retry() == other.Retry() {
		w.retry = given.Retry()
	}
	return w
}

// Answers expects a result with the verdict and the reason of res:
// Answers(checks.Skip("")), Answers(checks.Finished("Issued", "")).
func Answers(res checks.Result) Want {
	verdict, _ := res.Describe()
	return Want{verdict: verdict, reason: res.Reason()}
}

// Fails expects an error in which errors.Is finds all of errs; without errs,
// any error.
func Fails(errs ...error) Want { return Want{verdict: verdictError, errs: errs} }

// Saying returns a Want that also expects each part in the message of the
// result, or in the text of the error.
func (w Want) Saying(parts ...string) Want {
	w.parts = slices.Concat(w.parts, parts)
	return w
}

// String returns the expected answer in one line.
func (w Want) String() string {
	var more []string
	for _, e := range w.errs {
		more = append(more, e.Error())
	}
	for _, part := range w.parts {
		more = append(more, fmt.Sprintf("saying %q", part))
	}
	if w.retry != classify.Unset {
		more = append(more, w.retry.String())
	}
	if w.after > 0 {
		more = append(more, "in "+w.after.String())
	}
	for _, ref := range w.refs {
		more = append(more, "waiting for "+ref.String())
	}
	text := strings.TrimSpace(cmp.Or(w.verdict, "nothing") + " " + w.reason)
	if len(more) > 0 {
		text += " [" + strings.Join(more, ", ") + "]"
	}
	return text
}

// matches reports whether an answer is the expected one. The parts that w leaves
// open match every answer.
func (w Want) matches(a answer) bool {
	says := func(text string) bool {
		return !slices.ContainsFunc(w.parts, func(part string) bool { return !strings.Contains(text, part) })
	}
	if a.err != nil {
		lacks := func(err error) bool { return !errors.Is(a.err, err) }
		return w.verdict == verdictError && says(fmt.Sprint(a.err)) && !slices.ContainsFunc(w.errs, lacks)
	}
	verdict, _ := a.res.Describe()
	return w.verdict == verdict && says(a.res.Message()) &&
		(w.reason == "" || w.reason == a.res.Reason()) &&
		(w.retry == classify.Unset || w.retry == a.res.Retry()) &&
		(w.after == 0 || w.after == a.res.After()) &&
		(len(w.refs) == 0 || slices.Equal(w.refs, sorted(a.res.WaitingFor())))
}

func sorted(refs []checks.Ref) []checks.Ref {
	slices.SortFunc(refs, func(a, b checks.Ref) int {
		return cmp.Compare(fmt.Sprintf("%q", a), fmt.Sprintf("%q", b))
	})
	return refs
}
