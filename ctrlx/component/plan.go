package component

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// Plan says what a pass would do, if each wave became ready. The API server has
// tried each write by dry-run, and nothing was written. It marshals to JSON. An
// empty plan changes nothing, and has no problem.
type Plan struct {
	// Changes are the changes of objects, in their order.
	Changes []Change `json:"changes,omitempty"`
	// Problems are the reasons for which a wave would not be written.
	Problems []string `json:"problems,omitempty"`
}

// Change is the change of one object.
type Change struct {
	// Wave is the name of the wave, as in "wave 1 of 3". It is "redundant, wave 1"
	// for an object that the set lacks, "deletion wave 1" if the component is
	// deleted, and "purge after the apply-order 0" for a purge.
	Wave string     `json:"wave"`
	Ref  checks.Ref `json:"ref"`
	// Action is one of these words: create, update, recreate (delete, and create
	// again), delete, and orphan (keep, without the component).
	Action string `json:"action"`
	// Fields are the changes of fields by an update, sorted, as in
	// "spec.replicas: 1 -> 2", with values in JSON. Those of a Secret have no
	// values, nor those of its labels and annotations, as in "data.key: changed".
	// "spec.x: removed" is a field that the write removes in a request of its own:
	// see [dependents.Result.Fields]. The API server may set a default in its place.
	Fields []string `json:"fields,omitempty"`
	// Unchecked reports that the API server cannot try the whole write, because
	// the namespace or the definition is a part of the plan, a webhook has side
	// effects, or the write removes fields in a request of its own. Fields that no
	// manager owns, next to a removed one, may go with it.
	Unchecked bool `json:"unchecked,omitempty"`
}

// String returns the plan as a text with one line for each problem, then for
// each object and each field.
func (p *Plan) String() string {
	var b strings.Builder
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "problem: %s\n", line(problem))
	}
	signs := map[string]string{create: "+", update: "~", recreate: "-+", remove: "-", orphan: "o"}
	for i, c := range p.Changes {
		if i == 0 || c.Wave != p.Changes[i-1].Wave {
			fmt.Fprintln(&b, c.Wave)
		}
		fmt.Fprintf(&b, "  %-2s %s %s", signs[c.Action], c.Action, c.Ref)
		if c.Unchecked {
			b.WriteString(" (not checked by the API server)")
		}
		b.WriteString("\n")
		for _, f := range c.Fields {
			fmt.Fprintf(&b, "       %s\n", f)
		}
	}
	if b.Len() == 0 {
		return "no changes\n"
	}
	return b.String()
}

// shown returns a value as JSON on one line, so that a text differs from a number.
func shown(v any) string {
	if v == nil {
		return "none"
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if text, ok := v.(string); ok || encoder.Encode(v) != nil {
		return strconv.Quote(cmp.Or(text, fmt.Sprint(v))) // JSON leaves some control characters of a text as they are
	}
	return line(strings.TrimSuffix(b.String(), "\n"))
}

// The values of [Change.Action].
const (
	create   = "create"
	update   = "update"
	recreate = "recreate"
	remove   = "delete"
	orphan   = "orphan"
)

// has reports whether the plan has a change of an object.
func (p *Plan) has(action string, ref checks.Ref) bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Action == action && c.Ref == ref })
}

// delete adds the deletion of an object, by the result of its dry-run.
func (p *Plan) delete(wave string, ref checks.Ref, res dependents.Result) {
	action := map[dependents.Outcome]string{dependents.Orphaned: orphan}[res.Outcome]
	if res.Outcome != dependents.Gone {
		p.Changes = append(p.Changes, Change{Wave: wave, Ref: ref, Action: cmp.Or(action, remove)})
	}
}

// changes returns the changes of fields by the dry-run of an update, without those
// that each write changes. removed are the paths that the write removes in a request
// of its own. An annotation of a Secret may have a copy of its data, as
// kubectl writes it.
func changes(res dependents.Result, name string, secret bool) (texts, removed []string) {
	content := func(obj client.Object) map[string]any {
		u, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(obj.DeepCopyObject()) // nil, if it cannot be marshaled
		const meta = "metadata"
		for _, path := range [][]string{
			{"apiVersion"}, {"kind"}, {"status"}, {meta, "managedFields"}, {meta, "resourceVersion"}, {meta, "generation"},
			{meta, "uid"}, {meta, "creationTimestamp"}, {meta, "annotations", name + "/digest"}, {meta, "annotations", name + "/applied-at"},
		} {
			unstructured.RemoveNestedField(u, path...)
		}
		return u
	}
	for _, f := range res.Fields {
		if path, ok := strings.CutSuffix(f, " is removed"); ok {
			removed, texts = append(removed, path), append(texts, path+": removed")
		}
	}
	differ("", content(res.Pending.Live), content(res.Object), func(path string, from, to any) {
		switch {
		case slices.ContainsFunc(removed, func(outer string) bool { return path == outer || strings.HasPrefix(path, outer+".") }):
		case secret:
			texts = append(texts, path+": changed")
		default:
			texts = append(texts, fmt.Sprintf("%s: %s -> %s", path, shown(from), shown(to)))
		}
	})
	slices.Sort(texts)
	return texts, removed
}

// plainKey matches the keys that a path may have without quotes. Another key
// could look like a path, or like lines of a plan.
var plainKey = regexp.MustCompile(`^[-_0-9A-Za-z]+$`)

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

// differ calls each for the differences of two values.
func differ(path string, from, to any, each func(path string, from, to any)) {
	a, isMap := from.(map[string]any)
	b, both := to.(map[string]any)
	x, isList := from.([]any)
	y, bothLists := to.([]any)
	switch {
	case isMap && both || isMap && to == nil || both && from == nil:
		keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			inner := key
			if !plainKey.MatchString(key) {
				inner = "[" + strconv.Quote(key) + "]"
			} else if path != "" {
				inner = "." + key
			}
			differ(path+inner, a[key], b[key], each)
		}
	case isList && bothLists && len(x) == len(y):
		for i := range x {
			differ(fmt.Sprintf("%s[%d]", path, i), x[i], y[i], each)
		}
	case !reflect.DeepEqual(from, to):
		each(path, from, to)
	}
}

// uncached is a cluster, and its client, which reads past the cache, for a plan outside
// of a pass: it starts no watches.
type uncached struct {
	client.Client
	dependents.Cluster
}

// GetClient implements [dependents.Cluster].
func (u uncached) GetClient() client.Client { return u }

// Get implements client.Reader.
func (u uncached) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return u.GetAPIReader().Get(ctx, key, obj, opts...)
}
