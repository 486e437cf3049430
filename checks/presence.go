package checks

// Presence says whether the resource is in the cloud.
type Presence uint8

const (
	// PresenceUnknown: the engine has not looked for the resource. It never
	// counts as absent.
	PresenceUnknown Presence = iota
	// Absent: the engine looked for the resource and did not find it.
	Absent
	// Present: the engine found the resource in the cloud.
	Present
)

// String returns "unknown", "absent" or "present".
func (p Presence) String() string {
	switch p {
	case Absent:
		return "absent"
	case Present:
		return "present"
	}
	return "unknown"
}

// PresenceOf returns Present if found, else Absent. Use it only after a lookup
// that succeeded.
func PresenceOf(found bool) Presence {
	if found {
		return Present
	}
	return Absent
}
