package armsim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	group      = "/subscriptions/0000/resourceGroups/Group"
	clusterID  = group + "/providers/Microsoft.Kusto/clusters/Demo"
	databaseID = clusterID + "/databases/Logs"
	clusters   = "Microsoft.Kusto/clusters"
	databases  = "Microsoft.Kusto/clusters/databases"

	operationPath = "/subscriptions/0000/providers/Microsoft.Kusto/locations/global/operationStatuses/1" // of the first operation
)

// fixture is a server and its time.
type fixture struct {
	*Server
	time time.Time
}

func newFixture() *fixture {
	r := &fixture{time: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)}
	r.Server = NewServer(func() time.Time { return r.time })
	return r
}

func (r *fixture) pass(d time.Duration) { r.time = r.time.Add(d) }

// reply holds the compared parts of a response.
type reply struct {
	Status     int
	Code       string // of an error
	Operation  string // Azure-AsyncOperation
	RetryAfter string
	Body       map[string]any // of a success
}

// send sends a request. It adds the api-version if the path has no query.
func (r *fixture) send(t *testing.T, verb, path, body string) reply {
	t.Helper()
	url := path
	if !strings.HasPrefix(url, "https://") {
		url = "https://management.azure.com" + path
	}
	if !strings.Contains(url, "?") {
		url += "?api-version=2022-12-29"
	}
	req, err := http.NewRequestWithContext(t.Context(), verb, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := reply{Status: resp.StatusCode, Operation: resp.Header.Get("Azure-AsyncOperation"), RetryAfter: resp.Header.Get("Retry-After")}
	if len(text) == 0 {
		return got
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&got.Body); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if e, ok := got.Body["error"].(map[string]any); ok {
		got.Code, got.Body = e["code"].(string), nil
	}
	return got
}

type object = map[string]any

func clusterBody(properties object) object {
	return object{"id": clusterID, "name": "Demo", "type": clusters, "location": "westeurope", "properties": properties}
}

func TestServerAnswers(t *testing.T) {
	const body = `{"location": "westeurope", "properties": {"enableAutoStop": true}}`
	thereIs := func(r *fixture) { r.Put(clusterID, object{"state": "Running"}) }
	demo := object{"id": clusterID, "name": "Demo", "type": clusters,
		"properties": object{"state": "Running", "provisioningState": "Succeeded"}}
	cases := map[string]struct {
		reason           string
		before           func(*fixture)
		verb, path, body string
		want             reply
	}{
		"GetNothing": {"a resource that does not exist", nil, "GET", clusterID, "", reply{Status: 404, Code: "ResourceNotFound"}},
		"NoAPIVersion": {"every request needs an api-version",
			thereIs, "GET", clusterID + "?x=y", "", reply{Status: 400, Code: "MissingApiVersionParameter"}},
		"GroupIsNoID": {"a resource group is not a resource here", nil, "GET", group, "", reply{Status: 400, Code: "InvalidResourceId"}},
		"HalfAnID":    {"a type needs a name", nil, "GET", clusterID + "/databases", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NoSubscription": {"an ID begins with a subscription",
			nil, "GET", "/resourceGroups/g/providers/a/b/c/d/e/f", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NotSubscriptions": {"an ID begins with a subscription",
			nil, "GET", strings.Replace(clusterID, "subscriptions", "subs", 1), "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NotGroups": {"a resource group follows the subscription",
			nil, "GET", strings.Replace(clusterID, "resourceGroups", "groups", 1), "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NotInTheGroup": {"a provider follows the resource group",
			nil, "GET", group + "/clusters/a/providers/My.Own/things/b", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"PostOperation": {"an operation accepts GET only", func(r *fixture) {
			r.Takes(clusters, time.Minute)
			r.begin(&resource{about: Request{id: clusterID, Type: clusters}}, creating)
		}, "POST", operationPath, "", reply{Status: 400, Code: "InvalidResourceId"}},
		"EmptyPart": {"a part of the ID is empty",
			nil, "GET", group + "/providers/Microsoft.Kusto/clusters//databases/Logs", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NoProvider": {"the ID ends before the type",
			nil, "GET", group + "/clusters/a/databases/b", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"UnknownOperation": {"an operation that does not exist",
			nil, "GET", operationPath, "", reply{Status: 400, Code: "InvalidResourceId"}},
		"GetChildless":    {"a child needs its parent", nil, "GET", databaseID, "", reply{Status: 404, Code: "ParentResourceNotFound"}},
		"PutChildless":    {"a child needs its parent", nil, "PUT", databaseID, body, reply{Status: 404, Code: "ParentResourceNotFound"}},
		"DeleteChildless": {"a child needs its parent", nil, "DELETE", databaseID, "", reply{Status: 404, Code: "ParentResourceNotFound"}},
		"PutRubbish":      {"the body is not JSON", nil, "PUT", clusterID, "{", reply{Status: 400, Code: "InvalidRequestContent"}},
		"PutNothing":      {"the body is empty", nil, "PUT", clusterID, "", reply{Status: 400, Code: "InvalidRequestContent"}},
		"PutNull":         {"the body is not an object", nil, "PUT", clusterID, "null", reply{Status: 400, Code: "InvalidRequestContent"}},
		"PutBadProperties": {"the properties are not an object",
			nil, "PUT", clusterID, `{"properties": 1}`, reply{Status: 400, Code: "InvalidRequestContent"}},
		"Post":          {"a resource does not accept POST", thereIs, "POST", clusterID, "", reply{Status: 405, Code: "MethodNotAllowed"}},
		"DeleteNothing": {"the resource is already gone", nil, "DELETE", clusterID, "", reply{Status: 204}},
		"Get":           {"a resource that Put created", thereIs, "GET", clusterID, "", reply{Status: 200, Body: demo}},
		"GetSlash":      {"a trailing slash does not matter", thereIs, "GET", clusterID + "/", "", reply{Status: 200, Body: demo}},
		"GetReplaced": {"Put replaces only the properties", func(r *fixture) {
			r.put(Request{ID: strings.ToLower(clusterID), id: clusterID, Name: "Demo", Type: clusters,
				Body: object{"location": "westeurope", "properties": object{"a": 1}}})
			r.Put(strings.ToUpper(clusterID), object{"b": 2})
		}, "GET", clusterID, "", reply{Status: 200, Body: clusterBody(object{"b": 2.0, "provisioningState": "Succeeded"})}},
		"GetAnyCase": {"IDs compare without case and show as they were created", thereIs, "GET", strings.ToUpper(clusterID), "",
			reply{Status: 200, Body: demo}},
		"PutNew": {"without a duration the PUT is done at once", nil, "PUT", clusterID, body,
			reply{Status: 201, Body: clusterBody(object{"enableAutoStop": true, "provisioningState": "Succeeded"})}},
		"PutOld": {"properties that the body does not have stay", thereIs, "PUT", clusterID, body,
			reply{Status: 200, Body: clusterBody(object{"enableAutoStop": true, "state": "Running", "provisioningState": "Succeeded"})}},
		"PutOldInAnyCase": {"an ID in another case is the same resource", thereIs, "PUT", strings.ToLower(clusterID), body,
			reply{Status: 200, Body: clusterBody(object{"enableAutoStop": true, "state": "Running", "provisioningState": "Succeeded"})}},
		"PutState": {"only the server sets the state",
			nil, "PUT", clusterID, `{"location": "westeurope", "properties": {"provisioningState": "Failed"}}`,
			reply{Status: 201, Body: clusterBody(object{"provisioningState": "Succeeded"})}},
		"PutSlow": {"a PUT that takes time has an operation",
			func(r *fixture) { r.Takes(strings.ToUpper(clusters), time.Minute) }, "PUT", clusterID, body,
			reply{Status: 201, Operation: "https://management.azure.com" + operationPath + "?api-version=2022-12-29",
				RetryAfter: "30", Body: clusterBody(object{"enableAutoStop": true, "provisioningState": "Creating"})}},
		"PutOldSlow": {"so has an update",
			func(r *fixture) { thereIs(r); r.Takes(clusters, 20500*time.Millisecond) }, "PUT", clusterID, body,
			reply{Status: 200, Operation: "https://management.azure.com" + operationPath + "?api-version=2022-12-29",
				RetryAfter: "21", Body: clusterBody(object{"enableAutoStop": true, "state": "Running", "provisioningState": "Updating"})}},
		"Delete": {"without a duration the DELETE is done at once", thereIs, "DELETE", clusterID, "", reply{Status: 200}},
		"Rule": {"the first refusal wins", func(r *fixture) {
			thereIs(r)
			r.Rule(func(Request) *Refusal { return nil })
			r.Rule(func(Request) *Refusal {
				return &Refusal{Status: 429, Code: "TooManyRequests", RetryAfter: 7 * time.Second}
			})
			r.Rule(func(Request) *Refusal { return &Refusal{Status: 500, Code: "Never"} })
		}, "GET", clusterID, "", reply{Status: 429, Code: "TooManyRequests", RetryAfter: "7"}},
		"RuleBeforeAll": {"rules run before the check of the parent",
			func(r *fixture) { r.Rule(func(Request) *Refusal { return &Refusal{Status: 400, Code: "BadRequest"} }) },
			"GET", databaseID, "", reply{Status: 400, Code: "BadRequest"}},
		"Reports": {"a report adds properties", func(r *fixture) {
			r.Put(clusterID, nil)
			r.Reports(strings.ToLower(clusters), func(id string, p map[string]any) { p["uri"], p["provisioningState"] = id, "Running" })
		}, "GET", clusterID, "", reply{Status: 200, Body: object{"id": clusterID, "name": "Demo", "type": clusters,
			"properties": object{"uri": strings.ToLower(clusterID), "provisioningState": "Running"}}}},
		"Attached": {"an extension resource belongs to another resource",
			thereIs, "PUT", clusterID + "/providers/Microsoft.Authorization/locks/Mine", body,
			reply{Status: 201, Body: object{"id": clusterID + "/providers/Microsoft.Authorization/locks/Mine", "name": "Mine",
				"type": "Microsoft.Authorization/locks", "location": "westeurope",
				"properties": object{"enableAutoStop": true, "provisioningState": "Succeeded"}}}},
		"AttachedToNothing": {"an extension resource needs that resource", nil, "PUT", clusterID + "/providers/Microsoft.Authorization/locks/Mine", body,
			reply{Status: 404, Code: "ParentResourceNotFound"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newFixture()
			if tc.before != nil {
				tc.before(r)
			}
			if diff := cmp.Diff(tc.want, r.send(t, tc.verb, tc.path, tc.body)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			want := Tally{Sent: 1, Verbs: map[string]int{tc.verb: 1}}
			got := r.Tally()
			if tc.want.Code != "" {
				want.Failed = 1
			}
			got.Failures = nil // compared by the reply's code
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: each request is counted: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestServerRuleSees checks the requests that a rule receives.
func TestServerRuleSees(t *testing.T) {
	clusterRequest := Request{ID: strings.ToLower(clusterID), Type: clusters, Name: "Demo"}
	databaseRequest := Request{ID: strings.ToLower(databaseID), Type: databases, Name: "Logs", ParentID: strings.ToLower(clusterID)}
	as := func(r Request, verb string, body object) Request {
		r.Verb, r.Body = verb, body
		return r
	}
	cases := map[string]struct {
		reason string
		send   func(*testing.T, *fixture)
		want   []Request
	}{
		"Root": {"a resource of the group has no parent resource", func(t *testing.T, r *fixture) { r.send(t, "GET", clusterID, "") },
			[]Request{as(clusterRequest, "GET", nil)}},
		"Child": {"a child has a parent", func(t *testing.T, r *fixture) { r.send(t, "PUT", databaseID, `{"kind": "ReadWrite"}`) },
			[]Request{as(databaseRequest, "PUT", object{"kind": "ReadWrite"})}},
		"Poll": {"a poll has the resource of its operation", func(t *testing.T, r *fixture) {
			r.Takes(databases, time.Minute)
			r.send(t, "GET", r.send(t, "PUT", databaseID, `{}`).Operation, "")
		}, []Request{as(databaseRequest, "PUT", object{}), as(databaseRequest, "POLL", nil)}},
		"Attached": {"the parent of an extension resource is the resource that it extends",
			func(t *testing.T, r *fixture) { r.send(t, "DELETE", clusterID+"/providers/My.Own/Things/One", "") },
			[]Request{{Verb: "DELETE", ID: strings.ToLower(clusterID + "/providers/My.Own/Things/One"), Type: "My.Own/Things", Name: "One",
				ParentID: strings.ToLower(clusterID)}}},
		"NoAPIVersion": {"rules do not see a request that is invalid for every service", func(t *testing.T, r *fixture) { r.send(t, "GET", clusterID+"?", "") }, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newFixture()
			r.Put(clusterID, nil)
			var got []Request
			r.Rule(func(seen Request) *Refusal {
				seen.id, seen.operation = "", nil
				got = append(got, seen)
				return nil
			})
			tc.send(t, r)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(Request{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRequestIs(t *testing.T) {
	r, ok := parseID(strings.ToUpper(databaseID))
	if !ok || !r.Is(databases) || r.Is(clusters) {
		t.Errorf("types compare without regard to case: %+v, %t", r, ok)
	}
}

func TestServerTallies(t *testing.T) {
	r := newFixture()
	r.Takes(databases, time.Minute)
	r.send(t, "GET", databaseID, "")
	r.send(t, "PUT", clusterID, "{}")
	before := r.Tally()
	operation := r.send(t, "PUT", databaseID, "{}").Operation
	r.send(t, "GET", operation, "")
	r.send(t, "GET", strings.ToUpper(databaseID), "")

	childless := map[string]int{"GET 404 ParentResourceNotFound": 1}
	cases := map[string]struct {
		reason string
		got    Tally
		want   Tally
	}{
		"Before": {"a returned tally does not change later", before,
			Tally{Sent: 2, Failed: 1, Verbs: map[string]int{"GET": 1, "PUT": 1}, Failures: childless}},
		"All": {"all requests", r.Tally(),
			Tally{Sent: 5, Failed: 1, Verbs: map[string]int{"GET": 2, "PUT": 2, "POLL": 1}, Failures: childless}},
		"Databases": {"a poll counts for its resource", r.TallyOf(func(id string) bool { return strings.Contains(id, "/databases/") }),
			Tally{Sent: 4, Failed: 1, Verbs: map[string]int{"GET": 2, "PUT": 1, "POLL": 1}, Failures: childless}},
		"Cluster": {"the requests of one resource", r.TallyOf(func(id string) bool { return id == strings.ToLower(clusterID) }),
			Tally{Sent: 1, Verbs: map[string]int{"PUT": 1}, Failures: map[string]int{}}},
		"None": {"no resource matches", r.TallyOf(func(string) bool { return false }), Tally{Verbs: map[string]int{}, Failures: map[string]int{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestServerScript: a script's changes are not counted and pass no rule.
func TestServerScript(t *testing.T) {
	r := newFixture()
	r.Rule(func(Request) *Refusal { return &Refusal{Status: 500, Code: "Never"} })
	given := object{"list": []any{"a"}}
	r.Put(clusterID, given)
	given["list"].([]any)[0] = "b"
	r.Put(databaseID, object{"provisioningState": "Failed"})
	see := func(id string) (seen object) {
		r.Change(strings.ToUpper(id), func(p map[string]any) { seen = copyOf(p) })
		return seen
	}
	if diff := cmp.Diff(object{"list": []any{"a"}, "provisioningState": "Succeeded"}, see(clusterID)); diff != "" {
		t.Errorf("Put stores a copy: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(object{"provisioningState": "Failed"}, see(databaseID)); diff != "" {
		t.Errorf("Put keeps a given state: -want, +got:\n%s", diff)
	}
	r.Reports(clusters, func(_ string, p map[string]any) { p["more"] = true })
	shown, ok := r.Shown(strings.ToUpper(clusterID))
	if diff := cmp.Diff(object{"list": []any{"a"}, "provisioningState": "Succeeded", "more": true}, shown); !ok || diff != "" {
		t.Errorf("Shown returns the properties of a GET: %t, -want, +got:\n%s", ok, diff)
	}
	if _, ok := r.Shown(clusterID + "2"); ok {
		t.Error("Shown returns a resource that does not exist")
	}
	r.Put(strings.ToLower(databaseID), object{"size": 1})
	if diff := cmp.Diff(object{"size": 1.0, "provisioningState": "Succeeded"}, see(databaseID)); diff != "" {
		t.Errorf("Put replaces all properties: -want, +got:\n%s", diff)
	}
	got := []bool{r.Has(strings.ToUpper(databaseID)), r.Has(clusterID), r.Delete(strings.ToUpper(clusterID)), r.Delete(clusterID),
		r.Has(databaseID), r.Change(clusterID, func(map[string]any) {})}
	if diff := cmp.Diff([]bool{true, true, true, false, false, false}, got); diff != "" {
		t.Errorf("Delete removes the children: -want, +got:\n%s", diff)
	}
	if n := r.Tally().Sent; n != 0 {
		t.Errorf("%d requests were counted, want none", n)
	}
}

func TestServerPutPanics(t *testing.T) {
	cases := map[string]struct {
		reason     string
		id         string
		properties object
		want       string
	}{
		"NoID":     {"the ID has the wrong form", "Demo", nil, `"Demo" is not the ID of a resource`},
		"NoParent": {"GET would never find the resource", databaseID, nil, "has no parent"},
		"NoJSON":   {"GET could not show the resource", clusterID, object{"f": func() {}}, "no JSON object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, tc.want) {
					t.Errorf("%s: want a panic with %q, got %q", tc.reason, tc.want, got)
				}
			}()
			newFixture().Put(tc.id, tc.properties)
		})
	}
}

// TestServerContext: a request whose context is done is neither sent nor
// counted.
func TestServerContext(t *testing.T) {
	r := newFixture()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "https://management.azure.com"+clusterID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Do(req); !errors.Is(err, context.Canceled) || r.Tally().Sent != 0 {
		t.Errorf("want it canceled and not counted, got %v and %d", err, r.Tally().Sent)
	}
}
