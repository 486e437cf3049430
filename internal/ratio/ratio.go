// Package ratio compares how long two functions take, in one process and on a machine that is busy with other things.
//
// A time says little on a shared machine; how two functions compare says a lot, if both are measured under the same
// conditions and the disturbances are left out. So [Of] takes many short samples of the two in turn, and divides the
// fastest sample of the one by the fastest of the other: what disturbs makes samples slower, never faster.
package ratio

import "time"

// Options say how much to measure. The zero value is right for work that takes up to some microseconds.
type Options struct {
	Samples int              // samples of each function; 0 means 40
	Sample  time.Duration    // how long a sample is to take; 0 means 500 µs
	Now     func() time.Time // the clock; nil means time.Now
}

// Of is the time that a takes divided by the time that b takes: 2 means that a is half as fast.
//
// A call of a function value costs a nanosecond or two in both, which pulls the ratio towards 1. Where that matters, let
// a and b repeat their work a hundred times.
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
		// The order alternates, so that neither always runs on what the other left in the caches.
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

// function is one of the two, with the fastest of its samples so far, in nanoseconds a call.
type function struct {
	call    func()
	calls   int // in a sample
	fastest float64
}

// prepare finds how many calls make a sample.
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
