// Package reason checks the reason of a Kubernetes condition.
package reason

// Max is the maximum number of characters of a reason.
const Max = 1024

// Valid reports whether s has 1 to [Max] characters and matches the pattern of
// metav1.Condition: ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$
func Valid(s string) bool {
	if s == "" || len(s) > Max || !letter(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		c := s[i]
		word := letter(c) || '0' <= c && c <= '9' || c == '_'
		if !word && (c != ',' && c != ':' || i == len(s)-1) {
			return false
		}
	}
	return true
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
