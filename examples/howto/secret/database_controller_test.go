package controller

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-go/windlass/checks"
	v1 "github.com/windlass-go/windlass/examples/howto/api/v1"
	"github.com/windlass-go/windlass/examples/howto/internal/manager"
	"github.com/windlass-go/windlass/flow"
)

func TestSetUp(t *testing.T) {
	if err := SetUp(manager.New(t)); err != nil {
		t.Fatal(err)
	}
}

func TestPut(t *testing.T) {
	cases := map[string]struct {
		reason string
		secret *corev1.Secret
		want   string // a part of the error
	}{
		"Password": {"the service gets the password", &corev1.Secret{Data: map[string][]byte{"password": []byte("x")}}, ""},
		"NoKey":    {"an empty password would lock the users out", &corev1.Secret{}, "has no key password"},
		"Missing":  {"the Secret vanished after the check", nil, "not found"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := fake.NewClientBuilder()
			if tc.secret != nil {
				tc.secret.ObjectMeta = metav1.ObjectMeta{Namespace: "team", Name: "login"}
				objects.WithObjects(tc.secret)
			}
			d := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "orders"}, Spec: v1.DatabaseSpec{PasswordSecret: "login"}}
			req := &flow.Request[*v1.Database]{Request: checks.Request[*v1.Database]{Resource: d}}
			progress, err := databases{objects.Build()}.put(t.Context(), req)
			if tc.want == "" && (err != nil || !progress.IsDone()) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: put: %v, error %v, want %q", tc.reason, progress, err, tc.want)
			}
		})
	}
}
