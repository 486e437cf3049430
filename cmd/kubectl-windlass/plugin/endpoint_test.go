package plugin

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

func ownersOf(o *unstructured.Unstructured, controller *bool) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID(), Controller: controller}}
}

// event makes an event about an object of example.com with a related one.
func event(t *testing.T, kind, namespace, name, reason, relatedKind, related string) {
	t.Helper()
	about := &unstructured.Unstructured{}
	about.SetAPIVersion("example.com/v1")
	about.SetKind(kind)
	about.SetNamespace(namespace)
	about.SetName(name)
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(about), about); err != nil {
		t.Fatal(err)
	}
	e := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "event-"}, EventTime: metav1.NowMicro(),
		ReportingController: "test", ReportingInstance: "test-1", Action: "Reconcile", Reason: reason, Type: "Normal", Note: "n",
		Regarding: corev1.ObjectReference{APIVersion: "example.com/v1", Kind: kind, Namespace: namespace, Name: name, UID: about.GetUID()},
		Related:   &corev1.ObjectReference{APIVersion: "example.com/v1", Kind: relatedKind, Namespace: namespace, Name: related},
	}
	if err := api.Create(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

// Retries find the leader, although a balancer chooses a replica for each connection.
func TestBalancer(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP1": false, "HTTP2": true} {
		t.Run(name, func(t *testing.T) {
			type connection struct{}
			var connections atomic.Int64
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if n := r.Context().Value(connection{}).(int64); n < 4 {
					http.Error(w, "not the leader", http.StatusMisdirectedRequest)
					return
				}
				manager{}.ServeHTTP(w, r)
			}))
			s.EnableHTTP2 = http2
			s.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
				return context.WithValue(ctx, connection{}, connections.Add(1))
			}
			s.StartTLS()
			defer s.Close()
			u, err := url.Parse(s.URL + documentPath)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := (endpoint{"balancer", u, s.Client()}).get(t.Context(), checks.Ref{}); err != nil || connections.Load() != 4 {
				t.Errorf("error %v after %d connections", err, connections.Load())
			}
		})
	}
}

// An answer without a document says what to do. The API server says it itself.
func TestAnswers(t *testing.T) {
	const token = " (it requires a token, and the API server does not pass yours on: use --address with a URL of its metrics server)"
	const direct, proxied, server = documentPath, "/api/v1/namespaces/a/services/b/proxy" + documentPath, `{"kind":"Status","message":"no"}`
	cases := map[string]struct {
		reason, path, text string
		code               int
		want               string
	}{
		"Token":      {"the proxy passes no token on", proxied, "no", http.StatusUnauthorized, "401 Unauthorized: no" + token},
		"NoRight":    {"the same", proxied, "no", http.StatusForbidden, "403 Forbidden: no" + token},
		"Server":     {"the user lacks the right to the proxy", proxied, server, http.StatusForbidden, "403 Forbidden: no"},
		"NoDocument": {"the path is not served", proxied, "no", http.StatusNotFound, "404 Not Found: no (it serves no documents: add ctrlx.Why to its metrics server, or name another port)"},
		"Method":     {"a manager allows GET", proxied, "no", http.StatusMethodNotAllowed, "405 Method Not Allowed: no (another program answers there: name the port of the metrics server)"},
		"Direct":     {"a certificate is not sent", direct, "no", http.StatusUnauthorized, "401 Unauthorized: no (it accepts only a token, and no certificate: log in again, or add --token)"},
		"Path":       {"the right is of the path", direct, "no", http.StatusForbidden, "403 Forbidden: no (you need the right to get the path /debug/windlass of its metrics server)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, tc.text, tc.code) }))
			defer s.Close()
			u, err := url.Parse(s.URL + tc.path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := (endpoint{"m", u, s.Client()}).get(t.Context(), checks.Ref{}); err == nil || err.Error() != "it answered "+tc.want {
				t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
			}
		})
	}
}

