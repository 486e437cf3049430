// Package ratio compares the running times of two functions in one process,
// even on a busy machine.
//
// A time means little on a shared machine. A ratio means more, if both
// functions are measured under the same conditions. [Of] takes many short
// samples of the two functions in turn. It divides the fastest sample of one by
// the fastest of the other. Other work on the machine makes samples slower,
// never faster.
package ratio

import "time"

// Options sets how much to measure. The zero value suits work that takes up to
// some microseconds.
type Options struct {
	Samples int              // samples of each function; 0 means 40
	Sample  time.Duration    // the minimum duration of a sample; 0 means 500 µs
	Now     func() time.Time // the clock; nil means time.Now
}

// Of returns the time that a takes divided by the time that b takes: 2 means
// that a is half as fast.
//
// Calling a function value costs a nanosecond or two in both, which pulls the
// ratio towards 1. If that matters, let a and b repeat their work a hundred
// times.
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
		// The order alternates, so that neither function always runs on the
		// caches that the other filled.
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

// function is a measured function, with its fastest sample so far, in
// nanoseconds a call.
type function struct {
	call    func()
	calls   int // in a sample
	fastest float64
}

// prepare finds the number of calls that make a sample.
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
