package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestNoPassword(t *testing.T) {
	cases := map[string]struct {
		reason string
		key    string
		want   string
	}{
		"Password": {"the service gets the password", "password", ""},
		"NoKey":    {"an empty password would lock the users out", "passwort", "it has no key password: add it"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{Data: map[string][]byte{tc.key: []byte("swordfish")}}
			if got := noPassword(nil, secret); got != tc.want {
				t.Errorf("%s: the objection is %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
