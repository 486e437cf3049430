package status

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// story is an object that a reconciler and other writers write. log has the answers of the
// reconciler to the words of the story.
type story struct {
	*Writers
	t        *testing.T
	now      time.Time
	versions []*testv1.Database // all that the API server stored
	shown    int                // the version that the watch has reported
	asked    bool               // each event is a cause that a delayed correction does not replace
	causes   bool               // each event is a cause
	last     time.Duration      // the delay of the last correction
	log      []string
}

func newStory(t *testing.T) *story {
	s := &story{t: t, now: time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)}
	s.Writers = &Writers{Kind: object.Of[*testv1.Database]("New", nil), Memory: &memory.Store{}, Now: func() time.Time { return s.now }}
	s.Add = s.add
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "db", UID: "u", ResourceVersion: "8"}}
	succeed(d)
	s.versions = append(s.versions, d)
	return s
}

// succeed sets the condition that each pass writes.
func succeed(d *testv1.Database) {
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{Type: "Ready", Status: "True", Reason: "Succeeded"})
}

func (s *story) says(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

func (s *story) add(name types.NamespacedName, after time.Duration) (started bool) {
	s.last = after
	s.says("%s after %s", name.Name, after)
	return true
}

func (s *story) is() *testv1.Database { return s.versions[len(s.versions)-1] }

// store stores a new version.
func (s *story) store(change func(*testv1.Database)) {
	next := s.is().DeepCopyObject().(*testv1.Database)
	change(next)
	next.ResourceVersion = fmt.Sprint(8 + len(s.versions))
	s.versions = append(s.versions, next)
}

// predicates returns the predicate of the watch.
func (s *story) predicates() predicate.Predicate {
	is := func(yes *bool) predicate.Predicate {
		return predicate.NewPredicateFuncs(func(client.Object) bool { return *yes })
	}
	return s.Events(is(&s.asked), is(&s.causes))
}

// reports lets the watch report a version.
func (s *story) reports(version int) {
	was := s.versions[s.shown]
	s.shown = version
	s.says("%t", s.predicates().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: s.versions[version]}))
}

// writes lets the reconciler write its verdict. happens names the fate of the write, such as refused or lost.
func (s *story) writes(happens string) {
	obj, failed := s.is().DeepCopyObject().(*testv1.Database), errors.New(happens)
	if happens == "missing" {
		failed = apierrors.NewNotFound(schema.GroupResource{}, "db")
	}
	succeed(obj)
	err := s.Writing(obj, obj.Status.Conditions, func() error {
		if happens == "refused" || happens == "missing" {
			return failed
		}
		s.store(func(d *testv1.Database) {
			if succeed(d); happens == "mutated" { // a webhook changes the write
				d.Status.Conditions[0].Message = "mutated"
			}
		})
		answer := s.is()
		switch happens {
		case "lost":
			return failed
		case "shown":
			s.do("event event")
		case "overtaken":
			s.do("event theirs:Ready event")
		}
		obj.ResourceVersion, obj.Status.Conditions, failed = answer.ResourceVersion, answer.Status.Conditions, nil
		return nil
	})
	if err != failed {
		s.t.Errorf("the error is %v, want %v", err, failed)
	}
}

