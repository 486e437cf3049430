package inuse

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/checks"
)

var errDown = errors.New("it is down")

// page is an answer to a list of users: their records, and whether there are more.
type page struct {
	records []string
	more    string
	err     error
}

// pages is an API server that answers lists, one after the other. It notes the requests.
type pages struct {
	client.Reader
	answers []page
	asked   []string
}

func (p *pages) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	list, at := into.(*metav1.PartialObjectMetadataList), p.answers[0]
	p.answers = p.answers[1:]
	p.asked = append(p.asked, strings.TrimSpace(fmt.Sprint(list.Kind, " ", o.Namespace, " ", o.Limit, " ", o.Continue)))
	for _, record := range at.records {
		at := with("1", record)
		at.Namespace, at.Name = "b", "app"
		list.Items = append(list.Items, *at)
	}
	list.Continue = at.more
	return at.err
}

// TestUsed verifies that each page of the users counts, and that an unknown user is an error.
func TestUsed(t *testing.T) {
	const held, released = `{"uid":"1","objects":{"/Secret/a/s":"held"}}`, `{"uid":"1","objects":{"/Secret/a/s":"released","/Secret/a/t":"held"}}`
	errMayUse := errors.New("with the text below, and no final one")
	expired := apierrors.NewResourceExpired("too old")
	cases := map[string]struct {
		reason    string
		namespace string // of the resource
		answers   []page
		used      bool
		err       error
		asked     []string
	}{
		"Held":       {"a resource holds it", "a", []page{{records: []string{released, held}, more: "x"}}, true, nil, []string{"AppList a 10"}},
		"Released":   {"a resource has released it, and holds another object", "a", []page{{records: []string{released}}}, false, nil, []string{"AppList a 10"}},
		"Unreadable": {"it may be a user, and may never release the object", "a", []page{{records: []string{"?"}}}, false, errMayUse, []string{"AppList a 10"}},
		"OtherHeld":  {"that one releases it", "a", []page{{records: []string{"?"}, more: "x"}, {records: []string{held}}}, true, nil, []string{"AppList a 10", "AppList a 100 x"}},
		"LastPage": {"the pages grow up to a limit", "a", []page{{more: "x"}, {more: "y"}, {more: "z"}, {records: []string{held}}}, true, nil,
			[]string{"AppList a 10", "AppList a 100 x", "AppList a 1000 y", "AppList a 1000 z"}},
		"Expired":    {"the list begins again", "a", []page{{more: "x"}, {err: expired}, {records: []string{held}}}, true, nil, []string{"AppList a 10", "AppList a 100 x", "AppList a 1000"}},
		"ExpiredAll": {"the first page has no version that could expire", "a", []page{{err: expired}}, false, expired, []string{"AppList a 10"}},
		"Down":       {"nothing is known of the users", "a", []page{{more: "x"}, {err: errDown}}, false, errDown, []string{"AppList a 10", "AppList a 100 x"}},
		"Everywhere": {"a resource without a namespace", "", []page{{}}, false, nil, []string{"AppList  10"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			api := &pages{answers: tc.answers}
			g := &guard[*metav1.PartialObjectMetadata]{live: api, gvk: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"}}
			obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: tc.namespace}}
			used, err := g.used(t.Context(), obj, target{key: "/Secret/a/s", ref: checks.Ref{Kind: "Secret", Namespace: "a", Name: "s"}})
			says := "the list of its users: "
			if tc.err == errMayUse && err != nil {
				says, tc.err = "App b/app may use it: ", err
			}
			if used != tc.used || (err == nil) != (tc.err == nil) || !errors.Is(err, tc.err) || err != nil && (!strings.HasPrefix(err.Error(), says) || errors.Is(err, reconcile.TerminalError(nil))) {
				t.Errorf("%s: used: %t, error %v", tc.reason, used, err)
			}
			if diff := cmp.Diff(tc.asked, api.asked); diff != "" {
				t.Errorf("%s: the requests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// broken is a mapper that does not answer.
type broken struct{ meta.RESTMapper }

func (broken) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	return nil, errDown
}

// TestTargetOf verifies which object a key of a record names, and that a resource without a
// namespace uses only such objects in namespaces as its resolver allows.
func TestTargetOf(t *testing.T) {
	v1 := schema.GroupVersion{Group: "example.com", Version: "v1"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1})
	mapper.Add(v1.WithKind("Cluster"), meta.RESTScopeNamespace)
	mapper.Add(v1.WithKind("Zone"), meta.RESTScopeRoot)
	for key, want := range map[string]string{
		"example.com/Cluster/a/c": "example.com/Cluster/a/c example.com/v1, Kind=Cluster missing: false",
		"example.com/Zone/a/z":    "example.com/Zone//z example.com/v1, Kind=Zone missing: false",
		"example.com/Other/a/o":   "example.com/Other/a/o example.com/, Kind=Other missing: true",
		"example.com/Cluster/c":   `terminal error: the annotation ` + Annotation + ` names no object by "example.com/Cluster/c"; remove it`,
	} {
		g := &guard[*metav1.PartialObjectMetadata]{mapper: mapper}
		at, err := g.targetOf(key)
		got := fmt.Sprintf("%s %s missing: %t", at.key, at.gvk, at.missing)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
		var asked []checks.Ref
		g.refs = func(*metav1.PartialObjectMetadata) []checks.Ref { return []checks.Ref{at.ref} }
		req := &checks.OwnerRequest{Resolver: func(_ context.Context, ref checks.Ref) (checks.Object, error) {
			asked = append(asked, ref)
			return checks.Object{}, errDown
		}}
		if all, err := g.wanted(t.Context(), req, &metav1.PartialObjectMetadata{}); errors.Is(err, errDown) != (at.ref.Namespace != "") || len(asked)+len(all) != min(1, len(at.ref.Name)) {
			t.Errorf("%s: the resolver is asked for %v, and the objects are %v: %v", key, asked, all, err)
		}
		g.mapper = broken{}
		if _, err := g.targetOf("example.com/Cluster/a/c"); !errors.Is(err, errDown) || !strings.Contains(err.Error(), "the guarded kind Cluster.example.com") {
			t.Errorf("a mapper that does not answer: %v", err)
		}
	}
}
