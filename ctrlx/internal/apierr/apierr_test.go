package apierr

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

var (
	errBroken = errors.New("the cloud is broken")
	noon      = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

// asRead holds the reading of an error and the decision of the table.
type asRead struct {
	Code     string
	Status   int
	After    time.Duration
	Inner    string // the codes
	Flags    string // NotFound, Transient, Ended
	Decision string // Retry and rule
}

func readBy(err error, reader classify.Errors) asRead {
	f := classify.NewFailure(err, "", noon, reader)
	r := asRead{Code: f.Code, Status: f.Status, After: f.After}
	var inner []string
	for _, e := range f.Inner {
		inner = append(inner, e.Code)
	}
	r.Inner = strings.Join(inner, " ")
	for _, flag := range []struct {
		name string
		set  bool
	}{{"NotFound", f.NotFound}, {"Transient", f.Transient}, {"Ended", f.Ended}} {
		if flag.set {
			r.Flags += flag.name
		}
	}
	c, _ := classify.Compose(classify.Chain{})(context.Background(), f)
	r.Decision = c.Retry().String() + " " + c.Rule()
	return r
}

func statusError(reason metav1.StatusReason, code int32, details *metav1.StatusDetails) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: "Failure", Reason: reason, Code: code, Message: "no", Details: details}}
}

func because(cause metav1.CauseType) *metav1.StatusDetails {
	return &metav1.StatusDetails{Name: "a", Causes: []metav1.StatusCause{{Type: cause, Message: "why", Field: "spec.x"}}}
}