// The command knows which managers and objects it could not ask or read.
func TestPartial(t *testing.T) {
	const everywhere, here = "/api/v1/services", "/api/v1/namespaces/apps/services"
	const all, inApps = "/apis/example.com/v1/databases", "/apis/example.com/v1/namespaces/apps/databases"
	const others = "Error: other objects may have to be retried, too"
	a, d, none := ref("Database", "apps", "a"), ref("Database", "apps", "d"), documentWith()
	many := map[string]string{everywhere: services(maxEndpoints + 1)}
	for i := range maxEndpoints {
		many[documentOf(i)] = none
	}
	hidden := map[string]string{everywhere: "", here: services(1), documentOf(0): none, inApps: databases()}
	forbidden := map[string]string{everywhere: "", here: "", inApps: "", inApps + "/d": ""}
	blocked := databaseWith("d", conditions("False", "ReferenceNotFound", "Database.example.com apps/x was not found: waiting", ""))
	// The manager of d gives no answer. The one of a sees that d is blocked.
	dead := map[string]string{everywhere: services(2), documentOf(0): documentWith(waits(a, d), why.Object{Ref: d, State: why.Blocked}), all: databases(blocked), inApps + "/d": blocked}
	waiting := databaseWith("d", conditions("False", "R", "m", ""))
	// The object waits for "now" again, after it waited for "then".
	event := `{"reason":"R","eventTime":"2026-01-01T00:0%d:00.000000Z","series":%s,"related":{"apiVersion":"example.com/v1","kind":"Database","namespace":"apps","name":%q}}`
	events := listOf("Event", "events.k8s.io/v1", []string{fmt.Sprintf(event, 1, `{"lastObservedTime":"2026-01-01T00:09:00.000000Z"}`, "now"), fmt.Sprintf(event, 5, "null", "then")})
	asked := func(answer string) map[string]string {
		return map[string]string{everywhere: services(1), documentOf(0): answer, all: databases(waiting), inApps + "/fine": databaseWith("fine", conditions("True", "Succeeded", "", ""))}
	}
	const lone = "AGE   WAITERS   STATE     ROOT CAUSE                    REASON\n75m   0         blocked   Database.example.com NS/d   R\nThe list may lack some: see the notes.\n"
	const alone = "Database.example.com NS/a  blocked for 1h by Check: NotReady  <- root cause: meet the requirement that its message names\n\n" +
		"Root cause: Database.example.com NS/a is blocked: NotReady; no object waits for it: meet the requirement that its message names\nNext pass of Database.example.com NS/a: in 3m\n"
	const odd = `{"version":"v1","later":{"field":1},"causes":[{},{"objects":[]}],"objects":[{}],"flows":[{}]}`
	unseen := strings.Replace(documentWith(waits(a)), `"waiting":1`, `"waiting":1,"unseen":2`, 1)
	cases := map[string]struct {
		reason, args string
		answers      map[string]string
		out, notes   string // a part of the notes
		code         int
	}{
		"Hidden":    {"other namespaces may have managers", "blocked -A", hidden, "", unsure, exitError},
		"Retry":     {"their managers may name other objects", "retry --reason R", hidden, "No object to retry.\n", others, exitError},
		"Many":      {"the others were not asked", "blocked -A", many, "", "note: more than 50 services have the label", exitError},
		"Portless":  {"a manager cannot be asked", "blocked -A", map[string]string{everywhere: strings.Replace(services(2), `"ports":`, `"none":`, 1), documentOf(1): none}, "", unsure, exitError},
		"Forbidden": {"unknown is not nothing", "blocked", forbidden, "", unsure, exitError},
		"NoObject":  {"a user without rights", "why database/d", forbidden, "", "Error: ", exitError},
		"NoRetry":   {"a user who may not list all objects", "retry --reason R", forbidden, "No object to retry.\n", others, exitError},
		"NoWatch": {"a retry was requested", "retry database/d --timeout 10m", map[string]string{inApps: "", "PATCH " + inApps + "/d": blocked}, "",
			"note: a retry of Database.example.com NS/d was requested; it is not known whether it was handled: ", exitError},
		"Gone": {"the retry has ended a deletion", "retry database/d --timeout 10m", map[string]string{inApps: databases(), "PATCH " + inApps + "/d": blocked}, "Database.example.com NS/d was retried and is gone\n", "", exitReady},
		"Dead": {"conditions know the awaited object of an object whose manager does not answer", "blocked -A", dead, "AGE   WAITERS   STATE     ROOT CAUSE                    REASON\n75m   2         missing   Database.example.com NS/x   -\nThe list may lack some: see the notes.\n", "s1 gave no answer", exitWaits},
		"Series": {"an event may be seen twice", "why database/d", map[string]string{everywhere: services(1), documentOf(0): none, inApps + "/d": waiting, "/apis/events.k8s.io/v1/namespaces/apps/events": events}, `Database.example.com NS/d  blocked for 1h15m: R: m
└─ Database.example.com NS/now  is missing  <- root cause: create it, or correct the reference

Root cause: Database.example.com NS/now is missing; 1 object waits for it: create it, or correct the reference
`, byConditions, exitWaits},
		"Older":     {"an older program", "blocked -A", asked(`{"version":"v0"}`), lone, `s0 gave no answer: why: the document has the version "v0", and this program reads v1: use a program of the same release`, exitWaits},
		"Newer":     {"a newer program", "blocked -A", asked(`{"version":"v2\u001b[31m"}`), lone, `s0 gave no answer: why: the document has the version "v2", and this program reads v1: use`, exitWaits},
		"Token":     {"the API server passes no token on", "blocked -A", asked("401 hostile \x1b[2J text"), lone, "s0 gave no answer: it answered 401 Unauthorized: 401 hostile \\x1b[2J text (it requires a token, and the API server does not pass yours on: use --address with a URL of its metrics server)\n", exitWaits},
		"Broken":    {"an error of the program", "blocked -A", asked("500 hostile \x1b[2J text"), lone, "500 Internal Server Error: 500 hostile \\x1b[2J text\n" + byConditions, exitWaits},
		"Unseen":    {"a manager that has just started does not know all waits", "blocked -A", asked(unseen), strings.Replace(lone, "The list", "60m   0         blocked   Database.example.com NS/a   NotReady\nThe list", 1), "s0 does not know the waits of 2 objects yet", exitWaits},
		"UnseenWhy": {"also of one object", "why database/a", asked(unseen), alone, "s0 does not know the waits of 2 objects yet", exitWaits},
		"Odd":       {"a root cause has an object", "blocked -A", asked(odd), "Nothing waits.\n", "", exitReady},
		"OddWhy":    {"a document without the object is no answer", "why database/fine", asked(odd), "Database.example.com NS/fine  is ready for 1h15m: Succeeded\n", "note: no manager reports Database.example.com NS/fine\n" + byConditions, exitReady},
		"DeadWhy": {"also at the end of a path", "why database/a", dead, `Database.example.com NS/a  blocked for 1h by Check: NotReady
└─ Database.example.com NS/d  blocked for 1h15m: ReferenceNotFound: Database.example.com NS/x was not found: waiting
   └─ Database.example.com NS/x  is missing  <- root cause: create it, or correct the reference

Root cause: Database.example.com NS/x is missing; 2 objects wait for it: create it, or correct the reference
Next pass of Database.example.com NS/a: in 3m
`, "s1 gave no answer", exitWaits},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, notes, code := served(t, tc.answers).run(strings.Fields(tc.args)...)
			if diff := cmp.Diff(tc.out, out); diff != "" || code != tc.code || !strings.Contains(notes, tc.notes) {
				t.Errorf("%s: code %d, notes:\n%s\noutput: -want, +got:\n%s", tc.reason, code, notes, diff)
			}
		})
	}
}