// do does what some words say.
func (s *story) do(words string) {
	name := client.ObjectKeyFromObject(s.is())
	for word := range strings.FieldsSeq(words) {
		word, arg, _ := strings.Cut(word, ":")
		switch word {
		case "theirs": // another writer sets a condition
			s.store(func(d *testv1.Database) {
				meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{Type: arg, Status: "False", Reason: "Theirs", Message: fmt.Sprint(len(s.versions))})
			})
		case "sets": // another writer changes a field of Ready
			s.store(func(d *testv1.Database) {
				switch c := meta.FindStatusCondition(d.Status.Conditions, "Ready"); arg {
				case "status":
					c.Status = "Unknown"
				case "reason":
					c.Reason = "Other"
				case "message":
					c.Message = "other"
				case "generation":
					c.ObservedGeneration++
				case "time":
					c.LastTransitionTime = metav1.NewTime(s.now)
				}
			})
		case "restored":
			s.store(succeed)
		case "removed":
			s.store(func(d *testv1.Database) { d.Status.Conditions = nil })
		case "finished":
			s.store(func(d *testv1.Database) {
				meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{Type: Finished, Status: "True", Message: object.FinishedMessage("", d.UID)})
			})
		case "anew": // another object of the name
			s.store(func(d *testv1.Database) { d.UID += "x" })
		case "event":
			s.reports(s.shown + 1)
		case "latest":
			s.reports(len(s.versions) - 1)
		case "deleted":
			s.says("%t, %d entries", s.predicates().Delete(event.DeleteEvent{Object: s.is()}), len(s.Memory.All()))
		case "created":
			s.says("%t, %t", s.predicates().Create(event.CreateEvent{Object: s.is()}), s.predicates().Generic(event.GenericEvent{Object: s.is()}))
		case "begin":
			s.Memory.Begin(name)
		case "writes":
			s.writes(arg)
		case "end", "keeps": // the pass corrects the conditions, or leaves them as they are
			if f := s.Passed(name, s.is().UID, word == "keeps"); f != nil {
				s.says("correction %d of %v by %s", f.Count, f.Types, f.Writer)
			} else {
				s.says("-")
			}
		case "pass":
			s.do("begin writes end event")
		case "before":
			if c := s.ReadyBefore(s.is()); c != nil {
				s.says("%s", c.Reason)
			} else {
				s.says("none")
			}
		case "asked":
			s.asked = true
		case "causes":
			s.causes = true
		case "odd":
			s.says("%t", s.predicates().Update(event.UpdateEvent{ObjectNew: s.is()}))
		case "longest": // only the delay of the last correction
			s.log = []string{fmt.Sprint(s.last)}
		case "stands":
			s.Leads = func() bool { return false }
		case "leads":
			s.Leads = func() bool { return true }
		case "unstarted":
			s.Add = func(types.NamespacedName, time.Duration) bool { return false }
		case "broken":
			s.Kind.Conditions = func(client.Object) []metav1.Condition { panic("no") }
		case "wait":
			by, err := time.ParseDuration(arg)
			if err != nil {
				s.t.Fatal(err)
			}
			s.now = s.now.Add(by)
		default:
			s.t.Fatalf("%q is no word", word)
		}
	}
}

