package sim

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/flow/flowtest"
)

// Exit codes of the examples.
const (
	ExitOK    = 0
	ExitLate  = 1 // not all resources were ready in time
	ExitInput = 2 // a flag is wrong
)

// limit is the longest virtual time of a run.
const limit = time.Hour

const flagsText = `
Time is virtual: a run takes a moment, and all runs are equal.

It prints a timeline (time, resource, blocking link, cause, awaited objects, next pass), the flows, and the requests to
the cloud, compared with a second run.

  -explain NAME    run without output, then explain the state of the resource NAME or KIND/NAME
  -html FILE       run without output, then write a page: which resources wait, for what, and the root causes
  -at D            with -explain or -html: after D of virtual time (default: at the end)
`

// Program is the command line of an example. Name, About, Runs and New are
// required.
type Program struct {
	Name  string
	About string // the text of -h: what it shows
	// Runs has the names of the two runs, as in "with checks", "without checks".
	Runs [2]string
	// New sets up the first run, or the second one.
	New func(first bool) *Engine
	// End ends the run at a time. Zero: it ends when all resources are ready.
	End time.Duration
	// Each adds the time at which each resource became ready to the comparison.
	Each bool
}

// Main runs the program with the arguments of the process, and ends the process.
func (p Program) Main() { os.Exit(p.Run(os.Args[1:], os.Stdout, os.Stderr)) }

// Run runs the program and returns its exit code. args excludes the name of the
// program.
func (p Program) Run(args []string, stdout, stderr io.Writer) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		return code
	}
	var explain, html string
	var at time.Duration
	flags := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&explain, "explain", "", "")
	flags.StringVar(&html, "html", "", "")
	flags.DurationVar(&at, "at", -1, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, p.About, flagsText)
		return ExitOK
	case err != nil:
		return fail(ExitInput, fmt.Errorf("%w (-h lists the flags)", err))
	case flags.NArg() > 0:
		return fail(ExitInput, fmt.Errorf("unexpected argument %q: all arguments are flags (-h lists them)", flags.Arg(0)))
	case explain != "" && html != "":
		return fail(ExitInput, errors.New("-html and -explain: use one of them"))
	case explain == "" && html == "" && at >= 0:
		return fail(ExitInput, errors.New("-at needs -explain NAME or -html FILE"))
	}
	var err error
	switch e := p.New(true); {
	case explain != "":
		err = p.explain(stdout, e, explain, at)
	case html != "":
		err = p.page(stdout, e, html, at)
	default:
		if err = p.show(stdout, e); err != nil {
			return fail(ExitLate, err)
		}
	}
	if err != nil {
		return fail(ExitInput, err)
	}
	return ExitOK
}

// run runs until a time, or until the end if at is negative.
func (p Program) run(e *Engine, at time.Duration) *flowtest.Run {
	switch {
	case at >= 0:
		return e.RunUntil(context.Background(), at, func() bool { return false })
	case p.End > 0:
		return e.RunUntil(context.Background(), p.End, func() bool { return false })
	}
	return e.RunUntil(context.Background(), limit, e.AllReady)
}

// show prints the first run, and compares it with the second one.
func (p Program) show(out io.Writer, first *Engine) error {
	fmt.Fprint(out, p.run(first, -1).Story())
	end := "end of the run"
	if p.End == 0 {
		if !first.AllReady() {
			return first.NotReady(limit)
		}
		end = "all is ready"
	}
	fmt.Fprintf(out, "%s  %s\n\nThe flows that ran:\n\n", flowtest.Stamp(first.Elapsed()), end)
	for _, f := range first.flows {
		fmt.Fprintf(out, "%s\n", f.Text)
	}
	second := p.New(false)
	p.run(second, -1)
	rows := Comparison{out}
	rows.Row("", p.Runs[0], p.Runs[1])
	rows.Row("requests sent to "+first.Service, first.Tally.Sent, second.Tally.Sent)
	rows.Counts(first.Tally.Verbs, second.Tally.Verbs)
	rows.Row("answered by an error", first.Tally.Failed, second.Tally.Failed)
	rows.Counts(first.Tally.Failures, second.Tally.Failures)
	for _, last := range first.Last() {
		if p.Each {
			rows.Row(last.Resource.String()+" ready at", first.ReadyAt(last.Resource), second.ReadyAt(last.Resource))
		}
	}
	if p.End == 0 {
		at := func(e *Engine) string {
			if !e.AllReady() {
				return "not in time"
			}
			return flowtest.Stamp(e.Elapsed())
		}
		rows.Row("all ready at", at(first), at(second))
	}
	return nil
}

func (p Program) explain(out io.Writer, e *Engine, called string, at time.Duration) error {
	var all []string
	for _, r := range e.Last() {
		ref := r.Resource
		all = append(all, ref.String())
		if !strings.EqualFold(called, ref.Name) && !strings.EqualFold(called, ref.Kind+"/"+ref.Name) {
			continue
		}
		p.run(e, at)
		x, _ := e.Explain(ref)
		fmt.Fprintf(out, "%s\n", strings.TrimRight(x.String(), "\n"))
		return nil
	}
	return fmt.Errorf("-explain: unknown resource %q; the resources are %s", called, strings.Join(all, ", "))
}

func (p Program) page(out io.Writer, e *Engine, name string, at time.Duration) error {
	p.run(e, at)
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("-html: %w", err)
	}
	document := e.Why()
	if err := errors.Join(document.WritePage(file), file.Close()); err != nil {
		return fmt.Errorf("-html: %w", err)
	}
	fmt.Fprintf(out, "wrote %s: the state after %s. Open it in a browser.\n", name, e.Elapsed())
	return nil
}

// Tally counts requests. The zero Tally has counted none.
type Tally struct {
	Sent, Failed int            // all requests; those answered by an error
	Verbs        map[string]int // all requests by verb: GET, PUT, POLL
	Failures     map[string]int // by verb and code, such as "PUT 409 Conflict"
}

// Request counts a request.
func (t *Tally) Request(verb string) {
	if t.Verbs == nil {
		t.Verbs, t.Failures = map[string]int{}, map[string]int{}
	}
	t.Sent++
	t.Verbs[verb]++
}

// Refused counts the error of a request that [Tally.Request] counted.
func (t *Tally) Refused(verb, code string) {
	t.Failed++
	t.Failures[verb+" "+code]++
}

// Comparison prints a table that compares two runs, row by row.
type Comparison struct{ out io.Writer }

// Row prints a row: its name, and the value in each run.
func (c Comparison) Row(name string, a, b any) { fmt.Fprintf(c.out, "%-44s %12v %16v\n", name, a, b) }

// Counts prints an indented row for each key of either map, in alphabetical
// order.
func (c Comparison) Counts(a, b map[string]int) {
	all := map[string]int{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c.Row("  "+name, a[name], b[name])
	}
}
