package definition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

var (
	app  = schema.GroupKind{Group: "example.com", Kind: "App"}
	apps = schema.GroupResource{Group: "example.com", Resource: "apps"}

	missing    = apierrors.NewNotFound(apps, "a")
	unserved   = apierrors.NewGenericServerResponse(404, "get", apps, "a", "404 page not found", 0, true)
	noMatch    = &meta.NoKindMatchError{GroupKind: app}
	discovery  = &apiutil.ErrResourceDiscoveryFailed{{Group: "example.com", Version: "v1"}: missing}
	errBroken  = errors.New("broken")
	errNoRight = apierrors.NewForbidden(schema.GroupResource{Resource: "apiservices"}, "", errBroken)
)

// TestUnserved verifies which errors say that a kind is not served, and which that an object does not exist.
func TestUnserved(t *testing.T) {
	unnamed := apierrors.NewNotFound(apps, "")
	noDetails := &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Code: 404}}
	cases := map[string]struct {
		reason             string
		err                error
		unserved, notFound bool
	}{
		"Missing":   {"the API server names the object", missing, false, true},
		"Wrapped":   {"a client may wrap its errors", fmt.Errorf("a: %w", missing), false, true},
		"Page":      {"no handler for the kind answered", unserved, true, false},
		"Unnamed":   {"it may be the kind", unnamed, true, false},
		"NoDetails": {"the same", noDetails, true, false},
		"NoMatch":   {"discovery lists no such kind", noMatch, true, false},
		"Discovery": {"discovery failed", fmt.Errorf("a: %w", discovery), true, false},
		"Conflict":  {"it names an object, too", apierrors.NewConflict(apps, "a", errBroken), false, false},
		"Down":      {"discovery failed for another reason", &apiutil.ErrResourceDiscoveryFailed{{Group: "example.com"}: apierrors.NewServiceUnavailable("down")}, true, false},
		"Forbidden": {"it says nothing about either", errNoRight, false, false},
		"Other":     {"the same", errBroken, false, false},
		"None":      {"the object exists", nil, false, false},
	}
	for name, tc := range cases {
		if u, n := Unserved(tc.err), NotFound(tc.err); u != tc.unserved || n != tc.notFound {
			t.Errorf("%s: %s: unserved %t, not found %t", name, tc.reason, u, n)
		}
	}
}

// server is an API server with definitions, by kind and name.
type server struct {
	client.Reader
	objects []*unstructured.Unstructured
	fails   map[string]error // by "list " and the kind, or "get " and the name
	got     []string         // the names of the definitions that were read as a whole
}

func (s *server) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	of := l.GetObjectKind().GroupVersionKind()
	if err := s.fails["list "+strings.TrimSuffix(of.Kind, "List")]; err != nil {
		return err
	}
	for _, u := range s.objects {
		if u.GetKind()+"List" == of.Kind && u.GroupVersionKind().Version == of.Version {
			names := l.(*metav1.PartialObjectMetadataList)
			names.Items = append(names.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: u.GetName()}})
		}
	}
	return nil
}

func (s *server) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	of := obj.GetObjectKind().GroupVersionKind()
	if err := s.fails["get "+key.Name]; err != nil {
		return err
	}
	for _, u := range s.objects {
		if u.GetKind() == of.Kind && u.GetName() == key.Name {
			s.got = append(s.got, key.Name)
			u.DeepCopyInto(obj.(*unstructured.Unstructured))
			return nil
		}
	}
	return missing
}

