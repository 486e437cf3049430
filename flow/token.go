package flow

import (
	"regexp"
	"strings"

	"github.com/windlass-go/windlass/internal/errtree"
)

// operation is one operation under way in the cloud; none if token is empty.
type operation struct {
	token      string
	generation int64 // of the spec that the operation is for
	deletes    bool
	byLink     bool // a link started it in place of Apply or Delete, and only that link can poll it; has no meaning without a token
}

// A stored token begins with deletePrefix if its operation is a DELETE, and
// then with linkPrefix if a link started the operation. plainPrefix precedes a
// token that itself begins with one of the three; no poller makes such a token.
const deletePrefix, linkPrefix, plainPrefix = "delete:", "link:", "apply:"

func (u operation) stored() string {
	token := u.token
	switch {
	case token == "":
		return ""
	case u.byLink:
		token = linkPrefix + token
	case strings.HasPrefix(token, deletePrefix), strings.HasPrefix(token, linkPrefix), strings.HasPrefix(token, plainPrefix):
		token = plainPrefix + token
	}
	if u.deletes {
		token = deletePrefix + token
	}
	return token
}

func parseStored(stored string, generation int64) operation {
	u := operation{generation: generation}
	u.token, u.deletes = strings.CutPrefix(stored, deletePrefix)
	if token, plain := strings.CutPrefix(u.token, plainPrefix); plain {
		u.token = token
	} else {
		u.token, u.byLink = strings.CutPrefix(u.token, linkPrefix)
	}
	return u
}

// report is the state that the operation itself reported in this pass, whatever
// the links around it returned.
type report uint8

const (
	reportedNothing  report = iota // the operation was not called
	reportedUnknown                // it was called, and its state is unknown
	reportedUnderWay               // it is under way in the cloud
	reportedDone                   // it ended with success
	reportedFailed                 // it ended without success
)

// hasFailedError reports whether a FailedError is among the errors that err
// wraps and joins. The value of a panic does not count.
func hasFailedError(err error) bool {
	return errtree.Any(err, func(e error) bool {
		failed, _ := e.(*FailedError)
		return failed != nil
	})
}

// plainToken matches a token that a message may show: a short identifier. Other
// tokens may contain an address or a secret.
var plainToken = regexp.MustCompile(`^[\w.:/-]{1,64}$`)

func nameOf(token string) string {
	if strings.Contains(token, "//") || !plainToken.MatchString(token) {
		return "the operation"
	}
	return "operation " + token
}