// Another writer changes the conditions. The first change is corrected at once, and each
// later one after a longer delay. Own writes and other changes are no cause.
func TestWriters(t *testing.T) {
	corrected := func(n int, types string) string {
		return fmt.Sprintf("correction %d of [%s] by an unknown writer", n, types)
	}
	first, second := "true; "+corrected(1, "Ready")+"; false", "db after 1s; false; "+corrected(2, "Ready")+"; false"
	cases := map[string]struct{ reason, story, want string }{
		"Ready":       {"a person changes it", "theirs:Ready event pass", first},
		"Reconciling": {"a person adds it", "theirs:Reconciling event end", "true; -"},
		"Removed":     {"a controller replaces all by its own", "removed theirs:X latest pass", first},
		"Two":         {"the note names all", "theirs:Stalled theirs:Ready theirs:Reconciling latest begin end", "true; " + corrected(1, "Ready Reconciling Stalled")},
		"Status":      {"the field counts", "sets:status event", "true"},
		"Reason":      {"the field counts", "sets:reason event", "true"},
		"Message":     {"the field counts", "sets:message event", "true"},
		"Generation":  {"the field counts", "sets:generation event", "true"},
		"Time":        {"the time does not", "sets:time event begin end", "false; -"},
		"Other":       {"the condition is another controller's", "theirs:X event begin end", "false; -"},
		"Finished":    {"no pass would correct it", "finished theirs:Ready latest", "false"},
		"Odd":         {"an event without an object, which controller-runtime reports", "odd causes odd", "false; true"},
		"Ours":        {"nothing is kept of a write that the watch has reported", "writes event deleted", "false; false, 0 entries"},
		"Longest":     {"a writer that never gives up", strings.Repeat("theirs:Ready event begin end ", 13) + "longest", "10m0s"},
		"Broken":      {"the pass reports the panic", "theirs:Ready theirs:Ready broken event causes event", "false; true"},
		"Cause":       {"the event is a cause for other reasons", "created causes theirs:X event created", "false, false; true; true, true"},
		"CauseAnew":   {"another object is no foreign write", "causes anew latest", "true"},
		"CauseLate":   {"nor is a change that our own write has replaced", "theirs:Ready writes causes event", "true"},
		"Resync":      {"the watch reports no new version", "theirs:Ready latest begin end latest", "true; " + corrected(1, "Ready") + "; false"},

		"Delayed":   {"each correction waits longer", "theirs:Ready event pass theirs:Ready event pass theirs:Ready event", first + "; " + second + "; db after 2s; false"},
		"Scheduled": {"one correction is enough for all changes before it", "theirs:Ready event theirs:Stalled event begin end theirs:Ready event theirs:Ready event", "true; false; " + corrected(1, "Stalled") + "; db after 1s; false; false"},
		"Asked":     {"a delayed correction does not replace the cause", "theirs:Ready event pass asked theirs:Ready event theirs:Ready event", first + "; db after 1s; true; true"},
		"Stands":    {"another process is the leader, and writes them", "stands theirs:Ready event leads theirs:Ready event", "false; true"},
		"Unstarted": {"there is no queue yet", "unstarted theirs:Ready event pass theirs:Ready event pass", first + "; true; " + corrected(2, "Ready") + "; false"},
		"NotCalm":   {"the writer reacts to each correction", "theirs:Ready event pass wait:20m theirs:Ready event pass wait:20m1s theirs:Ready event", first + "; " + second + "; db after 2s; false"},
		"Calm":      {"the writer has stopped", "theirs:Ready event pass theirs:Ready event pass wait:20m2s theirs:Ready event", first + "; " + second + "; true"},
		"Anew":      {"it is another object", "theirs:Ready event begin anew theirs:Ready latest end theirs:Ready event pass", "true; false; -; " + first},

		"Late":      {"the pass has read the change, and its own write was refused", "theirs:Ready writes:refused event begin end", "false; -"},
		"Lost":      {"the API server has done the write", "theirs:Ready event begin end writes:lost event", "true; " + corrected(1, "Ready") + "; false"},
		"Mutated":   {"the answer has what was stored, whatever follows", "theirs:Ready event begin end writes:mutated theirs:X latest", "true; " + corrected(1, "Ready") + "; false"},
		"Replaced":  {"our own write has replaced the change", "theirs:Ready begin end writes event event", "-; false; false"},
		"Restored":  {"another writer says what our last write said", "writes event sets:reason event begin end restored event", "false; true; " + corrected(1, "Ready") + "; db after 1s; false"},
		"Missing":   {"no event of the object follows", "sets:reason event begin end writes:missing restored event", "true; " + corrected(1, "Ready") + "; db after 1s; false"},
		"OtherUID":  {"the last write was to another object", "writes anew removed latest restored event", "false; true"},
		"Shown":     {"the events are faster than the answer", "theirs:Ready event begin end theirs:X writes:shown theirs:Ready event", "true; " + corrected(1, "Ready") + "; false; false; db after 1s; false"},
		"Overtaken": {"another writer writes before the answer", "theirs:Ready event begin end writes:overtaken", "true; " + corrected(1, "Ready") + "; false; db after 1s; false"},

		"BeforeAny":   {"no other writer has changed it", "before", "Succeeded"},
		"Before":      {"our own verdict is that before the first change", "theirs:Ready event sets:reason event before begin before end before", "true; false; Succeeded; Succeeded; " + corrected(1, "Ready") + "; Other"},
		"BeforeNone":  {"there was no verdict", "removed event begin end theirs:Ready event before", "true; " + corrected(1, "Ready") + "; db after 1s; false; none"},
		"BeforeOther": {"the verdict is of another object", "theirs:Ready event anew before", "true; Theirs"},
		"During":      {"the change is for the next pass", "theirs:Ready event begin writes event theirs:Ready event end begin end", "true; false; db after 1s; false; -; " + corrected(2, "Ready")},
		"Kept":        {"another controller owns the conditions", "keeps theirs:Ready event begin end theirs:Ready event", "-; false; -; true"},
		"KeptFight":   {"the pass takes the note, and another one leaves the conditions", "theirs:Ready event begin keeps keeps theirs:Ready event", "true; " + corrected(1, "Ready") + "; -; false"},
		"Deleted":     {"nothing is known of it any more", "keeps deleted causes deleted", "-; false, 0 entries; true, 0 entries"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.do(tc.story)
			if got := strings.Join(s.log, "; "); got != tc.want {
				t.Errorf("%s: %s\ngot:  %s\nwant: %s", tc.reason, tc.story, got, tc.want)
			}
		})
	}
}