// crd is the definition of a kind, whose versions are served unless they end with "!".
func crd(kind, plural string, versions ...string) *unstructured.Unstructured {
	var all []any
	for _, v := range versions {
		name, hidden := strings.CutSuffix(v, "!")
		all = append(all, map[string]any{"name": name, "served": !hidden})
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": app.Group, "scope": "Namespaced", "names": map[string]any{"kind": kind}, "versions": all}}}
	u.SetGroupVersionKind(definitions)
	u.SetName(plural + "." + app.Group)
	return u
}

// api is the APIService of a version: "local" without a server of its own, "up" or "down" with one.
func api(version, state string) *unstructured.Unstructured {
	spec := map[string]any{"version": version}
	if state != "local" {
		spec["service"] = map[string]any{"name": "apps"}
	}
	conditions := []any{map[string]any{"type": "Other", "status": "True"}}
	if state != "unknown" {
		conditions = append(conditions, map[string]any{"type": "Available", "status": map[bool]string{true: "False", false: "True"}[state == "down"]})
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": map[string]any{"conditions": conditions}}}
	u.SetGroupVersionKind(services)
	u.SetName(version + "." + app.Group)
	return u
}

// TestRead verifies in which versions the objects of a kind are read, and the errors if there is none.
func TestRead(t *testing.T) {
	const rights = "(this needs the rights to get and list customresourcedefinitions.apiextensions.k8s.io and apiservices.apiregistration.k8s.io): "
	hidden := func(why string) string {
		return "objects of App.example.com may exist, because of the " + why
	}
	unread := func(err error) string {
		return "the API server does not serve App.example.com, and its definition cannot be read " + rights + err.Error()
	}
	type list = []*unstructured.Unstructured
	cases := map[string]struct {
		reason  string
		objects list
		fails   map[string]error
		reads   map[string]error // by version; nil: objects are read
		want    string           // the read versions
		says    string           // empty: no error
	}{
		"Second":        {"the first version that is served counts", list{crd("Other", "others", "v0"), crd("App", "apps", "v1!", "v2", "v3")}, nil, nil, "v2", ""},
		"NotServed":     {"the definition is newer than the API server", list{crd("App", "apps", "v1", "v2")}, nil, map[string]error{"v1": noMatch}, "v1 v2", ""},
		"NoneServes":    {"objects exist that no client can read", list{crd("App", "apps", "v1", "v2")}, nil, map[string]error{"v1": noMatch, "v2": unserved}, "v1 v2", hidden("CustomResourceDefinition apps.example.com: " + unserved.Error())},
		"NoVersion":     {"a person has to serve one", list{crd("App", "apps", "v1!")}, nil, nil, "", hidden("CustomResourceDefinition apps.example.com: it serves no version: serve one again")},
		"Error":         {"the objects cannot be read", list{crd("App", "apps", "v1", "v2")}, nil, map[string]error{"v1": errBroken}, "v1", "broken"},
		"Missing":       {"the object does not exist", list{crd("App", "apps", "v1", "v2")}, nil, map[string]error{"v1": missing}, "v1", missing.Error()},
		"None":          {"no definition has objects", list{crd("Other", "others", "v1")}, nil, nil, "", ErrNone.Error()},
		"Gone":          {"the definition was deleted meanwhile", list{crd("App", "apps", "v1")}, map[string]error{"get apps.example.com": missing}, nil, "", ErrNone.Error()},
		"NoDefinitions": {"the right is missing", list{crd("App", "apps", "v1")}, map[string]error{"list CustomResourceDefinition": errNoRight}, nil, "", unread(errNoRight)},
		"Unreadable":    {"the right to get is missing", list{crd("Other", "others", "v1"), crd("App", "apps", "v1")}, map[string]error{"get others.example.com": errNoRight}, nil, "", unread(errNoRight)},
		"Remote":        {"another server has the objects", list{api("v1", "up")}, nil, nil, "v1", ""},
		"RemoteGone":    {"the object does not exist", list{api("v1", "up")}, nil, map[string]error{"v1": missing}, "v1", missing.Error()},
		"Down":          {"its server does not answer", list{api("v1", "down")}, nil, nil, "", hidden("APIService v1.example.com: it is not available: repair its server, or delete it")},
		"Unknown":       {"it has no condition yet", list{api("v1", "unknown")}, nil, nil, "", hidden("APIService v1.example.com: it is not available: repair its server, or delete it")},
		"NotItsKind":    {"its server has lost the kind", list{api("v1", "up")}, nil, map[string]error{"v1": noMatch}, "v1", hidden("APIService v1.example.com: its server does not serve the kind: repair the server, or delete the APIService: " + noMatch.Error())},
		"Local":         {"the API server itself does not have the kind", list{api("v1", "local"), api("v2", "local")}, nil, map[string]error{"v1": noMatch, "v2": noMatch}, "v1 v2", ErrNone.Error()},
		"LocalSecond":   {"it has the kind in another version", list{api("v1", "local"), api("v2", "local")}, nil, map[string]error{"v1": noMatch}, "v1 v2", ""},
		"LocalFailed":   {"discovery failed", list{api("v1", "local")}, nil, map[string]error{"v1": discovery}, "v1", hidden("APIService v1.example.com: " + discovery.Error())},
		"NoServices":    {"the right is missing", nil, map[string]error{"list APIService": errNoRight}, nil, "", unread(errNoRight)},
		"NoLayer":       {"an API server without the aggregation layer", nil, map[string]error{"list APIService": noMatch}, nil, "", ErrNone.Error()},
		"Undiscovered":  {"discovery of the APIServices failed", nil, map[string]error{"list APIService": discovery}, nil, "", unread(discovery)},
		"NoCRDs":        {"definitions are never left out", nil, map[string]error{"list CustomResourceDefinition": noMatch}, nil, "", unread(noMatch)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			other := api("v9", "up")
			other.SetName("v9.other.example.com")
			s := &server{objects: append(list{crd("Foreign", "foreign.other", "v1"), other}, tc.objects...), fails: tc.fails}
			var read []string
			err := Read(t.Context(), s, app, func(version string) error {
				read = append(read, version)
				return tc.reads[version]
			})
			if got := fmt.Sprint(err); strings.Join(read, " ") != tc.want || got != tc.says && (err != nil || tc.says != "") {
				t.Errorf("%s: it reads %q and says\n%s\nwant %q and\n%s", tc.reason, read, got, tc.want, tc.says)
			}
			if strings.Contains(tc.says, "may exist") != errors.Is(err, ErrHidden) || (tc.says == ErrNone.Error()) != errors.Is(err, ErrNone) {
				t.Errorf("%s: the kind of the error is wrong: %v", tc.reason, err)
			}
			if slices.Contains(s.got, "foreign.other.example.com") || slices.Contains(s.got, other.GetName()) {
				t.Errorf("%s: a definition of another group is read", tc.reason)
			}
		})
	}
}

// TestKinds verifies the kinds of definitions, and the scope of one.
func TestKinds(t *testing.T) {
	cluster := crd("Wide", "wides", "v1")
	if err := unstructured.SetNestedField(cluster.Object, "Cluster", "spec", "scope"); err != nil {
		t.Fatal(err)
	}
	s := &server{objects: []*unstructured.Unstructured{crd("App", "apps", "v1"), cluster}}
	kinds, err := Kinds(t.Context(), s, func(r schema.GroupResource) bool { return r == apps })
	if err != nil || !slices.Equal(kinds, []schema.GroupKind{app}) {
		t.Errorf("kinds: %v, %v", kinds, err)
	}
	for kind, want := range map[string]string{"App": "true <nil>", "Wide": "false <nil>", "None": "false the kind has no definition"} {
		is, err := Namespaced(t.Context(), s, schema.GroupKind{Group: app.Group, Kind: kind})
		if got := fmt.Sprint(is, " ", err); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	s.fails = map[string]error{"list CustomResourceDefinition": errBroken}
	if _, err := Kinds(t.Context(), s, nil); !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "definitions cannot be read (") {
		t.Errorf("kinds: %v", err)
	}
	if is, err := Namespaced(t.Context(), s, app); is || !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "the scope of App.example.com cannot be read (") {
		t.Errorf("the scope: %v", err)
	}
}
