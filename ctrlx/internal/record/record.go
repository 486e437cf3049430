// Package record stores what an operator must know of an object after a restart
// in one condition of the status of the object.
//
// The status is the place, because users of an object usually cannot write there.
// It works with every definition that has conditions, and it travels with the
// other conditions in one write.
//
// Some users may write the status of an object. So a record names its object and
// the kind, and a key signs the operation in it. [Keys.Decode] refuses every other
// operation.
package record

import (
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Condition is the type of the condition that holds the record.
const Condition = "windlass-go.github.io/Record"

// The reasons of the condition. The first one that applies is the reason.
const (
	UnderWay   = "UnderWay"   // an operation is under way
	Processing = "Processing" // the clock of a time-out runs
	Settled    = "Settled"    // the object is Ready, and its success is stored
	Handled    = "Handled"    // a request for a retry was handled, and nothing else is stored
)

var sentences = map[string]string{
	UnderWay:   "an operation is under way in the cloud",
	Processing: "the clock of the time-out runs",
	Settled:    "the object was applied",
	Handled:    "a retry was handled",
}

// between separates the sentence of a message from its data.
const between = "; data of the operator, do not edit: "

// maxMessage is the maximum length of the message of a condition.
const maxMessage = 32_768

// Record holds the stored facts of an object. The zero Record stores nothing.
type Record struct {
	UID       types.UID // of the object: a copied record counts for nothing
	Kind      string    // as in Database.example.com
	Operation *Operation
	Clock     *Clock
	Success   *Success
	Handled   string // the last request for a retry that was handled
}

// Operation is the operation under way. Only it is signed, with the names of its
// object: it may hold an address to which a poll sends credentials.
type Operation struct {
	Generation int64
	Token      string
	Basis      *Basis // what the operation began from; nil: not known
	Signature  []byte
}

// Success is the last success of the object.
type Success struct {
	Time metav1.Time
	Basis
}

// The errors of [Keys.Decode].
var (
	ErrCopied     = errors.New("it is the operation of another object")
	errUnreadable = errors.New("cannot be read")
	errUnsigned   = errors.New("has no valid signature of this operator")
)

// In returns the condition that holds the record; nil: there is none.
func In(all []metav1.Condition) *metav1.Condition { return meta.FindStatusCondition(all, Condition) }

// MayHoldOperation reports whether an operation may be in the record, without
// decoding it. A reason that is not known may hide one.
func MayHoldOperation(c *metav1.Condition) bool {
	return c != nil && c.Reason != Processing && c.Reason != Settled && c.Reason != Handled
}

// OperationIn returns the part of a record that stores the operation under way,
// to compare it. It returns the whole message if that cannot be read.
func OperationIn(c *metav1.Condition) string {
	if !MayHoldOperation(c) {
		return ""
	}
	r, err := Of(c)
	if err != nil {
		return c.Message
	}
	stored := Record{UID: r.UID, Kind: r.Kind, Operation: r.Operation}
	return stored.text()
}

// Of returns the record in c, whichever object it is of, without a look at its signature.
func Of(c *metav1.Condition) (Record, error) {
	_, data, _ := strings.Cut(c.Message, between)
	return parse(data)
}

// Decode returns the record of an object; the zero Record if c is nil. A record of
// another object counts as none, and so does one that cannot be read. But if an
// operation may be in it, an error says why the record is refused: it completes a
// sentence. With ErrCopied, Decode returns the record of the other object.
func (k *Keys) Decode(c *metav1.Condition, uid types.UID, kind schema.GroupKind) (r Record, err error) {
	if c == nil {
		return Record{}, nil
	}
	r, _ = Of(c) // a record that cannot be read is the zero Record
	copied := r.UID != uid || r.Kind != kind.String()
	switch holds := MayHoldOperation(c); {
	case holds && (r.Operation == nil || r.Operation.Token == ""):
		return Record{}, errUnreadable
	case holds && !k.signed(&r):
		return Record{}, errUnsigned
	case holds && copied:
		return r, ErrCopied
	case copied || !holds && c.Status != metav1.ConditionTrue:
		return Record{}, nil
	case !holds:
		r.Operation = nil
	}
	return r, nil
}

// Encode returns the condition that holds r; nil if there is nothing to store. was
// is the present condition, which Encode returns if r is in it already; nil: there
// is none. If the record is too large for a condition, Encode leaves out the success
// and then the clock, but never the operation.
func Encode(r Record, was *metav1.Condition, generation int64, now time.Time) *metav1.Condition {
	for {
		reason := r.reason()
		if reason == "" {
			return nil
		}
		message := sentences[reason] + between + r.text()
		switch {
		case len(message) <= maxMessage || r.Success == nil && r.Clock == nil:
		case r.Success != nil:
			r.Success = nil
			continue
		default:
			r.Clock = nil
			continue
		}
		next := metav1.Condition{
			Type: Condition, Status: metav1.ConditionTrue, Reason: reason, Message: message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		}
		if was != nil {
			if next.LastTransitionTime = was.LastTransitionTime; *was == next {
				return was
			}
		}
		return &next
	}
}

func (r *Record) reason() string {
	switch {
	case r.Operation != nil:
		return UnderWay
	case r.Clock != nil:
		return Processing
	case r.Success != nil:
		return Settled
	case r.Handled != "":
		return Handled
	}
	return ""
}

// Put returns the conditions all with c in place of the record, or without a record
// if c is nil. It does not change all.
func Put(all []metav1.Condition, c *metav1.Condition) []metav1.Condition {
	i := slices.IndexFunc(all, func(c metav1.Condition) bool { return c.Type == Condition })
	switch {
	case c == nil && i < 0, c != nil && i >= 0 && all[i] == *c:
		return all // without an allocation, as in almost every pass
	case c == nil:
		return slices.Delete(slices.Clone(all), i, i+1)
	case i < 0:
		return append(slices.Clip(all), *c)
	}
	all = slices.Clone(all)
	all[i] = *c
	return all
}
