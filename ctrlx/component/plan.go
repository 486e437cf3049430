package component

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// Action names the change of an object in a plan.
type Action string

// The actions of a plan.
const (
	ActionCreate   Action = "create"
	ActionUpdate   Action = "update"
	ActionRecreate Action = "recreate" // delete, and create again
	ActionDelete   Action = "delete"
	ActionOrphan   Action = "orphan" // keep, without the component
)

// Plan says what a pass would do, if each wave became ready. The API server has
// tried each write by dry-run, and nothing was written. It marshals to JSON.
type Plan struct {
	// Waves are the waves that would write, in their order.
	Waves []PlannedWave `json:"waves,omitempty"`
	// Problems are the reasons for which a wave would not be written.
	Problems []string `json:"problems,omitempty"`
}

// PlannedWave holds the changes of one wave.
type PlannedWave struct {
	// Name is the name of the wave, as in "wave 1 of 3" or "deletion wave 1".
	Name    string   `json:"name"`
	Changes []Change `json:"changes"`
}

// Change is the change of one object.
type Change struct {
	Ref    checks.Ref `json:"ref"`
	Action Action     `json:"action"`
	// Fields are the fields that an update changes, sorted by their paths.
	Fields []FieldChange `json:"fields,omitempty"`
	// Unchecked reports that the API server cannot try the whole write, because the
	// namespace or the definition is a part of the plan, or because a server-side
	// apply takes over fields first. It may then remove more fields than Fields has.
	Unchecked bool `json:"unchecked,omitempty"`
}

// FieldChange is the change of one field. A Secret has no values here, also not those of
// its labels and annotations.
type FieldChange struct {
	Path string `json:"path"`
	From any    `json:"from,omitempty"`
	To   any    `json:"to,omitempty"`
}

// Plan returns what a pass over a component would do now. It needs neither a
// manager nor SetupWithManager: a cluster with a client is enough. It writes
// nothing. Checks and hooks do not run, and foreign instances of managed types do
// not count. The errors are those of a pass. A panic of the generator or of the
// component is a [chain.PanicError].
func (r *Reconciler[T]) Plan(ctx context.Context, c dependents.Cluster, component T) (*Plan, error) {
	recovered := chain.New(chain.Recover[T, *Plan])
	return recovered.Then(func(ctx context.Context, component T) (*Plan, error) { return r.plan(ctx, c, component) })(ctx, component)
}

func (r *Reconciler[T]) plan(ctx context.Context, c dependents.Cluster, component T) (*Plan, error) {
	y, err := r.systemOf(c)
	if err != nil {
		return nil, fmt.Errorf("component: %s: %w", r.name, err)
	}
	cl := c.GetClient()
	s := &Set{
		Component: component.DeepCopyObject().(T), system: y, Plan: &Plan{},
		access: (&access{client: cl, live: c.GetAPIReader()}).withDryRun(),
	}
	if err := s.configure(ctx); err != nil {
		return nil, err
	}
	if component.GetDeletionTimestamp() != nil {
		res, err := decided(y.remove(ctx, s))
		if err == nil && !res.Done {
			s.Plan.Problems = append(s.Plan.Problems, res.Message)
		}
		return s.Plan, err
	}
	if err := s.generate(ctx); err != nil {
		return nil, err
	}
	_, err = decided(y.apply(ctx, s))
	if err == nil {
		s.Plan.purge(s)
	}
	return s.Plan, err
}

// IsEmpty reports whether nothing would be done, and nothing is wrong.
func (p *Plan) IsEmpty() bool { return len(p.Waves)+len(p.Problems) == 0 }

// String returns the plan as a text with one line for each object and each field.
func (p *Plan) String() string {
	if p.IsEmpty() {
		return "no changes\n"
	}
	var b strings.Builder
	signs := map[Action]string{
		ActionCreate: "+", ActionUpdate: "~", ActionRecreate: "-+", ActionDelete: "-", ActionOrphan: "o",
	}
	for _, w := range p.Waves {
		fmt.Fprintf(&b, "%s\n", w.Name)
		for _, c := range w.Changes {
			fmt.Fprintf(&b, "  %-2s %s %s", signs[c.Action], c.Action, c.Ref)
			if c.Unchecked {
				b.WriteString(" (not checked by the API server)")
			}
			b.WriteString("\n")
			for _, f := range c.Fields {
				fmt.Fprintf(&b, "       %s\n", f)
			}
		}
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "problem: %s\n", line(problem))
	}
	return b.String()
}

// String returns the change as in "spec.replicas: 1 -> 2".
func (f FieldChange) String() string {
	show := func(v any) string {
		if v == nil {
			return "none"
		}
		return fmt.Sprintf("%q", fmt.Sprint(v))
	}
	if f.From == nil && f.To == nil {
		return f.Path + ": changed"
	}
	return fmt.Sprintf("%s: %s -> %s", f.Path, show(f.From), show(f.To))
}

// result returns the result of a pass that only observes.
func (p *Plan) result() Result {
	if p.IsEmpty() {
		return Result{Done: true}
	}
	const most = 20_000 // of the 32 KiB of a condition
	text := p.sentence()
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return Result{Reason: ReasonObserveOnly, After: observeDelay, Message: "the component is only observed; a pass would " + text}
}

