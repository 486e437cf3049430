package main

import "testing"

func TestTable(t *testing.T) {
	cases := map[string]struct {
		reason string
		bound  float64
		values []float64
		want   string // the cells of the row from the third on
		fails  bool
	}{
		"Within":  {"the median is at the bound", 2, []float64{1, 2, 9}, "2.00x | 7.00 | 2.00x", false},
		"Worse":   {"the median is above the bound by more than the noise", 2, []float64{1.9, 2.1, 2.2, 2.3, 9}, "2.20x | 0.10 | 2.00x", true},
		"Inside":  {"the noise covers the difference", 2, []float64{1.5, 2.1, 2.2, 2.5, 9}, "2.20x | 0.30 | 2.00x", false},
		"Single":  {"one value has no noise", 2, []float64{2.01}, "2.01x | 0.00 | 2.00x", true},
		"Unbound": {"a peer without a bound never fails", 0, []float64{9}, "9.00x | 0.00 | any", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := row{name: "a", peer: "b", bound: tc.bound}
			text, worse := table([]row{r}, map[row][]float64{r: tc.values})
			want := "| what | compared with | time or heap | noise | bound |\n|---|---|---|---|---|\n| a | b | " + tc.want + " |\n"
			if text != want {
				t.Errorf("%s:\n%swant\n%s", tc.reason, text, want)
			}
			if fails := len(worse) > 0; fails != tc.fails {
				t.Errorf("%s: fails: %v, want %v", tc.reason, fails, tc.fails)
			}
		})
	}
}

func TestMetric(t *testing.T) {
	cases := map[string]struct {
		reason, out string
		want        float64
		ok          bool
	}{
		"One":   {"the value before the unit", "BenchmarkA-2 \t 1\t 12 ns/op\t 1.25 x\t 0 B/op\n", 1.25, true},
		"None":  {"a benchmark that did not run is an error", "PASS\n", 0, false},
		"Two":   {"a pattern that selects two benchmarks is an error", "A 1 1.25 x\nB 1 1.5 x\n", 0, false},
		"Other": {"a longer unit is another one", "A 1 1.25 x-by-hand\n", 0, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := metric(tc.out, "x")
			if got != tc.want || (err == nil) != tc.ok {
				t.Errorf("%s: %v, %v", tc.reason, got, err)
			}
		})
	}
}
