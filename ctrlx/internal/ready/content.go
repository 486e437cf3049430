package ready

// readContent reads the conditions of an unstructured object. It ignores a
// value of the wrong type, so that odd content is never ready.
func (v *verdict) readContent(o map[string]any) {
	status, _ := o["status"].(map[string]any)
	if n := integer(status["observedGeneration"]); n != 0 {
		v.observe(n)
		v.status = true
	}
	conditions, _ := status["conditions"].([]any)
	for _, x := range conditions {
		m, _ := x.(map[string]any)
		var c condition
		if c.typ, _ = m["type"].(string); !counts(c.typ) {
			continue
		}
		c.status, _ = m["status"].(string)
		c.reason, _ = m["reason"].(string)
		c.message, _ = m["message"].(string)
		c.observed = integer(m["observedGeneration"])
		v.take(&c)
	}
}

// integer returns the whole number x, or 0 if x is not a whole number.
func integer(x any) int64 {
	switch n := x.(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case int32:
		return int64(n)
	case float64: // as encoding/json reads it
		if i := int64(n); float64(i) == n {
			return i
		}
	}
	return 0
}