// sentence returns the plan on one line, after "a pass would", as in "update ConfigMap
// team/a (data.k: "1" -> "2"), create Secret team/b".
func (p *Plan) sentence() string {
	var texts []string
	for _, w := range p.Waves {
		for _, c := range w.Changes {
			var details []string
			if c.Unchecked {
				details = append(details, "not checked by the API server")
			}
			for _, f := range c.Fields {
				details = append(details, f.String())
			}
			text := fmt.Sprintf("%s %s", c.Action, c.Ref)
			if len(details) > 0 {
				text += " (" + strings.Join(details, ", ") + ")"
			}
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		texts = []string{"change nothing"}
	}
	text := strings.Join(texts, ", ")
	for _, problem := range p.Problems {
		text += "; problem: " + line(problem)
	}
	return text
}

// observeDelay is the time after which a component that is only observed is
// planned again.
const observeDelay = 5 * time.Minute

// add adds a change to a wave of the set.
func (p *Plan) add(w *Wave, c Change) {
	if c.Ref.Kind == kindNamespace.Kind && c.Ref.Group == "" && c.Action == ActionCreate {
		w.planned(c.Ref.Name)
	}
	p.addTo(fmt.Sprintf("wave %d of %d", w.Number, w.Of), c)
}

func (p *Plan) addTo(name string, c Change) {
	if n := len(p.Waves); n == 0 || p.Waves[n-1].Name != name {
		p.Waves = append(p.Waves, PlannedWave{Name: name})
	}
	w := &p.Waves[len(p.Waves)-1]
	w.Changes = append(w.Changes, c)
}

// apply adds the write of an object that a dry-run made.
func (p *Plan) apply(w *Wave, o *Object, c *call) {
	if c == nil || c.write == nil {
		return
	}
	change := Change{Ref: o.Ref}
	switch c.write.Outcome {
	case dependents.Created:
		change.Action, change.Unchecked = ActionCreate, c.write.Object == nil
	case dependents.Updated:
		change.Action = ActionUpdate
		if c.write.Object == nil {
			change.Unchecked = true
			break
		}
		secret := o.gvk.GroupKind() == schema.GroupKind{Kind: "Secret"}
		change.Fields = changes(c.request.Live, c.write.Object, w.system.name, secret)
		change.Unchecked = c.write.TookOver
	case dependents.Terminating:
		change.Action = ActionRecreate
	default:
		return
	}
	p.add(w, change)
}

// remove adds the deletion of an object.
func (p *Plan) remove(number int, ref checks.Ref, res dependents.Result) {
	c := Change{Ref: ref, Action: ActionDelete}
	switch res.Outcome {
	case dependents.Gone:
		return
	case dependents.Orphaned:
		c.Action = ActionOrphan
	}
	p.addTo(fmt.Sprintf("deletion wave %d", number), c)
}

// purge adds the deletion of the objects with a purge order.
func (p *Plan) purge(s *Set) {
	for _, o := range s.Objects {
		if o.PurgeOrder == nil {
			continue
		}
		if i := s.Inventory.find(o.Ref); i >= 0 && s.Inventory.Items[i].Purged && s.Inventory.Items[i].Purge == o.digest {
			continue
		}
		p.addTo(fmt.Sprintf("purge after the apply-order %d", max(*o.PurgeOrder, o.ApplyOrder)), Change{Ref: o.Ref, Action: ActionDelete})
	}
}

// changes returns the fields that differ between two states of an object, without
// those that each write changes.
func changes(from, to client.Object, name string, secret bool) []FieldChange {
	content := func(obj client.Object) map[string]any {
		u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return nil
		}
		m, _ := u["metadata"].(map[string]any)
		m = maps.Clone(m)
		for _, key := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
			delete(m, key)
		}
		if a, ok := m["annotations"].(map[string]any); ok {
			a = maps.Clone(a)
			delete(a, name+"/digest")
			delete(a, name+"/applied-at")
			m["annotations"] = a
		}
		u = maps.Clone(u)
		u["metadata"] = m
		for _, key := range []string{"apiVersion", "kind", "status"} {
			delete(u, key)
		}
		return u
	}
	all := differ(nil, "", content(from), content(to))
	if secret {
		for i := range all { // an annotation may have a copy of the data, as kubectl writes it
			all[i].From, all[i].To = nil, nil
		}
	}
	return all
}

// plainKey reports whether a path may have a key without quotes. Another key could
// look like a path, or like lines of a plan.
func plainKey(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// line returns a text without control characters, so that an error cannot add lines
// to a plan.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// differ adds the differences of two values to all.
func differ(all []FieldChange, path string, from, to any) []FieldChange {
	a, isMap := from.(map[string]any)
	b, both := to.(map[string]any)
	if isMap && both || isMap && to == nil || both && from == nil {
		keys := map[string]bool{}
		for key := range a {
			keys[key] = true
		}
		for key := range b {
			keys[key] = true
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			inner := key
			if !plainKey(key) {
				inner = "[" + strconv.Quote(key) + "]"
			} else if path != "" {
				inner = "." + key
			}
			all = differ(all, path+inner, a[key], b[key])
		}
		return all
	}
	x, isList := from.([]any)
	y, both := to.([]any)
	if isList && both && len(x) == len(y) {
		for i := range x {
			all = differ(all, fmt.Sprintf("%s[%d]", path, i), x[i], y[i])
		}
		return all
	}
	if !reflect.DeepEqual(from, to) {
		all = append(all, FieldChange{path, from, to})
	}
	return all
}
