package soak_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// snippet is a piece of a file and its replacement.
type snippet struct{ old, new string }

// TestWrongOrders verifies that TestRaces notices an engine with another order
// of steps. Each of these orders looks right. The short form only verifies that
// the engine still has the code to replace.
func TestWrongOrders(t *testing.T) {
	cases := map[string]struct {
		reason   string
		file     string // of the engine
		snippets []snippet
		lost     bool
	}{
		"Control": {"the same build, with nothing changed", "pass.go", nil, false},
		"ReadFirst": {
			"a change between the read and Register wakes no waiter", "pass.go",
			[]snippet{
				{
					"look, k, state, err := p.register(ctx, id)\n",
					"var look index.Look\nk, state, err := e.open(ctx, kindOf(id), namespaceOf(id), p.timeout)\n",
				},
				{
					"err = e.read(ctx, id, obj, state, p.timeout)\n",
					"err = e.read(ctx, id, obj, state, p.timeout)\ntime.Sleep(2 * time.Millisecond)\nlook = p.index.Register(id)\n",
				},
			},
			true,
		},
		"MetadataWatch": {
			"the events that wake are ahead of the cache that is read", "kinds.go",
			[]snippet{
				{
					"informer, err := e.cache.GetInformer(ctx, e.newObject(k), cache.BlockUntilSynced(false))\n",
					"partial := &metav1.PartialObjectMetadata{}\npartial.SetGroupVersionKind(k.gvk)\n" +
						"informer, err := e.cache.GetInformer(ctx, partial, cache.BlockUntilSynced(false))\n",
				},
			},
			true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("..", "engine", tc.file)
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range tc.snippets {
				if n := bytes.Count(source, []byte(s.old)); n != 1 {
					t.Fatalf("the replaced code occurs in %s %d times, and must occur once: update the case\n%s", file, n, s.old)
				}
				source = bytes.Replace(source, []byte(s.old), []byte(s.new), 1)
			}
			if !*long {
				return
			}
			out, failed := racesWith(t, file, source)
			lines := regexp.MustCompile(`(?m)^.*waiters lost in.*$|^.*waiters were lost.*$`).FindAllString(out, -1)
			switch {
			case len(lines) == 0:
				t.Errorf("TestRaces did not finish:\n%s", out)
			case failed != tc.lost || failed != (len(lines) == 2):
				t.Errorf("%s: TestRaces fails: %t\n%s", tc.reason, failed, out)
			default:
				t.Logf("%s: %s", tc.reason, strings.TrimSpace(lines[0]))
			}
		})
	}
}

// racesWith runs TestRaces with source in place of a file, on this API server.
func racesWith(t *testing.T, file string, source []byte) (out string, failed bool) {
	t.Helper()
	dir := t.TempDir()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	changed, list, binary := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "soak.test")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{changed: source, list: overlay} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", list, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	reach, err := json.Marshal(the.reach)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run", "^TestRaces$", "-test.v", "-soak", "-rounds", "2")
	cmd.Env = append(os.Environ(), serverVariable+"="+string(reach))
	text, err := cmd.CombinedOutput()
	return string(text), err != nil
}
