package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/windlass-go/windlass/flow/why"
)

// The exit codes.
const (
	exitReady = iota // nothing waits
	exitWaits        // an object waits, or has not handled a retry
	exitError
)

// errWaits makes a command end with exitWaits. The command has printed why.
var errWaits = errors.New("an object waits")

// Run runs kubectl windlass with args, as "why", "database/orders", and returns
// its exit code: 0 if nothing waits, 1 if an object waits, 2 after an error,
// which it has printed. The command reads the kubeconfig as kubectl does. now
// returns the present time, usually time.Now. Nil panics.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams, now func() time.Time) int {
	c := &command{IOStreams: streams, flags: genericclioptions.NewConfigFlags(true).WithDiscoveryBurst(300).WithDiscoveryQPS(50), now: now, noted: map[string]bool{}}
	root := c.root()
	root.SetArgs(args)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return exitReady
	case errors.Is(err, errWaits):
		return exitWaits
	default:
		fmt.Fprintln(c.ErrOut, "Error: "+why.Line(err.Error()))
		return exitError
	}
}

// command has the flags of all commands.
type command struct {
	genericiooptions.IOStreams
	flags     *genericclioptions.ConfigFlags
	services  []string
	address   string
	addressCA string
	now       func() time.Time
	noted     map[string]bool
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-windlass",
		Short:         "Say why objects wait, and retry them",
		Long:          long,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl windlass"},
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
	}
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.ErrOut)
	c.flags.AddFlags(root.PersistentFlags())
	root.PersistentFlags().StringArrayVar(&c.services, "service", nil, "ask this service, NAMESPACE/NAME[:PORT], and not those with the label "+serviceLabel)
	root.PersistentFlags().StringVar(&c.address, "address", "", "ask the metrics server at this https URL directly, with your own token")
	root.PersistentFlags().StringVar(&c.addressCA, "address-ca", "", "file with the certificate authorities of --address; empty: those of the system")
	root.AddCommand(c.why(), c.blocked(), c.flow(), c.retry())
	return root
}

const long = `Say why objects of Windlass operators wait, and retry them.

Each service with the label windlass-go.github.io/why=true is asked through the API
server, which needs no port-forward. You need the right to get "services/proxy". Any
user who may label a service can add answers; choose services with --service where
that matters.

The API server does not pass your token on. If a metrics server requires one, use
--address with a URL of it. You need the right to get the path /debug/windlass.

Without an answer, the command reads conditions, owner references and events, and
says so.

Exit codes:
  0  nothing waits; the object is ready; each retry was handled
  1  an object waits; a retry was not handled in time
  2  an error, or the answer is not known`

// note prints a line to the standard error, each line once.
func (c *command) note(format string, args ...any) {
	line := why.Line(fmt.Sprintf(format, args...))
	if !c.noted[line] {
		c.noted[line] = true
		fmt.Fprintln(c.ErrOut, "note: "+line)
	}
}

// output adds the flag -o with the values that it may have, the default first.
func output(cmd *cobra.Command, values ...string) *string {
	text := "output format: " + strings.Join(values[1:], " or ")
	value := cmd.Flags().StringP("output", "o", values[0], text)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(values[1:], cobra.ShellCompDirectiveNoFileComp))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		for _, v := range values {
			if *value == v {
				return nil
			}
		}
		return fmt.Errorf("-o %s is not an output format of this command: use %s", *value, strings.Join(values[1:], " or "))
	}
	return value
}

// write writes text that is safe to show.
func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}