// The note names the newest writer of an update, if the managed fields show one.
func TestWriterOf(t *testing.T) {
	at := func(second int) *metav1.Time {
		now := metav1.NewTime(time.Date(2026, 11, 21, 12, 0, second, 0, time.UTC))
		return &now
	}
	entry := func(manager string, when *metav1.Time, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", APIVersion: "v1", Time: when, Subresource: subresource}
	}
	type entries = []metav1.ManagedFieldsEntry
	ours := entry("operator", at(1), "status")
	applied, newer := ours, ours
	applied.Operation, newer.APIVersion = "Apply", "v2"
	const unknown = "an unknown writer"
	cases := map[string]struct {
		reason      string
		before, now entries
		want        string
	}{
		"None":     {"a definition or a client may leave them out", nil, nil, unknown},
		"New":      {"the writer has written for the first time", entries{ours}, entries{ours, entry("edit", at(2), "status")}, `the field manager "edit" (Update at 2026-11-21T12:00:02Z)`},
		"Again":    {"its time changed", entries{ours, entry("edit", at(2), "status")}, entries{ours, entry("edit", at(3), "status")}, `the field manager "edit" (Update at 2026-11-21T12:00:03Z)`},
		"Newest":   {"the watch reports two writes as one", nil, entries{entry("b", at(3), "status"), entry("a", at(2), "status")}, `the field manager "b" (Update at 2026-11-21T12:00:03Z)`},
		"Together": {"two wrote in the same second", nil, entries{entry("b", at(3), "status"), entry("a", at(3), "status")}, unknown},
		"Older":    {"that two older ones wrote together does not matter", nil, entries{entry("b", at(2), "status"), entry("a", at(2), ""), entry("c", at(3), "")}, `the field manager "c" (Update at 2026-11-21T12:00:03Z)`},
		"Same":     {"the writer wrote twice in a second, so nothing shows it", entries{ours}, entries{ours}, unknown},
		"Scale":    {"another subresource has no conditions", nil, entries{entry("autoscaler", at(3), "scale")}, unknown},
		"Twice":    {"one writer wrote twice in the second", nil, entries{entry("edit", at(3), ""), entry("edit", at(3), "status")}, `the field manager "edit" (Update at 2026-11-21T12:00:03Z)`},
		"Replaces": {"another writer's entry has the same time", entries{ours}, entries{entry("edit", at(1), "status")}, `the field manager "edit" (Update at 2026-11-21T12:00:01Z)`},
		"Applies":  {"the same writer applies within the same second", entries{ours}, entries{ours, applied}, `the field manager "operator" (Apply at 2026-11-21T12:00:01Z)`},
		"Status":   {"the same writer writes the status within the same second", entries{entry("operator", at(1), "")}, entries{ours}, `the field manager "operator" (Update at 2026-11-21T12:00:01Z)`},
		"Version":  {"the same writer uses another version within the same second", entries{ours}, entries{ours, newer}, `the field manager "operator" (Update at 2026-11-21T12:00:01Z)`},
		"NoTime":   {"a time may be missing", nil, entries{entry("edit", nil, "status")}, unknown},
		"NoName":   {"a manager may have no name", nil, entries{entry("", at(3), "status")}, unknown},
	}
	for name, tc := range cases {
		if got := writerOf(tc.before, tc.now); got != tc.want {
			t.Errorf("%s: %s: %s, want %s", name, tc.reason, got, tc.want)
		}
	}
}

// An object that is created again before a pass has seen the deletion does not get what was
// known of the old one. An orphan stays.
func TestDeleted(t *testing.T) {
	s := newStory(t)
	name, orphan := client.ObjectKeyFromObject(s.is()), &memory.Orphan{}
	s.Memory.Change(name, func(e *memory.Entry) {
		*e = memory.Entry{Verdict: memory.Verdict{Reason: "R"}, TimedOut: true, Since: 7, Silent: true, Kept: true}
		e.Follows, e.Orphan = []checks.Ref{{Kind: "A"}}, orphan
	})
	s.predicates().Delete(event.DeleteEvent{Object: s.is()})
	if diff := cmp.Diff(memory.Entry{Rare: memory.Rare{Orphan: orphan}}, s.Memory.Get(name)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
