package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/flow"
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

func readBy(err error, errs ...classify.Errors) asRead {
	f := classify.NewFailure(err, "", noon, errs...)
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
		// Near misses.
		"NoReason":      {"the status decides", statusError("", 404, &metav1.StatusDetails{Name: "a"}), asRead{"", 404, 0, "", "NotFound", "slow Unknown"}},
		"NewReason":     {"a reason that is not in the table", statusError("Nova", 503, nil), asRead{"Nova", 503, 0, "", "Transient", "slow ServerError"}},
		"NoDetails":     {"no object is named", statusError(metav1.StatusReasonNotFound, 404, nil), asRead{"NotFound", 404, 0, "", "", "slow KubernetesNotFound"}},
		"NotServed":     {"the kind is not served, which says nothing about the object", apierrors.NewGenericServerResponse(404, "get", maps, "a", "404 page not found", 0, true), asRead{"NotFound", 404, 0, "UnexpectedServerResponse", "", "slow KubernetesNotServed"}},
		"Cloud":         {"another service's error", &cloudError{"NotFound", 404}, asRead{"NotFound", 404, 0, "", "NotFound", "slow Unknown"}},
		"Plain":         {"no service's error", errBroken, asRead{"", 0, 0, "", "", "slow Unknown"}},
		"NilStatus":     {"a typed nil", (*apierrors.StatusError)(nil), asRead{"", 0, 0, "", "", "slow Unknown"}},
		"QuotaLike":     {"an object named like the text", apierrors.NewNotFound(maps, "exceeded quota:"), asRead{"NotFound", 404, 0, "", "NotFound", "slow KubernetesNotFound"}},
		"CaseMatters":   {"reasons are compared as they are written", statusError("conflict", 409, nil), asRead{"conflict", 409, 0, "", "", "slow Unknown"}},
		"ResourceGroup": {"a group that is gone is no object", resourceDiscovery(apps, apierrors.NewNotFound(maps, "a")), asRead{"NoResourceMatch", 0, 0, "", "", "slow KubernetesNoResourceMatch"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, err := range []error{tc.err, fmt.Errorf("the settings: %w", tc.err)} {
				if causes, ok := tc.err.(interface{ Unwrap() []error }); ok {
					err = causes.Unwrap()[0] // each cause is read by itself
				}
				same(t, tc.reason, tc.want, readBy(err, ctrlx.Errors()))
			}
		})
	}
	if n := len(ctrlx.ErrorCodes()); n < 20 {
		t.Errorf("%d rows", n)
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
			Causes: slices.Repeat([]metav1.StatusCause{{}, {Type: "T"}}, 10000)}), "no: T; T; T; and 13 more"},
		"NoDetail": {"the message alone", apierrors.NewBadRequest("no"), "no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := classify.NewFailure(tc.err, "", noon, ctrlx.Errors()).As("rule", classify.Slow).Message()
			same(t, tc.reason, tc.want, got)
		})
	}
}

// A Secret that LiveState does not find does not make the resource absent, unless the user says that the resource itself
// is a Kubernetes object.
func TestNotFoundOfAnotherObject(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "credentials")
	live := flow.Extensions[*App]{PreCheck: chain.New(checks.LiveState(
		func(context.Context, *checks.Request[*App]) (string, error) {
			return "", fmt.Errorf("reading credentials: %w", missing)
		}))}
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		want   string
	}{
		"Default":    {"the resource is in a cloud", nil, "False NotFound Reconciling; asked: "},
		"Kubernetes": {"the resource is a Kubernetes object", []ctrlx.Option{flow.WithErrors(ctrlx.Errors())}, "True Succeeded; asked: apply"},
		"OtherCloud": {"a reader of another service does not know the error", []ctrlx.Option{flow.WithErrors(
			classify.NewErrors("cloud", func(*classify.Failure) bool { return false }, nil))}, "False NotFound Reconciling; asked: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.present = true
			d.use(d.reconciler(live, tc.opts...))
			d.pass()
			same(t, tc.reason, tc.want, d.says()+"; asked: "+d.took())
		})
	}
}

// The readers of the user are asked before the one of New.
func TestOwnReaderFirst(t *testing.T) {
	mine := classify.NewErrors("mine", func(f *classify.Failure) bool {
		f.Code, f.Message = "Mine", f.Err.Error()
		return apierrors.IsForbidden(f.Err)
	}, classify.Table{{Code: "Mine", Retry: classify.OnChange}})
	d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{}, flow.WithErrors(mine))
	for err, want := range map[error]string{
		apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "a", errBroken): "False Mine Stalled",
		apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "a"):             "False NotFound Reconciling",
	} {
		fails(err)(d)
		d.pass()
		if got := d.says(); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// A Secret that is missing while an operation is polled does not end the operation.
func TestPollErrorOfAnotherObject(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{}, flow.WithErrors(ctrlx.Errors()))
	var tokens []string
	d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		tokens = append(tokens, req.Token)
		if len(tokens) == 2 {
			return flow.Progress{}, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "credentials")
		}
		return flow.InProgress("op-1", time.Second), nil
	}
	for range 3 {
		d.pass()
	}
	if diff := cmp.Diff([]string{"", "op-1", "op-1"}, tokens); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// The condition has the words of the API server about a refusal, and the retry has its
