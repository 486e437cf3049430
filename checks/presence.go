package checks

// Presence says whether the resource is in the cloud.
type Presence uint8

const (
	// PresenceUnknown is the zero Presence: the engine has not looked for the resource. It never
	// counts as absent.
	PresenceUnknown Presence = iota
	// Absent: the engine looked for the resource and did not find it.
	Absent
	// Present: the engine found the resource in the cloud.
	Present
)

// String is "unknown", "absent" or "present".
func (p Presence) String() string {
	switch p {
	case Absent:
		return "absent"
	case Present:
		return "present"
	}
	return "unknown"
}

// PresenceOf returns Present if found, else Absent. Use it only for a lookup that has answered.
func PresenceOf(found bool) Presence {
	if found {
		return Present
	}
	return Absent
}
