package checks

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/probe"
)

var errNilPointer = errors.New("the function dereferenced nil")

// optional calls a function that may dereference nil. If it does, optional
// returns the zero value and false: the field is not reported. The trace then
// shows where, so that a bug in the function is visible. optional does not stop
// any other panic.
func optional[X, V any](ctx context.Context, from func(X) V, x X) (v V, reported bool) {
	defer func() {
		if !reported && nilMet(recover()) {
			chain.Note(ctx, nilPlace{})
		}
	}()
	return from(x), true
}

// required calls a function that must not dereference nil. If it does, the
// error names the place and the remedy. required does not stop any other panic.
func required[X, V any](from func(X) V, x X, name, remedy string) (v V, err error) {
	err = errNilPointer // until from returns
	defer func() {
		if err != nil && nilMet(recover()) {
			err = fmt.Errorf("%s: %w at %s: %s", name, err, probe.Panicked(), remedy)
		}
	}()
	return from(x), nil
}

// known returns the state that a selector finds in x, or "" if the state is not
// reported.
func known[X any, S ~string](ctx context.Context, selector func(X) *S, x X) string {
	if s, _ := optional(ctx, selector, x); s != nil {
		return string(*s)
	}
	return ""
}

// nilMet reports whether v is the panic of a nil dereference. It panics again
// with any other value.
func nilMet(v any) bool {
	if err, ok := v.(runtime.Error); ok && strings.Contains(err.Error(), "nil pointer dereference") {
		return true
	}
	if v != nil { // nil: runtime.Goexit, which continues by itself
		panic(v)
	}
	return false
}

// nilPlace is the note about a nil dereference. Only deferred functions may
// print it.
type nilPlace struct{}

func (nilPlace) String() string { return "nil dereferenced at " + probe.Panicked() }

func isNil(v any) bool {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return value.IsNil()
	}
	return false
}

// subject holds the reasons of the blocks about an owner or a reference.
type subject struct {
	article                                        string
	notFound, byID, wrongKind, unknown, unsuitable string
	several                                        string // for an owner that a query names
	silent, notReady, stale, deleting              string
}

var (
	ofOwner = subject{
		article: "an owner", notFound: ReasonOwnerNotFound, several: ReasonOwnerAmbiguous, byID: ReasonOwnerByID, wrongKind: ReasonOwnerWrongKind,
		unknown: ReasonOwnerStateUnknown, unsuitable: ReasonOwnerUnsuitable,
		silent: ReasonOwnerUnknown, notReady: ReasonOwnerNotReady, stale: ReasonOwnerStale, deleting: ReasonOwnerDeleting,
	}
	ofReference = subject{
		article: "an object", notFound: ReasonReferenceNotFound, byID: ReasonReferenceByID, wrongKind: ReasonReferenceWrongKind,
		unknown: ReasonReferenceUnknown, unsuitable: ReasonReferenceUnsuitable,
		silent: ReasonReferenceNotReady, notReady: ReasonReferenceNotReady, stale: ReasonReferenceNotReady, deleting: ReasonReferenceNotReady,
	}
)

const notFound = " was not found: waiting until it is created"

// absent returns the reason, the retry and the text of a block about an object
// that was not found.
func (of *subject) absent(ref *Ref, o *Object) (reason string, retry classify.Retry, text string) {
	switch {
	case ref.Set == "" && ref.Name == "" && ref.ID == "":
		return ReasonReferenceNotSet, classify.OnChange, ": the reference has no name: set it"
	case ref.Set == "":
		return of.notFound, classify.Fast, notFound
	case o.Partial != "":
		return of.several, classify.Slow, ": " + o.Partial
	}
	return of.notFound, classify.Fast, ": no such object exists: waiting until one is created"
}

// typed returns the object o that ref names as a W, or o itself if W is
// [Object]. If the object cannot be used, res is the result of the check, or else
// the zero Result. In a message, before precedes the name of the object.
func typed[W any](ctx context.Context, s *settings, of *subject, before string, ref *Ref, o *Object) (value W, res Result, err error) {
	value, ok := o.Value.(W)
	found := o.Found()
	if itself, is := any(&value).(*Object); is {
		*itself, ok = *o, true
		itself.Ref = *ref
	}
	if found && !ok && o.Whole != nil {
		whole, err := o.Whole(ctx)
		if err != nil {
			return value, res, fmt.Errorf("%s%s: %w", before, ref, err)
		}
		o = &Object{Ref: o.Ref, Value: whole}
		value, ok = whole.(W)
		found = o.Found()
	}
	switch {
	case found && ok:
	case found && o.Partial != "":
		res = s.unusable(of.wrongKind, classify.OnChange, ref, before, " was read in part: ", o.Partial)
	case found:
		res = s.unusable(of.wrongKind, classify.OnChange, ref, before, " is a ", reflect.TypeOf(o.Value).String(),
			", and ", s.check, " is for a ", reflect.TypeFor[W]().String(), ": name ", of.article, " of that kind")
	case !ref.ByIDOnly():
		reason, retry, text := of.absent(ref, o)
		res = s.unusable(reason, retry, ref, before, text)
	case s.unknownProceeds:
		chain.Note(ctx, sentence(before, ref, " is known by its ID only"))
		res = Proceed()
	default:
		res = s.unusable(of.byID, classify.Slow, ref, before, " is known by its ID only, so ", s.check, " cannot read it: refer to it by name")
	}
	return value, res, nil
}

// suits returns the result of a check that asks for an objection to the object
// that ref names.
func suits[W any](ctx context.Context, s *settings, of *subject, before string, ref *Ref, value W, objection func(W) string) Result {
	text, reported := optional(ctx, objection, value)
	switch {
	case reported && text == "":
	case reported:
		return s.objects(of.unsuitable, classify.Slow, ref, before, ": ", text)
	case s.unknownProceeds:
		chain.Note(ctx, sentence(before, ref, " has not reported the field that the check reads"))
	default:
		return s.blocked(of.unknown, classify.Slow, ref, before, " has not reported yet the field that ", s.check, " reads")
	}
	return Proceed()
}

// readiness returns the result for the object o that ref names, which is not
// ready.
func (s *settings) readiness(ctx context.Context, of *subject, before string, ref *Ref, o *Object) Result {
	r, found := &o.Readiness, o.Found()
	reason, text := of.silent, " has not reported yet whether it is ready"
	switch {
	case !found && !ref.ByIDOnly():
		reason, retry, text := of.absent(ref, o)
		return s.blocked(reason, retry, ref, before, text)
	case !found && s.idBlocks:
		return s.blocked(of.byID, classify.Slow, ref, before, " is known by its ID only, so it cannot be looked up: refer to it by name")
	case !found:
		chain.Note(ctx, sentence(before, ref, " is known by its ID only"))
		return Proceed()
	case o.Deleting:
		return s.blocked(of.deleting, classify.Fast, ref, before, " is being deleted")
	case r.State == Ready:
		var observed, now [20]byte // on the stack, so that only the message is allocated
		return s.blocked(of.stale, classify.Fast, ref, before, " was ready for generation ",
			string(strconv.AppendInt(observed[:0], r.Observed, 10)), " of its spec; it must be ready for generation ", string(strconv.AppendInt(now[:0], r.Generation, 10)))
	case r.State == NotReady:
		reason, text = of.notReady, " is not ready"
	}
	return s.blocked(reason, classify.Fast, ref, before, text, colon(r.Reason), r.Reason, colon(r.Message), r.Message)
}

// colon returns the separator before a text.
func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": "
}
