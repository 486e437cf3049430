package ctrlx_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// Nothing is done for who is suspended, but for links of the user on Pass; until it is resumed, or deleted.
func TestSuspended(t *testing.T) {
	a := anApp(AppSpec{Suspended: true, Cluster: "c"})
	d := newHarness(t, a)
	d.use(d.reconciler(flow.Extensions[*App]{Pass: chain.New(d.noting("pass"))}).
		WithPostReadHook(func(ctxt, client.Client, *App) error { d.note("post-read"); return nil }))
	if after := d.pass(); after != time.Hour || d.says() != "False Suspended Paused" || d.took() != "pass" {
		t.Errorf("it says %q and is requeued after %s", d.says(), after)
	}
	if got := d.message(); got != "the object is suspended; resume it to continue" {
		t.Errorf("the message is %q", got)
	}
	suspend(false)(d)
	d.pass()
	if got := d.says() + ": " + d.took(); got != "True Succeeded: pass, post-read, apply" {
		t.Errorf("resumed: %s", got)
	}
	suspend(true)(d)
	d.delete(d.read())
	d.pass()
	if got := d.took(); got != "pass, post-read, delete" {
		t.Errorf("deleted while suspended: %s", got)
	}
}

// A type that does not say whether it is suspended has no link for it.
func TestNotSuspendable(t *testing.T) {
	r := ctrlx.New("Database", databases{Apply: put}, extensions{})
	if links := r.Flow().Extensions().Pass.Links(); len(links) > 0 {
		t.Errorf("there are links on Pass: %v", links)
	}
}

// noting is a link on Pass that notes that it was entered.
func (d *harness) noting(what string) flow.PassMiddleware[*App] {
	return chain.Before[*App, flow.Outcome](func(ctxt, *App) error { d.note("%s", what); return nil })
}
