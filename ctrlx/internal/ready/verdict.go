package ready

import "github.com/windlass-go/windlass/checks"

// condition is a condition in a list, of whatever type.
type condition struct {
	typ, status, reason, message string
	observed                     int64 // 0: not reported
}

// verdict is the result of all conditions of an object.
type verdict struct {
	ready, synced result
	// oldest and newest are the limits of the generations that conditions and
	// status reported. given is false if none was reported.
	oldest, newest int64
	given          bool
	// status is true if the status as a whole reports its generation. silent is
	// true if a condition that counts does not.
	status, silent bool
	bare           bool // the object has only metadata
}

// result is the result of the conditions of one type.
type result struct {
	found           bool
	state           checks.State
	reason, message string
}

// counts reports whether conditions of a type count.
func counts(typ string) bool { return typ == "Ready" || typ == "Synced" }

// take includes a condition that counts.
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

// take keeps the worst condition if there are several of one type.
func (s *result) take(c *condition) {
	state := checks.Unknown
	switch c.status {
	case "True":
		state = checks.Ready
	case "False":
		state = checks.NotReady
	}
	if !s.found || badness(state) > badness(s.state) {
		*s = result{true, state, c.reason, c.message}
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

// readiness returns the readiness of an object of this generation. A generation
// of 0 means that the object has none.
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
	// A spec that could not be applied is the cause, so it explains more than a
	// Ready condition that is False for that cause.
	if v.synced.found && (v.synced.state == checks.NotReady || badness(v.synced.state) > badness(s.state)) {
		s = &v.synced
	}
	r.State, r.Reason, r.Message = s.state, s.reason, s.message
	if r.State != checks.Ready || generation == 0 {
		return r
	}
	switch {
	case v.newest > generation:
		r.State, r.Reason, r.Message = checks.Unknown, "", aheadOfSpec
	case v.status || !v.silent:
	case generation > 1 && !v.stale(generation):
		r.State, r.Reason, r.Message = checks.Unknown, "", noGeneration
	case !v.given:
		r.Observed = generation
	}
	return r
}

// stale reports whether a condition or the status reports an older generation.
func (v *verdict) stale(generation int64) bool { return v.given && v.oldest < generation }
