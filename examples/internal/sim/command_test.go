package sim_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
)

// lamps is a small example: a lamp and a candle, both named "hall", and a door,
// all blocked until 2:00. Each is requeued every minute. The door waits for a
// bell that never becomes ready.
func lamps() (*sim.Scenario, error) {
	open := false
	wait := checks.Check("Wait", func(_ context.Context, req *checks.Request[checks.Ref]) (checks.Result, error) {
		switch {
		case open:
			return checks.Proceed(), nil
		case req.Resource.Kind == "Door":
			return checks.Block("Closed", "it is closed",
				checks.WithAfter(time.Minute), checks.WithWaitingFor(checks.Ref{Kind: "Bell", Name: "front"})), nil
		}
		return checks.Block("Dark", "it is dark", checks.WithAfter(time.Minute)), nil
	})
	engine := sim.NewEngine()
	engine.At(2*time.Minute, "", "", func() { open = true })
	for _, ref := range []checks.Ref{{Kind: "Lamp", Name: "hall"}, {Kind: "Candle", Name: "hall"}, {Kind: "Door", Name: "front"}} {
		var r sim.Reconciler[checks.Ref] = flow.New(ref.Kind, flow.Operations[checks.Ref]{
			Key:   func(ref checks.Ref) string { return ref.Name },
			Apply: func(context.Context, *flow.Request[checks.Ref]) (flow.Progress, error) { return flow.Done(), nil },
		}, flow.Extensions[checks.Ref]{PreCheck: chain.New(wait)}, engine.Options(1)...)
		if ref.Kind == "Candle" {
			r = mute{r}
		}
		sim.Add(engine, r, sim.Resource[checks.Ref]{Ref: ref, Value: ref})
	}
	return &sim.Scenario{Engine: engine, Done: engine.AllReady}, nil
}

// mute has no explanations.
type mute struct{ sim.Reconciler[checks.Ref] }

func (mute) Explain(string) (flow.Explanation, bool) { return flow.Explanation{}, false }

func show(out io.Writer, timeout time.Duration) error {
	fmt.Fprintln(out, "shown for", timeout)
	if timeout < time.Minute {
		return errors.New("it is late")
	}
	return nil
}

func command(args []string, stdout, stderr io.Writer) int {
	return sim.Command{Name: "lamps", Usage: "This is the usage.\n", Timeout: time.Hour, Show: show, New: lamps}.Run(args, stdout, stderr)
}

// TestCommand compares the whole output of a program: its run, explanations,
// and errors.
func TestCommand(t *testing.T) {
	simtest.Program(command).MustPrint(t, "lamps", "", "-timeout 5m", "-timeout 5s", "-h", "--help",
		"-explain front -at 90s", "-explain FRONT", "-explain front -at 12m", "-explain lamp/hall -at 0s", "-explain front -timeout 1m30s", "-explain front -at 90s -json",
		"-wait", "hall", "-timeout 5", "-timeout 0s", "-explain ''", "-at 1m", "-json", "-explain front -at -1m", "-explain cellar", "-explain hall", "-explain candle/hall")
	failing := func(args []string, stdout, stderr io.Writer) int {
		none := func() (*sim.Scenario, error) { return nil, errors.New("no lamps") }
		return sim.Command{Name: "lamps", Show: show, New: none}.Run(args, stdout, stderr)
	}
	simtest.Program(failing).MustRefuse(t, "lamps: no lamps", "-explain", "front", "-timeout", "1m")
}

// TestCommandFlags tests a program with its own flag and file. Check refuses
// "bad" and Load does not find "absent".
func TestCommandFlags(t *testing.T) {
	var house string
	program := simtest.Program(func(args []string, stdout, stderr io.Writer) int {
		return sim.Command{
			Name: "lamps", Usage: "This is the usage.\n", Timeout: time.Hour,
			Flags: func(flags *flag.FlagSet) { flags.StringVar(&house, "house", "bad", "") },
			Check: func(given map[string]bool) error {
				if given["house"] && house == "bad" {
					return errors.New("-house: it is bad")
				}
				return nil
			},
			Load: func() error {
				if house == "absent" {
					return errors.New("there is no such house")
				}
				return nil
			},
			Show: show,
			New: func() (*sim.Scenario, error) {
				s, err := lamps()
				s.All = "the things of " + house
				return s, err
			},
		}.Run(args, stdout, stderr)
	})
	cases := map[string]struct {
		reason string
		args   []string
		want   simtest.Result
	}{
		"None": {"the check accepts the default", nil, simtest.Result{Stdout: "shown for 1h0m0s\n"}},
		"Good": {"the check accepts the flag", []string{"-house", "mine"}, simtest.Result{Stdout: "shown for 1h0m0s\n"}},
		"Bad":  {"the check refuses the flag", []string{"-house", "bad"}, simtest.Result{Code: 2, Stderr: "lamps: -house: it is bad\n"}},
		"Absent": {"Load fails before the run", []string{"-house", "absent"},
			simtest.Result{Code: 2, Stderr: "lamps: there is no such house\n"}},
		"AbsentExplain": {"Load fails before the explanation", []string{"-house", "absent", "-explain", "front"},
			simtest.Result{Code: 2, Stderr: "lamps: there is no such house\n"}},
		"Help": {"help loads nothing", []string{"-house", "absent", "-h"}, simtest.Result{Stdout: "This is the usage.\n"}},
		"Argument": {"arguments are checked first", []string{"-house", "bad", "hall"},
			simtest.Result{Code: 2, Stderr: "lamps: unexpected argument \"hall\": all arguments are flags (-h lists them)\n"}},
		"BadAndNoTime": {"the program's own flags are checked before -timeout", []string{"-house", "bad", "-timeout", "0s"},
			simtest.Result{Code: 2, Stderr: "lamps: -house: it is bad\n"}},
		"AbsentAndNoTime": {"files are loaded after all flags are checked", []string{"-house", "absent", "-timeout", "0s"},
			simtest.Result{Code: 2, Stderr: "lamps: -timeout: 0s is too short; use more than 0s\n"}},
		"All": {"Scenario.All describes the resources", []string{"-house", "mine", "-explain", "cellar"},
			simtest.Result{Code: 2, Stderr: "lamps: -explain: unknown resource \"cellar\"; the resources are the things of mine\n"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, program.Run(tc.args...)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCommandClose: an explanation closes its scenario, even after an error.
func TestCommandClose(t *testing.T) {
	for _, name := range []string{"front", "cellar"} {
		closed := 0
		sim.Command{
			Name: "lamps", Timeout: time.Hour, Show: show,
			New: func() (*sim.Scenario, error) {
				s, err := lamps()
				s.Close = func() { closed++ }
				return s, err
			},
		}.Run([]string{"-explain", name}, io.Discard, io.Discard)
		if closed != 1 {
			t.Errorf("-explain %s: closed %d times, want once", name, closed)
		}
	}
}
