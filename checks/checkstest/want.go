package checkstest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// Want is the answer that a [Case] expects. [Proceeds], [Skips], [Blocks],
// [Ignores], [Finishes], [Releases], [Fails] and [FailsAs] make one. The zero
// Want fails the test.
type Want struct {
	verdict, reason string
	retry           classify.Retry // Unset: any
	after           time.Duration  // 0: any
	refs            []checks.Ref   // sorted; none: any
	parts           []string
	errs            []wantedError
}

// wantedError is a property that an error must have.
type wantedError struct {
	name string
	is   func(error) bool
}

const (
	verdictProceed = "proceed"
	verdictSkip    = "skip"
	verdictBlock   = "block"
	verdictIgnore  = "ignore"
	verdictFinish  = "finish"
	verdictRelease = "release"
	verdictError   = "error"
)

// Proceeds expects that the check proceeds.
func Proceeds() Want { return Want{verdict: verdictProceed} }

// Skips expects that the check skips the inner links.
func Skips() Want { return Want{verdict: verdictSkip} }

// Blocks expects a block with the reason. The options are those of
// [checks.Block]. Run compares [checks.WithRetry] and [checks.WithAfter] if
// they are given. With [checks.WithWaitingFor], the awaited objects must be
// exactly these, in any order.
func Blocks(reason string, opts ...checks.BlockOption) Want {
	// A block shows the settings of the options. A second block with another
	// Retry shows whether the options set one.
	given := checks.Block("Wanted", "wanted", opts...)
	other := checks.Block("Wanted", "wanted", append([]checks.BlockOption{checks.WithRetry(classify.OnChange)}, opts...)...)
	w := Want{verdict: verdictBlock, reason: reason, after: given.After(), refs: sorted(given.WaitingFor())}
	if given.Retry() == other.Retry() {
		w.retry = given.Retry()
	}
	return w
}

// Ignores expects [checks.Ignore].
func Ignores() Want { return Want{verdict: verdictIgnore} }

// Finishes expects [checks.Finished] with the reason.
func Finishes(reason string) Want { return Want{verdict: verdictFinish, reason: reason} }

// Releases expects [checks.Release].
func Releases() Want { return Want{verdict: verdictRelease} }

// Fails expects an error in which errors.Is finds all of errs; without errs,
// any error.
func Fails(errs ...error) Want {
	w := Want{verdict: verdictError}
	for _, target := range errs {
		w.errs = append(w.errs, wantedError{fmt.Sprint(target), func(err error) bool { return errors.Is(err, target) }})
	}
	return w
}

// FailsAs expects an error in which errors.As finds one of type E.
func FailsAs[E error]() Want {
	return Want{verdict: verdictError, errs: []wantedError{{"a " + reflect.TypeFor[E]().String(), func(err error) bool {
		_, ok := errors.AsType[E](err)
		return ok
	}}}}
}

// Saying returns a Want that also expects each part in the message of the
// result, or in the text of the error.
func (w Want) Saying(parts ...string) Want {
	w.parts = slices.Concat(w.parts, parts)
	return w
}

// String returns the expected answer in one line.
func (w Want) String() string {
	var b strings.Builder
	b.WriteString(w.verdict)
	if w.verdict == "" {
		return "nothing"
	}
	if w.reason != "" {
		b.WriteString(" " + w.reason)
	}
	var more []string
	for _, e := range w.errs {
		more = append(more, e.name)
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
	if len(more) > 0 {
		b.WriteString(" [" + strings.Join(more, ", ") + "]")
	}
	return b.String()
}

// outcome is an answer in the form that is compared. Its fields are exported
// for cmp.
type outcome struct {
	Verdict, Reason, Message string
	Retry                    string
	After                    time.Duration
	WaitingFor               []checks.Ref
	Error                    string
}

func outcomeOf(res checks.Result, err error) outcome {
	if err != nil {
		return outcome{Verdict: verdictError, Error: textOf(err)}
	}
	o := outcome{Reason: res.Reason(), Message: res.Message(), After: res.After(), WaitingFor: sorted(res.WaitingFor())}
	if res.IsZero() {
		return o
	}
	o.Verdict, _ = res.Describe()
	if res.Blocked() {
		o.Retry = res.Retry().String()
	}
	return o
}

// whole returns the expected outcome. It takes the parts that w leaves open
// from got.
func (w Want) whole(got outcome, err error) outcome {
	want := got
	want.Verdict = w.verdict
	if w.reason != "" {
		want.Reason = w.reason
	}
	if w.verdict != got.Verdict { // the rest cannot be compared
		want = outcome{Verdict: w.verdict, Reason: w.reason}
	}
	if w.retry != classify.Unset {
		want.Retry = w.retry.String()
	}
	if w.after > 0 {
		want.After = w.after
	}
	if len(w.refs) > 0 {
		want.WaitingFor = w.refs
	}
	text := &want.Message
	if w.verdict == verdictError {
		text = &want.Error
	}
	var missing []string
	for _, part := range w.parts {
		if !strings.Contains(*text, part) {
			missing = append(missing, fmt.Sprintf("... %q ...", part))
		}
	}
	for _, e := range w.errs {
		if err == nil || !e.is(err) {
			missing = append(missing, e.name)
		}
	}
	if len(missing) > 0 {
		*text = strings.Join(missing, " and ")
	}
	return want
}

func sorted(refs []checks.Ref) []checks.Ref {
	slices.SortFunc(refs, func(a, b checks.Ref) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return refs
}