// delay.
func TestAPIServerErrors(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	slow := time.Second
	cases := map[string]struct {
		reason string
		err    error
		says   string
		after  time.Duration
		events int
	}{
		"Conflict":   {"the copy that was read was stale; no event reports it", apierrors.NewConflict(maps, "a", errBroken), "False Conflict Reconciling", time.Second, 0},
		"TooMany":    {"it says when", apierrors.NewTooManyRequests("busy", 17), "False TooManyRequests Reconciling", 17 * time.Second, 1},
		"TimeoutNow": {"never at once", apierrors.NewServerTimeout(maps, "get", 0), "False ServerTimeout Reconciling", slow, 1},
		"Forbidden":  {"the right may come", apierrors.NewForbidden(maps, "a", errBroken), "False Forbidden Reconciling", slow, 1},
		"Invalid":    {"what made the object has to change, which is not the spec only", apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", nil), "False Invalid Reconciling", time.Hour, 1},
		"NoReason":   {"it says nothing", &apierrors.StatusError{ErrStatus: metav1.Status{Message: "no"}}, "False Unknown Reconciling", slow, 1},
		"Joined":     {"the one that waits longest", errors.Join(apierrors.NewConflict(maps, "a", errBroken), apierrors.NewForbidden(maps, "a", errBroken)), "False Forbidden Reconciling", slow, 1},
		"Terminal":   {"a terminal error keeps the word", reconcile.TerminalError(apierrors.NewForbidden(maps, "a", errBroken)), "False Forbidden Stalled", time.Hour, 1},
		"Cloud":      {"what the cloud says is its own", fmt.Errorf("%w", &cloudError{"Conflict", 409}), "False Conflict Reconciling", slow, 1},
		"Unknown":    {"what is none of the API server's is as before", errBroken, "False Unknown Reconciling", slow, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{})
			fails(tc.err)(d)
			if after := d.pass(); after != tc.after || d.says() != tc.says {
				t.Errorf("%s: it says %q and is requeued after %s, not %q after %s", tc.reason, d.says(), after, tc.says, tc.after)
			}
			if got := d.reported(); len(got) != tc.events {
				t.Errorf("%s: events: %q", tc.reason, got)
			}
		})
	}
}

func TestRetriableError(t *testing.T) {
	e := ctrlx.NewRetriableError(io.EOF, nil)
	if !errors.Is(e, io.EOF) || errors.Unwrap(e) != io.EOF || e.Error() != "EOF" || e.Reason() != "" || e.RetryAfter() != 0 {
		t.Errorf("it is the error that it was made of: %v", e)
	}
	if with := e.WithReason("Busy"); with.Reason() != "Busy" || e.Reason() != "" {
		t.Error("a reason is given to a copy")
	}
	none := ctrlx.NewRetriableError(nil, ptr.To(-time.Second))
	if got := none.Error(); got != "retriable error without a cause: give NewRetriableError an error" {
		t.Errorf("without an error: %s", got)
	}
	if none.Unwrap() != nil || none.RetryAfter() != 0 {
		t.Error("there is nothing in it")
	}
}

