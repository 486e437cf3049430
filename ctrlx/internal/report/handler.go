// Package report answers requests that ask why objects are not ready.
package report

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/flow/why"
)

// Handler returns the handler of the objects of an engine. It answers only after the
// channel of elected is closed.
func Handler(e *engine.Engine, elected func() <-chan struct{}) http.Handler {
	return handler{e, elected}
}

type handler struct {
	engine  *engine.Engine
	elected func() <-chan struct{}
}

// leads reports whether this replica reconciles.
func (h handler) leads() bool {
	select {
	case <-h.elected():
		return true
	default:
		return false
	}
}

// ServeHTTP implements http.Handler.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
		return
	}
	if !h.leads() {
		http.Error(w, "this replica is not the leader; ask again to reach another one", http.StatusMisdirectedRequest)
		return
	}
	q := r.URL.Query()
	ref := checks.Ref{Group: q.Get("group"), Kind: q.Get("kind"), Namespace: q.Get("namespace"), Name: q.Get("name")}
	if (ref.Kind == "") != (ref.Name == "") {
		http.Error(w, "give kind and name, or none of them", http.StatusBadRequest)
		return
	}
	objects, ready, unseen, err := h.engine.Unready(r.Context(), ref.Name == "" && q.Get("ready") == "true")
	if err != nil {
		http.Error(w, err.Error()+"; ask again", http.StatusServiceUnavailable)
		return
	}
	g := why.New(objects)
	var d why.Document
	if ref.Name == "" {
		d = g.DocumentIn(ref.Namespace, time.Now(), h.engine.Flows()...)
	} else {
		var ok bool
		if d, ok = g.DocumentOf(ref, time.Now(), h.engine.Flows()...); !ok {
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
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(d)
}
