package ready

import "github.com/windlass-go/windlass/checks"

// condition is one in a list, of whatever type it was.
type condition struct {
	typ, status, reason, message string
	observed                     int64 // 0: it does not say
}

// verdict is what the conditions of an object come to.
type verdict struct {
	ready, synced said
	// The generations that conditions and status were said to be for, if any was.
	oldest, newest int64
	given          bool
	// status says for which generation it is as a whole, silent says that a condition that counts does not.
	status, silent bool
	bare           bool // there was nothing but metadata
}

// said is what the conditions of one type say.
type said struct {
	found           bool
	state           checks.State
	reason, message string
}

// counts tells whether conditions of a type do.
func counts(typ string) bool { return typ == "Ready" || typ == "Synced" }

// take takes a condition into account that counts.
func (v *verdict) take(c *condition) {
	if c.typ == "Ready" {
		v.ready.take(c)
	} else {
		v.synced.take(c)
	}
	if c.observed == 0 {
		v.silent = true
		return
	}
	v.observe(c.observed)
}

func (v *verdict) observe(generation int64) {
	if !v.given {
		v.oldest, v.newest, v.given = generation, generation, true
	}
	v.oldest, v.newest = min(v.oldest, generation), max(v.newest, generation)
}

// take keeps the worst, should there be several of one type.
func (s *said) take(c *condition) {
	state := checks.Unknown
	switch c.status {
	case "True":
		state = checks.Ready
	case "False":
		state = checks.NotReady
	}
	if !s.found || badness(state) > badness(s.state) {
		*s = said{true, state, c.reason, c.message}
	}
}

func badness(s checks.State) int {
	switch s {
	case checks.Ready:
		return 0
	case checks.Unknown:
		return 1
	}
	return 2
}

// readiness is that of an object of this generation, 0 if it has none.
func (v *verdict) readiness(generation int64) checks.Readiness {
	r := checks.Readiness{Generation: generation, Observed: v.oldest}
	if !v.ready.found {
		r.Message = noReadyCondition
		if v.bare {
			r.Message = metadataOnly
		}
		return r
	}
	s := &v.ready
	// A spec that could not be applied says more than that nothing is ready for that reason.
	if v.synced.found && (v.synced.state == checks.NotReady || badness(v.synced.state) > badness(s.state)) {
		s = &v.synced
	}
	r.State, r.Reason, r.Message = s.state, s.reason, s.message
	if r.State != checks.Ready || generation == 0 {
		return r
	}
	switch {
	case v.given && v.newest > generation:
		r.State, r.Reason, r.Message = checks.Unknown, "", aheadOfSpec
	case v.status || !v.silent:
	case generation > 1 && !v.stale(generation):
		r.State, r.Reason, r.Message = checks.Unknown, "", noGeneration
	case !v.given:
		r.Observed = generation
	}
	return r
}

// stale tells that something was said for an older generation.
func (v *verdict) stale(generation int64) bool { return v.given && v.oldest < generation }