// Each error of the Kubernetes API is read, and decided by a row of the table.
func TestErrors(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	apps := schema.GroupVersion{Group: "apps.example.com", Version: "v1"}
	cases := map[string]struct {
		reason string
		err    error
		want   asRead
	}{
		// Reasons, by the constructors of apierrors where there is one.
		"Unauthorized":     {"the credentials may be renewed", apierrors.NewUnauthorized("no"), asRead{"Unauthorized", 401, 0, "", "", "slow KubernetesUnauthorized"}},
		"Forbidden":        {"the right may come", apierrors.NewForbidden(maps, "a", errBroken), asRead{"Forbidden", 403, 0, "", "", "slow KubernetesForbidden"}},
		"NotFound":         {"the object may come", apierrors.NewNotFound(maps, "a"), asRead{"NotFound", 404, 0, "", "NotFound", "slow KubernetesNotFound"}},
		"AlreadyExists":    {"it may go", apierrors.NewAlreadyExists(maps, "a"), asRead{"AlreadyExists", 409, 0, "", "", "slow KubernetesAlreadyExists"}},
		"GenerateName":     {"another name is tried", apierrors.NewGenerateNameConflict(maps, "a", 2), asRead{"AlreadyExists", 409, 2 * time.Second, "", "", "slow KubernetesAlreadyExists"}},
		"Conflict":         {"it is read again", apierrors.NewConflict(maps, "a", errBroken), asRead{"Conflict", 409, 0, "", "Transient", "fast KubernetesConflict"}},
		"Gone":             {"a gone resource does not return", &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonGone, Message: "no"}}, asRead{"Gone", 410, 0, "", "", "slow KubernetesGone"}},
		"Expired":          {"a list begins again", apierrors.NewResourceExpired("no"), asRead{"Expired", 410, 0, "", "Transient", "fast KubernetesExpired"}},
		"Invalid":          {"the object has to change", apierrors.NewInvalid(schema.GroupKind{Kind: "App"}, "a", field.ErrorList{field.Required(field.NewPath("spec", "size"), "")}), asRead{"Invalid", 422, 0, "FieldValueRequired", "", "very slow KubernetesInvalid"}},
		"BadRequest":       {"the request is wrong", apierrors.NewBadRequest("no"), asRead{"BadRequest", 400, 0, "", "", "very slow KubernetesBadRequest"}},
		"TooMany":          {"it says when", apierrors.NewTooManyRequests("busy", 17), asRead{"TooManyRequests", 429, 17 * time.Second, "", "Transient", "slow KubernetesTooManyRequests"}},
		"TooManyNoDelay":   {"it does not say when", apierrors.NewTooManyRequestsError("busy"), asRead{"TooManyRequests", 429, 0, "", "Transient", "slow KubernetesTooManyRequests"}},
		"Unavailable":      {"the service becomes available again", apierrors.NewServiceUnavailable("no"), asRead{"ServiceUnavailable", 503, 0, "", "Transient", "slow KubernetesServiceUnavailable"}},
		"Method":           {"it never succeeds", apierrors.NewMethodNotSupported(maps, "patch"), asRead{"MethodNotAllowed", 405, 0, "", "", "very slow KubernetesMethodNotAllowed"}},
		"ServerTimeout":    {"it says when", apierrors.NewServerTimeout(maps, "get", 23), asRead{"ServerTimeout", 500, 23 * time.Second, "", "Transient", "slow KubernetesServerTimeout"}},
		"ServerTimeoutNow": {"the requeue is not lost", apierrors.NewServerTimeout(maps, "get", -5), asRead{"ServerTimeout", 500, 0, "", "Transient", "slow KubernetesServerTimeout"}},
		"Internal":         {"it may be over soon", apierrors.NewInternalError(errBroken), asRead{"InternalError", 500, 0, "", "Transient", "slow KubernetesInternalError"}},
		"Timeout":          {"it says when", apierrors.NewTimeoutError("no", 9), asRead{"Timeout", 504, 9 * time.Second, "", "Transient", "slow KubernetesTimeout"}},
		"TooLarge":         {"it never succeeds", apierrors.NewRequestEntityTooLargeError("no"), asRead{"RequestEntityTooLarge", 413, 0, "", "", "very slow KubernetesRequestEntityTooLarge"}},
		"NotAcceptable":    {"it never succeeds", apierrors.NewGenericServerResponse(406, "get", maps, "a", "", 0, false), asRead{"NotAcceptable", 406, 0, "", "", "very slow KubernetesNotAcceptable"}},
		"MediaType":        {"it never succeeds", apierrors.NewGenericServerResponse(415, "get", maps, "a", "", 0, false), asRead{"UnsupportedMediaType", 415, 0, "", "", "very slow KubernetesUnsupportedMediaType"}},
		"StoreRead":        {"what is stored may be damaged for good", statusError(metav1.StatusReasonStoreReadError, 500, nil), asRead{"StorageReadError", 500, 0, "", "", "slow KubernetesStorageReadError"}},
		"Gateway":          {"a proxy has no words", apierrors.NewGenericServerResponse(502, "get", maps, "a", "bad gateway", 3, true), asRead{"InternalError", 502, 3 * time.Second, "UnexpectedServerResponse", "Transient", "slow KubernetesInternalError"}},
		// Causes and texts.
		"Terminating":  {"no object is created until the namespace is gone", statusError(metav1.StatusReasonForbidden, 403, because(corev1.NamespaceTerminatingCause)), asRead{"Forbidden", 403, 0, "NamespaceTerminating", "", "slow KubernetesNamespaceTerminating"}},
		"FieldManager": {"the other manager does not give way by itself", apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "kubectl"`, Field: ".spec.x"}}, "no"), asRead{"Conflict", 409, 0, "FieldManagerConflict", "", "very slow KubernetesFieldManagerConflict"}},
		"TooNew":       {"the cache of the API server catches up", statusError(metav1.StatusReasonTimeout, 504, because(metav1.CauseTypeResourceVersionTooLarge)), asRead{"Timeout", 504, 0, "ResourceVersionTooLarge", "Transient", "fast KubernetesResourceVersionTooLarge"}},
		"Budget":       {"a pod may not be evicted now", statusError(metav1.StatusReasonTooManyRequests, 429, because(policyv1.DisruptionBudgetCause)), asRead{"TooManyRequests", 429, 0, "DisruptionBudget", "Transient", "slow KubernetesDisruptionBudget"}},
		"Quota":        {"quota may be freed", apierrors.NewForbidden(maps, "a", errors.New("exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1")), asRead{"Forbidden", 403, 0, "", "", "slow KubernetesQuotaExceeded"}},
		"Conversion":   {"the same for one that converts", apierrors.NewInternalError(errors.New(`conversion webhook for a.example/v1, Kind=A failed: refused`)), asRead{"InternalError", 500, 0, "", "Transient", "slow KubernetesWebhookFailed"}},
		"Webhook":      {"the webhook may become available again", apierrors.NewInternalError(errors.New(`failed calling webhook "w": refused`)), asRead{"InternalError", 500, 0, "", "Transient", "slow KubernetesWebhookFailed"}},
		// Errors of clients.
		"NoKind":            {"the kind may be installed", &meta.NoKindMatchError{GroupKind: apps.WithKind("App").GroupKind()}, asRead{"NoKindMatch", 0, 0, "", "", "slow KubernetesNoKindMatch"}},
		"NoResource":        {"the kind may be installed", &meta.NoResourceMatchError{PartialResource: apps.WithResource("apps")}, asRead{"NoResourceMatch", 0, 0, "", "", "slow KubernetesNoResourceMatch"}},
		"AmbiguousKind":     {"a person has to decide", &meta.AmbiguousKindError{PartialKind: apps.WithKind("App")}, asRead{"AmbiguousKind", 0, 0, "", "", "very slow KubernetesAmbiguousKind"}},
		"AmbiguousResource": {"a person has to decide", &meta.AmbiguousResourceError{PartialResource: apps.WithResource("apps")}, asRead{"AmbiguousResource", 0, 0, "", "", "very slow KubernetesAmbiguousResource"}},
		"Discovery":         {"an aggregated API is down", &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{apps: apierrors.NewServiceUnavailable("no")}}, asRead{"DiscoveryFailed", 0, 0, "ServiceUnavailable", "Transient", "slow KubernetesDiscoveryFailed"}},
		"NotRegistered":     {"the program has to change", runtime.NewNotRegisteredErrForKind("s", apps.WithKind("App")), asRead{"NotRegistered", 0, 0, "", "", "very slow KubernetesNotRegistered"}},
		"CacheNotStarted":   {"it starts", &cache.ErrCacheNotStarted{}, asRead{"CacheNotStarted", 0, 0, "", "Transient", "fast KubernetesCacheNotStarted"}},
		"NotCached":         {"the program has to change", &cache.ErrResourceNotCached{GVK: apps.WithKind("App")}, asRead{"KindNotCached", 0, 0, "", "", "very slow KubernetesKindNotCached"}},
		"UnexpectedObject":  {"a proxy answered", apierrors.FromObject(&corev1.Pod{}), asRead{"UnexpectedObject", 0, 0, "", "", "slow KubernetesUnexpectedObject"}},
		"KindNotWatched":    {"the program has to change", &engine.KindNotWatchedError{}, asRead{"KindNotWatched", 0, 0, "", "", "very slow KubernetesKindNotWatched"}},
		"OtherNamespace":    {"a person has to decide", &NamespaceNotAllowedError{"theirs"}, asRead{"NamespaceNotAllowed", 0, 0, "", "", "very slow KubernetesNamespaceNotAllowed"}},
		"NoNamespace":       {"the program has to change", &engine.NamespaceNotWatchedError{}, asRead{"NamespaceNotWatched", 0, 0, "", "", "very slow KubernetesNamespaceNotWatched"}},
		// Near misses.
		"OtherTerminating":  {"a cause of another reason", statusError(metav1.StatusReasonConflict, 409, because(corev1.NamespaceTerminatingCause)), asRead{"Conflict", 409, 0, "NamespaceTerminating", "Transient", "fast KubernetesConflict"}},
		"OtherFieldManager": {"the same", statusError(metav1.StatusReasonInvalid, 422, because(metav1.CauseTypeFieldManagerConflict)), asRead{"Invalid", 422, 0, "FieldManagerConflict", "", "very slow KubernetesInvalid"}},
		"OtherTooNew":       {"the same", statusError(metav1.StatusReasonBadRequest, 400, because(metav1.CauseTypeResourceVersionTooLarge)), asRead{"BadRequest", 400, 0, "ResourceVersionTooLarge", "", "very slow KubernetesBadRequest"}},
		"OtherBudget":       {"the same", statusError(metav1.StatusReasonForbidden, 403, because(policyv1.DisruptionBudgetCause)), asRead{"Forbidden", 403, 0, "DisruptionBudget", "", "slow KubernetesForbidden"}},
		"OtherWebhook":      {"a text of another reason", apierrors.NewBadRequest(`failed calling webhook "w"`), asRead{"BadRequest", 400, 0, "", "", "very slow KubernetesBadRequest"}},
		"OtherCause":        {"the object is named, and a cause says more", statusError(metav1.StatusReasonNotFound, 404, because("Other")), asRead{"NotFound", 404, 0, "Other", "NotFound", "slow KubernetesNotFound"}},
		"NoName":            {"no object is named", statusError(metav1.StatusReasonNotFound, 404, &metav1.StatusDetails{}), asRead{"NotFound", 404, 0, "", "", "slow KubernetesNotFound"}},
		"NewReason404":      {"a reason that is not in the table", statusError("Nova", 404, &metav1.StatusDetails{Name: "a"}), asRead{"Nova", 404, 0, "", "", "slow Unknown"}},
		"NoReason500":       {"the status decides", statusError("", 500, &metav1.StatusDetails{Name: "a"}), asRead{"", 500, 0, "", "Transient", "slow ServerError"}},
		"NoReason":          {"the status decides", statusError("", 404, &metav1.StatusDetails{Name: "a"}), asRead{"", 404, 0, "", "NotFound", "slow Unknown"}},
		"NewReason":         {"a reason that is not in the table", statusError("Nova", 503, nil), asRead{"Nova", 503, 0, "", "Transient", "slow ServerError"}},
		"NoDetails":         {"no object is named", statusError(metav1.StatusReasonNotFound, 404, nil), asRead{"NotFound", 404, 0, "", "", "slow KubernetesNotFound"}},
		"NotServed":         {"the kind is not served, which says nothing about the object", apierrors.NewGenericServerResponse(404, "get", maps, "a", "404 page not found", 0, true), asRead{"NotFound", 404, 0, "UnexpectedServerResponse", "", "slow KubernetesNotServed"}},
		"Cloud":             {"another service's error", &cloudError{"NotFound", 404}, asRead{"NotFound", 404, 0, "", "NotFound", "slow Unknown"}},
		"Plain":             {"no service's error", errBroken, asRead{"", 0, 0, "", "", "slow Unknown"}},
		"NilStatus":         {"a typed nil", (*apierrors.StatusError)(nil), asRead{"", 0, 0, "", "", "slow Unknown"}},
		"QuotaLike":         {"an object named like the text", apierrors.NewNotFound(maps, "exceeded quota:"), asRead{"NotFound", 404, 0, "", "NotFound", "slow KubernetesNotFound"}},
		"CaseMatters":       {"reasons are compared as they are written", statusError("conflict", 409, nil), asRead{"conflict", 409, 0, "", "", "slow Unknown"}},
		"ResourceGroup":     {"a group that is gone is no object", resourceDiscovery(apps, apierrors.NewNotFound(maps, "a")), asRead{"NoResourceMatch", 0, 0, "", "", "slow KubernetesNoResourceMatch"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{tc.err, fmt.Errorf("the settings: %w", tc.err)} {
				if causes, ok := tc.err.(interface{ Unwrap() []error }); ok {
					err = causes.Unwrap()[0] // each cause is read by itself
				}
				if diff := cmp.Diff(tc.want, readBy(err, Reader)); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// resourceDiscovery is the error of controller-runtime's mapper.
func resourceDiscovery(gv schema.GroupVersion, err error) error {
	return &apiutil.ErrResourceDiscoveryFailed{gv: err}
}

// cloudError is the error of a service that is not Kubernetes.
type cloudError struct {
	code   string
	status int
}

func (e *cloudError) Error() string       { return "refused: " + e.code }
func (e *cloudError) ErrorCode() string   { return e.code }
func (e *cloudError) HTTPStatusCode() int { return e.status }

// The text of a condition has the cause once, and what wraps the error.
func TestErrorText(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "App"}, "a", field.ErrorList{field.Required(field.NewPath("spec", "size"), "give one")})
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Quoted":  {"the message has the cause", fmt.Errorf("the app: %w", invalid), `the app: App "a" is invalid: spec.size: Required value: give one`},
		"Apart":   {"the message does not have the cause", statusError(metav1.StatusReasonForbidden, 403, because(corev1.NamespaceTerminatingCause)), "no: NamespaceTerminating: spec.x: why"},
		"Gateway": {"the body of a proxy", apierrors.NewGenericServerResponse(503, "get", schema.GroupResource{Resource: "apps"}, "a", "maintenance", 0, true), "the server is currently unable to handle the request (get apps a): UnexpectedServerResponse: maintenance"},
		"TooMuch": {"a webhook cannot flood the condition", statusError(metav1.StatusReasonForbidden, 403, &metav1.StatusDetails{
			Causes: slices.Repeat([]metav1.StatusCause{{Type: "T"}, {}}, 10000)}), "no: T; T; T; and 13 more"},
		"NoType": {"the cause has a text only", statusError(metav1.StatusReasonForbidden, 403, &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Message: "why"}}}), "no: why"},
		"Field": {"the cause names the field", statusError(metav1.StatusReasonForbidden, 403, &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Message: "spec.x is odd", Field: "spec.x"}}}), "no: spec.x is odd"},
		"Namespace": {"it says what to do", &NamespaceNotAllowedError{"theirs"}, `the namespace "theirs" is not the namespace of the object: refer to an object of the same namespace, or allow the reference with ctrlx.WithForeignReferences`},
		"NoDetail":  {"the message alone", apierrors.NewBadRequest("no"), "no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := classify.NewFailure(tc.err, "", noon, Reader).As("rule", classify.Slow).Message()
			if got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// The groups whose discovery failed are in the order of their names.
func TestDiscoveryFailed(t *testing.T) {
	failed := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{}}
	var want []classify.InnerError
	for _, group := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		failed.Groups[schema.GroupVersion{Group: group, Version: "v1"}] = apierrors.NewServiceUnavailable("down")
		want = append(want, classify.InnerError{Code: "ServiceUnavailable", Message: group + "/v1: down"})
	}
	if diff := cmp.Diff(want, classify.NewFailure(failed, "", noon, Reader).Inner); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// An object of the API server is not the resource in a cloud, so its absence says nothing.
func TestOtherObjects(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   asRead
	}{
		"Secret": {"another object is missing", apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "a"), asRead{"NotFound", 404, 0, "", "", "slow KubernetesNotFound"}},
		"Cloud":  {"the reader of the cloud is asked", &cloudError{"NotFound", 404}, asRead{"NotFound", 404, 0, "", "NotFound", "slow Unknown"}},
	}
	for name, tc := range cases {
		if diff := cmp.Diff(tc.want, readBy(tc.err, OtherObjects)); diff != "" {
			t.Errorf("%s: %s: -want, +got:\n%s", name, tc.reason, diff)
		}
	}
}

// TestIgnoreGone: only an object that does not exist ends a pass without an error.
func TestIgnoreGone(t *testing.T) {
	records := schema.GroupResource{Group: "dns.example.com", Resource: "records"}
	cases := map[string]struct {
		reason string
		err    error
		gone   bool
	}{
		"Gone":     {"there is nothing to write", apierrors.NewNotFound(records, "www"), true},
		"Wrapped":  {"the writer wraps its errors", fmt.Errorf("the status: %w", apierrors.NewNotFound(records, "www")), true},
		"Unserved": {"the object may exist, and no event follows", apierrors.NewGenericServerResponse(http.StatusNotFound, "patch", records, "", "", 0, true), false},
		"Other":    {"the write is tried again", errors.New("500"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IgnoreGone(tc.err); (got == nil) != tc.gone {
				t.Errorf("%s: IgnoreGone(%v) = %v, want nil: %t", tc.reason, tc.err, got, tc.gone)
			}
		})
	}
}