// The delay of a retriable error counts at every place that may return an error.
func TestRetriable(t *testing.T) {
	invalid := &cloudError{"InvalidTemplate", 400}
	soon := func(err error) error { return ctrlx.NewRetriableError(err, ptr.To(90*time.Second)) }
	cases := map[string]struct {
		reason string
		err    error
		spec   AppSpec
		says   string
		after  time.Duration
	}{
		"Plain":       {"its delay counts", soon(errBroken), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"Reason":      {"it may have a word for it", ctrlx.NewRetriableError(errBroken, ptr.To(time.Minute)).WithReason("SourceMissing"), AppSpec{}, "False SourceMissing Reconciling", time.Minute},
		"OddReason":   {"the API server would refuse the status", ctrlx.NewRetriableError(errBroken, ptr.To(time.Minute)).WithReason("a b!"), AppSpec{}, "False a_b_ Reconciling", time.Minute},
		"Wrapped":     {"however deep", fmt.Errorf("a: %w", fmt.Errorf("b: %w", soon(errBroken))), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"Joined":      {"it wins over a plain error", errors.Join(errBroken, soon(io.EOF)), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"JoinedDeep":  {"also where the join is wrapped", fmt.Errorf("a: %w", errors.Join(errBroken, fmt.Errorf("b: %w", errors.Join(io.EOF, soon(io.EOF))))), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"JoinedFinal": {"and over an error that would wait for a change of the spec", errors.Join(invalid, soon(io.EOF)), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"AroundJoin":  {"and where it is made of a join", soon(errors.Join(errBroken, invalid)), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"AroundCode":  {"it is said of this error, and the table of codes is for all", soon(invalid), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"Nil":         {"the retry interval", ctrlx.NewRetriableError(errBroken, nil), AppSpec{Retry: minutes(7), Requeue: minutes(8)}, "False Retrying Reconciling", 7 * time.Minute},
		"Zero":        {"zero is no interval", ctrlx.NewRetriableError(errBroken, ptr.To(time.Duration(0))), AppSpec{Retry: minutes(7)}, "False Retrying Reconciling", 7 * time.Minute},
		"Negative":    {"the requeue would be lost", ctrlx.NewRetriableError(errBroken, ptr.To(-time.Minute)), AppSpec{Retry: minutes(7)}, "False Retrying Reconciling", 7 * time.Minute},
		"Requeue":     {"without a retry interval it is the requeue interval", ctrlx.NewRetriableError(errBroken, nil), AppSpec{Retry: minutes(-1), Requeue: minutes(8)}, "False Retrying Reconciling", 8 * time.Minute},
		"Resync":      {"and without that one the resync", ctrlx.NewRetriableError(errBroken, nil), AppSpec{Requeue: minutes(-1)}, "False Retrying Reconciling", time.Hour},
		"Long":        {"it may be longer than a service may ask for", ctrlx.NewRetriableError(errBroken, ptr.To(3*time.Hour)), AppSpec{}, "False Retrying Reconciling", 3 * time.Hour},
		"Terminal":    {"a terminal error wins", errors.Join(soon(io.EOF), reconcile.TerminalError(errBroken)), AppSpec{}, "False Terminal Stalled", time.Hour},
		"TerminalIn":  {"also inside of it", soon(reconcile.TerminalError(errBroken)), AppSpec{}, "False Terminal Stalled", time.Hour},
		"TerminalOf":  {"also where it is made of a join", reconcile.TerminalError(errors.Join(soon(io.EOF), errBroken)), AppSpec{}, "False Terminal Stalled", time.Hour},
		"TerminalNil": {"it has no cause", reconcile.TerminalError(nil), AppSpec{}, "False Terminal Stalled", time.Hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for place, ext := range failing(tc.err) {
				d := newHarness(t, anApp(tc.spec)).with(ext)
				if place == flow.PointApply {
					fails(tc.err)(d)
				}
				if after := d.pass(); after != tc.after || d.says() != tc.says {
					t.Errorf("%s: at %s it says %q and is requeued after %s, not %q after %s", tc.reason, place, d.says(), after, tc.says, tc.after)
				}
				if !strings.HasSuffix(d.message(), strings.ReplaceAll(tc.err.Error(), "\n", "; ")) && name != "AroundCode" {
					t.Errorf("at %s the message ends with that of the error: %q", place, d.message())
				}
			}
		})
	}
}

// failing are extensions that fail with an error, by where they do so; at Apply it is the operation that has to.
func failing(err error) map[string]flow.Extensions[*App] {
	check := chain.New(checks.Check("fails", func(ctxt, *checks.Request[*App]) (checks.Result, error) { return checks.Result{}, err }))
	owner := chain.New(checks.Check("fails", func(ctxt, *checks.OwnerRequest) (checks.Result, error) { return checks.Result{}, err }))
	return map[string]flow.Extensions[*App]{
		flow.PointApply:      {},
		flow.PointPass:       {Pass: chain.New(chain.Before[*App, flow.Outcome](func(ctxt, *App) error { return err }))},
		flow.PointOwnerCheck: {OwnerCheck: owner},
		flow.PointGet:        {Get: chain.New(chain.Before[*flow.Request[*App], flow.Observation](func(ctxt, *flow.Request[*App]) error { return err }))},
		flow.PointPreCheck:   {PreCheck: check},
		flow.PointPostCheck:  {PostCheck: check},
	}
}

// Rules of the user decide before the rules of ctrlx.
func TestOwnRulesFirst(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.use(d.reconciler(flow.Extensions[*App]{Classify: chain.New(
		classify.Table{{Name: "ours", Code: "Busy", Retry: classify.OnChange}, {Name: "text", Message: classify.Contains("broken"), Retry: classify.VerySlow}}.Link(),
	)}))
	cases := map[string]struct {
		reason string
		err    error
		says   string
	}{
		"Code":  {"a code inside of a retriable error", ctrlx.NewRetriableError(&cloudError{code: "Busy"}, nil), "False Busy Stalled"},
		"Text":  {"a text of one", ctrlx.NewRetriableError(errBroken, nil), "False Text Reconciling"},
		"Other": {"what no rule of theirs matches", ctrlx.NewRetriableError(io.EOF, nil), "False Retrying Reconciling"},
	}
	for name, tc := range cases {
		fails(tc.err)(d)
		d.pass()
		if got := d.says(); got != tc.says {
			t.Errorf("%s: %s: %q", name, tc.reason, got)
		}
	}
}

// A panic is a fault, and no wish to try again, whatever it panics with.
func TestPanicIsNotRetriable(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{})
	d.apply = func(ctxt, *flow.Request[*App]) (flow.Progress, error) { panic(ctrlx.NewRetriableError(io.EOF, nil)) }
	if d.pass(); d.says() != "False Panic Reconciling" {
		t.Errorf("it says %q", d.says())
	}
}

// asPanics is an error that no search can read.
type asPanics struct{ error }

func (asPanics) As(any) bool { panic("As") }

// An error whose method As panics fails the pass, and the status says so.
func TestUnreadableError(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{})
	fails(asPanics{errBroken})(d)
	if d.pass(); d.says() != "False LinkPanickedCtrlxErrors Reconciling" {
		t.Errorf("it says %q: %s", d.says(), d.message())
	}
}

// What fails because the manager stops is nothing to write down.
func TestShutdownIsNotRetriable(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{})
	ctx, cancel := context.WithCancel(t.Context())
	d.apply = func(ctxt, *flow.Request[*App]) (flow.Progress, error) {
		cancel()
		return flow.Progress{}, ctrlx.NewRetriableError(ctx.Err(), nil)
	}
	d.passIn(ctx)
	if d.writes != 0 {
		t.Errorf("it says %q", d.says())
	}
}

// The messages of retriable errors differ from those of component-operator-runtime.
func TestMessagesOfComponents(t *testing.T) {
	retriable := ctrlx.NewRetriableError(errBroken, ptr.To(time.Minute))
	cases := map[string]struct {
		theirs, differs string // differs: the reason for the difference
		err             error
		want            string
	}{
		"Plain": {"The cloud is broken", "the message names the operation, and keeps the text of the error", retriable, "applying failed: the cloud is broken"},
		"Wrapped": {"The cloud is broken", "a wrapper names the step that failed",
			fmt.Errorf("reading the source: %w", retriable), "applying failed: reading the source: the cloud is broken"},
		"Joined": {"The cloud is broken", "no cause is hidden, also if a text then occurs twice",
			errors.Join(io.EOF, retriable, errBroken), "applying failed: EOF; the cloud is broken; the cloud is broken"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{})
			fails(tc.err)(d)
			d.pass()
			if got := d.message(); got != tc.want {
				t.Errorf("theirs: %q. ours (%s): %q, want %q", tc.theirs, tc.differs, got, tc.want)
			}
		})
	}
}

// Reasons and other names that people and programs search for stay the same.
func TestNames(t *testing.T) {
	cases := map[string]struct{ got, want string }{
		"Retrying":        {ctrlx.ReasonRetrying, apierr.Retrying},
		"Timeout":         {ctrlx.ReasonTimeout, "Timeout"},
		"Suspended":       {ctrlx.ReasonSuspended, "Suspended"},
		"Terminal":        {ctrlx.ReasonTerminal, apierr.Terminal},
		"StatusInvalid":   {ctrlx.ReasonStatusInvalid, "StatusInvalid"},
		"Processing":      {ctrlx.ReasonProcessing, record.Processing},
		"PassTimeout":     {ctrlx.ReasonPassTimeout, apierr.PassTimeout},
		"HookFailed":      {ctrlx.ReasonHookFailed, apierr.HookFailed},
		"NotPaused":       {ctrlx.ReasonNotPaused, "NotPaused"}, // as in Cluster API
		"ConditionPaused": {ctrlx.ConditionPaused, "Paused"},    // as in Cluster API
		"Handled":         {ctrlx.ReasonRetryHandled, record.Handled},
		"Settled":         {ctrlx.ReasonSettled, record.Settled},
		"UnderWay":        {ctrlx.ReasonOperationUnderWay, record.UnderWay},
	}
	for name, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("%s: %q should be %q", name, tc.got, tc.want)
		}
		if checks.Block(tc.got, "").Reason() != tc.got {
			t.Errorf("%s: %q is no valid reason", name, tc.got)
		}
	}
}
