package component

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
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
	// Name is the name of the wave, as in "wave 1 of 3". It is "redundant, wave 1"
	// for objects that the set lacks, and "deletion wave 1" if the component is
	// deleted.
	Name    string   `json:"name"`
	Changes []Change `json:"changes"`
}

// Change is the change of one object.
type Change struct {
	Ref    checks.Ref `json:"ref"`
	Action Action     `json:"action"`
	// Fields are the fields that an update changes, sorted by their paths.
	Fields []FieldChange `json:"fields,omitempty"`
	// Unchecked reports that the API server cannot try the whole write, because
	// the namespace or the definition is a part of the plan, or a webhook has side
	// effects. It also reports that a server-side apply takes over fields while
	// another field manager uses another version of the API. Fields may then have
	// removals too many.
	Unchecked bool `json:"unchecked,omitempty"`
}

// FieldChange is the change of one field. A Secret has no values here, nor
// those of its labels and annotations.
type FieldChange struct {
	Path string `json:"path"`
	From any    `json:"from,omitempty"`
	To   any    `json:"to,omitempty"`
}

// Plan returns what a pass over a component would do now. It needs neither a
// manager nor SetupWithManager: a cluster with a client is enough. It writes
// nothing. Checks and hooks do not run. Foreign instances of managed types, and
// foreign finalizers of a component in deletion, are problems. To find the
// types of a pattern, the cluster must be a manager or a cluster.Cluster of
// controller-runtime; otherwise it is a problem that they were not found. The
// errors are those of a pass. The component must have the status that the API
// server has, because its inventory is there: read the component, and change
// its spec. A panic of the generator or of the component is a
// [chain.PanicError].
func (r *Reconciler[T]) Plan(ctx context.Context, c dependents.Cluster, component T) (*Plan, error) {
	recovered := chain.New(chain.Recover[T, *Plan])
	return recovered.Then(func(ctx context.Context, component T) (*Plan, error) {
		return r.plan(ctx, c, component)
	})(ctx, component)
}

func (r *Reconciler[T]) plan(ctx context.Context, c dependents.Cluster, component T) (*Plan, error) {
	if setup.IsNil(c) {
		return nil, fmt.Errorf("component: %s: the cluster is nil: give the manager", r.name)
	}
	y, err := r.systemOf(c, r.dependentsOf(uncached{c}))
	if err != nil {
		return nil, fmt.Errorf("component: %s: %w", r.name, err)
	}
	s := &Set{
		Component: component.DeepCopyObject().(T), system: y, Plan: &Plan{},
		access: y.own(),
	}
	if err := s.configure(); err != nil {
		return nil, err
	}
	if component.GetDeletionTimestamp() != nil {
		res, err := decided(y.remove(ctx, s))
		if err == nil && !res.Done {
			s.waits(res) // of a link of the user
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

// String returns the plan as a text with one line for each problem, then for
// each object and each field.
func (p *Plan) String() string {
	if p.IsEmpty() {
		return "no changes\n"
	}
	var b strings.Builder
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "problem: %s\n", line(problem))
	}
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
	return b.String()
}

// String returns the change as in "spec.replicas: 1 -> 2".
func (f FieldChange) String() string {
	if f.From == nil && f.To == nil {
		return f.Path + ": changed"
	}
	return fmt.Sprintf("%s: %s -> %s", f.Path, shown(f.From), shown(f.To))
}

// shown returns a value as JSON on one line, so that a text differs from a number.
func shown(v any) string {
	if v == nil {
		return "none"
	}
	if text, ok := v.(string); ok {
		return strconv.Quote(text) // JSON leaves some control characters as they are
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return strconv.Quote(fmt.Sprint(v))
	}
	return line(strings.TrimSuffix(text.String(), "\n"))
}

// creates reports whether the plan creates an object.
func (p *Plan) creates(ref checks.Ref) bool {
	return slices.ContainsFunc(p.Waves, func(w PlannedWave) bool {
		return slices.ContainsFunc(w.Changes, func(c Change) bool { return c.Action == ActionCreate && c.Ref == ref })
	})
}

// problem adds an error, once.
func (p *Plan) problem(err error) {
	if err != nil && !slices.Contains(p.Problems, err.Error()) {
		p.Problems = append(p.Problems, err.Error())
	}
}

// add adds a change to a wave.
func (p *Plan) add(name string, c Change) {
	if n := len(p.Waves); n == 0 || p.Waves[n-1].Name != name {
		p.Waves = append(p.Waves, PlannedWave{Name: name})
	}
	w := &p.Waves[len(p.Waves)-1]
	w.Changes = append(w.Changes, c)
}

// apply adds the write of an object that a dry-run made.
func (p *Plan) apply(ctx context.Context, w *Wave, o *Object, res dependents.Result) {
	if res.Pending == nil {
		return
	}
	change := Change{Ref: o.Ref}
	switch live, to := res.Pending.Live, res.Object; res.Outcome {
	case dependents.Created:
		change.Action, change.Unchecked = ActionCreate, to == nil
	case dependents.Updated:
		change.Action = ActionUpdate
		if to == nil {
			change.Unchecked = true
			break
		}
		secret := o.gvk.GroupKind() == schema.GroupKind{Kind: "Secret"}
		if res.TookOver {
			var err error
			if to, err = w.defaulted(ctx, live, to); err != nil {
				p.Problems = append(p.Problems, fmt.Sprintf("%s: %v", o.Ref, err))
			}
			change.Unchecked = slices.ContainsFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
				return e.Subresource != "status" && e.APIVersion != o.gvk.GroupVersion().String()
			})
		}
		change.Fields = changes(live, to, w.system.name, secret)
	case dependents.Terminating:
		change.Action = ActionRecreate
	default:
		return
	}
	p.add(w.String(), change)
}

