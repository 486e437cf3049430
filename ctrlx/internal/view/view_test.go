package view

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

func TestObject(t *testing.T) {
	ref := checks.Ref{Group: "example.com", Kind: "Cluster", Namespace: "team", Name: "prod", ID: "/clusters/prod"}
	settings := checks.Ref{Kind: "ConfigMap", Namespace: "team", Name: "settings"}
	secret := checks.Ref{Kind: "Secret", Namespace: "team", Name: "login"}
	pod := checks.Ref{Kind: "Pod", Namespace: "team", Name: "web"}
	theirs := checks.Ref{Group: "example.com", Kind: "Secret", Namespace: "team", Name: "login"}
	readiness := checks.Readiness{State: checks.NotReady, Reason: "R"}
	of := Readinesses{schema.GroupKind{Group: "example.com", Kind: "Cluster"}: ready.Func(func(client.Object) checks.Readiness { return readiness })}
	there, going := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	there.UID, there.Generation, going.DeletionTimestamp = "1", 3, new(metav1.Now())
	exists := checks.Readiness{State: checks.Ready, Generation: 3, Observed: 3}
	part := &metav1.PartialObjectMetadata{}
	cases := map[string]struct {
		reason string
		obj    client.Object
		ref    checks.Ref
		uid    types.UID
		want   checks.Object
	}{
		"There":     {"the kind is the kind of the ref: the object does not know it", there, ref, "1", checks.Object{Ref: ref, Value: there, Readiness: readiness}},
		"Going":     {"its deletion was requested", going, ref, "", checks.Object{Ref: ref, Value: going, Readiness: readiness, Deleting: true}},
		"Anew":      {"another object has its name", there, ref, "2", checks.Object{Ref: ref}},
		"ConfigMap": {"it is ready if it exists", there, settings, "", checks.Object{Ref: settings, Value: there, Readiness: exists}},
		"Secret":    {"it is ready if it exists", there, secret, "", checks.Object{Ref: secret, Value: there, Readiness: exists}},
		"Theirs":    {"a kind of another group has conditions", there, theirs, "", checks.Object{Ref: theirs, Value: there, Readiness: ready.Of(there)}},
		"Pod":       {"another kind of that group has conditions", there, pod, "", checks.Object{Ref: pod, Value: there, Readiness: ready.Of(there)}},
		"Partial": {"a typed check must not take it for an object of another kind", part, ref, "", checks.Object{Ref: ref, Value: part, Readiness: readiness,
			Partial: "only its metadata is watched; name the kind in ctrlx.WithWatchedKinds"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, of.Object(tc.obj, tc.ref, tc.uid)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOwner verifies which object a Finder is asked for.
func TestOwner(t *testing.T) {
	broken := errors.New("broken")
	prod := checks.Ref{Group: "example.com", Kind: "Cluster", Name: "prod"}
	byID := checks.Ref{ID: "/clusters/prod"}
	named, other := prod, prod
	named.ID, other.ID = byID.ID, "/clusters/other"
	names := func(ref checks.Ref) func(*corev1.ConfigMap) checks.Ref {
		return func(*corev1.ConfigMap) checks.Ref { return ref }
	}
	cases := map[string]struct {
		reason string
		api    string                             // APIVersion of the controlling owner reference; empty: there is none
		owner  func(*corev1.ConfigMap) checks.Ref // nil: the reference counts
		found  checks.Ref                         // by the Finder
		err    error                              // of the Finder
		asked  *Wanted                            // nil: the Finder is not asked
		want   checks.Object
		says   string
	}{
		"Reference": {"the UID and the version count, too", "example.com/v2", nil, prod, nil, &Wanted{"1", "v2"}, checks.Object{Ref: prod}, ""},
		"None":      {"it has no owner", "", nil, prod, nil, nil, checks.Object{}, ""},
		"Bad":       {"the reference cannot be read", "a/b/c", nil, prod, nil, nil, checks.Object{}, "ctrlx: the controlling owner reference to Cluster prod: "},
		"Broken":    {"the owner cannot be read", "example.com/v2", nil, checks.Ref{}, broken, &Wanted{"1", "v2"}, checks.Object{}, "broken"},
		"Function":  {"the function overrides the reference, and the cloud ID is kept", "example.com/v2", names(named), prod, nil, &Wanted{}, checks.Object{Ref: named}, ""},
		"OtherID":   {"the Finder knows the cloud ID", "", names(named), other, nil, &Wanted{}, checks.Object{Ref: other}, ""},
		"Failed":    {"an error returns no object", "", names(named), checks.Ref{}, broken, &Wanted{}, checks.Object{}, "broken"},
		"Named":     {"most references have no cloud ID", "", names(prod), prod, nil, &Wanted{}, checks.Object{Ref: prod}, ""},
		"NoOwner":   {"the function says that there is no owner", "example.com/v2", names(checks.Ref{}), prod, nil, nil, checks.Object{}, ""},
		"IDAndName": {"without a kind, only the cloud ID counts", "", names(checks.Ref{Name: "prod", ID: byID.ID}), prod, nil, nil, checks.Object{Ref: checks.Ref{Name: "prod", ID: byID.ID}}, ""},
		"ByID":      {"the API server does not know cloud IDs", "", names(byID), prod, nil, nil, checks.Object{Ref: byID}, ""},
		"NoName":    {"it names no object", "", names(checks.Ref{Kind: "Cluster"}), prod, nil, nil, checks.Object{Ref: checks.Ref{Kind: "Cluster"}}, ""},
		"NoKind":    {"no object can be it, so it would be missing for ever", "", names(checks.Ref{Name: "prod"}), prod, nil, nil, checks.Object{}, "ctrlx: the reference has no kind"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			obj := &corev1.ConfigMap{}
			if tc.api != "" {
				obj.OwnerReferences = []metav1.OwnerReference{{APIVersion: tc.api, Kind: "Cluster", Name: "prod", UID: "1", Controller: new(true)}}
			}
			var asked *Wanted
			got, err := Owner(t.Context(), obj, tc.owner, func(_ context.Context, ref checks.Ref, w Wanted) (checks.Object, error) {
				if ref.ID = ""; ref != prod {
					t.Errorf("%s: the Finder is asked for %s", tc.reason, ref)
				}
				asked = &w
				return checks.Object{Ref: tc.found}, tc.err
			})
			if (err == nil) != (tc.says == "") || err != nil && !strings.HasPrefix(err.Error(), tc.says) {
				t.Errorf("%s: the error is %v, want %q", tc.reason, err, tc.says)
			}
			if diff := cmp.Diff(tc.asked, asked) + cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObjects verifies the view of a set: what is said of names, of the resource itself, and of other namespaces.
func TestObjects(t *testing.T) {
	of := Readinesses{{Kind: "ConfigMap"}: func(client.Object) checks.Readiness {
		return checks.Readiness{State: checks.NotReady, Reason: "Text", Message: "text"}
	}}
	var listed []client.Object
	for _, at := range []checks.Ref{{Namespace: "team", Name: "self"}, {Namespace: "team", Name: "going"}, {Namespace: "other", Name: "self"}} {
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: at.Name, UID: types.UID(at.Name)}}
		if at.Name == "going" {
			c.DeletionTimestamp = new(metav1.Now())
		}
		listed = append(listed, c)
	}
	for name, want := range map[string][]string{
		"names":   {"team/self self", "team/going deleting", "other/self"},
		"content": {"team/self not ready Text text self", "team/going not ready Text text deleting", "other/self not ready"},
	} {
		var got []string
		q := checks.Query{Kind: "ConfigMap", NamesOnly: name == "names"}
		for i, o := range of.Objects(listed, q, checks.Ref{Kind: "ConfigMap", Namespace: "team", Name: "self"}) {
			s := []string{o.Ref.Namespace + "/" + o.Ref.Name}
			if o.Value != listed[i] && (o.Value != namesOnly{} || !strings.Contains(o.Partial, "NamesOnly")) || o.Ref.Kind != "ConfigMap" {
				t.Errorf("%s: %+v is not a view of its object", name, o)
			}
			if o.Value == listed[i] {
				s = append(s, o.Readiness.State.String(), o.Readiness.Reason, o.Readiness.Message)
			}
			if o.Deleting {
				s = append(s, "deleting")
			}
			if o.Self {
				s = append(s, "self")
			}
			got = append(got, strings.Join(strings.Fields(strings.Join(s, " ")), " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
	if got := Key(listed[0]); got != "team/self self" {
		t.Errorf("the key is %q, want one with the UID", got)
	}
}

// TestRefused verifies which references of an object in the namespace team are allowed.
func TestRefused(t *testing.T) {
	allow := ForeignReferences(func(own string, ref checks.Ref) bool { return own == "team" && ref.Name == "shared" })
	cases := map[string]struct {
		reason string
		allow  ForeignReferences
		ref    checks.Ref
		want   string // the error
	}{
		"Own":     {"its own namespace", nil, checks.Ref{Namespace: "team"}, ""},
		"Cluster": {"a kind without namespaces", nil, checks.Ref{}, ""},
		"All":     {"code names the set", nil, checks.Ref{Namespace: checks.AllNamespaces}, ""},
		"Foreign": {"no option allows it", nil, checks.Ref{Namespace: "other", Name: "shared"}, `the namespace "other" is not the namespace of the object`},
		"Allowed": {"the option allows it", allow, checks.Ref{Namespace: "other", Name: "shared"}, ""},
		"Refused": {"the option does not allow it", allow, checks.Ref{Namespace: "other", Name: "secret"}, `the namespace "other" is not the namespace of the object`},
	}
	for name, tc := range cases {
		err := tc.allow.Refused("team", tc.ref)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %s: the error is %v, want %q", name, tc.reason, err, tc.want)
		}
	}
}
