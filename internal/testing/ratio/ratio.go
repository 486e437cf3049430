// Package ratio compares the running times of two functions in one process,
// even on a busy machine.
//
// [Of] takes many short samples of both functions in turn, so that both run
// under the same conditions. It compares the fastest samples, because other
// work on the machine makes samples slower, never faster.
package ratio

import (
	"os"
	"testing"
	"time"

	"github.com/windlass-go/windlass/internal/testing/race"
)

// InVerify skips a test that compares times, unless WINDLASS_RATIOS is 1, as in
// make verify. The race detector distorts times, so run such tests without it.
func InVerify(t testing.TB) {
	t.Helper()
	if os.Getenv("WINDLASS_RATIOS") != "1" || race.Enabled {
		t.Skip("compares times: make verify runs it, or go test with WINDLASS_RATIOS=1 and without -race")
	}
}

// Options sets how much is measured. The zero value is for functions that take
// up to some microseconds.
type Options struct {
	Samples int              // samples of each function; 0 means 40
	Sample  time.Duration    // the minimum duration of a sample; 0 means 500 µs
	Now     func() time.Time // the clock; nil means time.Now
}

// Of returns the time of a divided by the time of b: 2 means that a takes twice
// as long.
//
// The call of a function value adds a nanosecond or two to both times, and so
// moves the ratio towards 1. For shorter work, let a and b repeat it.
func Of(a, b func(), o Options) float64 {
	if o.Samples <= 0 {
		o.Samples = 40
	}
	if o.Sample <= 0 {
		o.Sample = 500 * time.Microsecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	fa, fb := o.prepare(a), o.prepare(b)
	for i := range o.Samples {
		// The order alternates, because each function changes the caches for
		// the next one.
		if i%2 == 0 {
			fa.sample(o.Now)
			fb.sample(o.Now)
		} else {
			fb.sample(o.Now)
			fa.sample(o.Now)
		}
	}
	return fa.fastest / fb.fastest
}

// function is a measured function. fastest is its fastest sample, in
// nanoseconds for each call.
type function struct {
	call    func()
	calls   int // in a sample
	fastest float64
}

// prepare finds the number of calls of a sample.
func (o Options) prepare(call func()) *function {
	f := &function{call: call, calls: 1}
	for f.sample(o.Now) < o.Sample {
		f.calls *= 2
	}
	return f
}

func (f *function) sample(now func() time.Time) time.Duration {
	start := now()
	for range f.calls {
		f.call()
	}
	d := now().Sub(start)
	if each := float64(d) / float64(f.calls); f.fastest == 0 || each < f.fastest {
		f.fastest = each
	}
	return d
}
