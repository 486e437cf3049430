// Command release rehearses, records and writes releases of the modules of this
// repository.
//
// RELEASING.md has the order of the commands, VERSIONING.md the promises that
// they check.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

const usage = `Usage: release check              rehearse a release of the working tree
       release api                write the exported names to tools/api
       release write VERSION      write VERSION into the go.mod files, and print the tags to set

Exit codes: 0 success; 1 a check or a command failed; 2 the arguments are wrong.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	do := map[string]func(*repo) error{
		"check": func(r *repo) error { return rehearse(r, stderr) },
		"api":   func(r *repo) error { return r.writeAPI(r.file(apiDir)) },
	}[strings.Join(args, " ")]
	if len(args) == 2 && args[0] == "write" {
		do = func(r *repo) error { return r.write(args[1], stdout) }
	}
	if do == nil {
		fmt.Fprint(stderr, usage)
		return 2
	}
	dir, err := output(".", nil, "git", "rev-parse", "--show-toplevel")
	if err == nil {
		var r *repo
		if r, err = open(strings.TrimSpace(dir)); err == nil {
			err = do(r)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "release:", err)
		return 1
	}
	return 0
}

// rehearse runs every check on the working tree and publishes a copy of it to
// consumers. It reports all findings at once.
func rehearse(r *repo, progress io.Writer) error {
	var errs []error
	step := func(name string, check func() error) {
		fmt.Fprintln(progress, "release:", name)
		if err := check(); err != nil {
			errs = append(errs, fmt.Errorf("%s:\n%w", name, err))
		}
	}
	step("imports of internal packages", r.checkInternals)
	step("exported names", r.checkAPI)
	if len(errs) == 0 { // consumers would fail for the same reasons
		step("consumers", func() error { return r.checkConsumers(progress) })
	}
	return errors.Join(errs...)
}

// output runs a command and returns its standard output. Its error contains the
// standard error.
func output(dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}
