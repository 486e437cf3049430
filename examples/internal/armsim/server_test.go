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

	operationPath = "/subscriptions/0000/providers/Microsoft.Kusto/locations/global/operationStatuses/1" // of the first one
)

// rig is a server and its time.
type rig struct {
	*Server
	time time.Time
}

func newRig() *rig {
	r := &rig{time: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)}
	r.Server = NewServer(func() time.Time { return r.time })
	return r
}

func (r *rig) pass(d time.Duration) { r.time = r.time.Add(d) }

// reply is what there is to see of a response.
type reply struct {
	Status     int
	Code       string // of an error
	Operation  string // Azure-AsyncOperation
	RetryAfter string
	Body       map[string]any // of what is no error
}

// send sends a plain request. The api-version is added to what has no query.
func (r *rig) send(t *testing.T, verb, path, body string) reply {
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

// object is a JSON object.
type object = map[string]any

func clusterBody(properties object) object {
	return object{"id": clusterID, "name": "Demo", "type": clusters, "location": "westeurope", "properties": properties}
}

func TestServerAnswers(t *testing.T) {
	const body = `{"location": "westeurope", "properties": {"enableAutoStop": true}}`
	thereIs := func(r *rig) { r.Put(clusterID, object{"state": "Running"}) }
	demo := object{"id": clusterID, "name": "Demo", "type": clusters,
		"properties": object{"state": "Running", "provisioningState": "Succeeded"}}
	cases := map[string]struct {
		reason           string
		before           func(*rig)
		verb, path, body string
		want             reply
	}{
		"GetNothing": {"what is not there", nil, "GET", clusterID, "", reply{Status: 404, Code: "ResourceNotFound"}},
		"NoAPIVersion": {"all requests need one",
			thereIs, "GET", clusterID + "?x=y", "", reply{Status: 400, Code: "MissingApiVersionParameter"}},
		"GroupIsNoID": {"a group is no resource here", nil, "GET", group, "", reply{Status: 400, Code: "InvalidResourceId"}},
		"HalfAnID":    {"a type without a name", nil, "GET", clusterID + "/databases", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NoSubscription": {"an ID begins with it",
			nil, "GET", "/resourceGroups/g/providers/a/b/c/d/e/f", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NotSubscriptions": {"an ID begins with it",
			nil, "GET", strings.Replace(clusterID, "subscriptions", "subs", 1), "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NotGroups": {"a group comes next",
			nil, "GET", strings.Replace(clusterID, "resourceGroups", "groups", 1), "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NotInTheGroup": {"a provider comes next",
			nil, "GET", group + "/clusters/a/providers/My.Own/things/b", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"PostOperation": {"an operation can be asked only", func(r *rig) {
			r.Takes(clusters, time.Minute)
			r.begin(&resource{about: Request{id: clusterID, Type: clusters}}, creating)
		}, "POST", operationPath, "", reply{Status: 400, Code: "InvalidResourceId"}},
		"EmptyPart": {"a name is missing",
			nil, "GET", group + "/providers/Microsoft.Kusto/clusters//databases/Logs", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"NoProvider": {"nobody provides it",
			nil, "GET", group + "/clusters/a/databases/b", "", reply{Status: 400, Code: "InvalidResourceId"}},
		"UnknownOperation": {"an operation that nobody began",
			nil, "GET", operationPath, "", reply{Status: 400, Code: "InvalidResourceId"}},
		"GetChildless":    {"no parent, no child", nil, "GET", databaseID, "", reply{Status: 404, Code: "ParentResourceNotFound"}},
		"PutChildless":    {"no parent, no child", nil, "PUT", databaseID, body, reply{Status: 404, Code: "ParentResourceNotFound"}},
		"DeleteChildless": {"no parent, no child", nil, "DELETE", databaseID, "", reply{Status: 404, Code: "ParentResourceNotFound"}},
		"PutRubbish":      {"no JSON", nil, "PUT", clusterID, "{", reply{Status: 400, Code: "InvalidRequestContent"}},
		"PutNothing":      {"no body", nil, "PUT", clusterID, "", reply{Status: 400, Code: "InvalidRequestContent"}},
		"PutNull":         {"no object", nil, "PUT", clusterID, "null", reply{Status: 400, Code: "InvalidRequestContent"}},
		"PutBadProperties": {"no object either",
			nil, "PUT", clusterID, `{"properties": 1}`, reply{Status: 400, Code: "InvalidRequestContent"}},
		"Post":          {"nothing is done by POST", thereIs, "POST", clusterID, "", reply{Status: 405, Code: "MethodNotAllowed"}},
		"DeleteNothing": {"it is gone already", nil, "DELETE", clusterID, "", reply{Status: 204}},
		"Get":           {"what a person put there", thereIs, "GET", clusterID, "", reply{Status: 200, Body: demo}},
		"GetSlash":      {"a slash in the end is of no meaning", thereIs, "GET", clusterID + "/", "", reply{Status: 200, Body: demo}},
		"GetReplaced": {"a person replaces the properties only", func(r *rig) {
			r.put(Request{ID: strings.ToLower(clusterID), id: clusterID, Name: "Demo", Type: clusters,
				Body: object{"location": "westeurope", "properties": object{"a": 1}}})
			r.Put(strings.ToUpper(clusterID), object{"b": 2})
		}, "GET", clusterID, "", reply{Status: 200, Body: clusterBody(object{"b": 2.0, "provisioningState": "Succeeded"})}},
		"GetAnyCase": {"IDs compare without regard to case, and show as they were made", thereIs, "GET", strings.ToUpper(clusterID), "",
			reply{Status: 200, Body: demo}},
		"PutNew": {"done at once where it takes no time", nil, "PUT", clusterID, body,
			reply{Status: 201, Body: clusterBody(object{"enableAutoStop": true, "provisioningState": "Succeeded"})}},
		"PutOld": {"what is not mentioned of the properties stays", thereIs, "PUT", clusterID, body,
			reply{Status: 200, Body: clusterBody(object{"enableAutoStop": true, "state": "Running", "provisioningState": "Succeeded"})}},
		"PutOldInAnyCase": {"it is the same resource", thereIs, "PUT", strings.ToLower(clusterID), body,
			reply{Status: 200, Body: clusterBody(object{"enableAutoStop": true, "state": "Running", "provisioningState": "Succeeded"})}},
		"PutState": {"the state is the server's to say",
			nil, "PUT", clusterID, `{"location": "westeurope", "properties": {"provisioningState": "Failed"}}`,
			reply{Status: 201, Body: clusterBody(object{"provisioningState": "Succeeded"})}},
		"PutSlow": {"what takes time has an operation",
			func(r *rig) { r.Takes(strings.ToUpper(clusters), time.Minute) }, "PUT", clusterID, body,
			reply{Status: 201, Operation: "https://management.azure.com" + operationPath + "?api-version=2022-12-29",
				RetryAfter: "30", Body: clusterBody(object{"enableAutoStop": true, "provisioningState": "Creating"})}},
		"PutOldSlow": {"an update is one, too",
			func(r *rig) { thereIs(r); r.Takes(clusters, 20500*time.Millisecond) }, "PUT", clusterID, body,
			reply{Status: 200, Operation: "https://management.azure.com" + operationPath + "?api-version=2022-12-29",
				RetryAfter: "21", Body: clusterBody(object{"enableAutoStop": true, "state": "Running", "provisioningState": "Updating"})}},
		"Delete": {"done at once where it takes no time", thereIs, "DELETE", clusterID, "", reply{Status: 200}},
		"Rule": {"the first refusal wins", func(r *rig) {
			thereIs(r)
			r.Rule(func(Request) *Refusal { return nil })
			r.Rule(func(Request) *Refusal {
				return &Refusal{Status: 429, Code: "TooManyRequests", RetryAfter: 7 * time.Second}
			})
			r.Rule(func(Request) *Refusal { return &Refusal{Status: 500, Code: "Never"} })
		}, "GET", clusterID, "", reply{Status: 429, Code: "TooManyRequests", RetryAfter: "7"}},
		"RuleBeforeAll": {"a rule may say more than that the parent is missing",
			func(r *rig) { r.Rule(func(Request) *Refusal { return &Refusal{Status: 400, Code: "BadRequest"} }) },
			"GET", databaseID, "", reply{Status: 400, Code: "BadRequest"}},
		"Reports": {"a service says more than it was told", func(r *rig) {
			r.Put(clusterID, nil)
			r.Reports(strings.ToLower(clusters), func(id string, p map[string]any) { p["uri"], p["provisioningState"] = id, "Running" })
		}, "GET", clusterID, "", reply{Status: 200, Body: object{"id": clusterID, "name": "Demo", "type": clusters,
			"properties": object{"uri": strings.ToLower(clusterID), "provisioningState": "Running"}}}},
		"Attached": {"a resource may be attached to another one",
			thereIs, "PUT", clusterID + "/providers/Microsoft.Authorization/locks/Mine", body,
			reply{Status: 201, Body: object{"id": clusterID + "/providers/Microsoft.Authorization/locks/Mine", "name": "Mine",
				"type": "Microsoft.Authorization/locks", "location": "westeurope",
				"properties": object{"enableAutoStop": true, "provisioningState": "Succeeded"}}}},
		"AttachedToNothing": {"which must be there", nil, "PUT", clusterID + "/providers/Microsoft.Authorization/locks/Mine", body,
			reply{Status: 404, Code: "ParentResourceNotFound"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig()
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
			got.Failures = nil // as the reply says
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: each request is counted: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// What a rule is told of a request.
func TestServerRuleSees(t *testing.T) {
	clusterRequest := Request{ID: strings.ToLower(clusterID), Type: clusters, Name: "Demo"}
	databaseRequest := Request{ID: strings.ToLower(databaseID), Type: databases, Name: "Logs", ParentID: strings.ToLower(clusterID)}
	as := func(r Request, verb string, body object) Request {
		r.Verb, r.Body = verb, body
		return r
	}
	cases := map[string]struct {
		reason string
		send   func(*testing.T, *rig)
		want   []Request
	}{
		"Root": {"it stands in no other", func(t *testing.T, r *rig) { r.send(t, "GET", clusterID, "") },
			[]Request{as(clusterRequest, "GET", nil)}},
		"Child": {"it has a parent", func(t *testing.T, r *rig) { r.send(t, "PUT", databaseID, `{"kind": "ReadWrite"}`) },
			[]Request{as(databaseRequest, "PUT", object{"kind": "ReadWrite"})}},
		"Poll": {"a poll is about the resource", func(t *testing.T, r *rig) {
			r.Takes(databases, time.Minute)
			r.send(t, "GET", r.send(t, "PUT", databaseID, `{}`).Operation, "")
		}, []Request{as(databaseRequest, "PUT", object{}), as(databaseRequest, "POLL", nil)}},
		"Attached": {"the parent is what it is attached to",
			func(t *testing.T, r *rig) { r.send(t, "DELETE", clusterID+"/providers/My.Own/Things/One", "") },
			[]Request{{Verb: "DELETE", ID: strings.ToLower(clusterID + "/providers/My.Own/Things/One"), Type: "My.Own/Things", Name: "One",
				ParentID: strings.ToLower(clusterID)}}},
		"NoAPIVersion": {"no service sees what is wrong for all", func(t *testing.T, r *rig) { r.send(t, "GET", clusterID+"?", "") }, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig()
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
	r := newRig()
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
		"Before": {"a tally that was given out counts no more", before,
			Tally{Sent: 2, Failed: 1, Verbs: map[string]int{"GET": 1, "PUT": 1}, Failures: childless}},
		"All": {"all requests", r.Tally(),
			Tally{Sent: 5, Failed: 1, Verbs: map[string]int{"GET": 2, "PUT": 2, "POLL": 1}, Failures: childless}},
		"Databases": {"a poll counts for its resource", r.TallyOf(func(id string) bool { return strings.Contains(id, "/databases/") }),
			Tally{Sent: 4, Failed: 1, Verbs: map[string]int{"GET": 2, "PUT": 1, "POLL": 1}, Failures: childless}},
		"Cluster": {"those of one resource", r.TallyOf(func(id string) bool { return id == strings.ToLower(clusterID) }),
			Tally{Sent: 1, Verbs: map[string]int{"PUT": 1}, Failures: map[string]int{}}},
		"None": {"nobody asked", r.TallyOf(func(string) bool { return false }), Tally{Verbs: map[string]int{}, Failures: map[string]int{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// What a script does is neither counted nor judged.
func TestServerScript(t *testing.T) {
	r := newRig()
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
		t.Errorf("a copy is put: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(object{"provisioningState": "Failed"}, see(databaseID)); diff != "" {
		t.Errorf("the state that was given: -want, +got:\n%s", diff)
	}
	r.Reports(clusters, func(_ string, p map[string]any) { p["more"] = true })
	shown, ok := r.Shown(strings.ToUpper(clusterID))
	if diff := cmp.Diff(object{"list": []any{"a"}, "provisioningState": "Succeeded", "more": true}, shown); !ok || diff != "" {
		t.Errorf("what a GET would show: %t, -want, +got:\n%s", ok, diff)
	}
	if _, ok := r.Shown(clusterID + "2"); ok {
		t.Error("what is not there cannot be shown")
	}
	r.Put(strings.ToLower(databaseID), object{"size": 1})
	if diff := cmp.Diff(object{"size": 1.0, "provisioningState": "Succeeded"}, see(databaseID)); diff != "" {
		t.Errorf("all properties are replaced: -want, +got:\n%s", diff)
	}
	got := []bool{r.Has(strings.ToUpper(databaseID)), r.Has(clusterID), r.Delete(strings.ToUpper(clusterID)), r.Delete(clusterID),
		r.Has(databaseID), r.Change(clusterID, func(map[string]any) {})}
	if diff := cmp.Diff([]bool{true, true, true, false, false, false}, got); diff != "" {
		t.Errorf("what is in a resource goes with it: -want, +got:\n%s", diff)
	}
	if n := r.Tally().Sent; n != 0 {
		t.Errorf("%d requests were counted, and none was sent", n)
	}
}

func TestServerPutPanics(t *testing.T) {
	cases := map[string]struct {
		reason     string
		id         string
		properties object
		want       string
	}{
		"NoID":     {"that is no ID", "Demo", nil, `"Demo" is not the ID of a resource`},
		"NoParent": {"it would never be found", databaseID, nil, "has no parent"},
		"NoJSON":   {"it could not be shown", clusterID, object{"f": func() {}}, "no JSON object"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, tc.want) {
					t.Errorf("%s: want a panic with %q, got %q", tc.reason, tc.want, got)
				}
			}()
			newRig().Put(tc.id, tc.properties)
		})
	}
}

// A request whose context is done is not sent, so it is not counted.
func TestServerContext(t *testing.T) {
	r := newRig()
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