// defaulted returns an object with the defaults that the API server sets, after
// a change of the live one to it by dry-run. After an error it returns the
// object.
func (s *Set) defaulted(ctx context.Context, live, obj client.Object) (client.Object, error) {
	to := obj.DeepCopyObject().(client.Object)
	to.SetResourceVersion(live.GetResourceVersion())
	to.SetManagedFields(live.GetManagedFields())
	patch := client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{})
	err := client.NewDryRunClient(s.access.client).Patch(ctx, to, patch, s.system.dependents.FieldOwner())
	if err != nil {
		return obj, err
	}
	return to, nil
}

// remove adds the deletion of an object to a wave.
func (p *Plan) remove(wave string, ref checks.Ref, res dependents.Result) {
	c := Change{Ref: ref, Action: ActionDelete}
	switch res.Outcome {
	case dependents.Gone:
		return
	case dependents.Orphaned:
		c.Action = ActionOrphan
	}
	p.add(wave, c)
}

// purge adds the deletion of the objects with a purge order.
func (p *Plan) purge(s *Set) {
	indexes := s.Inventory.byRef()
	for _, o := range s.Objects {
		if o.PurgeOrder == nil {
			continue
		}
		if i, found := indexes[o.Ref]; found && s.Inventory.Items[i].Purged && s.Inventory.Items[i].Purge == o.digest() {
			continue
		}
		name := fmt.Sprintf("purge after the apply-order %d", max(*o.PurgeOrder, o.ApplyOrder))
		p.add(name, Change{Ref: o.Ref, Action: ActionDelete})
	}
}

// changes returns the fields that differ between two states of an object,
// without those that each write changes.
func changes(from, to client.Object, name string, secret bool) []FieldChange {
	content := func(obj client.Object) map[string]any {
		obj = obj.DeepCopyObject().(client.Object)
		obj.SetManagedFields(nil)
		obj.SetResourceVersion("")
		obj.SetGeneration(0)
		obj.SetUID("")
		obj.SetCreationTimestamp(metav1.Time{})
		annotations := obj.GetAnnotations()
		delete(annotations, name+"/digest")
		delete(annotations, name+"/applied-at")
		obj.SetAnnotations(annotations)
		u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return nil
		}
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

// plainKey reports whether a path may have a key without quotes. Another key
// could look like a path, or like lines of a plan.
func plainKey(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// line returns a text without control characters, so that an error cannot add
// lines to a plan.
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
		keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
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
