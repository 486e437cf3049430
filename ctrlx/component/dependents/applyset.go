package dependents

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/windlass-go/windlass/checks"
)

// partOf is the label of a member of an ApplySet (KEP-3659). Its value is the
// ID of the set.
const partOf = "applyset.kubernetes.io/part-of"

// ApplySetID returns the ID of the ApplySet whose parent is an owner, by the
// formula of KEP-3659. It depends on nothing but the ref.
func ApplySetID(owner checks.Ref) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{owner.Name, owner.Namespace, owner.Kind, owner.Group}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// WithApplySet gives each object that is written the label
// applyset.kubernetes.io/part-of with the [ApplySetID] of its owner. The label
// is no part of the digest, so an object in sync gets it with its next write. A
// manifest with another value is invalid (ErrInvalid). The caller labels and
// annotates the owner, as component.WithApplySet does.
func WithApplySet() Option { return func(o *options) { o.applySet = true } }

// foreignSet returns the ID in the label of an object that is part of another
// ApplySet than that of the owner; empty: it is not.
func (o *Owner) foreignSet(labels map[string]string) string {
	if id := labels[partOf]; id != "" && id != ApplySetID(o.Ref) {
		return id
	}
	return ""
}