// A direct address gets the token of the user, and no other host does.
func TestAddress(t *testing.T) {
	requireKube(t)
	ns := namespace(t)
	var leaked, asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	defer other.Close()
	objects := manager{objects: []why.Object{waits(ref("Database", ns, "orders"))}}
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/elsewhere"):
			http.Redirect(w, r, other.URL, http.StatusFound)
		case r.Header.Get("Authorization") != "Bearer own-token":
			http.Error(w, "no", http.StatusUnauthorized)
		default:
			asked.Add(1)
			objects.ServeHTTP(w, r)
		}
	}))
	defer direct.Close()
	empty := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "empty"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "metrics", Port: 80}}}}
	//lint:ignore SA1019 the proxy of the API server reads this kind
	none := &corev1.Endpoints{ObjectMeta: empty.ObjectMeta}
	for _, o := range []client.Object{empty, none} {
		if err := api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	serve(t, ns, "redirects", http.RedirectHandler(other.URL, http.StatusFound))
	u := admin(t, ns)
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		note   string
	}{
		"Token":      {"the token of the user is sent", []string{"--address", direct.URL}, exitWaits, ""},
		"Redirect":   {"a redirect is not followed", []string{"--address", direct.URL + "/elsewhere"}, exitError, "it answered 302 Found"},
		"Service":    {"nor that of a service", []string{"--service", ns + "/redirects"}, exitError, "it answered 302 Found"},
		"Plain":      {"a token is a secret", []string{"--address", "http://metrics.example.com"}, exitError, "--address needs https"},
		"User":       {"a URL without credentials", []string{"--address", "https://a:b@metrics.example.com"}, exitError, "is not a URL such as"},
		"NoURL":      {"a URL", []string{"--address", "metrics:8443"}, exitError, "is not a URL such as"},
		"NoCA":       {"the authorities must be readable", []string{"--address", "https://127.0.0.1:1", "--address-ca", "none"}, exitError, "none"},
		"BadService": {"a service has a namespace", []string{"--service", "a"}, exitError, "is not NAMESPACE/NAME"},
		"Dots":       {"a path stays below the service", []string{"--service", "../a"}, exitError, "is not NAMESPACE/NAME"},
		"NoService":  {"a named service must exist", []string{"--service", ns + "/none"}, exitError, "not found"},
		"NoPods":     {"the API server answers in place of the service", []string{"--service", ns + "/empty"}, exitError, "it answered 503 Service Unavailable: no endpoints available"},
		"NoPort":     {"the port must exist", []string{"--service", ns + "/redirects:1"}, exitError, `it has no port "1"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u.t = t
			out, notes, code := u.run(append([]string{"why", "db/orders", "--token", "own-token"}, tc.args...)...)
			if code != tc.code || !strings.Contains(notes, tc.note) {
				t.Errorf("%s: code %d, output %q, notes %q", tc.reason, code, out, notes)
			}
		})
	}
	if leaked.Load() > 0 || asked.Load() != 1 {
		t.Errorf("another host was asked %d times, and the address %d times", leaked.Load(), asked.Load())
	}
}

// The token for a loopback address passes no host that the kubeconfig names.
func TestLoopback(t *testing.T) {
	var seen atomic.Value
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Method + " " + r.Header.Get("Authorization"))
		http.Error(w, "no", http.StatusBadGateway)
	}))
	defer outside.Close()
	inside := httptest.NewServer(manager{})
	defer inside.Close()
	u, err := url.Parse(outside.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxied := rest.Config{BearerToken: "secret", Proxy: http.ProxyURL(u)}
	dialed := rest.Config{BearerToken: "secret", Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, u.Host)
	}}
	cases := map[string]struct {
		reason  string
		config  rest.Config
		address string
		seen    any
	}{
		"Proxy":  {"plain text does not pass the proxy", proxied, inside.URL, nil},
		"Dial":   {"nor another connection", dialed, inside.URL, nil},
		"Secret": {"the proxy passes https on, and does not see the token", proxied, "https://127.0.0.1:1", "CONNECT "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			seen = atomic.Value{}
			e, err := direct(&tc.config, tc.address, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.get(t.Context(), checks.Ref{}); (err == nil) != (tc.seen == nil) || seen.Load() != tc.seen {
				t.Errorf("%s: error %v, and the other host saw %v", tc.reason, err, seen.Load())
			}
		})
	}
}

// An endpoint without an answer costs a time-out, so it is asked no second time.
func TestDeadEndpoint(t *testing.T) {
	root := ref("Database", "ns", "d")
	var objects []why.Object
	var awaited []checks.Ref
	for i := range 2 * maxAsked {
		foreign := ref("Cluster", "ns", strings.Repeat("x", i+1))
		objects, awaited = append(objects, why.Object{Ref: foreign, State: why.InProgress}), append(awaited, foreign)
	}
	alive := manager{objects: append(objects, waits(root, awaited...))}
	cases := map[string]struct {
		reason string
		dies   int32 // with this question
		asked  int32
	}{
		"Alive":  {"a manager that answers is asked about all", 0, maxAsked},
		"Dead":   {"it gave no answer at first", 1, 1},
		"Dying":  {"it gave no answer later", 3, 3},
		"Unsure": {"not to know an object is an answer", -1, maxAsked},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			var all []endpoint
			for _, h := range []http.Handler{alive, manager{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch n := asked.Add(1); {
				case n == tc.dies:
					http.Error(w, "dead", http.StatusGatewayTimeout)
				case tc.dies < 0:
					manager{}.ServeHTTP(w, r)
				default:
					alive.ServeHTTP(w, r)
				}
			})} {
				s := httptest.NewServer(h)
				defer s.Close()
				u, err := url.Parse(s.URL + documentPath)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, endpoint{s.URL, u, s.Client()})
			}
			c := &command{IOStreams: genericiooptions.NewTestIOStreamsDiscard(), noted: map[string]bool{}}
			if replies, _ := c.askAbout(t.Context(), all, root); asked.Load() != tc.asked || len(replies) < maxAsked {
				t.Errorf("%s: it was asked %d times, want %d; %d replies of all", tc.reason, asked.Load(), tc.asked, len(replies))
			}
		})
	}
}

func TestPort(t *testing.T) {
	https, other := "https", "kubernetes.io/h2c"
	web, metrics, secure := corev1.ServicePort{Name: "web", Port: 80}, corev1.ServicePort{Name: "metrics", Port: 8080}, corev1.ServicePort{Name: "https", Port: 9000}
	cases := map[string]struct {
		reason     string
		annotation string
		ports      []corev1.ServicePort
		want       string // empty: an error
	}{
		"None":      {"a service without ports", "", nil, ""},
		"First":     {"the first port", "", []corev1.ServicePort{web, secure}, "http:web"},
		"Metrics":   {"the port with the usual name", "", []corev1.ServicePort{web, metrics}, "http:metrics"},
		"Name":      {"the annotation has a name", "https", []corev1.ServicePort{web, metrics, secure}, "https:https"},
		"Number":    {"the annotation has a number", "80", []corev1.ServicePort{metrics, web}, "http:web"},
		"Other":     {"another port is no answer", "81", []corev1.ServicePort{metrics, web}, ""},
		"Secure":    {"a usual number", "", []corev1.ServicePort{{Name: "metrics", Port: 8443}}, "https:metrics"},
		"Protocol":  {"the protocol of the port", "", []corev1.ServicePort{{Name: "metrics", Port: 80, AppProtocol: &https}}, "https:metrics"},
		"Plaintext": {"the protocol counts more than the number", "", []corev1.ServicePort{{Name: "metrics", Port: 8443, AppProtocol: &other}}, "http:metrics"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := corev1.Service{Spec: corev1.ServiceSpec{Ports: tc.ports}}
			if tc.annotation != "" {
				s.Annotations = map[string]string{portAnnotation: tc.annotation}
			}
			got := ""
			if p, err := portOf(s); err == nil {
				got = schemeOf(p) + ":" + p.Name
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
