package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// Handler answers requests that ask why the objects of the reconcilers are not ready. It refuses them
// while a reconciler may not run: another replica reconciles.
func (e *Engine) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "use GET", http.StatusMethodNotAllowed)
			return
		}
		if !e.leading() {
			http.Error(w, "this replica is not the leader; ask again to reach another one", http.StatusMisdirectedRequest)
			return
		}
		e.answer(w, r)
	})
}

// leading reports whether all reconcilers may run.
func (e *Engine) leading() bool {
	e.mu.Lock()
	all := e.leads
	e.mu.Unlock()
	return !slices.ContainsFunc(all, func(leads func() bool) bool { return !leads() })
}

func (e *Engine) answer(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ref := checks.Ref{Group: q.Get("group"), Kind: q.Get("kind"), Namespace: q.Get("namespace"), Name: q.Get("name")}
	if (ref.Kind == "") != (ref.Name == "") {
		http.Error(w, "give kind and name, or none of them", http.StatusBadRequest)
		return
	}
	objects, ready, unseen, err := e.Unready(r.Context(), ref.Name == "" && q.Get("ready") == "true")
	if err != nil {
		http.Error(w, err.Error()+"; ask again", http.StatusServiceUnavailable)
		return
	}
	g := why.New(objects)
	var d why.Document
	if ref.Name == "" {
		d = g.DocumentIn(ref.Namespace, time.Now(), e.Flows()...)
	} else {
		var ok bool
		if d, ok = g.DocumentOf(ref, time.Now(), e.Flows()...); !ok {
			http.Error(w, fmt.Sprintf("%s is ready, or not reconciled here, or no pass over it has ended yet, and no object waits for it", ref), http.StatusNotFound)
			return
		}
	}
	d.Ready, d.Unseen = ready, unseen
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", why.ContentSecurityPolicy)
		_ = d.WriteLivePage(w) // the client is gone
		return
	}
	data, err := json.Marshal(d)
	if err != nil {
		http.Error(w, "the document has no JSON form: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data)
}
