package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow/why"
)

// Exit codes of the examples.
const (
	ExitOK    = 0 // the run ended in time, or the resource was explained
	ExitLate  = 1 // the run did not end in time
	ExitInput = 2 // a flag or a file is wrong
)

// Command is the command line of an example: the flags -h, -timeout, -explain,
// -at, -json and -html, and the example's own. Fields are required unless their
// comment defines nil.
type Command struct {
	Name    string
	Usage   string        // the text of -h
	Timeout time.Duration // the default of -timeout
	// PageAt is the default of -at for -html, which writes a page that says why
	// resources wait. Zero: the example does not have -html.
	PageAt time.Duration
	// Flags adds the flags of the example. Nil: none.
	Flags func(*flag.FlagSet)
	// Check returns an error if the value of a flag is wrong. given has the
	// flags that the user set. Nil: all values are valid.
	Check func(given map[string]bool) error
	// Load reads the files of the flags, after Check. Its error counts as wrong
	// input. Nil: there are no files.
	Load func() error
	// Show runs the example for at most timeout and prints the result. Its
	// error names the late resources and their causes.
	Show func(out io.Writer, timeout time.Duration) error
	// New sets up a run for -explain.
	New func() (*Scenario, error)
}

// Scenario is a run of an example before its start. Engine and Done are
// required.
type Scenario struct {
	Engine *Engine
	All    string      // describes the resources in an error; empty: their names
	Done   func() bool // reports whether the run has ended
	Close  func()      // frees the resources of the run; nil: nothing to free
	Flows  []why.Flow  // the flows of the reconcilers, for -html
}

// Run runs the program and returns its exit code. args excludes the name of the
// program.
func (c Command) Run(args []string, stdout, stderr io.Writer) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "%s: %v\n", c.Name, err)
		return code
	}
	o, err := c.parse(args)
	if err == nil && c.Load != nil {
		err = c.Load()
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, c.Usage)
	case err != nil:
		return fail(ExitInput, err)
	case o.explain != "":
		if err := c.explain(stdout, o); err != nil {
			return fail(ExitInput, err)
		}
	case o.html != "":
		if err := c.page(stdout, o); err != nil {
			return fail(ExitInput, err)
		}
	default:
		if err := c.Show(stdout, o.timeout); err != nil {
			return fail(ExitLate, err)
		}
	}
	return ExitOK
}

// commandOptions holds the values of the flags.
type commandOptions struct {
	timeout, at time.Duration // at is negative if it was not set
	explain     string
	html        string // a file
	json        bool
}

func (c Command) parse(args []string) (o commandOptions, err error) {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&o.timeout, "timeout", c.Timeout, "")
	flags.StringVar(&o.explain, "explain", "", "")
	flags.DurationVar(&o.at, "at", -1, "")
	flags.BoolVar(&o.json, "json", false, "")
	if c.PageAt > 0 {
		flags.StringVar(&o.html, "html", "", "")
	}
	if c.Flags != nil {
		c.Flags(flags)
	}
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("%w (-h lists the flags)", err)
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: all arguments are flags (-h lists them)", flags.Arg(0))
	}
	if c.Check != nil {
		if err := c.Check(given); err != nil {
			return o, err
		}
	}
	switch {
	case o.timeout <= 0:
		return o, fmt.Errorf("-timeout: %s is too short; use more than 0s", o.timeout)
	case given["explain"] && o.explain == "":
		return o, errors.New("-explain: the name is empty")
	case given["html"] && o.html == "":
		return o, errors.New("-html: the name of the file is empty")
	case given["html"] && given["explain"]:
		return o, errors.New("-html and -explain: use one of them")
	case given["at"] && !given["explain"] && !given["html"], given["json"] && !given["explain"]:
		return o, errors.New("-at and -json need -explain NAME")
	case given["at"] && o.at < 0:
		return o, fmt.Errorf("-at: %s is before the start; use 0s or more", o.at)
	}
	return o, nil
}

// explain runs the example without output until the time of -at or the end, and
// explains a resource.
func (c Command) explain(out io.Writer, o commandOptions) error {
	s, err := c.New()
	if err != nil {
		return err
	}
	if s.Close != nil {
		defer s.Close()
	}
	ref, err := s.find(o.explain)
	if err != nil {
		return err
	}
	end, enough := o.timeout, s.Done
	if o.at >= 0 {
		end, enough = o.at, func() bool { return false }
	}
	s.Engine.RunUntil(context.Background(), end, enough)
	e, ok := s.Engine.Explain(ref)
	if !ok {
		return fmt.Errorf("-explain: %s was not reconciled yet", ref)
	}
	if o.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(e)
	}
	fmt.Fprintf(out, "%s\n", strings.TrimRight(e.String(), "\n"))
	return nil
}

// page runs the example without output until the time of -at, and writes a page
// that says why resources wait.
func (c Command) page(out io.Writer, o commandOptions) error {
	s, err := c.New()
	if err != nil {
		return err
	}
	if s.Close != nil {
		defer s.Close()
	}
	at := o.at
	if at < 0 {
		at = c.PageAt
	}
	s.Engine.RunUntil(context.Background(), at, func() bool { return false })
	d := why.New(s.Engine.Waits()).Document(s.Engine.Now(), s.Flows...)
	file, err := os.Create(o.html)
	if err != nil {
		return fmt.Errorf("-html: %w", err)
	}
	err = errors.Join(d.WritePage(file), file.Close())
	if err != nil {
		return fmt.Errorf("-html: %w", err)
	}
	fmt.Fprintf(out, "wrote %s: the state after %s. Open it in a browser.\n", o.html, at)
	return nil
}

// find returns the resource with the name NAME or KIND/NAME.
func (s *Scenario) find(called string) (checks.Ref, error) {
	var all, found []checks.Ref
	for _, p := range s.Engine.Last() {
		ref := p.Resource
		all = append(all, ref)
		if strings.EqualFold(called, ref.Name) || strings.EqualFold(called, ref.Kind+"/"+ref.Name) {
			found = append(found, ref)
		}
	}
	switch len(found) {
	case 0:
		return checks.Ref{}, fmt.Errorf("-explain: unknown resource %q; the resources are %s", called, cmp.Or(s.All, Names(all)))
	case 1:
		return found[0], nil
	}
	return checks.Ref{}, fmt.Errorf("-explain: %q is the name of %s; use KIND/NAME", called, Names(found))
}

// Names joins the texts of refs with " and ".
func Names(refs []checks.Ref) string {
	texts := make([]string, len(refs))
	for i, ref := range refs {
		texts[i] = ref.String()
	}
	return strings.Join(texts, " and ")
}
